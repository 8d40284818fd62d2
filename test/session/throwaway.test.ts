/** A session for one request of a stateless API: it has no rows, does nothing unasked, and leaves nothing but what it used. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { RespondInput } from "../../src/app/respond-api";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import { ringAlarm } from "../../src/session/alarm";
import { hasSchema } from "../../src/session/log/log-schema";
import type { Sql } from "../../src/session/log/sql";
import { CALLER, Life, SPEC, settle } from "./life";

const HOUR_MS = 60 * 60 * 1_000;
const OPEN = { model: SPEC.id, policy: "oneclaw", system: null, tools: null, title: null, metadata: {}, throwaway: true } as const;
const user = (text: string) => ({ role: "user", parts: [{ type: "text", text }] }) as const;
const ASK = { after: null, results: [], messages: [user("hello")], run: true, tools: null, idempotency: null } as const;

function newThrowaway(sql: Sql = createNodeSql(), incarnation = "life-1") {
  const life = new Life(sql, incarnation);
  const handed: (readonly ErasedUsage[])[] = [];
  const tenant = { isAway: false };
  const refuse = async () => {
    throw new Error("a throwaway session reaches neither rows nor the list of erased sessions");
  };
  life.projection = { write: refuse, erase: refuse, forgetEndUsers: refuse };
  life.usageArchive = { keep: refuse };
  life.endThrowaway = async (_, usage) => {
    if (tenant.isAway) throw new Error("out of reach");
    handed.push(usage);
  };
  return { life, handed, tenant };
}

async function begin(life: Life, input: Partial<RespondInput> = {}) {
  const begun = await life.service.openAndRespond(CALLER, { open: OPEN, respond: { ...ASK, ...input } });
  await settle();
  return begun;
}

const ring = async (life: Life, ms: number): Promise<void> => {
  await life.advance(ms);
  life.alarmAt = null;
  ringAlarm(life.runtime);
  await settle();
};

describe("a throwaway session", () => {
  test("is opened and answered by one call, and ends with what it used, when it is erased", async () => {
    const { life, handed } = newThrowaway();
    expect(await begin(life)).toMatchObject({ ok: true, value: { turn_id: expect.any(String) } });
    await life.answer("Hello.");
    await life.advance(60_000);
    expect(life.asked).toBe("t");

    const erased = await life.service.erase(CALLER);

    expect(erased).toMatchObject({
      ok: true,
      value: { id: CALLER.session, stores: [{ status: "erased" }, { status: "erased", rows: 0 }] },
    });
    expect(handed).toMatchObject([[{ model: SPEC.id, calls: 1, input: 10 }]]);
    expect(hasSchema(life.sql)).toBe(false);
    expect(await life.service.describe(CALLER)).toMatchObject({ ok: false, error: { code: "session_not_found" } });
    expect(await life.service.erase(CALLER)).toMatchObject({ ok: false, error: { code: "session_not_found" } });
  });

  test("asks for no title, and requests no compaction behind its turn", async () => {
    const { life } = newThrowaway();
    const policy = JSON.stringify({ preset: "oneclaw", title_model: SPEC.id, trigger: { at: "after_response", ratio: 0.05 } });
    await life.service.openAndRespond(CALLER, { open: { ...OPEN, policy }, respond: { ...ASK, messages: [user("word ".repeat(2_000))] } });
    await settle();
    await life.answer("Hello.", 4_000);
    await life.advance(60_000);

    expect(life.asked).toBe("t");
    expect(life.jobs).toEqual([]);
    expect(life.runtime.state.compaction.requested).toBe(null);
  });

  test("compacts nothing that fits, whatever its policy's threshold is, and makes room where it must", async () => {
    const policy = JSON.stringify({ preset: "oneclaw", trigger: { at: "before_turn", window_ratio: 0.5 } });
    for (const [words, fits] of [
      [385, true],
      [1_000, false],
    ] as const) {
      const { life } = newThrowaway();
      const reply = { role: "assistant", parts: [{ type: "text", text: "a" }] } as const;
      const messages = [...Array.from({ length: 15 }, () => [user("word ".repeat(words)), reply]).flat(), user("go on")];
      await life.service.openAndRespond(CALLER, { open: { ...OPEN, policy }, respond: { ...ASK, messages } });
      await settle();
      expect([words, life.asked.startsWith("t")]).toEqual([words, fits]);
    }
  });

  test("that is refused leaves nothing", async () => {
    const { life } = newThrowaway();
    expect(await begin(life, { messages: [] })).toMatchObject({ ok: false, error: { code: "invalid", field: "messages" } });
    expect(hasSchema(life.sql)).toBe(false);
  });

  test("stops its turn, and counts its call, when its client has left", async () => {
    const { life, handed } = newThrowaway();
    await begin(life);
    await life.service.erase(CALLER);
    await settle();

    expect(life.call.signal.aborted).toBe(true);
    expect(handed).toMatchObject([[{ calls: 1 }]]);
    await life.say({ type: "text", text: "late" });
    await life.advance(60_000);
    expect(hasSchema(life.sql)).toBe(false);
    expect(life.log.lines.filter(({ event }) => event.endsWith("_threw") || event.endsWith("_failed"))).toEqual([]);
  });

  test("that was left behind ends an hour after its last event, also in another life of its object", async () => {
    for (const dies of [false, true]) {
      const { life, handed } = newThrowaway();
      await begin(life);
      await life.advance(30 * 60_000);
      await life.answer("Hello.");
      const next = dies ? newThrowaway(life.sql, "life-2") : null;
      const later = next?.life ?? life;
      later.time.advance(dies ? HOUR_MS / 2 : 0);

      await ring(later, HOUR_MS - 60_000);
      expect(hasSchema(life.sql)).toBe(true);
      expect(later.alarmAt).toBeLessThanOrEqual(later.time.now() + 60_000);
      await ring(later, 60_000);

      expect(hasSchema(life.sql)).toBe(false);
      expect(next?.handed ?? handed).toMatchObject([[{ calls: 1 }]]);
    }
  });

  test("waits with its end for the tenant's object, and takes no message meanwhile", async () => {
    const { life, handed, tenant } = newThrowaway();
    await begin(life);
    await life.answer("Hello.");
    tenant.isAway = true;
    expect(await life.service.erase(CALLER)).toMatchObject({ ok: true, value: { stores: [{ status: "pending" }, { status: "pending" }] } });
    expect(await begin(life)).toMatchObject({ ok: false, error: { code: "session_erased" } });
    expect(hasSchema(life.sql)).toBe(true);

    tenant.isAway = false;
    const next = newThrowaway(life.sql, "life-2");
    await ring(next.life, 60_000);

    expect([...handed, ...next.handed]).toMatchObject([[{ calls: 1 }]]);
    expect(hasSchema(life.sql)).toBe(false);
  });

  test("has no log to copy into rows", async () => {
    const { life } = newThrowaway();
    await begin(life);
    expect(await life.service.exportLog(CALLER, { after: 0, limit: 10 })).toEqual({ ok: false, error: { code: "session_not_found" } });
  });
});
