import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newId } from "../../src/app/new-id";
import { tenantObjectName } from "../../src/app/object-name";
import type { ErasureReceipt } from "../../src/contract/session";
import { createProjection } from "../../src/read-model/writer";
import { ACT } from "../support/act";
import { ringNow } from "./alarms";
import { deliver, holdQueue, smallChat, TURNS, talk, words } from "./conversation";
import { Chat, migrate, newChat, readBody, readStorage, request, TABLES } from "./support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const MARK = "MARKER";

/** The tables of the read model that have a row for an erased session whose model was called. */
const LEFT = ["erased_usage", "session_tombstones"];

const objectText = (chat: Chat): Promise<string> => readStorage(chat.stub);

/** The names of the tables of the read model that still hold a row of the session. */
async function readRows(chat: Chat): Promise<string[]> {
  const tables = await env.DB.prepare(`${TABLES} AND name <> 'd1_migrations'`).all<{ name: string }>();
  const held: string[] = [];
  for (const { name } of tables.results) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    if (JSON.stringify(results).includes(chat.id)) held.push(name);
  }
  return held.sort();
}

const eraseChat = async (chat: Chat): Promise<ErasureReceipt> => readBody<ErasureReceipt>(await chat.call("DELETE"));

/** A session with a mark in every field that can contain text. */
async function markedChat() {
  const tools = [{ name: "look", description: `${MARK}-tool`, parameters: { type: "object" } }];
  const replies = [
    {
      text: `${MARK}-reply`,
      reasoning: `${MARK}-thought`,
      tool_calls: [{ id: `${MARK}-call`, name: "look", arguments: `{"q":"${MARK}"}` }],
    },
  ];
  const chat = await newChat({ system: `${MARK}-system`, tools, replies });
  await readBody(await chat.call("PATCH", "", { title: `${MARK}-title`, metadata: { note: `${MARK}-note` } }));
  await readBody(await chat.send(`${MARK}-question`, {}, { "idempotency-key": `${MARK}-key` }));
  await readBody(await chat.call("POST", "/tool_results", { results: [{ call_id: `${MARK}-call`, output: `${MARK}-result` }] }));
  return chat;
}

describe("erasing a session", () => {
  it("leaves nothing of its text in the object, and no row in the read model but the tombstone", async () => {
    const chat = await markedChat();
    expect(await objectText(chat)).toContain(MARK);

    const receipt = await eraseChat(chat);

    expect(receipt).toMatchObject({
      id: chat.id,
      stores: [
        { store: "session", status: "erased" },
        { store: "read_model", status: "erased" },
        { store: "files", status: "erased", rows: 0 },
        { store: "exports", status: "erased" },
        { store: "chat", status: "erased" },
        { store: "directory", status: "erased" },
      ],
    });
    expect(await objectText(chat)).not.toContain(MARK);
    expect(await readRows(chat)).toEqual(LEFT);
    expect(await runInDurableObject(chat.stub, async (_, { storage }) => [...(await storage.list()).keys()])).toEqual([]);
  });

  it("makes it unknown to every call, and to the list", async () => {
    const chat = await markedChat();
    const other = await newChat({ tenant: chat.tenant });
    await other.say("hello");

    await eraseChat(chat);

    const reads = await Promise.all(
      ["", "/messages", "/events", "/stream", "/compactions", "/context"].map((path) => chat.call("GET", path)),
    );
    const writes = [
      await chat.send("hello"),
      await chat.send(`${MARK}-question`, {}, { "idempotency-key": `${MARK}-key` }),
      await chat.call("PATCH", "", { title: "x" }),
      await chat.call("POST", "/stop"),
      await chat.call("POST", "/retry"),
      await chat.call("POST", "/tool_results", { results: [{ call_id: "c", output: "x" }] }),
    ];
    expect([...reads, ...writes].map(({ status }) => status)).toEqual(Array(12).fill(404));
    const list = await readBody<{ data: { id: string }[] }>(await chat.tenant.call("GET", "/v1/sessions"));
    expect(list.data.map(({ id }) => id)).not.toContain(chat.id);
    const directory = await chat.tenant.call("GET", "/v1/sessions?limit=200");
    expect(await directory.text()).not.toContain(chat.id);
    expect(await objectText(chat)).not.toContain("hello");
  });

  it("twice gives the same receipt", async () => {
    const chat = await markedChat();

    const first = await eraseChat(chat);
    const again = await eraseChat(chat);

    expect(again).toMatchObject({ id: first.id, erased_at: first.erased_at });
  });

  it("holds over a crash right after it", async () => {
    const chat = await markedChat();
    await eraseChat(chat);

    await abortAllDurableObjects();
    await ringNow(chat.stub);

    expect((await chat.call("GET")).status).toBe(404);
    expect((await chat.send("hello")).status).toBe(404);
    expect(await objectText(chat)).not.toMatch(/MARKER|hello/);
    expect(await readRows(chat)).toEqual(LEFT);
  });
});

