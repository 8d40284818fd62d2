import { describe, expect, it } from "vitest";
import type { UsageInput } from "../../src/app/read-api";
import type { PageInput } from "../../src/app/session-api";
import { toSums } from "../../src/app/usage-sums";
import type { LedgerRow } from "../../src/contract/model-call";
import type { UsageRow } from "../../src/contract/usage";
import { NO_CALLS } from "../../src/domain/call-totals";
import { err, ok } from "../../src/lib/result";
import { makeId, NOW, readProblem, SESSION, TENANT, world } from "./support";

const DAY = 24 * 60 * 60 * 1_000;
const MIDNIGHT = Math.floor(NOW / DAY) * DAY;

const row: UsageRow = {
  ...{ day: "2026-11-18", session_id: null, model: "gpt-4o", purpose: null, source: null, key_id: null, end_user: null },
  ...toSums({ ...NO_CALLS, calls: 2, input: 10, uncached: 10, output: 3, cost: 0.5, unpriced: 1 }),
};

const KEY_ID = makeId("key");
const NOTHING_NAMED = { session: null, model: null, purpose: null, key: null, endUser: null };

/** The app, and the queries that the read model received. */
function door() {
  const asked: UsageInput[] = [];
  const sumUsage = async (input: UsageInput) => {
    asked.push(input);
    return input.after === "stale"
      ? err({ code: "invalid_cursor" } as const)
      : ok({ data: [row], has_more: true, next_cursor: "bmV4dA", complete_from: null });
  };
  return {
    asked,
    call: (query: string) => world({ deps: { usageList: { sumUsage, countOldUsage: async () => [] } } }).call("GET", `/v1/usage${query}`),
  };
}

describe("the usage of a tenant", () => {
  it("is by default that of the last 30 days and today, by day, of the key's tenant", async () => {
    const { asked, call } = door();

    const answer = await call("");

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      data: [row],
      has_more: true,
      next_cursor: "bmV4dA",
      from: MIDNIGHT - 30 * DAY,
      to: NOW + 1,
      complete_from: null,
    });
    const range = { from: MIDNIGHT - 30 * DAY, to: NOW + 1 };
    expect(asked).toEqual([{ tenant: TENANT, groupBy: ["day"], ...range, ...NOTHING_NAMED, limit: 50, after: null }]);
  });

  it("is asked for in groups, of a time, of one session, model, purpose, key and end user, page by page", async () => {
    const { asked, call } = door();

    const session = `session=${SESSION}&model=m%2F1&purpose=compaction&key_id=${KEY_ID}&end_user=%E6%9D%8E%20%3D1`;
    await call(`?group_by=model,day&from=2026-11-01&to=${NOW}&${session}&limit=7&after=abc`);

    const from = Date.parse("2026-11-01T00:00:00Z");
    expect(asked).toEqual([
      {
        tenant: TENANT,
        groupBy: ["model", "day"],
        from,
        to: NOW,
        session: SESSION,
        model: "m/1",
        purpose: "compaction",
        key: KEY_ID,
        endUser: "李 =1",
        limit: 7,
        after: "abc",
      },
    ]);
  });

  it("without groups is one row for all", async () => {
    const { asked, call } = door();
    await call("?group_by=");
    expect(asked).toMatchObject([{ groupBy: [] }]);
  });

  it.each([
    ["?group_by=week", "group_by.0"],
    ["?group_by=day,day", "group_by"],
    ["?from=yesterday", "from"],
    ["?from=2026-02-30x", "from"],
    ["?from=2026-13-01", "from"],
    ["?from=2025-02-30", "from"],
    ["?from=2025-02-30&to=2025-03-05", "from"],
    [`?from=${NOW}&to=${NOW - 1}`, "from"],
    [`?from=${NOW - 92 * DAY - 1}&to=${NOW}`, "from"],
    ["?session=ses_1", "session"],
    ["?purpose=fun", "purpose"],
    ["?limit=201", "limit"],
    ["?tenant=ten_1", "tenant"],
    ["?after=stale", "after"],
  ])("%s is refused at %s, and nothing else is called", async (query, field) => {
    const { call } = door();

    const answer = await call(query);

    expect(answer.status).toBe(400);
    expect((await readProblem(answer)).errors?.map((error) => error.field)).toEqual([field]);
  });

  it.each([[`?from=${NOW - 92 * DAY}&to=${NOW}`], [`?from=${NOW}&to=${NOW}`]])("%s is as long as it may be", async (query) => {
    expect((await door().call(query)).status).toBe(200);
  });

  it("waits while the read model is out of reach", async () => {
    const sumUsage = () => Promise.reject(new Error("D1 is down"));
    const answer = await world({ deps: { usageList: { sumUsage, countOldUsage: async () => [] } } }).call("GET", "/v1/usage");

    expect(answer.status).toBe(503);
    expect((await readProblem(answer)).type).toBe("urn:longhand:problem:read_model_unavailable");
  });
});

describe("the ledger of a session", () => {
  const call = (seq: number): LedgerRow => ({
    ...{ seq, at: NOW, turn_id: makeId("trn"), purpose: "turn", source: "turn", model: "gpt-4o", key_id: makeId("key"), end_user: "Ada" },
    ...{ input: 10, uncached: 4, cached: 6, cache_write: 0, output: 3, reasoning: 1, cost: null },
    ...{ estimate: 11, outcome: "stop", left_out: [], ms: 250 },
  });

  it("is a page of calls whose cursor is the last one's seq", async () => {
    const asked: PageInput[] = [];
    const usage = async (_: unknown, page: PageInput) => {
      asked.push(page);
      return ok({ data: [call(9), call(4)], has_more: true });
    };
    const answer = await world({ session: { usage } }).call("GET", `/v1/sessions/${SESSION}/usage?limit=2&after=12&order=desc`);

    expect(await answer.json()).toEqual({ data: [call(9), call(4)], has_more: true, next_cursor: "4" });
    expect(asked).toEqual([{ after: 12, limit: 2, order: "desc" }]);
  });
});
