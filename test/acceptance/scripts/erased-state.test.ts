/**
 * The remains of each kind of erasure in the state of a real server: every table, and the bytes of every file. The tests run at once, because
 * each waits for the alarm that overwrites its tenant's object.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { createTenant } from "../../../scripts/support/connection";
import type { LocalServer } from "../../../scripts/support/local-server";
import { createSandbox, type Sandbox } from "../../../scripts/support/sandbox";
import { type Client, createClient, Planter, pollUntil, readId, rest } from "./planted";

const SECONDS = 120_000;
/** What another end user said, which every erasure leaves. */
const KEPT = "rememberkilimanjaro";

let sandbox: Sandbox;
let server: LocalServer;
beforeAll(async () => {
  sandbox = await createSandbox();
  server = await sandbox.start();
}, SECONDS);
afterAll(() => sandbox.close());

const receipt = z.object({ status: z.string(), stores: z.array(z.object({ store: z.string(), status: z.string() })) });

/** Waits until every store has reported. */
const untilDone = (read: () => Promise<unknown>): Promise<z.infer<typeof receipt>> =>
  pollUntil(
    async () => receipt.parse(await read()),
    ({ status }) => status === "done",
  );

/** A tenant with budgets of its end users and of its sessions, so that its counters and events are among what is searched. */
async function newTenant(): Promise<Client> {
  const admin = { url: server.url, key: sandbox.adminKey };
  const connection = await createTenant(server.url, sandbox.adminKey);
  const budget = { period: "day", unit: "tokens", purposes: "all" };
  const budgets = [
    { ...budget, name: "each", of: "end_user", amount: 100_000_000 },
    { ...budget, name: "one", of: "session", amount: 100_000_000 },
  ];
  await callApi(admin, { method: "PUT", path: "/v1/admin/plans/budgeted", body: { budgets } });
  const tenant = `ten_${/^lh_[^_]+_([0-9A-Z]{26})_/.exec(connection.key)?.[1]}`;
  await callApi(admin, { method: "PATCH", path: `/v1/admin/tenants/${tenant}`, body: { plan: "budgeted" } });
  return createClient(connection);
}

/** A session of another end user, which nothing touches. */
async function plantKept({ call }: Client): Promise<string> {
  const path = `/v1/sessions/${readId(await call("POST", "/v1/sessions", { end_user: "eve", title: KEPT }))}`;
  await call("POST", `${path}/messages`, { content: KEPT, run: false });
  return path;
}

/** The content of a file that is text. */
async function upload({ connection: { url, key } }: Client, name: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "text/plain" };
  const answer = await fetch(`${url}/v1/files?name=${name}`, { method: "POST", headers, body: `of ${name}` });
  return readId(await answer.json());
}

/** A session of an end user, with a file, and with the word in every text. */
async function plantPerson(client: Client, word: string): Promise<string> {
  const { call } = client;
  const input = { end_user: word, title: `title ${word}`, external_id: `external ${word}`, metadata: { note: word } };
  const path = `/v1/sessions/${readId(await call("POST", "/v1/sessions", input))}`;
  const content = [
    { type: "text", text: `said ${word}` },
    { type: "file", file_id: await upload(client, word) },
  ];
  await call("POST", `${path}/messages`, { content, run: false });
  return path;
}

/** A session with calls for the end user, which was given to another one since. */
async function plantGiven({ call }: Client, endUser: string): Promise<void> {
  const path = `/v1/sessions/${readId(await call("POST", "/v1/sessions", { end_user: endUser }))}`;
  await call("POST", `${path}/messages`, { content: KEPT });
  await rest({ call }, path);
  await call("PATCH", path, { end_user: "eve" });
}

async function exportAll({ call }: Client, subject: object): Promise<void> {
  const id = readId(await call("POST", "/v1/exports", subject));
  const status = async () => z.object({ status: z.string() }).parse(await call("GET", `/v1/exports/${id}`)).status;
  await pollUntil(status, (found) => found === "ready");
}

/** D1 has no way to overwrite: what is deleted stays in its files until their pages are used again. */
const isD1 = (file: string): boolean => file.startsWith("v3/d1/");
const findInObjects = (planter: Planter) => planter.findInFiles(sandbox.state).filter((file) => !isD1(file));

/** The alarm overwrites the tenant's object a quarter of a minute after the erasure. */
async function untilOverwritten(planter: Planter): Promise<void> {
  const patience = { timeout: SECONDS, interval: 1_000 };
  let found: readonly string[] = findInObjects(planter);
  await vi.waitFor(() => {
    // All files together are some hundred MB, so that those with a word are read first.
    found = planter.findInFiles(sandbox.state, found);
    if (found.length === 0) found = findInObjects(planter);
    expect(found).toEqual([]);
  }, patience);
  await vi.waitFor(() => expect(planter.findInTables(sandbox.state)).toEqual([]), patience);
}

