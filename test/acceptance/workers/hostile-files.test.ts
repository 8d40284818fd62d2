/** Hostile uploads: documents that hold programs, files of two kinds, names that lead elsewhere, and sizes that are not what they seem. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { FileView } from "../../../src/contract/file";
import { pdf, png, send, text } from "../../workers/files";
import { migrate, newChat, newTenant, readBody, request } from "../../workers/support";

beforeAll(migrate);

const join = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
const SCRIPT = "<html><script>fetch('/v1/keys')</script></html>";
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(document.domain)</script></svg>`;
const ZIP = Uint8Array.from([0x50, 0x4b, 0x03, 0x04]);

describe("a document with a program in it", () => {
  it.each([
    ["SVG that is sent as text", text(SVG), "text/plain", "text/plain"],
    ["SVG without a type", text(SVG), "application/octet-stream", "text/plain"],
    ["HTML without a type", text(SCRIPT), "application/octet-stream", "text/plain"],
    ["HTML that is sent as Markdown", text(SCRIPT), "text/markdown", "text/markdown"],
    ["a GIF that is JavaScript as well", text(`GIF89a/*${SCRIPT}*/=1;alert(1)`), "image/gif", "image/gif"],
    ["a PDF that is HTML as well", join(pdf(1), text(SCRIPT)), "application/pdf", "application/pdf"],
    ["a picture that is an archive as well", join(png(), ZIP), "image/png", "image/png"],
  ])("is sent to no browser as one: %s", async (_, bytes, sent, stored) => {
    const tenant = await newTenant();
    const file = await readBody<FileView>(await send(tenant, bytes, { type: sent }), 201);
    expect(file.media_type).toBe(stored);
    const { url } = await readBody<{ url: string }>(await tenant.call("POST", `/v1/files/${file.id}/url`, {}));

    for (const read of [
      await tenant.call("GET", `/v1/files/${file.id}/content`),
      await request("GET", new URL(url).pathname + new URL(url).search, {}),
    ])
      expect(Object.fromEntries(read.headers)).toMatchObject({
        "content-type": stored,
        "content-disposition": expect.stringMatching(/^attachment;/),
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
      });
  });

  it.each([
    ["HTML under its own type", text(SCRIPT), "text/html"],
    ["SVG under its own type", text(SVG), "image/svg+xml"],
    ["SVG that calls itself a picture", text(SVG), "image/png"],
    ["HTML that calls itself a PDF", text(SCRIPT), "application/pdf"],
    ["JavaScript", text("alert(1)"), "text/javascript"],
    ["XML", text("<?xml version='1.0'?>"), "application/xml"],
    ["a PDF after other bytes", join(text("<script>\n"), pdf(1)), "application/pdf"],
    ["an archive", join(ZIP, new Uint8Array(20)), "application/octet-stream"],
  ])("is refused: %s", async (_, bytes, type) => {
    expect((await send(await newTenant(), bytes, { type })).status).toBe(415);
  });
});

describe("a name", () => {
  it.each([
    "../../etc/passwd",
    "..\\..\\boot.ini",
    '"; filename="run.exe',
    "a/b/c.png",
    "%2e%2e%2f",
    "CON",
    ".",
    "画 像.png",
    "it's (1)*.png",
  ])("is data, never a path: %s", async (name) => {
    const tenant = await newTenant();
    const file = await readBody<FileView>(await send(tenant, png(), { path: `/v1/files?name=${encodeURIComponent(name)}` }), 201);

    expect(file.name).toBe(name);
    const read = await tenant.call("GET", `/v1/files/${file.id}/content`);
    expect(read.headers.get("content-disposition")).toMatch(/^attachment; filename\*=UTF-8''[A-Za-z0-9._~!%-]+$/);
    const stored = await env.FILES?.list({ prefix: `${tenant.id}/` });
    expect(stored?.objects.map(({ key }) => key)).toEqual([`${tenant.id}/${file.id}`]);
  });

  it.each(["a\r\nset-cookie: x=1", "a\u0000b", "gpj.\u202Eexe", "a\u2028b", "\u2067a", "a".repeat(256), ""])(
    "that would read as another one is refused: %j",
    async (name) => {
      const problem = await readBody<{ errors: { field: string }[] }>(
        await send(await newTenant(), png(), { path: `/v1/files?name=${encodeURIComponent(name)}` }),
        400,
      );
      expect(problem.errors.map(({ field }) => field)).toEqual(["name"]);
    },
  );
});

describe("a PDF", () => {
  it("is never unpacked: one that swells when it is read weighs what its own bytes do", async () => {
    const swollen = new Blob([new Uint8Array(20_000_000)]).stream().pipeThrough(new CompressionStream("deflate"));
    const packed = new Uint8Array(await new Response(swollen).arrayBuffer());
    const bytes = join(text("%PDF-1.7\n<< /Filter /FlateDecode >>\nstream\n"), packed);
    const chat = await newChat({ replies: [{ text: "I cannot read it." }] });

    const file = await readBody<FileView>(await send(chat.tenant, bytes), 201);

    expect([file.bytes, file.bytes < 100_000]).toEqual([bytes.byteLength, true]);
    await readBody(await chat.call("POST", "/messages", { content: [{ type: "file", file_id: file.id }] }));
    expect((await chat.items())[0]?.content[0]).toMatchObject({ tokens: 2_000 });
  });

  it("that claims countless pages does not end the conversation", async () => {
    const chat = await newChat({ replies: [{ text: "I cannot read it." }, { text: "Hello." }] });
    const file = await readBody<FileView>(await send(chat.tenant, pdf(20_000)), 201);
    await chat.call("POST", "/messages", { content: [{ type: "file", file_id: file.id }] });

    expect((await chat.say("Hello?")).status).toBe("completed");
  });
});
