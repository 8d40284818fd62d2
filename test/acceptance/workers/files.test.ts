/** Files over HTTP, with the bucket that workerd brings: what is stored, what is refused, and what remains. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { FileView } from "../../../src/contract/file";
import type { List } from "../../../src/contract/page";
import { ringErasures } from "../../workers/alarms";
import { pdf, png, send, text, upload } from "../../workers/files";
import { migrate, newId, newTenant, readBody, request } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const toHex = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (bytes: Uint8Array): Promise<string> => toHex(await crypto.subtle.digest("SHA-256", bytes));

describe("a stored file", () => {
  it("is read back byte for byte, with its type, size, digest and name", async () => {
    const tenant = await newTenant();
    const bytes = png("Ada");

    const file = await readBody<FileView>(await send(tenant, bytes, { path: "/v1/files?name=%E7%94%BB.png", type: "image/png" }), 201);

    expect(file).toMatchObject({
      name: "画.png",
      media_type: "image/png",
      bytes: bytes.byteLength,
      sha256: await digest(bytes),
      sessions: 0,
    });
    expect(await readBody(await tenant.call("GET", `/v1/files/${file.id}`))).toEqual(file);
    const content = await tenant.call("GET", `/v1/files/${file.id}/content`);
    expect(new Uint8Array(await content.arrayBuffer())).toEqual(bytes);
    expect(content.headers.get("content-type")).toBe("image/png");
    expect(content.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
    expect(content.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''%E7%94%BB.png");
  });

  it("of several megabytes passes through", async () => {
    const tenant = await newTenant();
    const bytes = new Uint8Array(5_000_000);
    bytes.set(png());

    const file = await upload(tenant, bytes);

    expect([file.bytes, file.sha256]).toEqual([5_000_000, await digest(bytes)]);
    const content = await tenant.call("GET", `/v1/files/${file.id}/content`);
    expect((await content.arrayBuffer()).byteLength).toBe(5_000_000);
  });

  it("belongs to its tenant alone", async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const file = await upload(tenant, png());

    for (const path of ["", "/content"]) expect((await other.call("GET", `/v1/files/${file.id}${path}`)).status).toBe(404);
    expect((await other.call("POST", `/v1/files/${file.id}/url`, {})).status).toBe(404);
    expect((await other.call("DELETE", `/v1/files/${file.id}`)).status).toBe(404);
    expect((await readBody<List<FileView>>(await other.call("GET", "/v1/files"))).data).toEqual([]);
    expect((await readBody<List<FileView>>(await tenant.call("GET", "/v1/files"))).data).toEqual([file]);
  });

  it("that is sent twice under one key is one file; another content under it is refused", async () => {
    const tenant = await newTenant();
    const first = await readBody<FileView>(await send(tenant, png("a"), { key: "k1" }), 201);

    const again = await send(tenant, png("a"), { key: "k1" });

    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await readBody<FileView>(again, 201)).toEqual(first);
    expect((await send(tenant, png("b"), { key: "k1" })).status).toBe(422);
    expect((await readBody<List<FileView>>(await tenant.call("GET", "/v1/files"))).data).toHaveLength(1);
  });

  it("that was deleted is not made again by its key, and the upload leaves nothing", async () => {
    const tenant = await newTenant();
    const file = await readBody<FileView>(await send(tenant, png("a"), { key: "k1" }), 201);
    await readBody(await tenant.call("DELETE", `/v1/files/${file.id}`));

    const again = await send(tenant, png("a"), { key: "k1" });

    expect([again.status, await again.text()]).toEqual([404, expect.stringContaining("file_not_found")]);
    expect((await readBody<List<FileView>>(await tenant.call("GET", "/v1/files"))).data).toEqual([]);
    await ringErasures(tenant);
    expect((await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects).toEqual([]);
  });

  it("is gone when it is deleted, from the bucket too", async () => {
    const tenant = await newTenant();
    const file = await upload(tenant, png());
    const { url } = await readBody<{ url: string }>(await tenant.call("POST", `/v1/files/${file.id}/url`, {}));

    expect(await readBody(await tenant.call("DELETE", `/v1/files/${file.id}`))).toEqual({ id: file.id, status: "erased" });

    expect((await env.FILES?.list({ prefix: `${tenant.id}/` }))?.objects).toEqual([]);
    for (const method of ["GET", "DELETE"]) expect((await tenant.call(method, `/v1/files/${file.id}`)).status).toBe(404);
    expect((await request("GET", url.slice("https://longhand.test".length), {})).status).toBe(404);
  });
});

describe("a signed address", () => {
  it("expires as documented where the request has no body at all", async () => {
    const tenant = await newTenant();
    const file = await upload(tenant, text("hello"));
    const ask = (headers = {}) => tenant.call("POST", `/v1/files/${file.id}/url`, undefined, headers);

    for (const headers of [{}, { "content-type": "application/json" }, { "content-type": "text/plain" }]) {
      const { url, expires_at } = await readBody<{ url: string; expires_at: number }>(await ask(headers));
      expect(url).toContain(`.${expires_at}.`);
    }
  });

  it("reads that one file without a key, and nothing else", async () => {
    const tenant = await newTenant();
    const [file, other] = [await upload(tenant, text("hello")), await upload(tenant, text("secret"))];
    const { url } = await readBody<{ url: string }>(await tenant.call("POST", `/v1/files/${file.id}/url`, { expires_in: 60 }));
    const path = url.slice("https://longhand.test".length);

    expect(await (await request("GET", path, {})).text()).toBe("hello");

    const [, , expires] = path.split(".");
    const foreign = await newTenant();
    const tampered = [
      path.replace(file.id, other.id),
      `${path.slice(0, -1)}${path.endsWith("0") ? "1" : "0"}`,
      path.replace(`.${expires}.`, `.${Number(expires) + 1_000}.`),
      path.replace(tenant.id.slice(4), foreign.id.slice(4)),
      path.replaceAll(file.id.slice(4), other.id.slice(4)),
      path.replace(/signature=.*/, "signature="),
    ];
    for (const address of tampered) {
      const refused = await request("GET", address, {});
      expect([refused.status, await refused.text()], address).toEqual([403, expect.stringContaining("signature_not_valid")]);
    }
    expect((await request("GET", path.replace("/content", ""), {})).status).toBe(401);
    for (const method of ["POST", "DELETE"]) expect((await request(method, path, {})).status).toBe(401);
  });

  it("is answered to HEAD with the headers of the content, and to a request for a part with the whole", async () => {
    const tenant = await newTenant();
    const file = await upload(tenant, text("hello"));
    const { url } = await readBody<{ url: string }>(await tenant.call("POST", `/v1/files/${file.id}/url`, {}));
    const path = url.slice("https://longhand.test".length);

    for (const asked of [{ path }, { path: `/v1/files/${file.id}/content`, key: tenant.key }]) {
      const head = await request("HEAD", asked.path, asked);
      expect([head.status, await head.text()]).toEqual([200, ""]);
      expect(Object.fromEntries(head.headers)).toMatchObject({ "content-type": "text/plain", "content-length": "5" });
      const part = await request("GET", asked.path, { ...asked, headers: { range: "bytes=1-2" } });
      expect([part.status, part.headers.get("accept-ranges"), await part.text()]).toEqual([200, "none", "hello"]);
    }
    await tenant.call("DELETE", `/v1/files/${file.id}`);
    expect((await request("HEAD", path, {})).status).toBe(404);
  });

  it("is not sent again to a client that has it, and is unknown to that client, too, once it is deleted", async () => {
    const tenant = await newTenant();
    const file = await upload(tenant, text("hello"));
    const { url } = await readBody<{ url: string }>(await tenant.call("POST", `/v1/files/${file.id}/url`, {}));
    const path = url.slice("https://longhand.test".length);
    const { etag = "" } = Object.fromEntries((await request("GET", path, {})).headers);

    for (const asked of [{ path }, { path: `/v1/files/${file.id}/content`, key: tenant.key }]) {
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const answer = await request("GET", asked.path, { ...asked, headers: { "if-none-match": known } });
        expect([answer.status, answer.headers.get("etag"), await answer.text()]).toEqual([304, etag, ""]);
      }
      const other = await request("GET", asked.path, { ...asked, headers: { "if-none-match": '"other"' } });
      expect([other.status, await other.text()]).toEqual([200, "hello"]);
    }
    await tenant.call("DELETE", `/v1/files/${file.id}`);
    expect((await request("GET", path, { headers: { "if-none-match": etag } })).status).toBe(404);
  });

  it("is no use to another page or a log: it names no referrer, is not cached, and no line of ours holds it", async () => {
    const lines: unknown[] = [];
    for (const level of ["log", "info", "warn", "error"] as const)
      vi.spyOn(console, level).mockImplementation((...words) => void lines.push(words));
    const tenant = await newTenant();
    const file = await upload(tenant, text("hello"));
    const { url } = await readBody<{ url: string }>(await tenant.call("POST", `/v1/files/${file.id}/url`, {}));

    const read = await request("GET", url.slice("https://longhand.test".length), {});

    expect(read.headers.get("referrer-policy")).toBe("no-referrer");
    expect(read.headers.get("cache-control")).toBe("private, no-store");
    expect(JSON.stringify(lines)).toContain("/v1/files/");
    expect(JSON.stringify(lines)).not.toContain(url.split("signature=")[1]);
  });

  it("expires", async () => {
    const tenant = await newTenant();
    const file = await upload(tenant, text("hello"));
    const { createFileSigner } = await import("../../../src/files/signed-url");
    const expired = await createFileSigner({ current: env.KEY_PEPPER ?? "", previous: null }, Date.now).sign({
      tenant: tenant.id,
      file: file.id,
      expires_at: Date.now() - 1,
    });

    expect((await request("GET", `/v1/files/${file.id}/content?signature=${expired}`, {})).status).toBe(403);
  });
});

