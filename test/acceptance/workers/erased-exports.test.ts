/** Exports that hold a person who is erased: before they hold the person, when they are ready, and when their bytes cannot be removed. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { ErasureView } from "../../../src/contract/erasure";
import type { ExportView } from "../../../src/contract/export";
import { ringNow } from "../../workers/alarms";
import { type Chat, migrate, newChat, readBody, readStorage, request, type Tenant } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const tenantStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const ring = (tenant: Tenant) => ringNow(tenantStub(tenant));
const read = async (tenant: Tenant, id: string) => readBody<ExportView>(await tenant.call("GET", `/v1/exports/${id}`));
const begin = async (tenant: Tenant, subject: object) => readBody<ExportView>(await tenant.call("POST", "/v1/exports", subject), 202);

/** The alarm, until the export is not under way any more. */
async function finish(tenant: Tenant, id: string): Promise<ExportView> {
  for (let rings = 0; rings < 50; rings++) {
    const found = await read(tenant, id);
    if (found.status !== "running") return found;
    await ring(tenant);
  }
  throw new Error("The export does not end");
}

async function talk(user: string, text: string, tenant?: Tenant): Promise<Chat> {
  const chat = await newChat(tenant ? { tenant } : {});
  await readBody(await chat.call("PATCH", "", { end_user: user }));
  await chat.call("POST", "/messages", { content: text, run: false });
  return chat;
}

const eraseUser = async (tenant: Tenant, user: string): Promise<ErasureView> =>
  readBody<ErasureView>(await tenant.call("DELETE", `/v1/end-users/${user}`));
const follow = (address: string) => request("GET", address.slice("https://longhand.test".length), {});
const listKeys = async (tenant: Tenant) => (await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects.map(({ key }) => key);

it("a ready export with an erased person's session is gone with the erasure: its signed address, its entry and its bytes", async () => {
  const { tenant } = await talk("adazanzibar", "hello");
  const ready = await Promise.all(
    [{ of: "tenant" }, { of: "end_user", end_user: "adazanzibar" }].map(async (subject) =>
      finish(tenant, (await begin(tenant, subject)).id),
    ),
  );
  for (const { download_url } of ready) expect(await (await follow(download_url ?? "")).text()).toContain("adazanzibar");
  expect(await listKeys(tenant)).toHaveLength(2);

  const erasure = await eraseUser(tenant, "adazanzibar");

  expect(erasure).toMatchObject({ status: "done" });
  expect(erasure.stores).toContainEqual({ store: "exports", status: "erased", pending: 0, note: null });
  for (const { id, download_url } of ready) {
    expect((await follow(download_url ?? "")).status).toBe(404);
    expect((await tenant.call("GET", `/v1/exports/${id}`)).status).toBe(404);
  }
  expect(await listKeys(tenant)).toEqual([]);
  expect(await readStorage(tenantStub(tenant))).not.toContain("adazanzibar");
});

it("an erasure is not done while the bytes of an export that held a session cannot be removed, and says so", async () => {
  const { tenant } = await talk("ada", "hello");
  const { download_url } = await finish(tenant, (await begin(tenant, { of: "tenant" })).id);
  const { FILES } = env;
  if (!FILES) throw new Error("no bucket");
  vi.spyOn(FILES, "delete").mockRejectedValue(new Error("gone"));

  const erasure = await eraseUser(tenant, "ada");

  expect(erasure).toMatchObject({ status: "running", sessions: { total: 1, done: 0 } });
  expect(erasure.stores).toContainEqual({ store: "exports", status: "pending", pending: 1, note: null });
  expect((await follow(download_url ?? "")).status).toBe(404);

  vi.restoreAllMocks();
  await runInDurableObject(tenantStub(tenant), (_, { storage }) => void storage.sql.exec("UPDATE erasures SET due_at = 1"));
  await ring(tenant);
  expect(await readBody(await tenant.call("GET", `/v1/erasures/${erasure.id}`))).toMatchObject({ status: "done" });
  expect(await listKeys(tenant)).toEqual([]);
});

it("an export of an erased end user ends though it holds none of the sessions yet, and one of another stays", async () => {
  const { tenant } = await talk("ada", "hello");
  await talk("eve", "hello", tenant);
  const [own, others] = [
    await begin(tenant, { of: "end_user", end_user: "ada" }),
    await begin(tenant, { of: "end_user", end_user: "eve" }),
  ];

  await eraseUser(tenant, "ada");
  expect((await tenant.call("GET", `/v1/exports/${own.id}`)).status).toBe(404);

  expect(await finish(tenant, others.id)).toMatchObject({ status: "ready", end_user: "eve" });
  expect(await readStorage(tenantStub(tenant))).not.toContain('"ada"');
});
