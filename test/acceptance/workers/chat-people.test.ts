/** The people of a channel in workerd: who is unpaired, and who is erased, alone or with the channel or the tenant. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findWords } from "../../../src/app/channels/words/words";
import { chatObjectName, sessionObjectName, tenantObjectName } from "../../../src/app/object-name";
import type { ErasureView } from "../../../src/contract/erasure";
import type { Page } from "../../../src/contract/page";
import type { SessionSummary } from "../../../src/contract/session";
import { parseId } from "../../../src/domain/ids";
import { ringNow } from "../../workers/alarms";
import { type ChannelChat, newChannelChat } from "../../workers/channel-chat";
import { advanceClock, restoreClock } from "../../workers/clock";
import { migrate, readBody, readStorage, request, TABLES } from "../../workers/support";

beforeAll(migrate);
afterEach(restoreClock);

const EN = findWords("en");
/** In every text, and in each id of the person. Each test has its own, since all share one read model. */
let mark = "";
let tests = 0;
beforeEach(() => {
  mark = `PLANTED${++tests}END`;
});
const toPerson = (): string => `${mark}person`;
const toRoom = (): string => `${mark}room`;

const tenantStub = ({ tenant }: ChannelChat) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const roomStub = ({ tenant }: ChannelChat, room = toRoom()) => env.CHATS.getByName(chatObjectName(tenant.id, "desk", `chat:${room}`));

async function listSessions({ tenant }: ChannelChat): Promise<readonly string[]> {
  return (await readBody<Page<SessionSummary>>(await tenant.call("GET", "/v1/sessions?limit=100"))).data.map(({ id }) => id);
}

/** Where the mark is: tables of the read model and of every object, and names and bytes of files. */
async function findMarks(chat: ChannelChat, sessions: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const tables = await env.DB.prepare(`${TABLES} AND name <> 'd1_migrations'`).all<{ name: string }>();
  for (const { name } of tables.results) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    if (JSON.stringify(results).includes(mark)) found.push(name);
  }
  for (const id of sessions) {
    const session = parseId("ses", id);
    if (session && (await readStorage(env.SESSIONS.getByName(sessionObjectName(chat.tenant.id, session)))).includes(mark)) found.push(id);
  }
  if ((await readStorage(tenantStub(chat))).includes(mark)) found.push("tenant");
  if ((await readStorage(roomStub(chat))).includes(mark)) found.push("chat");
  const files = (await env.FILES?.list({ prefix: `${chat.tenant.id}/` }))?.objects ?? [];
  return [...found, ...files.map(({ key }) => key)];
}

/** The alarm of the tenant's object, as if the time of every note had come. */
async function ring(chat: ChannelChat): Promise<void> {
  await runInDurableObject(tenantStub(chat), (_, { storage }) => {
    for (const table of ["erasures", "left_chats"]) storage.sql.exec(`UPDATE ${table} SET due_at = 0`);
    storage.sql.exec("UPDATE files SET due_at = 1 WHERE due_at IS NOT NULL");
  });
  await ringNow(tenantStub(chat));
}

const toCode = async ({ tenant }: ChannelChat): Promise<string> =>
  (await readBody<{ code: string }>(await tenant.call("POST", "/v1/channels/desk/pairing-codes"), 201)).code;

