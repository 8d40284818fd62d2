/** A session that judges itself by its tenant's retention. */
import { describe, expect, test } from "vitest";
import { NO_RETENTION } from "../../src/app/retention";
import type { RetentionSetting } from "../../src/contract/retention";
import { CALLER, Life } from "./life";
import { newLife, say } from "./talk";

const DAY = 86_400_000;
const MONTH: RetentionSetting = { ...NO_RETENTION, erase_sessions_after_days: 30 };
const real = { setting: MONTH, isDryRun: false };

async function oldLife(policy = "oneclaw"): Promise<Life> {
  const life = await newLife({ policy });
  await say(life, "Where shall we go?", "To the sea.");
  life.time.advance(30 * DAY);
  return life;
}

const readEvents = (life: Life) => life.service.events(CALLER, { after: null, limit: 100, order: "asc" });

describe("a session that was not used for as long as the rule says", () => {
  test("is erased, with the rule as the cause", async () => {
    const life = await oldLife();
    const causes: unknown[] = [];
    life.usageArchive = {
      keep: async (_, usage, cause) => {
        causes.push(cause);
        return usage;
      },
    };
    const used_at = life.runtime.state.updated_at;

    expect(await life.service.retain(CALLER, real)).toMatchObject({ ok: true, value: { used_at, due: [{ action: "erase_session" }] } });
    expect(await life.service.describe(CALLER)).toMatchObject({ error: { code: "session_erased" } });
    expect(causes).toEqual(["retention"]);
  });

  test("keeps the cause in its tombstone, so that the next life hands it over", async () => {
    const life = await oldLife();
    life.usageArchive = { keep: () => Promise.reject(new Error("the tenant's object is out of reach")) };
    await life.service.retain(CALLER, real);
    const next = new Life(life.sql, "life-2");
    const causes: unknown[] = [];
    next.usageArchive = {
      keep: async (_, usage, cause) => {
        causes.push(cause);
        return usage;
      },
    };

    await next.service.erase(CALLER, true);

    expect(causes).toEqual(["retention"]);
  });

  test("stays under a dry run, which says the same", async () => {
    const life = await oldLife();
    const before = await readEvents(life);

    const said = await life.service.retain(CALLER, { ...real, isDryRun: true });

    expect(await readEvents(life)).toEqual(before);
    expect(await life.service.retain(CALLER, real)).toEqual(said);
  });

  test("stays if its own policy says never", async () => {
    const life = await oldLife("verbatim");
    const setting: RetentionSetting = { ...MONTH, by_policy: { verbatim: { erase_sessions_after_days: null } } };

    expect(await life.service.retain(CALLER, { setting, isDryRun: false })).toMatchObject({ ok: true, value: { due: [] } });
    expect((await life.service.describe(CALLER)).ok).toBe(true);
  });
});

describe("a session that is used", () => {
  test("stays, however old it is", async () => {
    const life = await oldLife();
    await say(life, "And then?", "Back home.");

    expect(await life.service.retain(CALLER, real)).toMatchObject({ ok: true, value: { due: [] } });
    expect((await life.service.describe(CALLER)).ok).toBe(true);
  });

  test("at the same time is either used or erased: no acknowledged message is lost", async () => {
    for (const messageFirst of [true, false]) {
      const life = await oldLife();
      const input = {
        role: "user",
        parts: [{ type: "text", text: "hello" }],
        run: true,
        onBusy: "queue",
        tools: null,
        idempotency: null,
      } as const;
      const send = () => life.service.submit(CALLER, input);
      const retain = () => life.service.retain(CALLER, real);
      const [sent, retained] = messageFirst
        ? await Promise.all([send(), retain()])
        : await Promise.all([retain(), send()]).then(([second, first]) => [first, second] as const);
      const isErased = retained.ok && retained.value.due.length > 0;

      expect(sent.ok).toBe(!isErased);
      expect((await life.service.describe(CALLER)).ok).toBe(sent.ok);
    }
  });

  test("stays while a turn waits for its tools", async () => {
    const life = await newLife();
    await life.send("hello");
    const call = { type: "tool_call", call_id: "call_1", name: "look", arguments: "{}" } as const;
    await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    expect(life.runtime.state.turn?.phase).toBe("awaiting_tools");
    life.time.advance(90 * DAY);

    expect(await life.service.retain(CALLER, real)).toMatchObject({ ok: true, value: { due: [] } });
  });
});

test("retention of another tenant, or of a session that never was, finds nothing", async () => {
  const life = await oldLife();
  const other = { ...CALLER, tenant: "ten_01K00000000000000000000009" as typeof CALLER.tenant };

  expect(await life.service.retain(other, real)).toMatchObject({ error: { code: "session_not_found" } });
  expect(await new Life().service.retain(CALLER, real)).toMatchObject({ error: { code: "session_not_found" } });
});
