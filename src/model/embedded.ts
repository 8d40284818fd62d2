/**
 * The provider `embedded`: a stand-in for a language model, deterministic and offline, so that everything around a model can
 * be tried without an account. It answers with sentences that it can see, looks up what left its view when `memory_query` is
 * offered, calls tools that a message names, and says so when it finds no answer. It uses no network and no randomness, and a
 * clock only for the pace of a long reply.
 */
import type { CallOptions, ChatModel, ModelRequest, ModelStreamPart } from "../app/ports";
import { startTimer } from "../lib/timer";
import { asAsked, withChosenTools } from "./embedded/generation";
import { PACE_MS } from "./embedded/long-reply";
import { readMessageText } from "./embedded/message-text";
import { mostTokens, type Reply, replyTo } from "./embedded/reply";
import type { EstimateTokens } from "./extract-summary";

const MOST_CHUNKS = 32;
const MESSAGE_TOKENS = 4;

export function createEmbeddedModel(estimate: EstimateTokens): ChatModel {
  return {
    stream: (request, options) => streamReply(request, { options, estimate }),
    render: async (request) => ({ url: `embedded:${request.model.upstream_id}`, body: toBodyText(request) }),
  };
}

const toBodyText = ({ model, system, messages, tools, maxOutput, generation }: ModelRequest): string =>
  JSON.stringify({ model: model.upstream_id, system, messages, tools: tools.map(shown), max_tokens: maxOutput, generation });

/** Only these fields of a tool are sent. Who runs a tool is not for the model to know. */
const shown = ({ name, description, parameters }: ModelRequest["tools"][number]) => ({ name, description, parameters });

interface Run {
  readonly options: CallOptions;
  readonly estimate: EstimateTokens;
}

async function* streamReply(request: ModelRequest, { options, estimate }: Run): AsyncGenerator<ModelStreamPart, void, undefined> {
  const aborted: ModelStreamPart = { type: "failure", failure: { kind: "aborted", status: null } };
  if (options.signal.aborted) return yield aborted;
  options.onRequest?.(toBodyText(request));
  const reply = asAsked(replyTo(withChosenTools(request), estimate), request);
  const { chunks, finish, output } = spoken(reply, { maxTokens: mostTokens(request), estimate });
  for (const chunk of chunks) {
    if (reply.paced) await pause(PACE_MS);
    if (options.signal.aborted) return yield aborted;
    yield chunk;
  }
  if (options.signal.aborted) return yield aborted;
  yield { type: "finish", finish, usage: { input: inputTokens(request, estimate), output, cached: 0, reasoning: 0 } };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void startTimer(ms, resolve));

interface Limit {
  readonly maxTokens: number;
  readonly estimate: EstimateTokens;
}

interface Spoken {
  readonly chunks: readonly ModelStreamPart[];
  readonly finish: "stop" | "length" | "tool_calls";
  /** Tokens of the reply. */
  readonly output: number;
}

/** Calls are emitted whole. If they exceed the limit, none is emitted. */
function spoken({ text, calls, paced }: Reply, limit: Limit): Spoken {
  if (calls.length > 0) {
    const output = limit.estimate(calls.map(({ name, arguments: written }) => `${name} ${written}`).join("\n"));
    if (output > limit.maxTokens) return { chunks: [], finish: "length", output: 0 };
    return { chunks: calls.map((call) => ({ type: "tool_call", call })), finish: "tool_calls", output };
  }
  // A reply in another form is not what was to be said piece by piece.
  const whole = paced?.join("") === text ? paced : toChunks(text);
  const pieces = withinLimit(whole, limit);
  const chunks = pieces.map((piece) => ({ type: "text", text: piece }) as const);
  return { chunks, finish: pieces.length < whole.length ? "length" : "stop", output: limit.estimate(pieces.join("")) };
}

function inputTokens({ system, messages, tools }: ModelRequest, estimate: EstimateTokens): number {
  const said = messages.reduce((sum, message) => sum + estimate(readMessageText(message)) + MESSAGE_TOKENS, 0);
  const fixed =
    (system === null ? 0 : estimate(system) + MESSAGE_TOKENS) + (tools.length === 0 ? 0 : estimate(JSON.stringify(tools.map(shown))));
  return said + fixed;
}

function withinLimit(chunks: readonly string[], limit: Limit): readonly string[] {
  let text = "";
  const end = chunks.findIndex((chunk) => {
    text += chunk;
    return limit.estimate(text) > limit.maxTokens;
  });
  return end === -1 ? chunks : chunks.slice(0, end);
}

/** Splits the text into at most `MOST_CHUNKS` pieces. Joined, the pieces are the text. */
function toChunks(text: string): readonly string[] {
  const words = text.match(/\s*\S{1,16}|\s+$/gu) ?? [];
  const size = Math.max(1, Math.ceil(words.length / MOST_CHUNKS));
  const chunks: string[] = [];
  for (let from = 0; from < words.length; from += size) chunks.push(words.slice(from, from + size).join(""));
  return chunks;
}
