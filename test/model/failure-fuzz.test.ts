/** One failure in many notations: separators, case, spaces, quotes, and the JSON shapes that gateways wrap around it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FailureReport, judgeFailure } from "../../src/model/classify-failure";
import { describeError } from "../../src/model/error-body";
import { drawn } from "../support/effort";
import { type FailureExample, failureExamples } from "./provider-failures";

/** A number that is not an error's number and not part of a name, a date or a measurement. */
const NUMBERS = /(?<!code: )(?<![\w.:/-])\d{4,9}(?![\w.-]\d|\w)/g;

const SEPARATORS = [",", ".", " ", "_", "'", "\u00a0", "\u202f", "\u2009"];
const grouped = (digits: string, separator: string): string => digits.replaceAll(/\B(?=(?:\d{3})+$)/g, separator);

type Change = (text: string) => string;

const separators = fc
  .constantFrom(...SEPARATORS)
  .map<Change>((separator) => (text) => text.replaceAll(NUMBERS, (digits) => grouped(digits, separator)));
const casing = fc.constantFrom<Change>(
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
);
const spaces = fc
  .constantFrom(" ", "  ", "\n", "\t", "\u00a0", " \r\n ", "\u3000")
  .map<Change>((space) => (text) => `${space}${text.replaceAll(/ (?![\d>])/g, space)}${space}`);
const quotes = fc.constantFrom<Change>(
  (text) => text,
  (text) => text.replaceAll("'", "\u2019"),
  (text) => text.replaceAll(/[`"]/g, "\u201d"),
);

type Wrap = (message: string, status: number | null) => string;
const json =
  (make: (message: string) => unknown): Wrap =>
  (message) =>
    JSON.stringify(make(message));
const prompt = "Our prompt is too long: 9000 tokens > 8192 maximum, context_length_exceeded";

const wrappers: readonly Wrap[] = [
  (message) => message,
  json((message) => ({ error: { message, type: "invalid_request_error", param: null } })),
  json((error) => ({ error })),
  json((message) => ({ error: [message] })),
  json((message) => [{ error: { message, details: [] } }]),
  json((message) => ({ message, request_id: "8f1c0000-1234" })),
  json((msg) => ({ detail: [{ loc: ["body"], msg, type: "value_error", input: msg === "" ? "" : "the prompt" }] })),
  json((message) => ({ errors: [{ message }], success: false, result: null })),
  json((message) => ({ message: JSON.stringify({ error: { message } }) })),
  json((message) => ({
    error: {
      message: "Provider returned error",
      metadata: { raw: JSON.stringify({ type: "error", error: { message } }), provider_name: "P" },
    },
  })),
  json((status_msg) => ({ base_resp: { status_msg } })),
  json((message) => ({ error_code: "BAD_REQUEST", message })),
  (message, status) => `Error code: ${status ?? 0} - {'error': {'message': "${message}", 'type': 'invalid_request_error'}}`,
  (message) => `error: "${message}"`,
  (message) => `litellm.BadRequestError: OpenAIException - ${message}`,
];

const example = fc.constantFrom(...failureExamples.filter(({ report }) => report.message !== ""));
const change = fc
  .tuple(separators, quotes, casing, spaces)
  .map<Change>((changes) => (text) => changes.reduce((said, apply) => apply(said), text));
const dressed = fc.tuple(example, change, fc.constantFrom(...wrappers));

const judge = (of: FailureExample, message: string): ReturnType<typeof judgeFailure> => judgeFailure({ ...of.report, message });

describe("a failure keeps its class and its limit", () => {
  test("whatever it is dressed in, as text", () => {
    fc.assert(
      fc.property(dressed, ([of, apply, wrap]) => {
        const message = wrap(apply(of.report.message), of.report.status);
        expect({ message, ...judge(of, message) }).toMatchObject({ message, kind: of.kind, limit: of.limit });
      }),
      { numRuns: drawn(5_000), seed: 4 },
    );
  });

  test("whatever it is dressed in, as an error's body", () => {
    fc.assert(
      fc.property(dressed, ([of, apply, wrap]) => {
        const body = wrap(apply(of.report.message), of.report.status);
        const described = describeError(body);
        const { status, code, type } = of.report;
        const report: FailureReport = { status, message: described.message, code: code ?? described.code, type: type ?? described.type };
        expect({ body, ...judgeFailure(report) }).toMatchObject({ body, kind: of.kind, limit: of.limit });
      }),
      { numRuns: drawn(5_000), seed: 5 },
    );
  });

  test("and no failure becomes an overflow, whatever its numbers are", () => {
    const others = failureExamples.filter(({ kind }) => kind !== "overflow" && kind !== "output_cap");
    const scaled = fc.tuple(fc.constantFrom(...others), fc.integer({ min: 1, max: 900 }), change, fc.constantFrom(...wrappers));
    fc.assert(
      fc.property(scaled, ([of, factor, apply, wrap]) => {
        const text = of.report.message.replaceAll(NUMBERS, (digits) => String(Number(digits) * factor));
        const message = wrap(apply(text), of.report.status);
        expect({ message, overflow: judge(of, message).kind === "overflow" }).toEqual({ message, overflow: false });
      }),
      { numRuns: drawn(5_000), seed: 6 },
    );
  });

  test("and what a gateway sends back of the prompt is not read", () => {
    const body = JSON.stringify({ detail: [{ msg: "Field required", type: "missing", input: { messages: [{ content: prompt }] } }] });
    expect(judgeFailure({ status: 422, ...describeError(body) }).kind).toBe("invalid_param");
  });
});
