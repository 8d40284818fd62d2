/** The etag of a session's settings: what moves it, and what does not. */
import { describe, expect, test } from "vitest";
import type { Condition } from "../../src/app/conditions";
import { CALLER, Life } from "./life";
import { newLife, say } from "./talk";

const under = (etag: string): Condition => ({ match: [etag], none_match: null });

async function readEtag(life: Life): Promise<string> {
  const session = await life.service.describe(CALLER);
  if (!session.ok) throw new Error(session.error.code);
  return session.value.etag;
}

describe("the etag of a session's settings", () => {
  test("stays when messages come", async () => {
    const life = await newLife();
    await life.service.patch(CALLER, { title: "Holidays" });
    const before = await readEtag(life);

    await say(life, "Where shall we go?", "To the sea.");

    expect(await readEtag(life)).toBe(before);
  });

  test.each([
    ["the title", { title: "Work" }],
    ["metadata", { metadata: { topic: "work" } }],
    ["the system prompt", { system: "Be brief." }],
    ["the policy", { policy: "verbatim" }],
    ["the tools", { tools: [{ name: "look", parameters: { type: "object" } }] }],
  ] as const)("moves with %s", async (_, change) => {
    const life = await newLife();
    const before = await readEtag(life);

    const patched = await life.service.patch(CALLER, change);

    expect(patched.ok && patched.value.etag).toBe(await readEtag(life));
    expect(await readEtag(life)).not.toBe(before);
  });

  test("moves with the pins", async () => {
    const life = await newLife();
    const before = await readEtag(life);
    await life.service.setPins(CALLER, ["Answer in French."]);
    expect(await readEtag(life)).not.toBe(before);
  });

  test("is the same to the next life of the object", async () => {
    const life = await newLife();
    await life.service.patch(CALLER, { system: "Be brief.", metadata: { b: "2", a: "1" } });
    const before = await readEtag(life);

    expect(await readEtag(new Life(life.sql, "life-2"))).toBe(before);
  });
});

describe("a change under a condition", () => {
  test("of two that read the same state, the second changes nothing", async () => {
    const life = await newLife();
    const read = await readEtag(life);

    const both = await Promise.all([
      life.service.patch(CALLER, { title: "One", model: "test-model" }, under(read)),
      life.service.patch(CALLER, { title: "Two", model: "test-model" }, under(read)),
    ]);

    expect(both.filter((done) => done.ok)).toHaveLength(1);
    const now = await readEtag(life);
    expect(both.find((done) => !done.ok)).toEqual({ ok: false, error: { code: "precondition_failed", etag: now } });
    expect(await life.service.describe(CALLER)).toMatchObject({ value: { title: "One" } });
  });

  test("of an erasure compares before it hands over, ends or wipes anything", async () => {
    const life = await newLife();
    const old = await readEtag(life);
    await say(life, "Where shall we go?", "To the sea.");
    await life.service.patch(CALLER, { title: "Holidays" });
    const handed: unknown[] = [];
    life.usageArchive = {
      keep: async (session, usage) => {
        handed.push(session);
        return usage;
      },
    };
    const before = await life.service.events(CALLER, { after: null, limit: 100, order: "asc" });

    expect(await life.service.erase(CALLER, false, under(old))).toEqual({
      ok: false,
      error: { code: "precondition_failed", etag: await readEtag(life) },
    });
    expect(await life.service.events(CALLER, { after: null, limit: 100, order: "asc" })).toEqual(before);
    expect(handed).toEqual([]);

    const erased = await life.service.erase(CALLER, false, under(await readEtag(life)));
    expect([erased.ok, handed]).toEqual([true, [CALLER.session]]);
    // Its settings are gone, so that a repetition has nothing to compare.
    expect((await life.service.erase(CALLER, false, under(old))).ok).toBe(true);
  });

  test("of an erasure never erases what was changed in between", async () => {
    const life = await newLife();
    const read = await readEtag(life);

    const [patched, erased] = await Promise.all([
      life.service.patch(CALLER, { title: "One" }),
      life.service.erase(CALLER, false, under(read)),
    ]);

    expect([patched.ok, erased.ok]).toEqual([true, false]);
    expect(await life.service.describe(CALLER)).toMatchObject({ value: { title: "One" } });
  });

  test("of an erasure needs a session to compare: an empty object is unknown", async () => {
    const life = new Life();
    expect(await life.service.erase(CALLER, false, under('"any"'))).toMatchObject({ error: { code: "session_not_found" } });
  });

  test("under the etag as it is now is made", async () => {
    const life = await newLife();
    await life.service.patch(CALLER, { title: "One" });

    expect(await life.service.patch(CALLER, { title: "Two" }, under(await readEtag(life)))).toMatchObject({ value: { title: "Two" } });
  });
});
