import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { classifyFailure, type FailureReport, judgeFailure } from "../../src/model/classify-failure";
import { numberPatterns } from "../../src/model/failure-numbers";
import { textPatterns } from "../../src/model/failure-rules";
import { failureExamples } from "./provider-failures";

const report = (changes: Partial<FailureReport>): FailureReport => ({ status: 400, code: null, type: null, message: "", ...changes });

/** Larger collections exist beside the project during development. A clone works without them. */
const collections = ["provider-errors.json", "provider-errors-2.json", "provider-errors-3.json"].map((name) =>
  fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url).href),
);
const exampleSchema = z.object({
  status: z.number().nullable(),
  code: z.string().nullable().default(null),
  type: z.string().nullable().default(null),
  expect: z.string(),
  /** Other classes that are also correct. */
  also: z.array(z.string()).default([]),
  message: z.string(),
});
const collected = collections
  .filter((path) => existsSync(path))
  .flatMap((path) => z.object({ examples: z.array(exampleSchema) }).parse(JSON.parse(readFileSync(path, "utf8"))).examples);

describe("a provider's failure is put in its class, with the tokens that it says would fit", () => {
  it.each(failureExamples.map((example) => [example.kind, example.report.status, example.report.message.slice(0, 90), example] as const))(
    "%s: %s %s",
    (_kind, _status, _message, { kind, limit, report: reported }) => {
      expect(judgeFailure(reported)).toMatchObject({ kind, limit });
    },
  );

  it.each(collected)("$expect: $status $message", ({ status, code, type, message, expect: kind, also }) => {
    expect([kind, ...also]).toContain(classifyFailure({ status, code, type, message }));
  });

  it("and the examples are enough to say something", () => {
    const overflows = failureExamples.filter(({ kind }) => kind === "overflow").length;
    expect(overflows).toBeGreaterThanOrEqual(40);
    expect(failureExamples.length - overflows).toBeGreaterThanOrEqual(60);
  });
});

describe("the length that a reply may have", () => {
  it.each([
    [
      "maximum context length is 4097 tokens. However, you requested 4300 tokens (300 in the messages, 4000 in the completion).",
      3_797,
      4_097,
    ],
    ["`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 120 `inputs` tokens and 8000 `max_new_tokens`", 3_976, 4_096],
    ["max_tokens (5000) exceeds the context window of 4096", 4_096, 4_096],
  ])("is told from what the request leaves of the window: %s", (message, limit, window) => {
    expect(judgeFailure(report({ message }))).toEqual({ kind: "output_cap", limit, window });
  });

  it.each(["max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens", "Range of max_tokens should be [1, 64000]"])(
    "is the model's own where it is said without the window: %s",
    (message) => {
      expect(judgeFailure(report({ message }))).toEqual({ kind: "output_cap", limit: 64_000, window: null });
    },
  );
});

describe("the numbers of one request", () => {
  const judged = (message: string) => judgeFailure(report({ message }));

  it("count together where they are its parts", () => {
    const parts = "(194895 of text input, 10398 of tool input, 51200 in the output)";
    expect(judged(`This endpoint's maximum context length is 204800 tokens. ${parts}`)).toMatchObject({ kind: "overflow", limit: 204_800 });
    expect(judged("The sum of prompt length (5000) and query length (4000) should not exceed max_num_tokens (8192)").kind).toBe("overflow");
  });

  it("are the reply's matter where what was sent is small", () => {
    const parts = "(4502 of text input, 3476 of tool input, 1000000 in the output)";
    expect(judged(`maximum context length is 1000000 tokens. You requested about 1007978 tokens ${parts}`)).toEqual({
      kind: "output_cap",
      limit: 992_022,
      window: 1_000_000,
    });
  });

  it("never make the limit of the number that exceeds it", () => {
    expect(judged("greater than the context length (n_keep: 8485 >= n_ctx: 8192)")).toMatchObject({ kind: "overflow", limit: 8_192 });
  });

  it("are an overflow where less than nothing is left for the reply", () => {
    expect(judged("`default_max_tokens` (-152) should be greater than 0").kind).toBe("overflow");
    expect(judged("max_tokens must be at least 1, got 0").kind).toBe("invalid_param");
  });
});

