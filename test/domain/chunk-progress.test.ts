/** A retry continues with the chunks of the last attempt if the plan is the same. */
import { expect, test } from "vitest";
import type { Command } from "../../src/domain/commands";
import type { SummaryPlan } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { id, item, play, summaryPlan, viewing } from "../support/builders";

const CMP = id("cmp", 1);
const items = Array.from({ length: 12 }, (_, index) => item(index + 1, index % 2 === 0 ? "user" : "assistant"));

const request: Command = { type: "RequestCompaction", at: 10, compaction: CMP, trigger: "threshold", options: null };
const lease = (at: number, plan: SummaryPlan): Command => ({
  type: "LeaseCompaction",
  at,
  compaction: CMP,
  plan: { base_epoch: 0, ...plan },
  expiresAt: at + 100,
  attemptLimit: 5,
  inline: null,
});
const progress: Command = {
  type: "ProgressCompaction",
  at: 30,
  compaction: CMP,
  token: 1,
  expiresAt: 200,
  part: { summary: { body: id("bod", 1), bytes: 9, tokens: 3 }, stage: "history", history: null, position: 5, chars: 0, parts: 1 },
  call: {
    turn: null,
    purpose: "compaction",
    model: "m",
    epoch: 0,
    up_to: 12,
    usage: null,
    estimate: 0,
    request_digest: null,
    outcome: "stop",
    ms: 1,
    lease: 1,
  },
};
const fail: Command = {
  type: "FailCompaction",
  inside: null,
  at: 40,
  compaction: CMP,
  token: 1,
  failure: "timeout",
  attemptLimit: 5,
  call: null,
  fallback: null,
};

const retriedWith = (plan: SummaryPlan): SessionState["compaction"]["requested"] =>
  play([request, lease(20, summaryPlan(1, 8)), progress, fail, lease(50, plan)], viewing(items)).state.compaction.requested;

test("an attempt that is planned alike goes on from the last part", () => {
  expect(retriedWith(summaryPlan(1, 8))).toMatchObject({ attempts: 2, folded: { position: 5, parts: 1 } });
});

test("messages that came since are read at the end of it", () => {
  expect(retriedWith(summaryPlan(1, 10))?.folded).toMatchObject({ position: 5 });
});

test("one that updates an earlier summary, begins elsewhere, ends before the part, splits elsewhere or asks otherwise begins anew", () => {
  const others: SummaryPlan[] = [
    summaryPlan(1, 8, { merge: true, replaces: [id("ovl", 1)] }),
    summaryPlan(3, 8),
    summaryPlan(1, 4),
    summaryPlan(1, 8, { split: 3 }),
    summaryPlan(1, 8, { mode: "same_prefix" }),
  ];
  for (const plan of others) expect(retriedWith(plan)?.folded).toBeNull();
});
