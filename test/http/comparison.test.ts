/** The comparison of two summaries over HTTP: the calls to the session's object. */
import { describe, expect, it } from "vitest";
import type { CompareInput } from "../../src/app/draft-api";
import type { SummaryComparison } from "../../src/contract/comparison";
import { err, ok } from "../../src/lib/result";
import { makeId, readProblem, SESSION, world } from "./support";

const path = `/v1/sessions/${SESSION}/compactions/compare`;
const draft = makeId("cmp");
const side = {
  text: "They spoke.",
  tokens: { tokens: 3, source: "estimated", error_bound: 9 } as const,
  range: { from: 1, to: 4 },
  model: null,
  summary_instructions: null,
  edited: null,
  kept: 0,
};
const comparison: SummaryComparison = {
  a: { summary: "current", ...side },
  b: { summary: draft, ...side },
  terms: [{ term: "Bella", kind: "name", count: 3, in_a: false, in_b: true }],
  terms_complete: true,
  diff: [{ in: "both", line: "They spoke." }],
  model: null,
  questions: [],
};

function comparing() {
  const seen: CompareInput[] = [];
  const compareSummaries = async (_: unknown, input: CompareInput) => {
    seen.push(input);
    return ok(comparison);
  };
  return { ...world({ session: { compareSummaries } }), seen };
}

describe("a comparison", () => {
  it("passes on the given fields, and empty values for absent ones", async () => {
    const { call, seen } = comparing();

    const response = await call("POST", path, { body: { a: "current", b: draft } });
    await call("POST", path, {
      body: { a: draft, b: draft, questions: [{ question: "Who?" }, { question: "Where?", expect: "B-17" }], model: "m" },
    });

    expect([response.status, await response.json()]).toEqual([200, comparison]);
    expect(seen).toEqual([
      { a: "current", b: draft, questions: [], model: null },
      {
        a: draft,
        b: draft,
        questions: [
          { question: "Who?", expect: null },
          { question: "Where?", expect: "B-17" },
        ],
        model: "m",
      },
    ]);
  });

  it.each([
    [{ b: draft }, "a"],
    [{ a: "newest", b: draft }, "a"],
    [{ a: "current", b: draft, questions: [{ question: " " }] }, "questions.0.question"],
    [{ a: "current", b: draft, questions: [{ question: "Who?", expect: "" }] }, "questions.0.expect"],
    [{ a: "current", b: draft, questions: Array.from({ length: 21 }, () => ({ question: "Who?" })) }, "questions"],
    [{ a: "current", b: draft, model: "" }, "model"],
  ])("%# is refused by the field's name", async (body, field) => {
    const { call, seen } = comparing();

    const response = await call("POST", path, { body });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
    expect(seen).toEqual([]);
  });

  it("with an unknown model is 400 at its name", async () => {
    const { call } = world({ session: { compareSummaries: async () => err({ code: "unknown_model", model: "m" }) } });

    const response = await call("POST", path, { body: { a: "current", b: draft, questions: [{ question: "Who?" }], model: "m" } });

    expect([response.status, (await readProblem(response)).errors?.[0]?.field]).toEqual([400, "model"]);
  });
});
