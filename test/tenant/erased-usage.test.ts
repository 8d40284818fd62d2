import { expect, test } from "vitest";
import { type ErasedUsage, sumForErasure, USAGE_SLOT_MS } from "../../src/domain/erased-usage";
import type { SessionId } from "../../src/domain/ids";
import { createErasedUsage } from "../../src/tenant/usage/erased-usage";
import { makeId } from "../read-model/builders";
import { createMigratedSql } from "./memory-sql";
import { NAMES } from "./support";

const call = (at: number, model = "m") => ({ at, model, purpose: "turn", usage: null, outcome: "stop", cost: 0.25 }) as const;
const noName = () => null;
const one = (number: number): SessionId => makeId("ses", number);

test("calls are summed by the quarter of an hour, the model and the purpose", () => {
  const sums = sumForErasure([call(1), call(USAGE_SLOT_MS - 1), call(USAGE_SLOT_MS), call(2, "n")], noName);
  expect(sums.map(({ at, model, calls, cost }) => [at, model, calls, cost])).toEqual([
    [0, "m", 2, 0.5],
    [USAGE_SLOT_MS, "m", 1, 0.25],
    [0, "n", 1, 0.25],
  ]);
});

test("a ledger that is handed over again is kept once, and an empty one takes nothing away", () => {
  const store = createErasedUsage(createMigratedSql(), NAMES);
  const usage: readonly ErasedUsage[] = sumForErasure([call(1), call(2)], noName);

  expect(store.keep(one(1), usage)).toEqual(usage);
  expect(store.keep(one(1), usage)).toEqual(usage);
  expect(store.keep(one(1), [])).toEqual(usage);
  expect(store.keep(one(2), [])).toEqual([]);
});

test("a session that reports before and after its tenant's deletion has a new revision without owners, which the read model takes instead", () => {
  const kept = { are: true };
  const store = createErasedUsage(createMigratedSql(), { ...NAMES, areKept: () => kept.are });
  const usage = sumForErasure([call(1), call(2)], noName).map((sums) => ({ ...sums, key_id: "key_1", end_user: "ada" }));
  expect(store.keep(one(1), usage)).toMatchObject([{ end_user: "ada" }]);

  kept.are = false;

  const nameless = { calls: 2, key_id: "", end_user: "" };
  expect(store.keep(one(1), usage)).toMatchObject([{ ...nameless, revision: 1 }]);
  expect(store.keep(one(1), usage)).toMatchObject([{ ...nameless, revision: 1 }]);
  expect(store.keep(one(2), usage)).toEqual([expect.objectContaining(nameless)]);
});

test("sessions are listed in order, whole, a page at a time", () => {
  const store = createErasedUsage(createMigratedSql(), NAMES);
  for (const number of [3, 1, 2]) store.keep(one(number), sumForErasure([call(1), call(1, "n")], noName));

  const first = store.list({ after: null, sessions: 2 });
  expect(first.map(({ session, usage }) => [session, usage.length])).toEqual([
    [one(1), 2],
    [one(2), 2],
  ]);
  expect(store.list({ after: one(2), sessions: 2 }).map(({ session }) => session)).toEqual([one(3)]);
  expect(store.list({ after: one(3), sessions: 2 })).toEqual([]);
});
