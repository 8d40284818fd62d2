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
      expect(judgeFailure(reported)).toEqual({ kind, limit });
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
