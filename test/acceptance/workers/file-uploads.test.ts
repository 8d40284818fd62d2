/** Uploads at their limits: quotas, lengths that are not true, clients that stop, and what each of them leaves. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { FileView } from "../../../src/contract/file";
import { png, send, text, upload } from "../../workers/files";
import { migrate, newTenant, readBody, type Tenant } from "../../workers/support";

beforeAll(migrate);

const tenantStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));

/** Rows of files that were stored long ago, as the tenant's object has them. */
const fill = (tenant: Tenant, { files, bytes }: { readonly files: number; readonly bytes: number }) =>
  runInDurableObject(tenantStub(tenant), (_, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO files (id, name, media_type, bytes, sha256, tokens, created_at, state, due_at, attempts)
       SELECT 'fil_' || printf('%026d', i), NULL, 'image/png', ?, '', 0, 0, 'stored', NULL, 0 FROM n`,
      files,
      bytes,
    );
  });

/** The rows of the tenant's files, and the objects in the bucket. */
async function listLeft(tenant: Tenant) {
  const rows = await runInDurableObject(tenantStub(tenant), (_, { storage }) =>
    storage.sql.exec<{ id: string; state: string }>("SELECT id, state FROM files").toArray(),
  );
  return { rows, objects: (await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects.map(({ key }) => key) };
}
const NOTHING = { rows: [], objects: [] };

/** A body in pieces, which ends or fails as it is told. */
const stream = (pieces: readonly Uint8Array[], end: "close" | "error" = "close"): ReadableStream<Uint8Array> => {
  const left = [...pieces];
  return new ReadableStream({
    pull: (controller) => {
      const piece = left.shift();
      if (piece) controller.enqueue(piece);
      else if (end === "close") controller.close();
      else controller.error(new Error("the client is gone"));
    },
  });
};

const sendStream = (tenant: Tenant, body: ReadableStream<Uint8Array>, headers: Record<string, string>) =>
  exports.default.fetch(
    new Request("https://longhand.test/v1/files", { method: "POST", body, headers: { authorization: `Bearer ${tenant.key}`, ...headers } }),
  );

describe("the tenant's quota", () => {
  it("of files holds at the boundary, also for two uploads at once, and a deleted file makes room", async () => {
    const tenant = await newTenant();
    await fill(tenant, { files: 9_999, bytes: 1 });

    const both = await Promise.all([send(tenant, png("a")), send(tenant, png("b"))]);

    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const refused = both.find(({ status }) => status === 409);
    expect(await refused?.json()).toMatchObject({ type: "urn:longhand:problem:file_limit", limit: 10_000 });
    const stored = await readBody<FileView>(both.find(({ status }) => status === 201) ?? new Response(), 201);
    await readBody(await tenant.call("DELETE", `/v1/files/${stored.id}`));
    expect((await send(tenant, png("c"))).status).toBe(201);
  });

  it("of bytes counts to the byte, also for two uploads at once", async () => {
    const tenant = await newTenant();
    const bytes = png("twenty");
    await fill(tenant, { files: 1, bytes: 10_000_000_000 - bytes.byteLength });
    expect((await send(tenant, png("twenty+"))).status).toBe(409);

    const both = await Promise.all([send(tenant, bytes), send(tenant, bytes)]);

    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it("is not used up by uploads that fail", async () => {
    const tenant = await newTenant();
    const bytes = png("twenty");
    await fill(tenant, { files: 1, bytes: 10_000_000_000 - bytes.byteLength });
    for (let attempt = 0; attempt < 3; attempt++) {
      const cut = await sendStream(tenant, stream([bytes.subarray(0, 9)], "error"), { "content-length": String(bytes.byteLength) });
      expect(cut.status).toBe(400);
      const short = await sendStream(tenant, stream([bytes.subarray(1)]), { "content-length": String(bytes.byteLength) });
      expect(short.status).toBe(415);
    }

    await upload(tenant, bytes);
  });
});

describe("an upload leaves nothing", () => {
  const half = new Uint8Array(100_000);
  half.set(png());

  it.each([
    ["whose Content-Length is too small", stream([png("long")]), "12", 400, "has not as many bytes as Content-Length says"],
    ["whose Content-Length is too large", stream([png("short")]), "5000", 400, "has not as many bytes as Content-Length says"],
    ["that is cut off in its first bytes", stream([png()], "error"), "5000", 400, "body"],
    ["that is cut off half-way", stream([half], "error"), "200000", 400, "body"],
    ["of a text that is no UTF-8 at its end", stream([text("a".repeat(2_000)), Uint8Array.from([0xe4])]), "2001", 400, "not UTF-8"],
    ["without a length", stream([png()]), null, 411, "needed"],
    ["with a length that is no number", stream([png()]), "1e3", 411, "needed"],
    ["with a negative length", stream([png()]), "-1", 411, "needed"],
    ["of no bytes", stream([]), "0", 400, "must not be empty"],
    ["larger than any file", stream([png()]), "32000001", 413, "at most 32000000 bytes"],
  ])("%s", async (_, body, length, status, detail) => {
    const tenant = await newTenant();

    const response = await sendStream(tenant, body, length === null ? {} : { "content-length": length });

    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(detail)]);
    expect(await listLeft(tenant)).toEqual(NOTHING);
  });

  it("but the file itself when it is as large as a file may be", async () => {
    const tenant = await newTenant();
    const piece = new Uint8Array(1_000_000).fill(0x20);
    const first = Uint8Array.from(piece);
    first.set(text("%PDF-1.7\n"));
    const pieces = [first, ...Array.from({ length: 31 }, () => piece)];

    const response = await sendStream(tenant, stream(pieces), { "content-length": "32000000" });

    expect(await readBody<FileView>(response, 201)).toMatchObject({ bytes: 32_000_000, media_type: "application/pdf" });
  });
});
