import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { FailureKind } from "../../src/domain/model-call";
import { classifyFailure, type FailureReport } from "../../src/model/classify-failure";

const report = (changes: Partial<FailureReport>): FailureReport => ({ status: 400, code: null, type: null, message: "", ...changes });

/** A larger collection lies beside the project when it is developed; a clone alone does without. */
const collection = fileURLToPath(new URL("../../../shared/data/provider-errors.json", import.meta.url).href);
const examplesSchema = z.object({ examples: z.array(z.object({ status: z.number(), expect: z.string(), message: z.string() })) });
const collected = existsSync(collection) ? examplesSchema.parse(JSON.parse(readFileSync(collection, "utf8"))).examples : [];

const own: readonly (readonly [FailureKind, Partial<FailureReport>])[] = [
  ["overflow", { code: "context_length_exceeded", message: "Too much." }],
  ["overflow", { status: 500, type: "exceed_context_size_error", message: "n_prompt_tokens 9001" }],
  ["overflow", { status: null, code: "model_context_window_exceeded" }],
  ["overflow", { message: "Your prompt has 40,210 tokens but this model's context window is limited to 32,768 tokens." }],
  ["overflow", { message: "Total input of 9000 tokens is over the model's maximum of 8192 tokens" }],
  ["overflow", { message: "The conversation is too long. Start a new one." }],
  ["overflow", { message: "7000 + 2000 > 8192: input plus max_tokens is beyond the context" }],
  ["overflow", { message: "Requested token count exceeds the model's maximum context length of 65536 tokens." }],
  ["overflow", { status: 500, message: "prompt is too long: 9000 tokens > 8192 maximum" }],
  ["overflow", { message: "输入超出了模型的上下文长度" }],
  [
    "output_cap",
    { message: "maximum context length is 4097 tokens. However, you requested 4300 tokens (300 in the messages, 4000 in the completion)." },
  ],
  ["output_cap", { message: "max_tokens (5000) exceeds the context window of 4096" }],
  ["output_cap", { message: "max_completion_tokens must be at most 32768, got 40000" }],
  [
    "output_cap",
    { message: "The maximum number of completion tokens this model supports is 8192 completion tokens, you asked for 9000 output tokens" },
  ],
  ["invalid_param", { message: "Invalid 'messages[3].content': string too long. Expected a string with maximum length 1048576." }],
  ["invalid_param", { message: "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 200 instead." }],
  ["invalid_param", { message: "Input should be less than or equal to 2, got 5 for temperature" }],
  ["invalid_param", { code: "string_above_max_length", message: "The prompt is too long: 70 characters > 64 maximum" }],
  [
    "invalid_param",
    { message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'." },
  ],
  ["invalid_param", { status: 404, message: "The model `nope` does not exist" }],
  ["rate_limit", { status: 413, code: "rate_limit_exceeded", message: "Limit 30000, Requested 41000 tokens" }],
  ["rate_limit", { message: "Maximum tokens per minute exceeded: limit 40000, current 41000" }],
  ["rate_limit", { status: 429, message: "Number of request tokens has exceeded your limit: 10000 > 8000" }],
  ["quota", { status: 429, code: "insufficient_quota", message: "You exceeded your current quota" }],
  ["quota", { status: 402, message: "Prompt tokens limit exceeded: 13092 > 1302. To increase, add more credits" }],
  ["media", { message: "Image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes" }],
  ["media", { message: "Unable to process input image. Please retry or report." }],
  ["payload", { status: 413, type: "request_too_large", message: "Request exceeds the maximum allowed number of bytes." }],
  ["auth", { status: 401, message: "Incorrect API key provided" }],
  ["auth", { status: 403, message: "Your account is not allowed to use this model" }],
  ["refused", { code: "content_filter", message: "The response was filtered" }],
  ["timeout", { status: 500, message: "context deadline exceeded" }],
  ["timeout", { status: 504, message: "upstream request timeout" }],
  ["unavailable", { status: 529, type: "overloaded_error", message: "Overloaded" }],
  ["unavailable", { status: 503, message: "" }],
  ["unavailable", { status: 502, message: "<html><body>Bad gateway: context switch</body></html>" }],
];

describe("a provider's failure is put in its class", () => {
  for (const [kind, changes] of own) {
    it(`${kind}: ${changes.status ?? 400} ${changes.code ?? changes.type ?? ""} ${changes.message ?? ""}`, () => {
      expect(classifyFailure(report(changes))).toBe(kind);
    });
  }

  for (const example of collected) {
    it(`${example.expect}: ${example.status} ${example.message}`, () => {
      expect(classifyFailure(report({ status: example.status, message: example.message }))).toBe(example.expect);
    });
  }

  it("reads the first 4 KB of a message and no more", () => {
    const message = `${"x".repeat(5_000)} context_length_exceeded`;
    expect(classifyFailure(report({ message }))).toBe("invalid_param");
  });
});
