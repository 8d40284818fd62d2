import { describe, expect, it } from "vitest";
import type { SessionListInput } from "../../src/app/read-api";
import type { PageInput, SessionApi } from "../../src/app/session-api";
import type { CompactionView } from "../../src/contract/compaction";
import type { DisplayItem } from "../../src/contract/item";
import { err, ok } from "../../src/lib/result";
import { makeId, readProblem, SESSION, TENANT, world } from "./support";

const base = `/v1/sessions/${SESSION}`;

function compaction(n: number): CompactionView {
  return {
    id: makeId("cmp", n),
    seq: 10 * n,
    trigger: "threshold",
    status: "requested",
    did_compact: false,
    requested_at: 77,
    finished_at: null,
    attempts: 0,
    failure: null,
    epoch: null,
    range: null,
    keep_recent: null,
    up_to: null,
    instructions: null,
    rebuild: false,
    model: null,
    policy: null,
    draft: null,
    cache: null,
    reverted: null,
    ops: [],
    summary: null,
    receipt: null,
  };
}

describe("pages", () => {
  const item = (position: number): DisplayItem => ({
    id: makeId("msg", position),
    position,
    role: "user",
    content: [{ type: "text", text: "x" }],
    name: null,
    client_id: null,
    metadata: {},
    turn_id: null,
    created_at: 1,
    recorded_at: 1,
    incomplete: false,
    tokens: { tokens: 1, source: "estimated", error_bound: 1 },
  });

  it.each<[string, PageInput]>([
    ["", { after: null, limit: 50, order: "asc" }],
    ["?limit=200&after=7&order=desc", { after: 7, limit: 200, order: "desc" }],
  ])("messages%s are asked for as the client says", async (query, page) => {
    const seen: PageInput[] = [];
    const items: SessionApi["items"] = async (_, input) => {
      seen.push(input);
      return ok({ data: [], has_more: false });
    };

    await world({ session: { items } }).call("GET", `${base}/messages${query}`);

    expect(seen).toEqual([page]);
  });

  it("end with the cursor of the next one", async () => {
    const { call } = world({ session: { items: async () => ok({ data: [item(1), item(2)], has_more: true }) } });

    expect(await (await call("GET", `${base}/messages?limit=2`)).json()).toMatchObject({ has_more: true, next_cursor: "2" });
  });

  it("have no cursor when they are the last", async () => {
    const { call } = world({ session: { items: async () => ok({ data: [item(1)], has_more: false }) } });

    expect(await (await call("GET", `${base}/messages`)).json()).toEqual({ data: [item(1)], has_more: false, next_cursor: null });
  });

  it("of the log go by seq", async () => {
    const { call } = world({ session: { events: async () => ok({ data: [{ seq: 5, at: 1, type: "SessionErased" }], has_more: true }) } });

    expect(await (await call("GET", `${base}/events`)).json()).toMatchObject({ next_cursor: "5" });
  });

  it("of compactions hold each of them once", async () => {
    const all = [1, 2, 3, 4, 5].map(compaction);
    const compactions: SessionApi["compactions"] = async (_, { limit, after }) => {
      const rest = all.filter((row) => row.seq > (after ?? 0));
      return ok({ data: rest.slice(0, limit), has_more: rest.length > limit });
    };
    const { call } = world({ session: { compactions } });

    const read: CompactionView[] = [];
    for (let after: string | null = "0"; after !== null; ) {
      const response = await call("GET", `${base}/compactions?limit=2&after=${after}`);
      const page = await response.json<{ data: CompactionView[]; next_cursor: string | null }>();
      read.push(...page.data);
      after = page.next_cursor;
    }

    expect(read).toEqual(all);
  });
});

