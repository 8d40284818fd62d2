import { describe, expect, it, vi } from "vitest";
import { FIRST_PLACEMENT } from "../../src/app/placement";
import type { ModelSpec } from "../../src/app/ports";
import type { TenantBrief } from "../../src/app/tenant-api";
import { NO_LIMITS } from "../../src/contract/limits";
import { createTenantKnowledge } from "../../src/tenant/look-ups/tenant-knowledge";
import { SETTINGS } from "../http/support";
import { FakeSchedule } from "../support/fake-schedule";
import { makeId } from "./support";

const TENANT = makeId("ten", 1);
const MODEL: ModelSpec = {
  id: "m",
  provider: "openai",
  upstream_id: "m",
  base_url: null,
  context_window: 8_000,
  max_output: 1_024,
  source: "tenant",
  credential: "own",
};
const SEALED = { kid: "k", iv: "i", wrapped_key: "w", ciphertext: "c" } as never;

function given() {
  const time = new FakeSchedule();
  const work: Promise<unknown>[] = [];
  let isAway = false;
  const ask = vi.fn(async (_: string, model: string | null): Promise<TenantBrief | null> => {
    if (isAway) throw new Error("away");
    return {
      standing: { status: "active", suspended_at: null, reason: null },
      settings: SETTINGS,
      limits: NO_LIMITS,
      budgets: { revision: 3, budgets: [] },
      interest: ["turn.completed"],
      placement: FIRST_PLACEMENT,
      model: model === "m" ? { spec: MODEL, credential: { name: "own", sealed: SEALED } } : null,
    };
  });
  const askCredential = vi.fn(async () => SEALED);
  const placed: string[] = [];
  const knowledge = createTenantKnowledge({
    ask,
    askCredential,
    place: (tenant) => void placed.push(tenant),
    now: time.now,
    generation: () => 0,
    background: (each) => void work.push(each),
    schedule: time.schedule,
  });
  const lookUps: Readonly<Record<string, () => unknown>> = {
    standing: () => knowledge.standing(TENANT),
    settings: () => knowledge.settings(TENANT),
    limits: () => knowledge.limits(TENANT),
    budgets: () => knowledge.budgets(TENANT),
    model: () => knowledge.model(TENANT, "m"),
    credential: () => knowledge.credential(TENANT, "own"),
  };
  const done = () => Promise.all(work);
  const goAway = (): void => {
    isAway = true;
  };
  return { time, ask, askCredential, knowledge, lookUps, placed, done, goAway };
}

describe("an isolate that knows nothing of a tenant", () => {
  const FIRST = ["standing", "settings", "limits", "budgets", "model"];

  it.each(FIRST)("asks once for all that a turn needs, whichever it needs first: %s", async (first) => {
    const { ask, askCredential, knowledge, lookUps, placed } = given();
    knowledge.expectModel(TENANT, "m");
    await lookUps[first]?.();
    for (const lookUp of Object.values(lookUps)) expect(await lookUp()).not.toBeNull();

    expect([ask.mock.calls.length, askCredential.mock.calls.length]).toEqual([1, 0]);
    expect(knowledge.budgets.peek(TENANT)).toEqual({ revision: 3, budgets: [] });
    expect(placed).toEqual([TENANT]);
  });

  it("asks again for what webhooks want, since an answer from before the turn says nothing of its events", async () => {
    const { ask, knowledge } = given();
    await knowledge.limits(TENANT);
    const before = knowledge.interest.mark();

    expect(knowledge.interest.peek(TENANT)).toBeNull();
    expect((await knowledge.interest.lookUp(TENANT)).asked).toBeGreaterThan(before);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it("asks again for a model that it did not expect", async () => {
    const { ask, knowledge } = given();
    await knowledge.limits(TENANT);
    await knowledge.model(TENANT, "m");

    expect(ask.mock.calls).toEqual([
      [TENANT, null],
      [TENANT, "m"],
    ]);
  });

  it("finds no model that the tenant does not have", async () => {
    expect(await given().knowledge.model(TENANT, "other")).toBeNull();
  });
});

describe("an isolate that serves a tenant all the time", () => {
  it("asks every five seconds, for all at once, and no caller waits", async () => {
    const { time, ask, knowledge, lookUps, done } = given();
    knowledge.expectModel(TENANT, "m");
    for (let second = 0; second < 60; second++) {
      for (const lookUp of Object.values(lookUps)) await lookUp();
      await done();
      time.advance(1_000);
    }

    expect(ask).toHaveBeenCalledTimes(12);
  });

  it("goes on with what it knows while the tenant's object is away", async () => {
    const { time, knowledge, lookUps, goAway } = given();
    knowledge.expectModel(TENANT, "m");
    await lookUps.standing?.();
    await knowledge.interest.lookUp(TENANT);
    goAway();
    time.advance(30 * 60_000);

    for (const name of ["standing", "settings", "limits", "budgets", "model"]) expect(await lookUps[name]?.(), name).not.toBeNull();
    await expect(knowledge.interest.lookUp(TENANT)).rejects.toThrow("away");
  });
});
