import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { UsageInput, UsagePage } from "../../../src/app/read-api";
import type { LedgerRow } from "../../../src/contract/model-call";
import type { Page } from "../../../src/contract/page";
import type { SessionDescription } from "../../../src/contract/session";
import { sumForErasure } from "../../../src/domain/erased-usage";
import type { KeyId, SessionId, TenantId } from "../../../src/domain/ids";
import type { CallPurpose } from "../../../src/domain/model-call";
import { createUsageList } from "../../../src/read-model/usage-query";
import { createProjection } from "../../../src/read-model/writer";
import { LogBuilder, makeId, modelCall } from "../../read-model/builders";
import { Model, newChat, newTenant, readBody } from "../../workers/support";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly DB: D1Database;
      readonly MIGRATIONS: D1Migration[];
    }
  }
}

const DAY = 24 * 60 * 60 * 1_000;
/** 2023-11-14, in the middle of the day. */
const NOON = Math.floor(1_700_000_000_000 / DAY) * DAY + DAY / 2;

let tenants = 700;
let tenant: TenantId;
beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  tenant = makeId("ten", ++tenants);
});

interface Call {
  readonly at?: number;
  readonly model?: string;
  readonly purpose?: CallPurpose;
  readonly cost?: number;
  readonly failed?: boolean;
  readonly key?: KeyId;
  readonly user?: string;
}

const USAGE = { input: 100, output: 10, cached: 60, reasoning: 4, cache_write: 30 };

/** A session that made these calls. */
async function session(number: number, calls: readonly Call[], owner = tenant): Promise<SessionId> {
  const log = new LogBuilder(makeId("ses", number), owner).open();
  for (const { at = NOON, model = "gpt-4o", purpose = "turn", cost, failed = false, key, user } of calls) {
    const ended = failed ? { usage: null, outcome: "timeout" as const } : { usage: USAGE };
    const owner = { ...(key && { key }), ...(user !== undefined && { end_user: log.text(user).body }) };
    log.event(modelCall({ model, purpose, ...ended, ...owner, ...(cost === undefined ? {} : { cost }) }));
    const last = log.events.pop();
    if (last) log.events.push({ ...last, at });
  }
  await createProjection(env.DB).write(log.batch());
  return log.session;
}

async function sum(change: Partial<UsageInput> = {}): Promise<UsagePage> {
  const all = { session: null, model: null, purpose: null, key: null, endUser: null, limit: 50, after: null };
  const page = await createUsageList(env).sumUsage({ tenant, groupBy: [], from: NOON - DAY, to: NOON + 10 * DAY, ...all, ...change });
  if (!page.ok) throw new Error(page.error.code);
  return page.value;
}

