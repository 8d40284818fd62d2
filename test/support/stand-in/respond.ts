/** Writes a reply on the wire, streamed or complete, with true usage at its end. */
import type { ServerResponse } from "node:http";
import { countTokens } from "./count-tokens.ts";
import type { LogEntry } from "./log.ts";
import { isDeltas, type Reply, type ScriptedReply, type WireError } from "./wire.ts";

const WORDS_PER_DELTA = 4;
const ARGUMENT_CHARS_PER_DELTA = 24;

type Delta = Readonly<Record<string, unknown>>;

interface Refusal {
  readonly status: number;
  readonly error: WireError;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(response: ServerResponse, entry: LogEntry, refusal: Refusal): void {
  entry.status = refusal.status;
  response.writeHead(refusal.status, { "content-type": "application/json", ...refusal.headers });
  response.end(JSON.stringify({ error: { param: null, ...refusal.error } }));
}

export async function respond(response: ServerResponse, entry: LogEntry, reply: Reply): Promise<void> {
  if (isDeltas(reply)) return streamDeltas(response, entry, reply);
  if (reply.hang) return;
  const { status, error, headers = {} } = reply;
  if (error && status !== undefined) return refuse(response, entry, { status, error, headers });
  entry.status = reply.status ?? 200;
  entry.completion_tokens = countReply(reply);
  if (reply.raw !== undefined) {
    response.writeHead(entry.status, { "content-type": "text/event-stream" });
    return void response.end(reply.raw);
  }
  if (reply.usage) Object.assign(entry, reply.usage);
  if (entry.body.stream && !reply.whole) return streamScript(response, entry, reply);
  response.writeHead(entry.status, { "content-type": "application/json" });
  response.end(JSON.stringify(wholeReply(entry, reply)));
}

const countReply = ({ text, reasoning, tool_calls }: ScriptedReply): number =>
  countTokens(text ?? "") +
  countTokens(reasoning ?? "") +
  (tool_calls ?? []).reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.arguments), 0);

const toFinish = (reply: ScriptedReply): string => reply.finish ?? ((reply.tool_calls ?? []).length > 0 ? "tool_calls" : "stop");

const toUsage = ({ prompt_tokens, completion_tokens }: LogEntry) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
});

const buildHead = (entry: LogEntry, object: string) => ({
  id: `chatcmpl-${entry.at}`,
  object,
  created: Math.floor(entry.at / 1000),
  model: entry.body.model,
});

function wholeReply(entry: LogEntry, reply: ScriptedReply): unknown {
  const calls = (reply.tool_calls ?? []).map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
  const message = { role: "assistant", content: reply.text ?? null, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const choices = [{ index: 0, message, finish_reason: toFinish(reply) }];
  return { ...buildHead(entry, "chat.completion"), choices, usage: toUsage(entry) };
}

function openStream(response: ServerResponse, entry: LogEntry) {
  response.writeHead(entry.status, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  // A delta must be sent when it is written, because a test may wait for it before it provides the next one.
  response.socket?.setNoDelay(true);
  const head = buildHead(entry, "chat.completion.chunk");
  const write = (event: unknown): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
  return {
    error: (error: WireError) => write({ error }),
    delta: (delta: Delta) => write({ ...head, choices: [{ index: 0, delta, finish_reason: null }] }),
    end(finish: string): void {
      write({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] });
      if (entry.body.stream_options?.include_usage) write({ ...head, choices: [], usage: toUsage(entry) });
      response.end("data: [DONE]\n\n");
    },
  };
}

function streamScript(response: ServerResponse, entry: LogEntry, reply: ScriptedReply): void {
  const stream = openStream(response, entry);
  const deltas = toDeltas(reply);
  for (const delta of deltas.slice(0, reply.cutAfterChunks)) stream.delta(delta);
  if (reply.cutAfterChunks !== undefined) {
    entry.cut = true;
    // Only after the deltas were sent, because the client must have read them before the connection breaks.
    response.write("", () => response.destroy());
    return;
  }
  if (reply.error) {
    stream.error(reply.error);
    response.end();
    return;
  }
  stream.end(toFinish(reply));
}

/** Ends as soon as the client has disconnected, even if the test never provides the next delta. */
async function streamDeltas(response: ServerResponse, entry: LogEntry, deltas: AsyncIterable<string>): Promise<void> {
  entry.status = 200;
  const stream = openStream(response, entry);
  response.flushHeaders();
  const left = new Promise<"left">((resolve) => response.once("close", () => resolve("left")));
  const iterator = deltas[Symbol.asyncIterator]();
  let text = "";
  for (;;) {
    const next = await Promise.race([iterator.next(), left]);
    if (next === "left") return;
    if (next.done) break;
    text += next.value;
    stream.delta({ content: next.value });
  }
  entry.completion_tokens = countTokens(text);
  stream.end("stop");
}

function toDeltas({ text = "", reasoning = "", tool_calls = [], chunks }: ScriptedReply): readonly Delta[] {
  const words = text.match(/\s*\S+\s*?|\s+$/gu) ?? [];
  const size = chunks === undefined ? WORDS_PER_DELTA : Math.max(1, Math.ceil(words.length / chunks));
  return [
    { role: "assistant", content: "" },
    ...(reasoning === "" ? [] : [{ reasoning_content: reasoning }]),
    ...pieces(words, size).map((piece) => ({ content: piece.join("") })),
    ...tool_calls.flatMap(({ id, name, arguments: args }, index): Delta[] => [
      { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
      ...pieces([...args], ARGUMENT_CHARS_PER_DELTA).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece.join("") } }],
      })),
    ]),
  ];
}

function pieces<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, place) => items.slice(place * size, (place + 1) * size));
}
