/** A session holds the calls of a restricted key to what that key reaches and may use (docs/key-restrictions.md). */
import { describe, expect, test } from "vitest";
import type { Caller } from "../../src/app/session-api";
import type { Restriction } from "../../src/domain/key-restriction";
import { CALLER, Life, MESSAGE, SPEC, settle } from "./life";

const FREE: Restriction = { models: null, end_users: null, metadata: null };
const OTHER = { ...SPEC, id: "other-model" };
const held = (restriction: Partial<Restriction>): Caller => ({ ...CALLER, restriction: { ...FREE, ...restriction } });

async function open(): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (id) => (id === OTHER.id ? OTHER : SPEC) };
  const settings = {
    model: SPEC.id,
    policy: "oneclaw",
    system: null,
    tools: null,
    title: null,
    end_user: "ada",
    metadata: { shop: "north" },
  };
  await life.service.open(CALLER, settings);
  await settle();
  return life;
}

describe("a key that is held to some sessions", () => {
  test.each<[string, Partial<Restriction>]>([
    ["of another end user", { end_users: ["eve"] }],
    ["with other metadata", { metadata: { shop: "south" } }],
    ["with more metadata", { metadata: { shop: "north", floor: "2" } }],
  ])("finds none where its sessions are those %s, and begins no turn in it", async (_, restriction) => {
    const life = await open();
    const { seq } = life.runtime.state;
    const { service } = life;
    const refused = { ok: false, error: { code: "session_not_found" } };

    expect(await service.describe(held(restriction))).toEqual(refused);
    expect(await service.submit(held(restriction), MESSAGE)).toEqual(refused);
    await settle();
    expect([life.runtime.state.seq, life.calls]).toEqual([seq, []]);
  });

  test.each<[string, Partial<Restriction>]>([
    ["end user", { end_users: ["bob", "ada"] }],
    ["metadata", { metadata: { shop: "north" } }],
    ["both", { end_users: ["ada"], metadata: { shop: "north" } }],
  ])("reaches its own, by %s", async (_, restriction) => {
    const life = await open();

    expect((await life.service.submit(held(restriction), MESSAGE)).ok).toBe(true);
    await settle();
    expect(life.calls).toHaveLength(1);
  });
});

describe("a turn of another model that is repeated", () => {
  const WAYS: readonly [string, (life: Life, caller: Caller) => Promise<{ readonly ok: boolean }>][] = [
    ["retried", (life, caller) => life.service.retry(caller, { idempotency: null })],
    [
      "answered anew",
      async (life, caller) => {
        const message = life.runtime.state.view.items[0]?.id;
        if (!message) throw new Error("no message");
        return life.service.regenerate(caller, { message, idempotency: null });
      },
    ],
  ];

  test.each(WAYS)("is %s by the session's model for a key that is held to models, and by its own for another key", async (_, repeat) => {
    for (const [caller, model] of [
      [held({ models: [SPEC.id] }), SPEC.id],
      [CALLER, OTHER.id],
    ] as const) {
      const life = await open();
      await life.service.submit(CALLER, { ...MESSAGE, model: OTHER.id });
      await settle();
      expect(life.call.request.model.id).toBe(OTHER.id);
      await life.service.stop(CALLER, { idempotency: null });
      await settle();

      expect((await repeat(life, caller)).ok).toBe(true);
      await settle();
      expect([life.calls.length, life.call.request.model.id]).toEqual([2, model]);
    }
  });
});
