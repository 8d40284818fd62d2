/**
 * `ChatModel` for Workers AI through its binding. The package only builds the inputs. They are run here, and the reply is
 * decoded as a chat completion (`chat-stream`): the package's own decoder writes what it cannot read to the console, takes
 * an error inside the stream for its end, and has no limits.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ChatModel, ModelRequest } from "../app/ports";
import type { Generation } from "../context/generation";
import { createChatCompletions } from "./chat-completions";
import { ReplyDecoder } from "./chat-stream";
import { workersAiRules } from "./prompt-rules";
import type { BuiltRequest } from "./provider-link";
import { plainCall } from "./providers";
import { asObject, asText } from "./wire-chunk";

type Json = Readonly<Record<string, unknown>>;
type Run = (model: string, inputs: unknown, options: object) => Promise<unknown>;

/** Stands in front of the model's name, because the binding has no address. */
const SCHEME = "workers-ai:";

/**
 * HTTP status for those internal codes that are more exact than their messages.
 * https://developers.cloudflare.com/workers-ai/platform/errors/
 */
const STATUS_OF: Readonly<Record<string, number>> = { 3006: 413, 3007: 408, 3008: 408, 3036: 402, 3040: 429, 5007: 404, 5016: 403 };

export function createWorkersAiModel(ai: Ai | undefined): ChatModel {
  return createChatCompletions({
    build: buildInputs,
    // The binding needs no key.
    credentials: async () => null,
    async send(built, signal) {
      if (!ai) throw new TypeError("The AI binding is missing.");
      const answer = await runInputs(ai, built, signal);
      if (answer instanceof Response) return answer;
      return answer instanceof ReadableStream ? new Response(answer) : Response.json(answer);
    },
    // Every JSON answer goes to the decoder, which tells an error from a reply.
    toEvents: (answer) => [asObject(answer) ?? {}],
    newDecoder: () => new ReplyDecoder({ normalize: toChunk, unsaidFinish: "stop", thinkTags: true }),
  });
}

/** Thrown to end the package's call once the inputs are built. */
class InputsBuilt extends Error {
  readonly request: BuiltRequest;
  constructor(request: BuiltRequest) {
    super("The inputs are built.");
    this.request = request;
  }
}

async function buildInputs(request: ModelRequest): Promise<BuiltRequest> {
  const { createWorkersAI } = await import("workers-ai-provider");
  const run: Run = async (model, inputs, options) => {
    const headers = new Headers(toHeaders(asObject(options)?.extraHeaders));
    throw new InputsBuilt({ url: `${SCHEME}${model}`, headers, body: JSON.stringify(withGeneration(inputs, request)) });
  };
  // The package uses only `run` of the binding.
  const binding = { run } as unknown as Ai;
  const settings = request.cacheKey === undefined ? {} : { sessionAffinity: request.cacheKey };
  const model: LanguageModelV4 = createWorkersAI({ binding })(request.model.upstream_id, settings);
  try {
    // The package leaves tools out when it is told of a format, and never sends a seed.
    const { responseFormat: _, seed: __, ...call } = plainCall(request, workersAiRules());
    await model.doStream(call);
  } catch (error) {
    const built = error instanceof Error && error.cause instanceof InputsBuilt ? error.cause : error;
    if (built instanceof InputsBuilt) return built.request;
    throw error;
  }
  throw new TypeError("The provider package ended a call without building a request.");
}

/** JSON mode has no streams: https://developers.cloudflare.com/workers-ai/json-mode */
function withGeneration(inputs: unknown, { generation: { seed, response_format: format } = {} }: ModelRequest): Json {
  const whole = { ...asObject(inputs), ...(seed !== undefined && { seed }) };
  if (!format || format.type === "text") return whole;
  const { stream: _, ...rest } = { stream: undefined, ...whole };
  return { ...rest, response_format: toJsonMode(format) };
}

/** The schema stands by itself, with its name as its title. */
const toJsonMode = (format: Exclude<NonNullable<Generation["response_format"]>, { type: "text" }>): Json =>
  format.type === "json" ? { type: "json_object" } : { type: "json_schema", json_schema: { title: format.name, ...format.schema } };

function toHeaders(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(asObject(value) ?? {}).map(([name, text]) => [name, String(text)]));
}

async function runInputs(ai: Ai, { url, headers, body }: BuiltRequest, signal: AbortSignal): Promise<unknown> {
  const run: Run = ai.run.bind(ai);
  const options = { returnRawResponse: true, signal, extraHeaders: Object.fromEntries(headers) };
  try {
    return await run(url.slice(SCHEME.length), JSON.parse(body), options);
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const code = /^(\d{4}):/.exec(message)?.[1];
    // An error without a code means that Workers AI did not answer.
    if (signal.aborted || code === undefined) throw error;
    return new Response(JSON.stringify({ error: { message } }), { status: STATUS_OF[code] ?? 502 });
  }
}

/**
 * Converts an event to a chunk of a chat completion. The models of Workers AI use three shapes: chunks of a chat completion;
 * a whole completion, with a message in place of a delta; and their own (`{response, tool_calls}`, with arguments as an
 * object).
 */
function toChunk(event: Json): Json {
  const result = asObject(event.result) ?? event;
  if (event.error) return { error: event.error };
  if (Array.isArray(event.errors) && event.errors.length > 0) return { error: event.errors[0] };
  const choice = asObject(Array.isArray(result.choices) ? result.choices[0] : null);
  if (choice) return choice.delta || !choice.message ? result : { ...result, choices: [{ ...choice, delta: choice.message }] };
  const calls = Array.isArray(result.tool_calls) ? result.tool_calls.map(toToolDelta) : [];
  const delta = {
    ...(result.response === undefined || result.response === null ? {} : { content: toContent(result.response) }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return { usage: result.usage, choices: Object.keys(delta).length > 0 ? [{ delta }] : [] };
}

/** A reply in JSON mode comes as a value. */
const toContent = (response: unknown): string => (typeof response === "string" ? response : JSON.stringify(response));

function toToolDelta(value: unknown): unknown {
  const call = asObject(value);
  const name = asText(call?.name);
  if (!call || name === null) return value;
  const input = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
  return { id: call.id, function: { name, arguments: input } };
}
