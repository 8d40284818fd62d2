import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { classifyFailure, type FailureReport, judgeFailure } from "../../src/model/classify-failure";
import { numberPatterns } from "../../src/model/failure-numbers";
import { textPatterns } from "../../src/model/failure-rules";
import { failureExamples } from "./provider-failures";

const report = (changes: Partial<FailureReport>): FailureReport => ({ status: 400, code: null, type: null, message: "", ...changes });

/** A larger collection lies beside the project when it is developed; a clone alone does without. */
const collection = fileURLToPath(new URL("../../../shared/data/provider-errors.json", import.meta.url).href);
const examplesSchema = z.object({ examples: z.array(z.object({ status: z.number(), expect: z.string(), message: z.string() })) });
const collected = existsSync(collection) ? examplesSchema.parse(JSON.parse(readFileSync(collection, "utf8"))).examples : [];

describe("a provider's failure is put in its class, with the tokens that it says would fit", () => {
  it.each(failureExamples.map((example) => [example.kind, example.report.status, example.report.message.slice(0, 90), example] as const))(
    "%s: %s %s",
    (_kind, _status, _message, { kind, limit, report: reported }) => {
      expect(judgeFailure(reported)).toMatchObject({ kind, limit });
    },
  );

  it.each(collected)("$expect: $status $message", ({ status, expect: kind, message }) => {
    expect(classifyFailure(report({ status, message }))).toBe(kind);
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
  /** Without classes and escapes: what is left of `*`, `+` and `{n,}` are repetitions without a bound. */
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