describe("refused", () => {
  it.each([
    ["a program", text("\x7fELF\0\0"), "application/octet-stream", 415],
    ["a type that is not stored", text("<svg/>"), "image/svg+xml", 415],
    ["HTML", text("<script>"), "text/html", 415],
    ["a PDF that calls itself a picture", pdf(1), "image/png", 415],
    ["a picture that calls itself text", png(), "text/plain", 415],
    ["bytes that are no text", Uint8Array.from([0xe4, 0xf6, 0xfc]), "text/plain", 400],
    ["nothing", new Uint8Array(), "text/plain", 400],
  ])("%s", async (_, bytes, type, status) => {
    const tenant = await newTenant();

    const response = await send(tenant, bytes, { type });

    expect(response.status).toBe(status);
    expect((await readBody<List<FileView>>(await tenant.call("GET", "/v1/files"))).data).toEqual([]);
  });

  it("a text larger than a message may be, by its announced size", async () => {
    const tenant = await newTenant();
    const response = await send(tenant, new Uint8Array(1_048_577).fill(0x61), { type: "text/plain" });
    expect(await readBody(response, 413)).toMatchObject({ type: "urn:longhand:problem:file_too_large", limit: 1_048_576 });
  });

  it("a name with control characters, and a field that no route knows", async () => {
    const tenant = await newTenant();
    expect((await send(tenant, png(), { path: "/v1/files?name=a%00b" })).status).toBe(400);
    expect((await send(tenant, png(), { path: "/v1/files?nome=a" })).status).toBe(400);
    expect((await tenant.call("GET", `/v1/files/${newId("fil")}?x=1`)).status).toBe(400);
  });
});