describe("what an erased session used", () => {
  type Sums = { readonly data: readonly { readonly session_id: string; readonly calls: number }[] };
  const readUsage = async (chat: Chat): Promise<Sums["data"]> =>
    (await readBody<Sums>(await chat.tenant.call("GET", "/v1/usage?group_by=session,model,purpose"))).data;

  const rebuildTenant = async (chat: Chat): Promise<unknown> => {
    const key = env.ADMIN_KEY ?? "";
    return readBody(await request("POST", `/v1/admin/tenants/${chat.tenant.id}/rebuild`, { key }));
  };

  it("stays in the tenant's sums, and comes back when the read model is made anew", async () => {
    const chat = await newChat({ replies: [{ deltas: ["one"] }, { deltas: ["two"] }] });
    await chat.say("hello");
    await chat.say("again");
    await expect.poll(() => readUsage(chat)).toMatchObject([{ session_id: chat.id, calls: 2 }]);
    const before = await readUsage(chat);

    await eraseChat(chat);
    expect(await readUsage(chat)).toEqual(before);

    await env.DB.prepare("DELETE FROM erased_usage").run();
    await env.DB.prepare("DELETE FROM session_tombstones").run();
    expect(await rebuildTenant(chat)).toMatchObject({ repaired: true, differences: [{ table: "erased_usage" }] });
    expect(await readUsage(chat)).toEqual(before);
    expect(await rebuildTenant(chat)).toMatchObject({ repaired: true, differences: [] });
  });

  it("holds the call that the deletion cut off", async () => {
    const chat = await newChat({ replies: [{ deltas: ["one ", { gate: "never" }] }] });
    const frames = await chat.hear("hello");
    await frames.until("text.delta");

    await eraseChat(chat);
    await frames.rest();

    expect(await readUsage(chat)).toMatchObject([{ session_id: chat.id, calls: 1, failed_calls: 1 }]);
  });
});

describe("while a turn runs, erasing", () => {
  it("ends it: the provider's connection is closed, readers are informed, and nothing of the reply is kept", async () => {
    const chat = await newChat({ replies: [{ deltas: [`${MARK}-one `, { gate: "go" }, `${MARK}-two`] }] });
    const frames = await chat.hear(`${MARK}-question`);
    const live = await chat.listen();
    await frames.until("text.delta");

    await eraseChat(chat);
    await chat.model.heard(1, 1);
    await chat.model.open("go");
    await live.until("session.erased");
    await Promise.all([frames.rest(), live.leave()]);

    expect(await objectText(chat)).not.toContain(MARK);
    expect(await readRows(chat)).toEqual(LEFT);
  });

  it("takes the waiting messages with it", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: MARK }] });
    await chat.post(`${MARK}-first`);
    await chat.post(`${MARK}-second`);
    await chat.model.heard(1);

    await eraseChat(chat);

    expect(await objectText(chat)).not.toContain(MARK);
    expect(await chat.model.heard()).toHaveLength(1);
  });

  it("answers a client that waits for the finished turn", async () => {
    const chat = await newChat({ replies: [{ gate: "never", text: MARK }] });
    const waiting = chat.send("hello");
    await chat.model.heard(1);

    await eraseChat(chat);

    const answer = await waiting;
    expect(await readBody(answer, 404)).toMatchObject({ type: "urn:longhand:problem:session_erased" });
  });
});

describe("late writers", () => {
  it("of a compaction find a tombstone", async () => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat();
    await talk(chat, 1, TURNS);
    const job = await queue.next();
    const lease = await chat.api.leaseCompaction(chat.caller, job.compaction);
    if (!lease.ok || lease.value.kind !== "leased") throw new Error("no lease");
    await frames.leave();

    await eraseChat(chat);
    const outcome = { ok: true, text: words(60, MARK), finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    const settled = { compaction: job.compaction, token: lease.value.token, outcome, part: 0, next: null };
    const recorded = await chat.api.recordCompaction(chat.caller, settled);
    const delivered = await deliver(job);

    expect(recorded).toMatchObject({ ok: false, error: { code: "session_erased" } });
    expect(delivered.explicitAcks).toHaveLength(1);
    expect(await objectText(chat)).not.toMatch(/MARKER|question-1/);
  });

  it("of the read model are refused: rows do not come back", async () => {
    const chat = await newChat();
    await chat.say(`${MARK}-question`);
    const page = await chat.api.exportLog(chat.caller, { after: 0, limit: 200 });
    if (!page.ok) throw new Error(page.error.code);
    const { events, bodies } = page.value;

    await eraseChat(chat);
    await createProjection(env.DB).write({ ...chat.caller, events, bodies: new Map(bodies.map(({ id, text }) => [id, text])) });

    expect(await readRows(chat)).toEqual(LEFT);
  });
});

