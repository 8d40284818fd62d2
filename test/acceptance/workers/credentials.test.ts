/** Tenants' provider keys: the requests that contain them, and all the places that must not. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { CredentialView, RotationReport } from "../../../src/contract/credential";
import { sealCredential } from "../../../src/tenant/credentials/credential-seal";
import { ACT } from "../../support/act";
import { deliver, holdQueue, TURNS, talk, WINDOW, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, newTenant, readBody, request, type Tenant } from "../../workers/support";

const SECRET = "sk-proj-d0-n0t-leak-4f1a";
const OLD_KEY = { kid: "old", bytes: new Uint8Array(32).fill(1) };

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const getStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));

async function putCredential(tenant: Tenant, api_key = SECRET, name = "mine"): Promise<CredentialView> {
  return readBody(await tenant.call("PUT", `/v1/credentials/${name}`, { api_key }));
}

async function chatWithCredential() {
  const tenant = await newTenant();
  await putCredential(tenant);
  return newChat({ tenant, credential: "mine" });
}

/** Every value of every row of every table of an object, as one text. */
const dump = (stub: DurableObjectStub): Promise<string> =>
  runInDurableObject(stub, (_, { storage }) => {
    const names = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    const own = names.filter(({ name }) => !name.startsWith("_cf_"));
    return JSON.stringify(own.map(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray()));
  });

/** Every row of every table of D1. */
async function dumpD1(): Promise<string> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'",
  ).all<{
    name: string;
  }>();
  const rows = await env.DB.batch(results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`)));
  return JSON.stringify(rows.map((table) => table.results));
}

/** The console's output from now on. */
function listenToLogs(): readonly unknown[] {
  const lines: unknown[] = [];
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, method).mockImplementation((...line: unknown[]) => void lines.push(line));
  }
  return lines;
}

/** A turn without a key: it fails as `auth`, explains the remedy, and sends nothing. */
async function expectNoKey(chat: Chat, content: string): Promise<void> {
  const before = (await chat.model.heard()).length;
  const answer = await chat.send(content);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    status: "failed",
    failure: {
      kind: "auth",
      status: null,
      detail: expect.stringMatching(/^There is no key /),
      remedy: expect.stringContaining("PUT /v1/credentials/{name}"),
    },
  });
  expect(await chat.model.heard()).toHaveLength(before);
}

describe("a tenant's credential", () => {
  it("is sent to the tenant's own model, in a turn and in the background's compaction", async () => {
    const queue = holdQueue();
    const tenant = await newTenant();
    await putCredential(tenant);
    const chat = await newChat({ tenant, credential: "mine", window: WINDOW, maxOutput: 100, summaries: [{ text: words(60, "SUMMARY") }] });
    const frames = await chat.listen(0);

    await talk(chat, 1, TURNS);
    await deliver(await queue.next());
    await frames.until("compaction.completed");

    const heard = await chat.model.heard();
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set(["turn", "compaction"]));
    expect(new Set(heard.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${SECRET}`]));
    await frames.leave();
  });

  it("is not sent by a model that does not name it", async () => {
    const tenant = await newTenant();
    await putCredential(tenant);
    const chat = await newChat({ tenant });

    await chat.say("hello");

    expect(await chat.model.heard()).toMatchObject([{ authorization: null }]);
  });

  it("that is replaced or removed is followed within the stated time", async () => {
    const chat = await chatWithCredential();
    await chat.say("one");
    await putCredential(chat.tenant, "sk-another");
    await chat.say("two");
    expect((await chat.tenant.call("DELETE", "/v1/credentials/mine")).status).toBe(204);
    await expectNoKey(chat, "three");
    await putCredential(chat.tenant, "sk-a-third");
    expect((await chat.call("POST", "/retry")).status).toBe(200);

    const heard = await chat.model.heard();
    const keys = [SECRET, "sk-another", "sk-a-third"];
    expect(heard.map(({ authorization }) => authorization)).toEqual(keys.map((key) => `Bearer ${key}`));
    expect((await chat.tenant.call("DELETE", "/v1/credentials/mine")).status).toBe(204);
    const model = await readBody<{ warnings: string[] }>(await chat.tenant.call("GET", `/v1/models/${chat.model.upstream}`));
    expect(model.warnings).toEqual([expect.stringContaining("credential named here does not exist")]);
  });

  it("is shown by name, time, master key and the models that use it, and survives eviction", async () => {
    const chat = await chatWithCredential();
    await evictDurableObject(getStub(chat.tenant));

    const { data } = await readBody<{ data: CredentialView[] }>(await chat.tenant.call("GET", "/v1/credentials"));

    expect(data).toEqual([
      { name: "mine", key_id: "new", created_at: expect.any(Number), updated_at: expect.any(Number), models: [chat.model.upstream] },
    ]);
  });

  it("of one tenant is not another tenant's", async () => {
    await chatWithCredential();
    const other = await newTenant();

    expect(await readBody(await other.call("GET", "/v1/credentials"))).toMatchObject({ data: [] });
    expect((await other.call("PUT", "/v1/models/m", { provider: "openai", max_output: 1, credential: "mine" })).status).toBe(400);
  });

  it("is in no log line, no answer, no event, no row of any database and no export", async () => {
    const lines = listenToLogs();
    const chat = await chatWithCredential();
    const { tenant } = chat;
    await chat.model.says({ status: 401, error: { code: "invalid_api_key", message: `Incorrect API key provided: ${SECRET}` } });
    const failed = await (await chat.send("hello")).text();
    await chat.say("again");
    const answers = await Promise.all([
      tenant.call("GET", "/v1/credentials"),
      tenant.call("GET", "/v1/models"),
      tenant.call("GET", `/v1/models/${chat.model.upstream}`),
      tenant.call("POST", `/v1/models/${chat.model.upstream}/probe`),
      chat.call("GET", "/context"),
      chat.call("GET", "/events?limit=200"),
      chat.call("GET", "/messages?limit=200"),
      chat.call("GET"),
      request("GET", `/v1/admin/tenants/${tenant.id}`, { key: env.ADMIN_KEY }),
      request("GET", `/v1/admin/tenants/${tenant.id}/sessions/${chat.id}/log?after=0&limit=100`, { key: env.ADMIN_KEY }),
      request("POST", `/v1/admin/tenants/${tenant.id}/credentials/rotate`, { key: env.ADMIN_KEY }),
      request("POST", `/v1/admin/tenants/${tenant.id}/rebuild`, { key: env.ADMIN_KEY }),
    ]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));

    const places = {
      logs: JSON.stringify(lines),
      failed,
      answers: texts.join("\n"),
      export: JSON.stringify(await getStub(tenant).exportTenant()),
      rpc: JSON.stringify(await getStub(tenant).sealedCredential("mine")),
      tenant: await dump(getStub(tenant)),
      session: await dump(chat.stub),
      d1: await dumpD1(),
    };

    expect((await chat.model.heard()).every(({ authorization }) => authorization === `Bearer ${SECRET}`)).toBe(true);
    expect(places.tenant).toContain('"mine"');
    expect(places.d1).toContain('"mine"');
    for (const [place, text] of Object.entries(places)) {
      for (const form of [SECRET, btoa(SECRET), SECRET.slice(8)]) expect([place, text.includes(form)]).toEqual([place, false]);
    }
  });
});

