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

  test("under the etag as it is now is made", async () => {
    const life = await newLife();
    await life.service.patch(CALLER, { title: "One" });

    expect(await life.service.patch(CALLER, { title: "Two" }, under(await readEtag(life)))).toMatchObject({ value: { title: "Two" } });
  });
});
