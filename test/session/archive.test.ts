/** A session that is put away by hand or by its tenant's retention, in its object and in the rows of the read model. */
import { describe, expect, test } from "vitest";
import { NO_RETENTION } from "../../src/app/retention";
import type { RetentionSetting } from "../../src/contract/retention";
import { createProjection } from "../../src/read-model/writer";
import { SimD1 } from "../simulation/sim-d1";
import { CALLER, Life, settle } from "./life";
import { newLife, say, useTools } from "./talk";

const DAY = 86_400_000;
const MONTH: RetentionSetting = { ...NO_RETENTION, archive_sessions_after_days: 30 };
const real = { setting: MONTH, isDryRun: false };

async function oldLife(): Promise<Life> {
  const life = await newLife();
  await say(life, "Where shall we go?", "To the sea.");
  life.time.advance(30 * DAY);
  return life;
}

const send = (life: Life) =>
  life.service.submit(CALLER, {
    role: "user",
    parts: [{ type: "text", text: "hello" }],
    run: true,
    onBusy: "queue",
    tools: null,
    idempotency: null,
  });
const isArchived = (life: Life): boolean => life.runtime.state.archived_at !== null;

describe("by hand", () => {
  test("a session is put away and brought back, each as often as it is asked, and its settings keep their etag", async () => {
    const life = await oldLife();
    const before = await life.service.describe(CALLER);
    if (!before.ok) throw new Error(before.error.code);

    const archived = await life.service.archive(CALLER);
    const { seq } = life.runtime.state;
    expect(archived).toEqual({ ok: true, value: { ...before.value, archived_at: life.time.now() } });
    expect(await life.service.archive(CALLER)).toEqual(archived);
    expect(life.runtime.state.seq).toBe(seq);
    const back = await life.service.unarchive(CALLER);
    expect(back).toMatchObject({ ok: true, value: { archived_at: null, etag: before.value.etag, updated_at: life.time.now() } });
    expect(await life.service.unarchive(CALLER)).toEqual(back);
  });

  test("a session whose turn is open is refused", async () => {
    const life = await newLife();
    await life.send("hello");
    expect(await life.service.archive(CALLER)).toMatchObject({ error: { code: "turn_running" } });
  });

  test("another tenant's session is not there", async () => {
    const life = await oldLife();
    const other = { ...CALLER, tenant: "ten_01K00000000000000000000009" as typeof CALLER.tenant };
    for (const call of [life.service.archive(other), life.service.unarchive(other)])
      expect(await call).toMatchObject({ error: { code: "session_not_found" } });
    expect(isArchived(life)).toBe(false);
  });
});

describe("by retention", () => {
  test("an idle session is archived, with the rule as the cause; it is not used thereby, and not due again", async () => {
    const life = await oldLife();
    const used_at = life.runtime.state.updated_at;

    const done = await life.service.retain(CALLER, real);
    expect(done).toMatchObject({ ok: true, value: { used_at, due: [{ action: "archive_session", due_at: used_at + 30 * DAY }] } });
    expect([isArchived(life), life.runtime.state.updated_at]).toEqual([true, used_at]);
    expect(life.events().at(-1)).toMatchObject({ type: "SessionArchived", cause: "retention" });
    expect(await life.service.retain(CALLER, real)).toMatchObject({ ok: true, value: { due: [] } });
  });

  test("stays under a dry run, which says the same", async () => {
    const life = await oldLife();
    const before = life.events();
    const said = await life.service.retain(CALLER, { ...real, isDryRun: true });
    expect(life.events()).toEqual(before);
    expect(await life.service.retain(CALLER, real)).toEqual(said);
  });

  test("a session that was brought back is idle for another month before it is archived again", async () => {
    const life = await oldLife();
    await life.service.retain(CALLER, real);
    life.time.advance(5 * DAY);
    await life.service.unarchive(CALLER);
    life.time.advance(30 * DAY - 1);
    expect(await life.service.retain(CALLER, real)).toMatchObject({ value: { due: [] } });
    life.time.advance(1);
    expect(await life.service.retain(CALLER, real)).toMatchObject({ value: { due: [{ action: "archive_session" }] } });
  });

  test("an archived session is erased when the rule for that comes, counted from its last use", async () => {
    const life = await oldLife();
    const setting: RetentionSetting = { ...MONTH, erase_sessions_after_days: 40 };
    await life.service.retain(CALLER, { setting, isDryRun: false });
    expect(isArchived(life)).toBe(true);
    life.time.advance(10 * DAY);
    expect(await life.service.retain(CALLER, { setting, isDryRun: false })).toMatchObject({
      value: { due: [{ action: "erase_session" }] },
    });
    expect(await life.service.describe(CALLER)).toMatchObject({ error: { code: "session_erased" } });
  });

  test("old results go from a session that is archived in the same step", async () => {
    const life = await newLife();
    await useTools(life, "What do they have?", ["the raw result"]);
    life.time.advance(30 * DAY);
    const setting: RetentionSetting = { ...MONTH, remove_tool_results_after_days: 30 };

    const done = await life.service.retain(CALLER, { setting, isDryRun: false });

    expect(done).toMatchObject({ value: { due: [{ action: "archive_session" }, { action: "remove_tool_results", results: 1 }] } });
    expect(isArchived(life)).toBe(true);
    expect(JSON.stringify(life.sql.all("SELECT * FROM bodies"))).not.toContain("the raw result");
  });

  test("a message at the same time is answered, whichever comes first, and the session is then not archived", async () => {
    for (const messageFirst of [true, false]) {
      const life = await oldLife();
      const retain = () => life.service.retain(CALLER, real);
      const [sent, retained] = messageFirst
        ? await Promise.all([send(life), retain()])
        : await Promise.all([retain(), send(life)]).then(([second, first]) => [first, second] as const);

      expect([sent.ok, isArchived(life), life.runtime.state.turn !== null]).toEqual([true, false, true]);
      expect(retained.ok).toBe(true);
      await life.answer("here");
    }
  });
});

test("the next life of the object knows that the session is archived, and a change of it brings the session back", async () => {
  const life = await oldLife();
  await life.service.archive(CALLER);
  const next = new Life(life.sql, "life-2");
  next.models = life.models;

  expect(await next.service.describe(CALLER)).toMatchObject({ value: { archived_at: life.time.now() } });
  expect(next.runtime.state).toEqual(life.runtime.state);
  expect(await next.service.patch(CALLER, { title: null })).toMatchObject({ value: { archived_at: null } });
  expect(isArchived(next)).toBe(false);
});

test("the row of the read model follows, and keeps the time of the last use", async () => {
  const life = await oldLife();
  const { direct } = new SimD1();
  life.projection = createProjection(direct);
  const readRow = async () => {
    await life.advance(1_000);
    life.runtime.drain.start();
    await settle();
    return (await direct.prepare("SELECT archived_at, updated_at FROM sessions").all()).results;
  };
  const { updated_at } = life.runtime.state;

  await life.service.archive(CALLER);
  const { archived_at } = life.runtime.state;
  expect(archived_at).not.toBeNull();
  expect(await readRow()).toEqual([{ archived_at, updated_at }]);
  await life.service.unarchive(CALLER);
  expect(await readRow()).toEqual([{ archived_at: null, updated_at: life.runtime.state.updated_at }]);
});