describe("a refusal that only names the limit", () => {
  it.each([400, 413, 422, null])("is an overflow under status %s", (status) => {
    const message = "This model's maximum context length is 8192 tokens.";
    expect(judgeFailure(report({ status, message }))).toMatchObject({ kind: "overflow", limit: 8_192 });
  });

  it("is none of a server that fails for reasons of its own", () => {
    expect(classifyFailure(report({ status: 503, message: "Model is loading. Its maximum context length is 8192 tokens." }))).toBe(
      "unavailable",
    );
  });
});

describe("a status that contradicts the text", () => {
  it.each([200, 401, 403])("does not decide alone: %s", (status) => {
    expect(classifyFailure(report({ status, message: "Context window exceeded: 120002 tokens exceeds the limit of 120000 tokens" }))).toBe(
      "overflow",
    );
  });

  it("decides where it is about credit, whatever the code says", () => {
    expect(classifyFailure(report({ status: 402, code: "context_length_exceeded", message: "prompt is too long" }))).toBe("quota");
    expect(classifyFailure(report({ status: null, message: "402 Prompt tokens limit exceeded: 9000 > 800" }))).toBe("quota");
  });
});

describe("words that say no more than that there were too many tokens", () => {
  const says = (status: number | null, message: string) => classifyFailure(report({ status, message }));

  it.each(["Token limit exceeded", "Too many tokens"])("are an overflow where the request is at fault, and only there: %s", (message) => {
    expect(says(400, message)).toBe("overflow");
    expect([429, 401, 402, 403, 500, 503].map((status) => says(status, message))).toEqual([
      "rate_limit",
      "auth",
      "quota",
      "auth",
      "unavailable",
      "unavailable",
    ]);
  });
});

describe("a code goes before the words", () => {
  it.each([
    ["snake case", "context_length_exceeded"],
    ["kebab case", "context-length-exceeded"],
    ["camel case", "ContextLengthExceeded"],
    ["capitals", "CONTEXT_LENGTH_EXCEEDED"],
  ])("in %s", (_, code) => {
    expect(classifyFailure(report({ code, message: "Rate limit: please wait" }))).toBe("overflow");
  });

  it("but a server's general code does not go before what it says went wrong", () => {
    const message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    expect(classifyFailure(report({ status: 500, code: "internal_server_error", message }))).toBe("overflow");
  });

  it("and the status that a gateway puts into the body is the status", () => {
    expect(classifyFailure(report({ status: 200, code: "401", message: "no" }))).toBe("auth");
    expect(classifyFailure(report({ status: null, message: "Error code: 402 - nothing left" }))).toBe("quota");
  });
});

describe("the time that it takes grows with the length alone", () => {
  /** Without character classes and escapes, the remaining `*`, `+` and `{n,}` are unbounded repetitions. */
  const bare = ({ source }: RegExp): string => source.replaceAll(/\\./g, "").replaceAll(/\[[^\]]*\]/g, "");

  it.each([...textPatterns, ...numberPatterns])("as no repetition is without a bound in %s", (pattern) => {
    expect(bare(pattern)).not.toMatch(/[*+]|\{\d+,\}/);
  });

  it.each([
    ["x"],
    ["1"],
    ["1,"],
    ["9 "],
    ["max_tokens "],
    ["input "],
    ["exceeds "],
    ["image "],
    ["code: "],
    ['{"error":'],
    ['[{"message":"'],
    ["\ufdfa"],
    ["1 + 1 > "],
  ])("and is short for many times %j", (piece) => {
    const verdict = judgeFailure(report({ message: piece.repeat(100_000 / piece.length) }));
    expect(verdict.kind).not.toBe("overflow");
  });

  it("reads the first 4 KB of a message and no more", () => {
    const message = `${"x".repeat(5_000)} context_length_exceeded`;
    expect(classifyFailure(report({ message }))).toBe("invalid_param");
  });
});