/** A person who was paired, talked, sent a file that came and one that did not, and waits for a reply. Returns the ids of the sessions. */
async function talk(chat: ChannelChat): Promise<readonly string[]> {
  const write = (text: string, more: object = {}) => chat.write({ text, user: toPerson(), conversation: toRoom(), ...more });
  await chat.says({ text: `${mark} yes.` }, { text: `${mark} no.` });
  await write("WRONG-CODE");
  await chat.taken(1);
  await write(await toCode(chat));
  await chat.taken(2);
  const files = [
    { url: chat.fileUrl, name: `${mark}.txt` },
    { url: "http://127.0.0.1:1/none", name: `${mark}.png` },
  ];
  await write(`${mark} question`, { id: `${mark}-delivery`, files });
  await chat.taken(3);
  await write("", { event: { edit: { id: "m-unknown", text: `${mark} early` } } });
  await chat.platformSays({ status: 503 });
  await write(`${mark} second`);
  await chat.refused(1);
  const [session = ""] = await listSessions(chat);
  await readBody(await chat.tenant.call("POST", `/v1/sessions/${session}/fork`), 201);
  const sessions = await listSessions(chat);
  expect(sessions).toHaveLength(2);
  return sessions;
}

const eraseUser = async ({ tenant }: ChannelChat, user: string): Promise<ErasureView> =>
  readBody<ErasureView>(await tenant.call("DELETE", `/v1/end-users/${encodeURIComponent(user)}`));
const chatStore = ({ stores }: ErasureView) => stores.find(({ store }) => store === "chat");

describe("a person who is unpaired", () => {
  it("is a stranger to the bot within 30 seconds, also in the chat in which they were paired", async () => {
    const chat = await newChannelChat({ access: { mode: "pairing" } });
    await chat.says({ text: "Good day." });
    await chat.write({ text: await toCode(chat) });
    await chat.taken(1);
    await chat.write({ text: "Hello." });
    await chat.taken(2);

    expect((await chat.tenant.call("DELETE", "/v1/channels/desk/users/ada")).status).toBe(204);
    advanceClock(30_000);
    await chat.write({ text: "Are you there?" });

    expect((await chat.taken(3)).map(({ text }) => text)).toEqual([EN.paired, "Good day.", EN.pair]);
    expect(await chat.model.heard()).toHaveLength(1);
  });
});

describe("the erasure of an end user who talked to a bot", () => {
  it("leaves neither a text nor an id of the person in any store, and the person is a stranger", async () => {
    const chat = await newChannelChat({ access: { mode: "pairing", users: [toPerson(), "eve"] } });
    const sessions = await talk(chat);
    expect(await findMarks(chat, sessions)).toEqual(expect.arrayContaining(["sessions", ...sessions, "tenant", "chat"]));

    const erasure = await eraseUser(chat, `generic:${toPerson()}`);
    await ring(chat);

    expect(erasure).toMatchObject({ status: "done", sessions: { total: 2, done: 2 } });
    expect(chatStore(erasure)).toMatchObject({ status: "erased", pending: 0 });
    expect(await findMarks(chat, sessions)).toEqual([]);
    expect(await readBody(await chat.tenant.call("GET", "/v1/channels/desk"))).toMatchObject({ access: { users: ["eve"] } });
    expect(await readBody(await chat.tenant.call("GET", "/v1/channels/desk/users"))).toMatchObject({ data: [] });
    const before = (await chat.taken(0)).length;
    await chat.write({ text: "Me again.", user: toPerson(), conversation: toRoom() });
    expect((await chat.taken(before + 1)).at(-1)?.text).toBe(EN.pair);
  });

  it("ends an export of the tenant with an access list that names the person, and no other", async () => {
    const chat = await newChannelChat({ access: { mode: "allow_list", users: [toPerson()] } });
    const makeExport = async (settings: boolean) =>
      (await readBody<{ id: string }>(await chat.tenant.call("POST", "/v1/exports", { of: "tenant", settings }), 202)).id;
    await makeExport(true);
    const plain = await makeExport(false);

    await eraseUser(chat, "telegram:4711");
    const list = async () => (await readBody<Page<{ id: string }>>(await chat.tenant.call("GET", "/v1/exports"))).data.map(({ id }) => id);
    expect(await list()).toHaveLength(2);
    await eraseUser(chat, `generic:${toPerson()}`);

    expect(await list()).toEqual([plain]);
  });

  it("leaves another person's pairing, conversation and lines of the log", async () => {
    const chat = await newChannelChat({ access: { mode: "pairing", users: ["eve"] } });
    await chat.says({ text: "Hello, Eve." }, { text: "Again." });
    const files = [{ url: "http://127.0.0.1:1/none", name: "photo.png" }];
    await chat.write({ text: "I am Eve.", user: "eve", files });
    await chat.taken(1);

    await eraseUser(chat, `generic:${toPerson()}`);
    await chat.write({ text: "Still here.", user: "eve" });

    expect((await chat.taken(2)).map(({ text }) => text)).toEqual(["Hello, Eve.", "Again."]);
    const log = await readBody<Page<object>>(await chat.tenant.call("GET", "/v1/channels/desk/log"));
    expect(log.data).toMatchObject([{ kind: "attachment_failed" }]);
  });
});