describe("the list of sessions", () => {
  const isListed = async () => false;
  const times = { createdAfter: null, createdBefore: null, updatedAfter: null, updatedBefore: null };
  const ALL = { externalId: null, endUser: null, metadata: {}, archived: false, ...times };

  async function askFor(query: string) {
    const seen: SessionListInput[] = [];
    const listSessions = async (input: SessionListInput) => {
      seen.push(input);
      return ok({ data: [], has_more: false, next_cursor: null });
    };
    const response = await world({ deps: { sessionList: { listSessions, isListed } } }).call("GET", `/v1/sessions?${query}`);
    return { response, seen };
  }

  it("takes every filter, a day for its beginning, and metadata with any name", async () => {
    const metadata = "metadata[colour]=red&metadata%5B%E9%A2%9C%E8%89%B2%5D=%E7%BA%A2&metadata[a]]=]";
    const times = "created_after=2026-11-22&created_before=9&updated_after=1&updated_before=2";

    const { seen } = await askFor(`end_user=u%201&external_id=x%2F1&${metadata}&${times}&order_by=created_at&order=asc`);

    expect(seen).toMatchObject([
      {
        filter: {
          externalId: "x/1",
          endUser: "u 1",
          metadata: { colour: "red", 颜色: "红", "a]": "]" },
          createdAfter: Date.UTC(2026, 10, 22),
          createdBefore: 9,
          updatedAfter: 1,
          updatedBefore: 2,
        },
        orderBy: "created_at",
        order: "asc",
      },
    ]);
  });

  it.each([
    ["metadata=red", "metadata"],
    ["metadata[]=red", "metadata."],
    ["metadata[a]=1&metadata[a]=2", "metadata.a"],
    [`metadata[a]=${"x".repeat(513)}`, "metadata.a"],
    ["colour[a]=red", "colour[a]"],
    ["order_by=title", "order_by"],
    ["order=up", "order"],
    ["created_after=soon", "created_after"],
    ["updated_before=2026-02-30", "updated_before"],
    ["end_user=", "end_user"],
    ["external_id=..", "external_id"],
  ])("refuses %s by name", async (query, field) => {
    const { response, seen } = await askFor(query);

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((error) => error.field)).toEqual([field]);
    expect(seen).toEqual([]);
  });

  it("hands the cursor on and back as it is", async () => {
    const seen: unknown[] = [];
    const sessionList = {
      listSessions: async (input: SessionListInput) => {
        seen.push(input);
        return ok({ data: [], has_more: true, next_cursor: "next" });
      },
    };

    const response = await world({ deps: { sessionList: { ...sessionList, isListed } } }).call("GET", "/v1/sessions?limit=10&after=abc");

    expect(seen).toEqual([{ tenant: TENANT, filter: ALL, orderBy: "updated_at", order: "desc", limit: 10, after: "abc" }]);
    expect(await response.json()).toEqual({ data: [], has_more: true, next_cursor: "next" });
  });

  it("refuses a cursor of somewhere else by name", async () => {
    const sessionList = { listSessions: async () => err({ code: "invalid_cursor" } as const) };

    const response = await world({ deps: { sessionList: { ...sessionList, isListed } } }).call("GET", "/v1/sessions?after=abc");

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["after"]);
  });

  it("out of reach is 503, without the database's words", async () => {
    const sessionList = { listSessions: () => Promise.reject(new Error("D1_ERROR: secret text")) };
    const { call, log } = world({ deps: { sessionList: { ...sessionList, isListed } } });

    const response = await call("GET", "/v1/sessions");

    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(JSON.stringify([await readProblem(response), log])).not.toContain("secret");
  });
});

describe("a queued message that is cancelled", () => {
  it("leaves nothing to say", async () => {
    const { call } = world({ session: { cancelQueued: async () => ok(null) } });

    const response = await call("DELETE", `${base}/messages/${makeId("msg")}`);

    expect([response.status, await response.text()]).toEqual([204, ""]);
  });
});

describe("the next request", () => {
  it.each([
    ["as it stands", "", null],
    ["as if a message were sent", "?content=Hello%20there", [{ type: "text", text: "Hello there" }]],
  ])("is shown %s", async (_, query, content) => {
    const seen: unknown[] = [];
    const context: SessionApi["context"] = async (_caller, input) => {
      seen.push(input.content);
      return err({ code: "session_not_found" });
    };

    await world({ session: { context } }).call("GET", `${base}/context${query}`);

    expect(seen).toEqual([content]);
  });

  it("is shown as if a message were sent that no URL has", async () => {
    const seen: unknown[] = [];
    const context: SessionApi["context"] = async (_caller, input) => {
      seen.push(input.content);
      return err({ code: "session_not_found" });
    };
    const { call } = world({ session: { context } });

    await call("POST", `${base}/context`, { body: { content: "Hello there" } });
    const refused = await call("POST", `${base}/context`, { body: { content: " " } });

    expect(seen).toEqual([[{ type: "text", text: "Hello there" }]]);
    expect(refused.status).toBe(400);
  });
});