async function erase({ call }: Client, path: string): Promise<z.infer<typeof receipt>> {
  const { erasure_id: id } = z.object({ erasure_id: z.string() }).parse(await call("DELETE", path));
  return untilDone(() => call("GET", `/v1/erasures/${id}`));
}

test.concurrent(
  "the state of a server holds nothing of an erased session, and its fork keeps its copy until it is erased, too",
  async () => {
    const planter = new Planter("a");
    const client = await newTenant();
    const kept = await plantKept(client);
    const path = await planter.plantSession(client, null);
    const fork = `/v1/sessions/${readId(await client.call("POST", `${path}/fork`, {}))}`;
    expect(planter.findInTables(sandbox.state)).not.toEqual([]);

    await erase(client, path);
    expect(JSON.stringify(await client.call("GET", `${fork}/messages`))).toContain(planter.mark);
    await erase(client, fork);

    await untilOverwritten(planter);
    expect(JSON.stringify(await client.call("GET", `${kept}/messages`))).toContain(KEPT);
  },
  SECONDS,
);

test.concurrent(
  "the state of a server holds nothing of a session that was erased with its forks, and theirs",
  async () => {
    const planter = new Planter("b");
    const client = await newTenant();
    const path = await planter.plantSession(client, null);
    const copy = async (source: string) => `/v1/sessions/${readId(await client.call("POST", `${source}/fork`, {}))}`;
    const fork = await copy(path);
    const second = await copy(fork);
    for (const each of [fork, second]) await client.call("POST", `${each}/messages`, { content: planter.plant("own"), run: false });
    expect(planter.findInTables(sandbox.state).filter((table) => table.endsWith(" bodies"))).toHaveLength(3);

    await erase(client, `${path}?forks=true`);

    await untilOverwritten(planter);
  },
  SECONDS,
);

test.concurrent(
  "the state of a server holds nothing of an erased end user: no text, no name, also in usage, and no export",
  async () => {
    const planter = new Planter("c");
    const client = await newTenant();
    const { call } = client;
    const user = planter.plant("enduser");
    const kept = await plantKept(client);
    await erase(client, await planter.plantSession(client, user));
    await planter.plantSession(client, user);
    await planter.plantSession(client, user);
    await plantGiven(client, user);
    await call("POST", "/v1/tokens", { end_user: user });
    await exportAll(client, { of: "end_user", end_user: user });
    await exportAll(client, { of: "tenant" });
    expect(planter.findInFiles(sandbox.state).filter((file) => file.startsWith("v3/r2/")).length).toBeGreaterThanOrEqual(4);

    const { id } = z.object({ id: z.string() }).parse(await call("DELETE", `/v1/end-users/${user}`));
    await untilDone(() => call("GET", `/v1/erasures/${id}`));

    await untilOverwritten(planter);
    expect(await call("GET", "/v1/exports")).toMatchObject({ data: [] });
    expect(JSON.stringify(await call("GET", `${kept}/messages`))).toContain(KEPT);
  },
  SECONDS,
);

test.concurrent(
  "the state of a server holds no name of an erased end user whose only session was given away before any call",
  async () => {
    const planter = new Planter("d");
    const client = await newTenant();
    const user = planter.plant("before");
    const path = `/v1/sessions/${readId(await client.call("POST", "/v1/sessions", { end_user: user }))}`;
    await client.call("PATCH", path, { end_user: "eve" });
    expect(findInObjects(planter).filter((file) => file.includes("SessionObject"))).not.toEqual([]);

    const { id } = z.object({ id: z.string() }).parse(await client.call("DELETE", `/v1/end-users/${user}`));
    await untilDone(() => client.call("GET", `/v1/erasures/${id}`));

    await untilOverwritten(planter);
  },
  SECONDS,
);

test.concurrent(
  "the state of a server holds nothing of many erased end users among others, whose tables SQLite has split into pages, and keeps all of the others",
  async () => {
    const planter = new Planter("e");
    const client = await newTenant();
    const { call } = client;
    const people = Array.from({ length: 60 }, (_, n) => ({ n, word: n % 3 === 0 ? `${KEPT}${n}` : planter.plant(`person${n}x`) }));
    const kept: string[] = [];
    for (let from = 0; from < people.length; from += 10)
      await Promise.all(
        people.slice(from, from + 10).map(async ({ n, word }) => {
          const path = await plantPerson(client, word);
          if (n % 3 === 0) kept.push(path);
        }),
      );
    const erased = people.filter(({ n }) => n % 3 !== 0);
    for (let from = 0; from < erased.length; from += 10)
      await Promise.all(
        erased.slice(from, from + 10).map(async ({ word }) => {
          const { id } = z.object({ id: z.string() }).parse(await call("DELETE", `/v1/end-users/${word}`));
          await untilDone(() => call("GET", `/v1/erasures/${id}`));
        }),
      );

    await untilOverwritten(planter);
    expect(kept.length).toBe(20);
    for (const path of kept) expect(JSON.stringify(await call("GET", `${path}/messages`))).toContain(KEPT);
    const { data } = z.object({ data: z.array(z.object({ name: z.string() })) }).parse(await call("GET", "/v1/files?limit=100"));
    expect(data.map(({ name }) => name).filter((name) => name.startsWith(KEPT)).length).toBe(20);
  },
  SECONDS,
);

