/** A session that judges itself by its tenant's retention. */
import { describe, expect, test } from "vitest";
import { NO_RETENTION } from "../../src/app/retention";
import type { RetentionSetting } from "../../src/contract/retention";
import { createProjection } from "../../src/read-model/writer";
import { readRows } from "../read-model/rows";
import { SimD1 } from "../simulation/sim-d1";
import { CALLER, Life, settle } from "./life";
import { buildRequestText, compact, newLife, ROOMY, say, toView, useTools } from "./talk";

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

describe("tool results that are older than the rule says", () => {
  const setting: RetentionSetting = { ...NO_RETENTION, remove_tool_results_after_days: 30 };
  const secret = "the raw result of the shop";
  const act = { setting, isDryRun: false };
  const toTexts = async (life: Life): Promise<readonly string[]> => {
    const items = await life.service.items(CALLER, { after: null, limit: 50, order: "asc" });
    if (!items.ok) throw new Error(items.error.code);
    return items.value.data.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : part.type)).join());
  };
  const isStored = (life: Life): boolean =>
    ["bodies", "frames", "snapshots", "executions"].some((table) =>
      JSON.stringify(life.sql.all(`SELECT * FROM ${table}`)).includes(secret),
    );

  async function shop(): Promise<Life> {
    const life = await newLife();
    await useTools(life, "What do they have?", [secret, `${secret} again`]);
    return life;
  }

  test("lose their content and keep their place: the marker says why, and every call keeps its result", async () => {
    const life = await shop();
    life.time.advance(30 * DAY);
    const used_at = life.runtime.state.updated_at;

    expect(await life.service.retain(CALLER, act)).toMatchObject({
      ok: true,
      value: { used_at, due: [{ action: "remove_tool_results", results: 2 }] },
    });
    const texts = await toTexts(life);
    expect(texts.filter((text) => text.includes("older than the retention"))).toHaveLength(2);
    expect(texts.at(-1)).toBe("so it is");
    expect(isStored(life)).toBe(false);
    expect(buildRequestText(life)).not.toContain(secret);
    expect(buildRequestText(life)).toContain("older than the retention");
    expect(life.runtime.state.updated_at).toBe(used_at);
    await say(life, "And now?", "Nothing more.");
  });

  test("are the same to the next life, are removed once, and are not due again", async () => {
    const life = await shop();
    life.time.advance(30 * DAY);
    await life.service.retain(CALLER, act);
    const view = toView(life);
    const { seq } = life.runtime.state;
    const next = new Life(life.sql, "life-2");
    next.models = { resolve: async () => ROOMY };
    next.time.advance(60 * DAY);

    expect(await next.service.retain(CALLER, act)).toMatchObject({ ok: true, value: { due: [] } });
    expect([toView(next), next.runtime.state.seq]).toEqual([view, seq]);
    expect(await toTexts(next)).toEqual(await toTexts(life));
  });

  test("stay while they are younger, and under a dry run", async () => {
    const life = await shop();
    life.time.advance(30 * DAY - 1);
    expect(await life.service.retain(CALLER, act)).toMatchObject({ ok: true, value: { due: [] } });
    life.time.advance(2);
    const before = life.events();
    expect(await life.service.retain(CALLER, { ...act, isDryRun: true })).toMatchObject({ ok: true, value: { due: [{ results: 2 }] } });
    expect(life.events()).toEqual(before);
    expect(isStored(life)).toBe(true);
  });

  test("leave the summary that was made from them, and are found by no look-up", async () => {
    const life = await newLife();
    await useTools(life, "What do they have?", [secret]);
    for (let n = 0; n < 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `answer ${n} ${"word ".repeat(60)}`);
    await compact(life, 200);
    const input = { query: "raw result shop", execution: null, from: null, to: null, offset: 0, limit: 60 };
    const look = async () => JSON.stringify(await life.service.recall(CALLER, input));
    expect(await look()).toContain(secret);
    const before = life.runtime.state.view.overlays;
    expect(before.some(({ kind }) => kind === "summary")).toBe(true);
    life.time.advance(30 * DAY);

    await life.service.retain(CALLER, act);

    expect(life.runtime.state.view.overlays).toEqual(before);
    expect(buildRequestText(life)).toContain("## Part 0");
    expect(await look()).not.toContain(secret);
  });

  test("leave the rows of the read model, and move the session in no list", async () => {
    const life = await shop();
    const { direct } = new SimD1();
    life.projection = createProjection(direct);
    life.runtime.drain.start();
    await settle();
    const [{ updated_at } = { updated_at: 0 }] = (await direct.prepare("SELECT updated_at FROM sessions").all<{ updated_at: number }>())
      .results;
    expect(JSON.stringify(await readRows(direct, CALLER))).toContain(secret);
    life.time.advance(30 * DAY);

    await life.service.retain(CALLER, act);
    await life.advance(1_000);

    expect(JSON.stringify(await readRows(direct, CALLER))).not.toContain(secret);
    const { results } = await direct.prepare("SELECT updated_at, last_seq FROM sessions").all<{ updated_at: number; last_seq: number }>();
    expect(results).toEqual([{ updated_at, last_seq: life.runtime.state.seq }]);
  });

  test("of many are removed in parts, and the next part is due at once", async () => {
    const life = await newLife();
    await useTools(
      life,
      "What do they have?",
      Array.from({ length: 60 }, (_, n) => `${secret} ${n}`),
    );
    life.time.advance(30 * DAY);
    const now = life.time.now();

    expect(await life.service.retain(CALLER, act)).toMatchObject({ value: { look_at: now, due: [{ results: 60 }] } });
    expect(await life.service.retain(CALLER, act)).toMatchObject({ value: { due: [{ results: 10 }] } });
    expect(await life.service.retain(CALLER, act)).toMatchObject({ value: { due: [] } });
    expect(isStored(life)).toBe(false);
  });
});
