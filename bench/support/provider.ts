/**
 * A provider with almost no cost: every request gets the same reply in the OpenAI wire format, split into the number of
 * chunks that its address contains, each in its own write. Tokens are counted as a quarter of the bytes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { HOST } from "../../scripts/support/port.ts";

export interface ReplyPlan {
  readonly chunks: number;
  /** Milliseconds between two chunks. */
  readonly gap: number;
}

export interface FastProvider {
  /** The value for a model's `base_url`. */
  baseUrl(plan: ReplyPlan): string;
  close(): void;
}

const WORDS = "the quick brown fox jumps over a lazy dog and then it rests under some old tree".split(" ");
const BYTES_PER_TOKEN = 4;

/** The text of the nth chunk. */
const wordAt = (index: number): string => `${WORDS[index % WORDS.length] ?? ""} `;

export const replyText = (chunks: number): string => Array.from({ length: chunks }, (_, index) => wordAt(index)).join("");

const base = {
  id: "chatcmpl-bench",
  object: "chat.completion.chunk",
  created: 1_760_000_000,
  model: "bench",
  system_fingerprint: "fp_bench",
};

const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const chunkLine = (delta: object, finish: string | null): string =>
  line({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null });

/** Prepared once, because the provider shares the machine with the measured process. */
const lines = WORDS.map((_, index) => chunkLine({ content: wordAt(index) }, null));
const opening = chunkLine({ role: "assistant", content: "" }, null);

function closing(requestBytes: number, chunks: number): string {
  const prompt_tokens = Math.ceil(requestBytes / BYTES_PER_TOKEN);
  const usage = { prompt_tokens, completion_tokens: chunks, total_tokens: prompt_tokens + chunks };
  return `${chunkLine({}, "stop")}${line({ ...base, choices: [], usage })}data: [DONE]\n\n`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [chunks = 1, gap = 0] = (/^\/c(\d+)g(\d+)\//.exec(request.url ?? "") ?? []).slice(1).map(Number);
  let bytes = 0;
  for await (const piece of request) bytes += (piece as Buffer).byteLength;
  response.socket?.setNoDelay(true);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(opening);
  for (let index = 0; index < chunks && !response.destroyed; index++) {
    response.write(lines[index % lines.length]);
    if (gap > 0) await delay(gap);
  }
  response.end(closing(bytes, chunks));
}

export async function startFastProvider(): Promise<FastProvider> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port");
  return {
    baseUrl: ({ chunks, gap }) => `http://${HOST}:${address.port}/c${chunks}g${gap}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