describe("the sums", () => {
  it("are those of each count, with the calls that failed and those whose cost is unknown beside", async () => {
    await session(1, [{ cost: 0.1 }, { cost: 0.2 }, { failed: true }]);

    expect((await sum()).data).toEqual([
      {
        ...{ day: null, session_id: null, model: null, purpose: null, source: null, key_id: null, end_user: null },
        ...{ calls: 3, failed_calls: 1, input: 200, uncached: 20, cached: 120, cache_write: 60, output: 20, reasoning: 8 },
        ...{ cost: 0.3, unpriced_calls: 1, cost_complete: false },
      },
    ]);
  });

  it("of calls whose cost is known of none have none; of no calls they are zeros", async () => {
    await session(1, [{}]);
    expect((await sum()).data).toMatchObject([{ calls: 1, cost: null, unpriced_calls: 1 }]);
    expect((await sum({ model: "another" })).data).toMatchObject([{ calls: 0, input: 0, cost: 0, cost_complete: true }]);
  });

  it("have thinking that was counted beside the output in it, and a doubtful input's rest at 0", async () => {
    const log = new LogBuilder(makeId("ses", 1), tenant).open();
    log.event(modelCall({ usage: { input: 10, output: 5, cached: 40, reasoning: 7 } }));
    await createProjection(env.DB).write(log.batch());

    expect((await sum({ from: 0, to: NOON + DAY })).data).toMatchObject([{ uncached: 0, output: 12, cache_write: 0 }]);
  });

  it("are in order of their groups, and each group is told", async () => {
    const one = await session(1, [{ at: NOON + DAY, model: "b" }, { model: "a" }, { model: "b", purpose: "compaction" }]);
    const two = await session(2, [{ model: "a" }, { model: "a" }]);

    const by = async (...groupBy: UsageInput["groupBy"]) =>
      (await sum({ groupBy })).data.map(({ day, session_id, model, purpose, calls }) =>
        [day, session_id, model, purpose, calls].filter((key) => key !== null),
      );
    expect(await by("day")).toEqual([
      ["2023-11-14", 4],
      ["2023-11-15", 1],
    ]);
    expect(await by("session")).toEqual([
      [one, 3],
      [two, 2],
    ]);
    expect(await by("model", "purpose")).toEqual([
      ["a", "turn", 3],
      ["b", "compaction", 1],
      ["b", "turn", 1],
    ]);
    expect((await sum({ groupBy: ["purpose"] })).data.map(({ source }) => source)).toEqual(["context_compaction", "turn"]);
  });

  it("begin with their first moment and end before their last", async () => {
    await session(1, [{ at: NOON - 1 }, { at: NOON }, { at: NOON + 9 }, { at: NOON + 10 }]);
    expect((await sum({ from: NOON, to: NOON + 10 })).data).toMatchObject([{ calls: 2 }]);
  });

  it("are of one session, model or purpose where asked", async () => {
    const one = await session(1, [{ model: "a" }, { model: "b", purpose: "title" }]);
    await session(2, [{ model: "a" }]);

    expect((await sum({ session: one })).data).toMatchObject([{ calls: 2 }]);
    expect((await sum({ model: "a" })).data).toMatchObject([{ calls: 2 }]);
    expect((await sum({ session: one, purpose: "title" })).data).toMatchObject([{ calls: 1 }]);
  });

  it.each([
    ["of one day", 0],
    ["of several days", DAY],
  ])("%s are read page by page, each group once", async (_, apart) => {
    const models = ["a", "b", 'ç "d"', "日本"];
    await session(
      1,
      models.map((model, index) => ({ model, at: NOON + index * apart })),
    );
    const seen: (string | null)[] = [];
    let after: string | null = null;
    for (;;) {
      const page: UsagePage = await sum({ groupBy: ["day", "model"], limit: 2, after });
      seen.push(...page.data.map(({ model }) => model));
      after = page.next_cursor;
      expect(page.has_more).toBe(after !== null);
      if (after === null) break;
    }
    expect(seen).toEqual(models);
  });

  it("are of one tenant, and neither of another nor of a rebuild's scratch rows", async () => {
    await session(1, [{}]);
    await session(1, [{}, {}], makeId("ten", ++tenants));
    const log = new LogBuilder(makeId("ses", 1), tenant).open().event(modelCall());
    await createProjection(env.DB, { scratch: true }).write(log.batch());

    expect((await sum({ from: 0, to: NOON + DAY })).data).toMatchObject([{ calls: 1 }]);
  });

  it("are those of one key, of one end user, or of both, over live and erased sessions, a page at a time", async () => {
    const [one, two] = [makeId("key", 1), makeId("key", 2)];
    const name = `it's "李雷" %_`;
    await session(1, [{ key: one, user: name }, { key: one }, { key: two, user: name }, {}]);
    const gone = await session(2, [{ key: one, user: name }]);
    const call = {
      at: NOON,
      model: "gpt-4o",
      purpose: "turn",
      usage: USAGE,
      outcome: "stop",
      key: one,
      end_user: makeId("bod", 1),
    } as const;
    const usage = sumForErasure([call], () => name);
    await createProjection(env.DB).erase({ tenant, session: gone, at: NOON, usage });
    const count = async (change: Partial<UsageInput>) => (await sum(change)).data[0]?.calls;

    expect(await count({ key: one })).toBe(3);
    expect(await count({ endUser: name })).toBe(3);
    expect(await count({ key: one, endUser: name })).toBe(2);
    expect(await count({ endUser: "it" })).toBe(0);

    const rows: UsagePage["data"][number][] = [];
    for (let after: string | null = null; ; ) {
      const page: UsagePage = await sum({ groupBy: ["key", "end_user"], limit: 1, after });
      rows.push(...page.data);
      after = page.next_cursor;
      if (after === null) break;
    }
    expect(rows.map(({ key_id, end_user, calls }) => [key_id, end_user, calls])).toEqual([
      [null, null, 1],
      [one, null, 1],
      [one, name, 2],
      [two, name, 1],
    ]);
  });

  it("hold what an erased session's calls came to, in its groups", async () => {
    const calls: readonly Call[] = [{ cost: 0.1 }, { model: "b", purpose: "compaction" }, { failed: true, at: NOON + DAY }];
    const gone = await session(1, calls);
    await session(2, [{ cost: 0.5 }]);
    const groupBy = ["day", "session", "model", "purpose"] as const;
    const before = await sum({ groupBy });

    const usage = sumForErasure(
      calls.map(({ at = NOON, model = "gpt-4o", purpose = "turn", cost, failed }) => ({
        ...{ at, model, purpose, usage: failed ? null : USAGE, outcome: failed ? ("timeout" as const) : ("stop" as const) },
        ...(cost === undefined ? {} : { cost }),
      })),
      () => null,
    );
    await createProjection(env.DB).erase({ tenant, session: gone, at: NOON, usage });
    await createProjection(env.DB).erase({ tenant, session: gone, at: NOON, usage });

    expect(await sum({ groupBy })).toEqual(before);
    expect((await sum({ session: gone })).data).toMatchObject([{ calls: 3 }]);
  });
});