describe("a stranger's chat", () => {
  it("forgets the stranger after a day, though nothing more is written in it, and its digests when no platform repeats", async () => {
    const chat = await newChannelChat({ access: { mode: "allow_list", users: [] } });
    await chat.write({ text: `${mark} hello`, user: toPerson(), conversation: toRoom() });
    await chat.taken(1);
    expect(await readStorage(roomStub(chat))).toContain(mark);
    advanceClock(24 * 60 * 60_000);
    await ringNow(roomStub(chat));

    expect(await readStorage(roomStub(chat))).not.toContain(mark);
    advanceClock(15 * 24 * 60 * 60_000);
    await ringNow(roomStub(chat));
    const claims = await runInDurableObject(roomStub(chat), (_, { storage }) => storage.sql.exec("SELECT * FROM claims").toArray());
    expect(claims).toEqual([]);
  });
});

describe("the deletion of a channel", () => {
  it("empties its chats, leaves its sessions, and a new channel of the name begins new conversations", async () => {
    const chat = await newChannelChat({ access: { mode: "pairing", users: [toPerson()] } });
    const sessions = await talk(chat);
    const before = (await chat.taken(0)).length;

    expect((await chat.tenant.call("DELETE", "/v1/channels/desk")).status).toBe(204);

    await expect.poll(async () => (await readStorage(roomStub(chat))).includes(mark)).toBe(false);
    expect(await listSessions(chat)).toEqual(sessions);
    const channel = { type: "generic", credentials: chat.credentials, model: chat.model.upstream };
    await readBody(await chat.tenant.call("PUT", "/v1/channels/desk", channel));
    await chat.says({ text: "Who are you?" });
    advanceClock(30_000);
    await chat.write({ text: "A new one.", user: toPerson(), conversation: toRoom() });
    await chat.taken(before + 1);
    const heard = await chat.model.heard();
    expect(heard.at(-1)?.body.messages).toMatchObject([{ role: "user", content: "A new one." }]);
  });
});

describe("the deletion of a tenant with chats", () => {
  it("leaves nothing of any chat in any store, and its receipt lists the chats", async () => {
    const chat = await newChannelChat({ access: { mode: "pairing", users: [toPerson()] } });
    const sessions = await talk(chat);

    const path = `/v1/admin/tenants/${chat.tenant.id}`;
    const erasure = await readBody<ErasureView>(await request("DELETE", path, { key: env.ADMIN_KEY ?? "" }));
    await ring(chat);

    expect(erasure).toMatchObject({ of: "tenant", status: "done", sessions: { total: 2, done: 2 } });
    expect(chatStore(erasure)).toMatchObject({ status: "erased", pending: 0 });
    expect(await findMarks(chat, sessions)).toEqual([]);
    const left = await runInDurableObject(roomStub(chat), (_, { storage }) =>
      ["deliveries", "parts", "turns", "messages", "buttons", "early_changes", "address", "times", "sent"].flatMap((name) =>
        storage.sql.exec(`SELECT * FROM ${name}`).toArray(),
      ),
    );
    expect(left).toEqual([]);
  });
});