test.concurrent(
  "the state of a server holds nothing of many redacted messages among others, and keeps the others",
  async () => {
    const planter = new Planter("f");
    const client = await newTenant();
    const { call } = client;
    const path = `/v1/sessions/${readId(await call("POST", "/v1/sessions", {}))}`;
    const toWord = (n: number): string => (n % 5 === 0 ? `${KEPT}${n}x` : planter.plant(`redacted${n}x`));
    const items = Array.from({ length: 200 }, (_, n) => ({ role: "user", content: `${toWord(n)} ${"said long ago ".repeat(20)}` }));
    const sent = await Promise.all(
      [0, 100].map((from) => call("POST", `${path}/messages/batch`, { items: items.slice(from, from + 100) })),
    );
    await call("GET", `${path}/recall?q=long`);
    const ids = sent.flatMap((answer) =>
      z
        .object({ data: z.array(z.object({ id: z.string() })) })
        .parse(answer)
        .data.map(({ id }) => id),
    );
    const stored = z.object({ data: z.array(z.object({ id: z.string(), content: z.unknown() })) });
    const page = async () => {
      const read = stored.parse(await call("GET", `${path}/messages?limit=200&order=asc`)).data;
      return read.map(({ id, content }) => ({ id, text: JSON.stringify(content) }));
    };
    const gone = (await page()).filter(({ text }) => text.includes(planter.mark));
    expect([ids.length, gone.length]).toEqual([200, 160]);
    for (let from = 0; from < gone.length; from += 20)
      await Promise.all(gone.slice(from, from + 20).map(({ id }) => call("POST", `${path}/messages/${id}/redact`, {})));

    await untilOverwritten(planter);
    expect((await page()).filter(({ text }) => text.includes(KEPT)).length).toBe(40);
  },
  SECONDS,
);

/** Settings of a tenant, with a planted word in each that takes one. */
async function plantTenant({ call }: Client, planter: Planter): Promise<void> {
  const url = `https://${planter.plant("host")}.example`;
  await call("PATCH", "/v1/tenant", { name: planter.plant("name"), allowed_origins: [url] });
  await call("POST", "/v1/keys", { name: planter.plant("keyname"), scopes: ["usage:read"] });
  const restriction = { end_users: [planter.plant("heldto")], metadata: { [planter.plant("heldkey")]: planter.plant("heldvalue") } };
  await call("POST", "/v1/keys", { name: planter.plant("heldname"), restriction });
  await call("PUT", `/v1/credentials/${planter.plant("credential")}`, { api_key: planter.plant("secret") });
  const model = {
    provider: "openai-compatible",
    upstream_id: planter.plant("upstream"),
    base_url: `${url}/v1`,
    max_output: 1_000,
    credential: planter.plant("credential"),
  };
  await call("PUT", `/v1/models/${planter.plant("model")}`, model);
  await call("PUT", `/v1/tools/${planter.plant("registered")}`, {
    description: planter.plant("about"),
    url: `${url}/tool`,
    parameters: { type: "object" },
  });
}

test.concurrent(
  "the state of a server holds nothing of a deleted tenant: no text of its sessions, and none of its settings",
  async () => {
    const planter = new Planter("g");
    const other = await newTenant();
    const kept = await plantKept(other);
    const client = await newTenant();
    const { id: tenant } = z.object({ id: z.string() }).parse(await client.call("GET", "/v1/tenant"));
    await plantTenant(client, planter);
    await erase(client, await planter.plantSession(client, planter.plant("enduser")));
    await planter.plantSession(client, planter.plant("enduser"));
    await plantGiven(client, planter.plant("formeruser"));
    await exportAll(client, { of: "tenant" });

    const admin: Connection = { url: server.url, key: sandbox.adminKey };
    const path = `/v1/admin/tenants/${tenant}`;
    const { id } = z.object({ id: z.string() }).parse(await callApi(admin, { method: "DELETE", path }));
    await untilDone(() => callApi(admin, { method: "GET", path: `${path}/erasures/${id}` }));

    await untilOverwritten(planter);
    expect(JSON.stringify(await other.call("GET", `${kept}/messages`))).toContain(KEPT);
  },
  SECONDS,
);