describe("with the read model out of reach, erasing", () => {
  it("erases the object at once, says what is pending, and the alarm does the rest", async () => {
    const chat = await markedChat();
    const spies = [
      vi.spyOn(env.DB, "batch").mockRejectedValue(new Error("gone")),
      vi.spyOn(env.DB, "prepare").mockImplementation(() => {
        throw new Error("gone");
      }),
    ];

    const receipt = await eraseChat(chat);
    expect(receipt.stores).toMatchObject([
      { status: "erased" },
      { store: "read_model", status: "pending", rows: null },
      { store: "files", status: "erased" },
      { store: "exports", status: "erased" },
      { store: "chat", status: "erased" },
      { status: "pending" },
    ]);
    expect(await objectText(chat)).not.toContain(MARK);
    for (const spy of spies) spy.mockRestore();
    await ringNow(chat.stub);
    const again = await eraseChat(chat);

    expect(again.stores).toMatchObject([
      { status: "erased" },
      { store: "read_model", status: "erased" },
      { status: "erased" },
      { status: "erased" },
      { status: "erased" },
      { status: "erased" },
    ]);
    expect(await readRows(chat)).toEqual(LEFT);
  });
});

describe("an erasure that was cut off", () => {
  const tenantStub = (chat: Chat) => env.TENANTS.getByName(tenantObjectName(chat.tenant.id));
  const forget = (chat: Chat) => runInDurableObject(chat.stub, (_, { storage }) => storage.deleteAll());

  /** The state after a kill behind the wipe: an empty object, listed rows, and the tenant's entry. */
  async function cutOff(isNoted = true): Promise<Chat> {
    const chat = await markedChat();
    if (isNoted) await tenantStub(chat).beginErasure(ACT, { session: chat.id, isKnown: false });
    await forget(chat);
    await abortAllDurableObjects();
    expect(await readRows(chat)).toContain("sessions");
    return chat;
  }

  it("behind the wipe is finished by asking for it again", async () => {
    const chat = await cutOff();

    const receipt = await eraseChat(chat);

    expect(receipt.stores.map(({ status }) => status)).toEqual(["erased", "erased", "erased", "erased", "erased", "erased"]);
    expect(await readRows(chat)).toEqual(["session_tombstones"]);
    expect(await (await chat.tenant.call("GET", "/v1/sessions?limit=200")).text()).not.toContain(chat.id);
    expect(await eraseChat(chat)).toMatchObject({ erased_at: receipt.erased_at });
  });

  it("behind the wipe is finished by the tenant's alarm, though no client asks again", async () => {
    const chat = await cutOff();
    await runInDurableObject(tenantStub(chat), (_, { storage }) => void storage.sql.exec("UPDATE erasures SET due_at = 0"));

    await ringNow(tenantStub(chat));

    expect(await readRows(chat)).toEqual(["session_tombstones"]);
    expect((await chat.send("hello")).status).toBe(404);
    expect(await tenantStub(chat).listSessions({ after: null, limit: 10 })).toMatchObject({ ok: true, value: { data: [] } });
  });

  it("under a condition is noted before the wipe, and finished by the tenant's alarm, though its request is lost", async () => {
    const chat = await markedChat();
    const { etag } = await readBody<{ etag: string }>(await chat.call("GET"));
    await chat.api.erase(chat.caller, false, { match: [etag], none_match: null });
    await forget(chat);
    await abortAllDurableObjects();
    const noted = await runInDurableObject(tenantStub(chat), (_, { storage }) => {
      const rows = storage.sql.exec("SELECT session FROM erasures").toArray();
      storage.sql.exec("UPDATE erasures SET due_at = 0");
      return rows;
    });
    expect(noted).toEqual([{ session: chat.id }]);

    await ringNow(tenantStub(chat));

    expect(await readRows(chat)).toEqual(LEFT);
    expect((await chat.send("hello")).status).toBe(404);
    expect(await tenantStub(chat).listSessions({ after: null, limit: 10 })).toMatchObject({ ok: true, value: { data: [] } });
  });

  it("of which nothing was noted is finished by asking for it: what the list still shows goes", async () => {
    const chat = await cutOff(false);
    await tenantStub(chat).forgetSession(chat.id);

    expect((await eraseChat(chat)).stores.map(({ status }) => status)).toEqual([
      "erased",
      "erased",
      "erased",
      "erased",
      "erased",
      "erased",
    ]);
    expect(await readRows(chat)).toEqual(["session_tombstones"]);
  });

  it("is not revived by the request that made the session", async () => {
    const chat = await newChat();
    const create = () => chat.tenant.call("POST", "/v1/sessions", { model: chat.model.upstream }, { "idempotency-key": "made" });
    const { id } = await readBody<{ id: typeof chat.id }>(await create(), 201);
    const made = new Chat(chat.tenant, id, chat.model);
    await made.append(`${MARK}-message`);
    await tenantStub(made).beginErasure(ACT, { session: id, isKnown: false });
    await forget(made);
    await abortAllDurableObjects();

    expect((await create()).status).toBe(404);
    await eraseChat(made);
    expect((await create()).status).toBe(404);
    expect(await readRows(made)).toEqual(["session_tombstones"]);
  });

  it("of an id that was never given out is a 404 and leaves nothing", async () => {
    const chat = await newChat();
    const unknown = new Chat(chat.tenant, newId("ses"), chat.model);

    expect((await unknown.call("DELETE")).status).toBe(404);
    expect(await objectText(unknown)).toBe("[]");
    expect(await readRows(unknown)).toEqual([]);
  });
});
