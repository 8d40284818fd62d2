/**
 * Workers AI: a binding instead of a server, an object with `run()`, as workerd gives it to a Worker. The arguments of
 * `run()` cross the platform's wire as JSON, so only their JSON form is checked.
 */
import { CommonPrefixCache, countAll } from "../caches.ts";
import { Ids } from "../mint.ts";
import { toWhole } from "../openai/chat-events.ts";
import { playReply } from "../play-reply.ts";
import { Desk, type Heard, type ProviderStandIn } from "../provider-server.ts";
import { type Accepted, isRefusal, type Received, type Refusal } from "../script.ts";
import { bracketPath, findFault } from "../shape.ts";
import { toFrames } from "./events.ts";
import { type RunInputs, runInputs, type WorkersAiMessage } from "./shape.ts";

/** The part of `Ai` that a model's adapter needs. */
interface AiBinding {
  run(model: string, inputs: Readonly<Record<string, unknown>>, options?: AiOptions): Promise<unknown>;
}

export interface WorkersAiStandIn extends ProviderStandIn {
  readonly binding: Ai;
}

/** Thrown by `run()`. The code is only at the beginning of the message. */
class InferenceUpstreamError extends Error {
  override readonly name = "InferenceUpstreamError";
}

/** The platform's error, as its service returns it. */
export const errorBody = (internalCode: number, description: string) => ({ internalCode, description, name: "InferenceUpstreamError" });

const refuse = (internalCode: number, description: string): Refusal => ({ status: 400, body: errorBody(internalCode, description) });

export function startWorkersAi({ window }: { readonly window: number }): WorkersAiStandIn {
  const desk = new Desk();
  const receive = createReceiver(window);
  const binding: AiBinding = {
    async run(model, inputs, options = {}) {
      options.signal?.throwIfAborted();
      const raw = JSON.stringify(inputs);
      const received: Received = { path: model, headers: { ...options.extraHeaders }, raw, body: JSON.parse(raw) };
      return answer({ received, taken: receive(received), options, desk });
    },
  };
  return {
    // An adapter must not use anything else of the binding, so it does not exist here.
    binding: binding as unknown as Ai,
    baseUrl: null,
    log: desk.log,
    enqueue: (...replies) => desk.enqueue(replies),
    request: (nth) => desk.request(nth),
    close: async () => undefined,
  };
}

function createReceiver(window: number): (received: Received) => Refusal | Accepted {
  const cache = new CommonPrefixCache({ least: 1_024, step: 128 });
  const ids = new Ids();
  return (received) => {
    const { path: model, body, headers } = received;
    if (!model.startsWith("@cf/")) return refuse(5007, `No such model ${model} or task`);
    const parsed = runInputs.safeParse(body);
    if (!parsed.success) {
      const { path, expected } = findFault(parsed.error, body);
      return refuse(
        5006,
        `Error: oneOf at '/' not met, 0 matches: required properties at '/' are 'prompt', Type mismatch of '/${bracketPath(path)}', ${expected}`,
      );
    }
    const breach = findBreach(parsed.data);
    if (breach) return refuse(5006, breach);
    const segments = [JSON.stringify(parsed.data.tools ?? []), ...parsed.data.messages.map((message) => JSON.stringify(message))];
    const input = countAll(segments);
    const most = parsed.data.max_tokens ?? 256;
    if (input + most > window)
      return refuse(
        5021,
        `The estimated number of input and maximum output tokens (${input + most}) exceeded this model context window limit (${window}).`,
      );
    const key = `${model} ${String(headers["x-session-affinity"] ?? "")}`;
    const usage = { input, cacheRead: cache.read(key, segments), cacheWrite: null };
    return {
      usage,
      frames(reply) {
        cache.write(key, segments);
        return toFrames({ reply, usage, model, ids });
      },
      whole: (reply) => toWhole({ reply, usage, model, ids, style: "compatible", withUsage: true }),
      eventFrame: (event) => ({ data: `data: ${JSON.stringify(event)}\n\n` }),
    };
  };
}

/** The rules of its newer models' servers: results answer the calls directly before them, and JSON comes whole. */
function findBreach({ messages, response_format, stream }: RunInputs): string | null {
  if (response_format && stream) return "JSON mode does not support streaming.";
  for (const [place, message] of messages.entries()) {
    if (message.role !== "tool") continue;
    const before = messages.slice(0, place).findLast(({ role }) => role !== "tool");
    if (!callIds(before).includes(message.tool_call_id)) return `Message at index ${place} has role 'tool' and answers no call before it.`;
  }
  return null;
}

const callIds = (message: WorkersAiMessage | undefined): readonly string[] =>
  message?.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];

interface Run {
  readonly received: Received;
  readonly taken: Refusal | Accepted;
  readonly options: AiOptions;
  readonly desk: Desk;
}

async function answer({ received, taken, options, desk }: Run): Promise<unknown> {
  const closed = Promise.withResolvers<"answered" | "cut" | "left">();
  const heard: Heard = {
    ...received,
    closed: closed.promise,
    ...(isRefusal(taken) ? { refusal: taken, usage: null } : { refusal: null, usage: taken.usage }),
  };
  desk.note(heard);
  if (isRefusal(taken)) return fail(taken, options);
  const reply = desk.next();
  if (reply.mishap?.type === "refuse") return refuseAs(reply.mishap.refusal, { options, closed });
  if (reply.mishap?.type === "hang_up") throw new Error("Network connection lost.");
  if (reply.mishap?.type === "silence") {
    options.signal?.addEventListener("abort", () => closed.resolve("left"));
    return untilAborted(options.signal);
  }
  const isStream = (received.body as { readonly stream?: boolean }).stream === true;
  if (reply.whole || !isStream) return options.returnRawResponse ? Response.json(taken.whole(reply)) : taken.whole(reply);
  const { readable, sink } = pipe(closed, options.signal);
  void playReply({ accepted: taken, reply, sink }).catch(() => undefined);
  return options.returnRawResponse ? new Response(readable, { headers: { "content-type": "text/event-stream" } }) : readable;
}

/** The reader must close a body that does not end, because the signal is ignored after the response has begun. */
function refuseAs(
  refusal: Refusal,
  { options, closed }: { options: AiOptions; closed: PromiseWithResolvers<"answered" | "cut" | "left"> },
) {
  if (!refusal.endless) return fail(refusal, options);
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode(JSON.stringify(refusal.body))),
    cancel: () => closed.resolve("left"),
  });
  return new Response(body, { status: refusal.status, headers: { "content-type": "application/json", ...refusal.headers } });
}

function fail({ status, body, headers }: Refusal, { returnRawResponse }: AiOptions): Response {
  if (returnRawResponse) return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
  const { internalCode, description } = body as ReturnType<typeof errorBody>;
  throw new InferenceUpstreamError(`${internalCode}: ${description}`);
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

/** The body that the Worker reads, and its writer. The platform drops it when the signal aborts. */
function pipe(closed: PromiseWithResolvers<"answered" | "cut" | "left">, signal: AbortSignal | undefined) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.closed.catch(() => closed.resolve("left"));
  signal?.addEventListener("abort", () => void writer.abort(signal.reason).catch(() => undefined));
  const sink = {
    closed: closed.promise,
    write: (bytes: Uint8Array) => writer.write(bytes).catch(() => undefined),
    end: () => {
      closed.resolve("answered");
      void writer.close().catch(() => undefined);
    },
    cut: () => {
      closed.resolve("cut");
      void writer.abort(new Error("Network connection lost.")).catch(() => undefined);
    },
  };
  return { readable, sink };
}
