/** Removals and imports that the bucket or a crash interrupts, end to end: what clients are told, and what the alarm finishes without them. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { ErasureReceipt } from "../../../src/contract/session";
import { ringErasures, ringNow } from "../../workers/alarms";
import { png, upload } from "../../workers/files";
import { type Chat, migrate, newChat, readBody, type Tenant } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const tenantStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const listObjects = async (tenant: Tenant) => (await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects.map(({ key }) => key);
const countRows = (tenant: Tenant) =>
  runInDurableObject(tenantStub(tenant), (_, { storage }) => storage.sql.exec("SELECT id FROM files").toArray().length);

/** The bucket refuses these requests. */
function breakBucket(method: "delete" | "put"): void {
  const bucket = env.FILES;
  if (!bucket) throw new Error("no bucket");
  vi.spyOn(bucket, method).mockRejectedValue(new Error("R2 is away"));
}

async function chatWithFile(): Promise<{ readonly chat: Chat; readonly file: string }> {
  const chat = await newChat({ replies: [{ text: "A picture." }] });
  const file = await upload(chat.tenant, png("kept"));
  await readBody(await chat.call("POST", "/messages", { content: [{ type: "image", file_id: file.id }] }));
  await ringNow(chat.stub);
  await expect.poll(async () => readBody(await chat.tenant.call("GET", `/v1/files/${file.id}`))).toMatchObject({ sessions: 1 });
  return { chat, file: file.id };
}

it("a file whose bytes cannot be removed is pending and unreadable at once, and the alarm removes them, also after a crash", async () => {
  const { chat, file } = await chatWithFile();
  const { tenant } = chat;
  breakBucket("delete");

  expect(await readBody(await tenant.call("DELETE", `/v1/files/${file}`))).toEqual({ id: file, status: "pending" });
  expect((await tenant.call("GET", `/v1/files/${file}/content`)).status).toBe(404);
  expect(await listObjects(tenant)).toHaveLength(1);

  vi.restoreAllMocks();
  await abortAllDurableObjects();
  await ringErasures(tenant);
  expect([await listObjects(tenant), await countRows(tenant)]).toEqual([[], 0]);
});

it("an erasure whose files cannot be removed says pending, and ends by itself", async () => {
  const { chat } = await chatWithFile();
  breakBucket("delete");

  const receipt = await readBody<ErasureReceipt>(await chat.call("DELETE"));
  expect(receipt.stores).toContainEqual({ store: "files", status: "pending", rows: 0 });
  expect(receipt.stores).toContainEqual({ store: "directory", status: "pending", rows: null });

  vi.restoreAllMocks();
  await abortAllDurableObjects();
  await ringErasures(chat.tenant);
  expect([await listObjects(chat.tenant), await countRows(chat.tenant)]).toEqual([[], 0]);
  const again = await chat.call("DELETE");
  expect(again.status === 404 || (await readBody<ErasureReceipt>(again)).stores.every(({ status }) => status === "erased")).toBe(true);
});

it("a batch whose data URL cannot be stored imports nothing, and its upload ends with its hour", async () => {
  const chat = await newChat();
  breakBucket("put");
  const url = `data:image/png;base64,${btoa(String.fromCharCode(...png("import")))}`;

  const refused = await chat.call("POST", "/messages/batch", { items: [{ content: "before" }, { content: [{ type: "image", url }] }] });

  expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining("file_store_unavailable")]);
  expect(await chat.items()).toEqual([]);
  vi.restoreAllMocks();
  await ringErasures(chat.tenant);
  expect([await listObjects(chat.tenant), await countRows(chat.tenant)]).toEqual([[], 0]);
});