describe("over HTTP", () => {
  it("a turn's call is in the session's ledger at once, and in the tenant's usage soon", async () => {
    const chat = await newChat({ replies: [{ deltas: ["hello"] }] });
    const turn = await chat.say("hi");

    const { data } = await chat.read<Page<LedgerRow>>("/usage");
    expect(data).toMatchObject([{ turn_id: turn.id, purpose: "turn", source: "turn", model: chat.model.upstream, outcome: "stop" }]);
    expect(data[0]?.input).toBeGreaterThan(0);
    const readUsage = async () => (await readBody<UsagePage>(await chat.tenant.call("GET", "/v1/usage?group_by=session,model"))).data;
    await expect.poll(readUsage).toMatchObject([{ session_id: chat.id, model: chat.model.upstream, calls: 1, input: data[0]?.input }]);
    expect((await chat.describe()).usage).toMatchObject({ calls: 1, input: data[0]?.input });

    const csv = await chat.tenant.call("GET", "/v1/usage?group_by=session&format=csv");
    expect([csv.headers.get("content-type"), await csv.text()]).toEqual([
      expect.stringMatching(/^text\/csv/),
      expect.stringContaining(chat.id),
    ]);
  });

  it("a session is titled by the model that its tenant's policy names, and the list shows it", async () => {
    const otherTenant = await newTenant();
    const cheap = new Model(`cheap-${otherTenant.id}`);
    await cheap.script({ replies: [{ deltas: ["A short hello"] }] });
    const spoken = await newChat({ tenant: otherTenant, replies: [{ deltas: ["hello"] }] });
    const base = (await readBody<Page<{ id: string; base_url: string }>>(await otherTenant.call("GET", "/v1/models"))).data.find(
      ({ id }) => id === spoken.model.upstream,
    )?.base_url;
    const spec = { provider: "openai-compatible", base_url: base, context_window: 8_000, max_output: 500 };
    await readBody(await otherTenant.call("PUT", `/v1/models/${cheap.upstream}`, spec));
    await readBody(await otherTenant.call("PATCH", "/v1/tenant", { default_policy: { title_model: cheap.upstream } }));
    const made = await otherTenant.call("POST", "/v1/sessions", { model: spoken.model.upstream, policy: "balanced" });
    const { id } = await readBody<SessionDescription>(made, 201);
    await readBody(await otherTenant.call("POST", `/v1/sessions/${id}/messages`, { content: "hi" }));

    const readTitle = async () => (await readBody<SessionDescription>(await otherTenant.call("GET", `/v1/sessions/${id}`))).title;
    await expect.poll(readTitle).toBe("A short hello");
    const [asked] = await cheap.heard(1);
    expect(JSON.stringify(asked)).toContain("User: hi");
    const ledger = await readBody<Page<LedgerRow>>(await otherTenant.call("GET", `/v1/sessions/${id}/usage?order=desc&limit=1`));
    expect(ledger.data).toMatchObject([{ purpose: "title", source: "title", model: cheap.upstream, turn_id: null }]);
  });
});
