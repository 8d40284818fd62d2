/** The session's reaction to summaries of the lab that fail, or are too long or too short. */
import { describe, expect, test } from "vitest";
import { toColumn } from "../../scripts/lab/column";
import { filler } from "../../scripts/lab/engine/filler";
import type { Figures } from "../../scripts/lab/engine/ledger";
import { runColumn } from "../../scripts/lab/engine/run-column";
import { toSetup } from "../../scripts/lab/engine/setup";
import { findSummariser } from "../../scripts/lab/summariser";
import { countTokens, trueTokens } from "../../scripts/lab/true-tokens";
import type { RecordedMessage } from "../../scripts/replay/recording";
import { STRUCTURED_SECTIONS } from "../../src/context/prompts";
import type { Summariser, SummariserAnswer, SummaryAsked } from "../../src/evaluate/summariser";

const WINDOW = 8_000;
const talk = Array.from({ length: 120 }, (_, turn): RecordedMessage[] => [
  { role: "user", content: filler(90, `user ${turn}`) },
  { role: "assistant", content: filler(110, `reply ${turn}`) },
]).flat();
const column = toColumn("made up", WINDOW, [{ id: "c", system: filler(200, "system"), messages: talk }]);

const run = (summariser: (() => Summariser) | null, policy = "balanced"): Figures =>
  runColumn(column, toSetup(policy, { guard: true, eachCall: false, countsChain: false, recall: false, summariser }), trueTokens);

const inSections = (tokens: number): string =>
  Array.from({ length: STRUCTURED_SECTIONS }, (_, at) => `## Part\n${filler(Math.round(tokens / STRUCTURED_SECTIONS), at)}`).join("\n");

/** Gives these answers, one for each call, and repeats the last one. */
const answering =
  (...answers: ((asked: SummaryAsked) => SummariserAnswer)[]) =>
  (): Summariser => {
    let calls = 0;
    return {
      answer: (asked) => {
        const answer = answers[Math.min(calls, answers.length - 1)];
        calls += 1;
        return answer?.(asked) ?? { ok: false, failure: "unavailable" };
      },
    };
  };

const said = (tokens: number, finish: "stop" | "length" = "stop"): SummariserAnswer => ({
  ok: true,
  text: inSections(tokens),
  finish,
  output: tokens,
});
const good = ({ expected }: SummaryAsked): SummariserAnswer => said(expected);
const gone = (): SummariserAnswer => ({ ok: false, failure: "unavailable" });

const ideal = run(null);

describe("a summariser of the lab", () => {
  test("that always does what is expected of it fails nothing and drops nothing", () => {
    const { compactions, summary_calls } = run(answering(good));
    expect(compactions).toBeGreaterThan(2);
    expect(run(answering(good))).toMatchObject({ summary_calls: compactions, summary_failures: 0, drops_without_summary: 0, overflows: 0 });
    expect(ideal).toMatchObject({ summary_failures: 0, drops_without_summary: 0 });
    expect(summary_calls).toBeGreaterThanOrEqual(ideal.summary_calls - 1);
  });

  test.each<[string, (asked: SummaryAsked) => SummariserAnswer]>([
    ["is out of reach", gone],
    ["takes too long", () => ({ ok: false, failure: "timeout" })],
    ["says nothing", () => ({ ok: true, text: "", finish: "stop", output: 0 })],
    ["refuses", () => ({ ok: true, text: inSections(300), finish: "content_filter", output: 300 })],
    ["forgets the headings", ({ expected }) => ({ ok: true, text: filler(expected, "a"), finish: "stop", output: expected })],
    ["writes five times what it may", ({ cap }) => said(5 * cap)],
    ["is cut off early", ({ cap }) => said(Math.round(cap / 3), "length")],
  ])("that %s once is asked once more, and nothing is dropped", (_, bad) => {
    expect(run(answering(bad, good))).toMatchObject({ summary_failures: 1, drops_without_summary: 0, overflows: 0 });
  });

  test("that runs to three times what it may is taken, cut", () => {
    const figures = run(answering(({ cap }) => said(3 * cap), good));
    expect(figures).toMatchObject({ summary_failures: 0, drops_without_summary: 0, overflows: 0 });
  });

  test("that fails for good leaves the fallback: each drop has cost all its attempts, until the breaker holds", () => {
    const figures = run(answering(gone));
    expect(figures).toMatchObject({ compactions: 0, overflows: 0, refused: 0, summary_cost: 0 });
    expect(figures.drops_without_summary).toBeGreaterThan(2);
    expect(figures.summary_calls).toBe(figures.summary_failures);
    expect(figures.summary_calls).toBeLessThanOrEqual(2 * (ideal.summary_calls + 3));
  });

  test("that takes too long has read what it was given", () => {
    expect(run(answering(() => ({ ok: false, failure: "timeout" }))).summary_cost).toBeGreaterThan(0);
  });

  test("under a policy that asks for a note leaves one in place of the summary", () => {
    expect(run(answering(gone), "opal")).toMatchObject({ compactions: 0, overflows: 0, malformed: [] });
  });
});

describe("what a summariser draws", () => {
  test("is the same for the same seed, and another for another", () => {
    expect(run(findSummariser("real", 7))).toEqual(run(findSummariser("real", 7)));
    expect(run(findSummariser("real", 7)).spent).not.toEqual(run(findSummariser("real", 8)).spent);
  });

  test("holds every manner about as often as is stated, and is as long as it says", () => {
    const summariser = findSummariser("real", 1)?.();
    const asked: SummaryAsked = { expected: 400, cap: 1_000, form: "structured", name: "a" };
    const answers = Array.from({ length: 400 }, () => summariser?.answer(asked) ?? gone());
    const share = (is: (answer: SummariserAnswer) => boolean): number => Math.round((100 * answers.filter(is).length) / answers.length);
    const failed = share(({ ok }) => !ok);
    expect(failed).toBeGreaterThanOrEqual(4);
    expect(failed).toBeLessThanOrEqual(10);
    const long = share((answer) => answer.ok && answer.finish === "stop" && answer.output >= asked.cap);
    expect(long).toBeGreaterThanOrEqual(5);
    expect(long).toBeLessThanOrEqual(11);
    for (const answer of answers) {
      if (!answer.ok || answer.output < 60) continue;
      expect(Math.abs(countTokens(answer.text) - answer.output)).toBeLessThanOrEqual(20);
    }
  });
});