describe("the rotation of master keys", () => {
  const rotate = async (tenant: Tenant): Promise<RotationReport> =>
    readBody(await request("POST", `/v1/admin/tenants/${tenant.id}/credentials/rotate`, { key: env.ADMIN_KEY }));

  it("seals all anew under the current key; what an older one sealed is used until then, and after", async () => {
    const tenant = await newTenant();
    const sealed = await sealCredential(SECRET, OLD_KEY, { tenant: tenant.id, name: "mine" });
    await getStub(tenant).putCredential(ACT, { name: "mine", sealed });
    await putCredential(tenant, "sk-current", "current");
    const chat = await newChat({ tenant, credential: "mine" });
    await chat.say("before");

    expect(await rotate(tenant)).toEqual({ key_id: "new", total: 2, current: 1, resealed: 1, changed: 0, unreadable: [] });
    expect(await rotate(tenant)).toMatchObject({ current: 2, resealed: 0 });
    await chat.say("after");

    expect((await chat.model.heard()).map(({ authorization }) => authorization)).toEqual([`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
    expect(await getStub(tenant).sealedCredential("mine")).toMatchObject({ kid: "new" });
  });

  it("names what no known key opens, and whose calls are not made", async () => {
    const tenant = await newTenant();
    const lost = { kid: "lost", bytes: new Uint8Array(32).fill(9) };
    await getStub(tenant).putCredential(ACT, {
      name: "mine",
      sealed: await sealCredential(SECRET, lost, { tenant: tenant.id, name: "mine" }),
    });
    const lines = listenToLogs();
    const chat = await newChat({ tenant, credential: "mine" });

    await expectNoKey(chat, "hello");

    expect(await rotate(tenant)).toMatchObject({ total: 1, resealed: 0, unreadable: ["mine"] });
    expect(JSON.stringify(lines)).toContain("credential.unreadable");
  });
});

it("a tenant's credential moved to another tenant opens nothing", async () => {
  const chat = await chatWithCredential();
  const thief = await newTenant();
  const stolen = await getStub(chat.tenant).sealedCredential("mine");
  if (!stolen) throw new Error("no credential");
  await getStub(thief).putCredential(ACT, { name: "mine", sealed: stolen });
  vi.spyOn(console, "error").mockImplementation(() => {});
  const theirs = await newChat({ tenant: thief, credential: "mine" });

  await expectNoKey(theirs, "hello");
});
