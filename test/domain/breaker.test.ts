/** The breaker is judged by outcome: what failed for good, and what gained nothing (docs/compaction-protocol.md). */
import { describe, expect, test } from "vitest";
import { appendItems } from "../../src/domain/append-items";
import { describeBreaker, isBreakerOpen } from "../../src/domain/breaker";
import type { Command } from "../../src/domain/commands";
import type { CompactionFailure, EpochOp } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { id, item, play, RECEIPT, summaryPlan, viewing } from "../support/builders";

const items = Array.from({ length: 8 }, (_, index) => item(index + 1, index % 2 === 0 ? "user" : "assistant", { tokens: 100 }));

const request = (n: number, trigger: "threshold" | "manual" = "threshold"): Command => ({
  type: "RequestCompaction",
  at: n,
  compaction: id("cmp", n),
  trigger,
  options: null,
});
const fail = (n: number, failure: CompactionFailure = "empty"): Command[] => [
  request(n),
  {
    type: "FailCompaction",
    at: n,
    compaction: id("cmp", n),
    token: null,
    failure,
    attemptLimit: 1,
    call: null,
    inside: null,
    fallback: null,
  },
];
const summarize = (n: number, op: Partial<Extract<EpochOp, { op: "summarize" }>>, receipt = RECEIPT): Command[] => [
  request(n),
  {
    type: "LeaseCompaction",
    at: n,
    compaction: id("cmp", n),
    plan: { base_epoch: n - 1, ...summaryPlan(op.from ?? n, op.to ?? n, { keeps: op.keeps ?? [] }) },
    expiresAt: n + 100,
    attemptLimit: 2,
    inline: null,
  },
  {
    type: "RecordCompaction",
    at: n,
    compaction: id("cmp", n),
    token: n,
    call: null,
    inside: null,
    change: {
      base_epoch: n - 1,
      receipt,
      ops: [
        {
          op: "summarize",
          overlay: id("ovl", n),
          from: n,
          to: n,
          replaces: [],
          keeps: [],
          tokens: 99,
          bytes: 9,
          items: 1,
          boundary_timestamp: 0,
          generation: 0,
          mode: "transcript",
          read: { ranges: [], overlays: [] },
          ...op,
        },
      ],
    },
  },
];
const having = (...commands: Command[]): SessionState => play(commands, viewing(items)).state;
const FRUITLESS = { ...RECEIPT, tokens_before: 100, tokens_after: 91 };

describe("the breaker opens", () => {
  test("at the third compaction that failed for good, and asks for a fifth of the view in new tokens", () => {
    expect(having(...fail(1), ...fail(2)).compaction).toMatchObject({ failures: 2, breaker: null });
    expect(having(...fail(1), ...fail(2), ...fail(3)).compaction).toMatchObject({ failures: 3, breaker: { appended: 0, needed: 160 } });
  });

  test("not for what was voided or had nothing to do", () => {
    const idle = having(...fail(1, "superseded"), ...fail(2, "nothing_to_do"), ...fail(3), ...fail(4));
    expect(idle.compaction).toMatchObject({ failures: 2, breaker: null });
  });

  test("at the second summary in a row that freed less than a tenth", () => {
    const twice = having(...summarize(1, {}, FRUITLESS), ...summarize(2, {}, FRUITLESS));
    expect(twice.compaction).toMatchObject({ fruitless: 2, breaker: { needed: Math.ceil(twice.view.tokens / 5) } });
    expect(having(...summarize(1, {}, FRUITLESS), ...summarize(2, {})).compaction).toMatchObject({ fruitless: 0, breaker: null });
  });
});

describe("it closes", () => {
  const open = having(...fail(1), ...fail(2), ...fail(3));

  const more = (state: SessionState, tokens: number): SessionState => appendItems(state, [item(state.next_position, "user", { tokens })]);
  const closesAfter = ({ compaction }: SessionState): number | null => describeBreaker(compaction).closes_after;

  test("when a fifth of the view has been appended, whatever left it meanwhile", () => {
    expect(describeBreaker(open.compaction)).toEqual({ open: true, failures: 3, fruitless: 0, closes_after: 160 });
    const dropped = { ...more(open, 100), view: viewing([]).view };
    expect([closesAfter(dropped), closesAfter(more(dropped, 59)), closesAfter(more(dropped, 60))]).toEqual([60, 1, null]);
    expect(describeBreaker(more(dropped, 60).compaction)).toMatchObject({ open: false, failures: 3 });
  });

  test("after twice as much each time that it opens again", () => {
    const again = play(fail(4), more(open, 160)).state;
    const third = play(fail(5), more(again, 320)).state;
    expect([open, again, third].map(closesAfter)).toEqual([160, 320, 640]);
  });

  test("when asked by hand", () => {
    expect(play([request(4, "manual")], open).state.compaction).toMatchObject({ failures: 0, breaker: null });
  });

  test("with another model or policy, not with another title", () => {
    const change = (changes: Extract<Command, { type: "ChangeSettings" }>["changes"]): boolean =>
      isBreakerOpen(play([{ type: "ChangeSettings", at: 9, changes }], open).state.compaction);
    expect(change({ model: "other" })).toBe(false);
    expect(change({ policy: "opal" })).toBe(false);
    expect(change({ title: null })).toBe(true);
  });
});

test("what a summary keeps stays in the view, in its place", () => {
  const kept = having(...summarize(1, { from: 1, to: 3, keeps: [1] }));
  expect(kept.view.items.map((known) => known.position)).toEqual([1, 4, 5, 6, 7, 8]);
});
