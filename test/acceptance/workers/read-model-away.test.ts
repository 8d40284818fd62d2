import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createRebuildRows } from "../../../src/read-model/rebuild";
import { rebuildSession } from "../../read-model/rows";
import { ringNow } from "../../workers/alarms";
import { smallChat, TURNS, talk, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, newTenant, readBody } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

/** Every call of the database fails, as if it were unreachable. */
function takeAway(): () => void {
  const gone = () => {
    throw new Error("Network connection lost");
  };
  const spies = [
    vi.spyOn(env.DB, "prepare").mockImplementation(gone),
    vi.spyOn(env.DB, "batch").mockImplementation(async () => gone()),
    vi.spyOn(env.DB, "exec").mockImplementation(async () => gone()),
  ];
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** Resolves once the session's rows have reached its log. Each batch triggers the check, not a clock. */
async function caughtUp(chat: Chat): Promise<void> {
  const batch = env.DB.batch.bind(env.DB);
  let wake = () => {};
  const spy = vi.spyOn(env.DB, "batch").mockImplementation((async (statements: D1PreparedStatement[]) => {
    const results = await batch(statements);
    wake();
    return results;
  }) as typeof env.DB.batch);
  for (;;) {
    const next = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const row = await env.DB.prepare("SELECT last_seq FROM sessions WHERE id = ?").bind(chat.id).first<number>("last_seq");
    const { seq } = (await chat.events()).at(-1) ?? { seq: 0 };
    if (row === seq) break;
    await next;
  }
  spy.mockRestore();
}

async function rebuild(chat: Chat) {
  const readLog = (after: number) => chat.api.exportLog(chat.caller, { after, limit: 200 });
  const outcome = await rebuildSession({ readLog, rows: createRebuildRows(env.DB), now: Date.now }, chat.caller);
  if (!outcome.ok) throw new Error(outcome.error.code);
  return outcome.value;
}

describe("with the database gone for the whole conversation", () => {
  it("chat goes on, compaction too, and the lists say that they are out of reach", async () => {
    const giveBack = takeAway();
    const { chat, frames } = await smallChat({ summaries: [{ text: words(60, "SUMMARY") }] });

    await talk(chat, 1, TURNS);
    await frames.until("compaction.completed");
    await chat.say("and now?");
    const list = await chat.tenant.call("GET", "/v1/sessions");

    expect(await chat.describe()).toMatchObject({ epoch: 1, message_count: 2 * TURNS + 2, last_turn: { status: "completed" } });
    expect(list.status).toBe(503);
    expect(list.headers.get("retry-after")).toBe("1");
    giveBack();
    await frames.leave();
  });

  it("models, credentials, titles and a session's own usage are there; only the sums of the tenant are not", async () => {
    const giveBack = takeAway();
    const tenant = await newTenant();
    await readBody(await tenant.call("PUT", "/v1/credentials/mine", { api_key: "sk-1" }));
    const chat = await newChat({ tenant, credential: "mine" });
    await readBody(await tenant.call("PUT", "/v1/models/titles", { provider: "embedded" }));
    await readBody(await chat.call("PATCH", "", { policy: { title_model: "titles" } }));

    await chat.say("Where is the lighthouse?");

    await expect.poll(async () => (await chat.describe()).title).toBe("Where is the lighthouse?");
    expect(await chat.model.heard()).toMatchObject([{ authorization: "Bearer sk-1" }]);
    const ledger = await readBody<{ data: { purpose: string }[] }>(await chat.call("GET", "/usage"));
    expect(ledger.data.map(({ purpose }) => purpose)).toEqual(["turn", "title"]);
    expect((await tenant.call("GET", "/v1/usage")).status).toBe(503);
    giveBack();
  });

  it("and back, the rows catch up by the alarm and equal a rebuild from the log", async () => {
    const giveBack = takeAway();
    const { chat, frames } = await smallChat({ summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    await frames.until("compaction.completed");
    await readBody(await chat.call("PATCH", "", { title: "A long talk" }));
    await frames.leave();

    giveBack();
    await ringNow(chat.stub);
    await caughtUp(chat);

    expect(await rebuild(chat)).toMatchObject({ differences: [], repaired: true });
    const list = await readBody<{ data: unknown[] }>(await chat.tenant.call("GET", "/v1/sessions"));
    expect(list.data).toMatchObject([{ id: chat.id, title: "A long talk", message_count: 2 * TURNS, compacted: true }]);
  });

  it("and back, the next message alone is enough to catch up", async () => {
    const giveBack = takeAway();
    const chat = await newChat();
    await chat.say("one");
    giveBack();

    await chat.say("two");
    await caughtUp(chat);

    expect(await rebuild(chat)).toMatchObject({ differences: [] });
  });

  it("and back after an eviction, nothing is forgotten", async () => {
    const giveBack = takeAway();
    const chat = await newChat();
    await chat.say("one");
    await evictDurableObject(chat.stub);
    giveBack();

    await ringNow(chat.stub);
    await caughtUp(chat);

    expect(await rebuild(chat)).toMatchObject({ differences: [] });
  });
});

describe("rows", () => {
  it("of an ordinary conversation with every kind of item equal a rebuild", async () => {
    const tools = [{ name: "look", parameters: { type: "object" } }];
    const replies = [
      { text: "Looking.", tool_calls: [{ id: "c", name: "look", arguments: "{}" }] },
      { text: "Found." },
      { status: 402, error: { message: "no" } },
    ];
    const chat = await newChat({ system: "Be brief.", tools, replies });
    await chat.append("Background.", "system");
    await chat.say("look");
    await chat.call("POST", "/tool_results", { results: [{ call_id: "c", output: "x" }] });
    await chat.send("fails");
    await readBody(await chat.call("POST", "/retry"));

    await caughtUp(chat);

    const report = await rebuild(chat);
    expect(report).toMatchObject({ differences: [], repaired: true });
    expect(report.rows).toBeGreaterThan(8);
  });
});
