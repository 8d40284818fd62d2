/**
 * Files from an upload over HTTP to each provider's stand-in, which checks the request as its provider would: what was on the wire when the
 * message was sent, and what a later turn, a retry, a new answer, a fork, a compaction and a past request show of the same file.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Connection, callApi, type Method } from "../../../scripts/support/api-client";
import { createTenant } from "../../../scripts/support/connection";
import type { LocalServer } from "../../../scripts/support/local-server";
import { createSandbox, type Sandbox } from "../../../scripts/support/sandbox";
import { PROVIDERS_UNDER_TEST, type ProviderUnderTest } from "../../contract/providers";
import type { Heard, ProviderStandIn } from "../../support/stand-in/providers/provider-server";

const START_MS = 90_000;
const TEST_MS = 60_000;
/** The deployment's address as providers know it. A stand-in reaches it at the local server. */
const PUBLIC_URL = "https://longhand.example.com";
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const PNG = latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe a picture of Ada \0\x01\x80");
const PDF = latin1("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n<< /Type /Pages >>\n<< /Type /Page >>\n");
const CSV = Buffer.from("名字,age\nAda,36\n“Grace”,\t85\n", "utf8");
/** More than is sent inside a request. */
const LARGE_PNG = Buffer.concat([PNG, Buffer.alloc(4_000_000, 7)]);
const LARGE_PDF = Buffer.concat([PDF, Buffer.alloc(4_000_000, 7)]);

/** The parts of a user's message that hold the picture and the PDF, in the provider's own words. Null: it is named in words. */
interface Wire {
  readonly picture: object | null;
  readonly document: object | null;
  readonly pictureAt: ((url: string) => object) | null;
  readonly documentAt: ((url: string) => object) | null;
}

const base64 = (bytes: Buffer): string => bytes.toString("base64");
const chat: Wire = {
  picture: { type: "image_url", image_url: { url: `data:image/png;base64,${base64(PNG)}` } },
  document: null,
  pictureAt: (url) => ({ type: "image_url", image_url: { url } }),
  documentAt: null,
};
const WIRES: Readonly<Record<string, Wire>> = {
  openai: {
    picture: { type: "input_image", image_url: `data:image/png;base64,${base64(PNG)}` },
    document: { type: "input_file", filename: "plan.pdf", file_data: `data:application/pdf;base64,${base64(PDF)}` },
    pictureAt: (url) => ({ type: "input_image", image_url: url }),
    documentAt: (url) => ({ type: "input_file", file_url: url }),
  },
  "openai-chat": chat,
  "openai-compatible": chat,
  anthropic: {
    picture: { type: "image", source: { type: "base64", media_type: "image/png", data: base64(PNG) } },
    document: { type: "document", source: { type: "base64", media_type: "application/pdf", data: base64(PDF) } },
    pictureAt: (url) => ({ type: "image", source: { type: "url", url } }),
    documentAt: (url) => ({ type: "document", source: { type: "url", url } }),
  },
  google: {
    picture: { inlineData: { mimeType: "image/png", data: base64(PNG) } },
    document: { inlineData: { mimeType: "application/pdf", data: base64(PDF) } },
    pictureAt: null,
    documentAt: null,
  },
};

const file = z.object({ id: z.string() });
const turnReport = z.object({ id: z.string(), status: z.string(), user_message_id: z.string().optional() });
const past = z.object({ request: z.object({ body: z.string() }), digest: z.object({ matches: z.boolean().nullable() }) });

let sandbox: Sandbox;
let server: LocalServer;
let connection: Connection;
let made = 0;
const standIns: ProviderStandIn[] = [];

beforeAll(async () => {
  sandbox = await createSandbox({ variables: { PUBLIC_URL } });
  server = await sandbox.start();
  connection = await createTenant(server.url, sandbox.adminKey);
}, START_MS);

afterAll(async () => {
  for (const standIn of standIns) await standIn.close();
  await sandbox.close();
});

const call = (method: Method, path: string, body?: unknown) => callApi(connection, { method, path, ...(body !== undefined && { body }) });

async function upload(bytes: Buffer, name: string, type = "application/octet-stream"): Promise<string> {
  const headers = { authorization: `Bearer ${connection.key}`, "content-type": type };
  const sent = await fetch(`${server.url}/v1/files?name=${name}`, { method: "POST", headers, body: new Uint8Array(bytes) });
  return file.parse(await sent.json()).id;
}

/** One session with its own provider. */
class Scene {
  readonly provider: ProviderUnderTest;
  readonly standIn: ProviderStandIn;
  readonly session: string;

  constructor(provider: ProviderUnderTest, standIn: ProviderStandIn, session: string) {
    this.provider = provider;
    this.standIn = standIn;
    this.session = session;
  }

  get path(): string {
    return `/v1/sessions/${this.session}`;
  }

  get wire(): Wire {
    const wire = WIRES[this.provider.name];
    if (!wire) throw new Error(`No wire of ${this.provider.name}`);
    return wire;
  }

  /** A request that the stand-in accepted. */
  heard(nth: number): Heard {
    const heard = this.standIn.log.at(nth);
    if (!heard || heard.refusal) throw new Error(`The stand-in refused: ${JSON.stringify(heard?.refusal)}`);
    return heard;
  }

  async say(...content: object[]) {
    this.standIn.enqueue({ blocks: [{ type: "text", text: "I see." }] });
    const report = turnReport.parse(await call("POST", `${this.path}/messages`, { content }));
    expect(report.status).toBe("completed");
    return report;
  }

  async again(path: string, body?: object) {
    this.standIn.enqueue({ blocks: [{ type: "text", text: "I see it anew." }] });
    return turnReport.parse(await call("POST", `${this.path}${path}`, body));
  }

  /** The objects of a request's messages that are not plain text. */
  parts(nth: number): readonly unknown[] {
    return listParts(this.heard(nth).body);
  }
}

/** All objects inside a value that a media part of any provider could be. */
function listParts(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(listParts);
  const isMedia =
    !Array.isArray(value) && ["image_url", "file_data", "file_url", "source", "inlineData", "fileData"].some((key) => key in value);
  return isMedia && !("url" in value) ? [value] : inside;
}

async function open(provider: ProviderUnderTest, more: object = {}): Promise<Scene> {
  const standIn = await provider.start();
  standIns.push(standIn);
  made += 1;
  const [credential, model] = [`key-${made}`, `model-${made}`];
  await call("PUT", `/v1/credentials/${credential}`, { api_key: provider.key });
  await call("PUT", `/v1/models/${model}`, {
    provider: provider.name,
    upstream_id: provider.upstreamId,
    base_url: standIn.baseUrl,
    credential,
    context_window: 60_000,
    max_output: 1_000,
    ...more,
  });
  const session = file.parse(await call("POST", "/v1/sessions", { model, policy: "oneclaw" })).id;
  return new Scene(provider, standIn, session);
}

const words = (text: string) => ({ type: "text", text });
const served = PROVIDERS_UNDER_TEST.filter(({ name }) => name in WIRES);

describe.each(served)("files with $name", (provider) => {
  it(
    "arrive byte for byte in the provider's own form, a text as text, and a kind that it does not read in words",
    async () => {
      const scene = await open(provider);
      const [picture, document, table] = [
        await upload(PNG, "ada.png"),
        await upload(PDF, "plan.pdf"),
        await upload(CSV, "people.csv", "text/csv"),
      ];

      await scene.say(
        words("Compare."),
        { type: "image", file_id: picture },
        { type: "file", file_id: document },
        { type: "file", file_id: table },
        { type: "image", file_id: picture, name: "again.png" },
      );

      const { wire } = scene;
      const expected = [wire.picture, wire.document, wire.picture].flatMap((part) => (part ? [expect.objectContaining(part)] : []));
      expect(scene.parts(0)).toEqual(expected);
      const { raw } = scene.heard(0);
      expect(raw).toContain(JSON.stringify(CSV.toString("utf8")).slice(1, -1));
      expect(raw.includes("[file: plan.pdf (application/pdf)]")).toBe(wire.document === null);
      expect(raw).not.toContain(picture);
    },
    TEST_MS,
  );

  it(
    "are the same in the next turn, a new answer, a retry, a fork, and the past request of each",
    async () => {
      const scene = await open(provider);
      const picture = await upload(PNG, "ada.png");
      const first = await scene.say(words("Who?"), { type: "image", file_id: picture });
      const part = [expect.objectContaining(scene.wire.picture ?? {})];
      const messages = (nth: number): string => JSON.stringify((scene.heard(nth).body as Record<string, unknown>)[provider.messages]);

      const second = await scene.say(words("Are you sure?"));
      expect(scene.parts(1)).toEqual(part);

      const { data } = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(await call("GET", `${scene.path}/messages`));
      const third = await scene.again(`/messages/${data[1]?.id}/regenerate`);
      expect(messages(2)).toBe(messages(0));

      scene.standIn.enqueue({
        blocks: [],
        mishap: { type: "refuse", refusal: { status: 401, body: { error: { message: "no", type: "no", code: "no" } } } },
      });
      const failed = turnReport.parse(await call("POST", `${scene.path}/messages`, { content: "Really?" }));
      expect(failed.status).toBe("failed");
      const retried = await scene.again("/retry");
      expect(retried.status).toBe("completed");
      expect(messages(4)).toBe(messages(3));
      expect(scene.parts(4)).toEqual(part);

      const fork = new Scene(provider, scene.standIn, file.parse(await call("POST", `${scene.path}/fork`, {})).id);
      const forked = await fork.say(words("And here?"));
      expect(fork.parts(5)).toEqual(part);

      const turns = [first, second, third, retried].map(({ id }) => `${scene.path}/context?at=${id}`);
      for (const [index, path] of [...turns, `${fork.path}/context?at=${forked.id}`].entries()) {
        const shown = past.parse(await call("GET", path));
        expect([shown.digest.matches, shown.request.body]).toEqual([true, scene.heard([0, 1, 2, 4, 5][index] ?? 0).raw]);
      }
    },
    TEST_MS,
  );

  it(
    "are named in words for a model that reads none, and a text is read all the same",
    async () => {
      const scene = await open(provider, { capabilities: { tools: true, images: false, files: false, reasoning: false } });
      const [picture, document, table] = [
        await upload(PNG, "ada.png"),
        await upload(PDF, "plan.pdf"),
        await upload(CSV, "people.csv", "text/csv"),
      ];

      await scene.say({ type: "image", file_id: picture }, { type: "file", file_id: document }, { type: "file", file_id: table });

      expect(scene.parts(0)).toEqual([]);
      const { raw } = scene.heard(0);
      for (const name of ["[file: ada.png (image/png)]", "[file: plan.pdf (application/pdf)]", "Ada,36"]) expect(raw).toContain(name);
    },
    TEST_MS,
  );

  it(
    "leave the request with the message that a summary replaces, are named to the summariser, and stay in the past request",
    async () => {
      const scene = await open(provider);
      const picture = await upload(PNG, "ada.png");
      const first = await scene.say(words(`Who is it? ${"Look closely. ".repeat(300)}`), { type: "image", file_id: picture });
      await scene.say(words("And now?"));
      scene.standIn.enqueue({ blocks: [{ type: "text", text: "## Goal\nThe user showed a picture of Ada." }] });

      const path = `${scene.path}/compactions`;
      const { id } = file.parse(await call("POST", path, { keep_recent: 1 }));
      await expect
        .poll(async () => z.object({ status: z.string() }).parse(await call("GET", `${path}/${id}`)).status, { timeout: TEST_MS })
        .toBe("completed");

      expect(scene.parts(2)).toEqual([]);
      expect(scene.heard(2).raw).toContain("ada.png");
      await scene.say(words("Who was it?"));
      expect([scene.parts(3), scene.heard(3).raw.includes(base64(PNG))]).toEqual([[], false]);
      expect(scene.heard(3).raw).toContain("a picture of Ada");
      const shown = past.parse(await call("GET", `${scene.path}/context?at=${first.id}`));
      expect([shown.digest.matches, shown.request.body]).toEqual([true, scene.heard(0).raw]);
    },
    TEST_MS,
  );

  it(
    "that are too large for a request go by an address that works without a key, until the file is deleted",
    async () => {
      const scene = await open(provider);
      const { pictureAt, documentAt } = scene.wire;
      const [picture, document] = [await upload(LARGE_PNG, "large.png"), await upload(LARGE_PDF, "large.pdf")];

      const turn = await scene.say({ type: "image", file_id: picture }, { type: "file", file_id: document });

      const addresses = [...scene.heard(0).raw.matchAll(/https:\/\/longhand\.example\.com\/[^"]+/g)].map(([url]) => url);
      const sent = [pictureAt, documentAt].flatMap((toPart) => toPart ?? []);
      expect(scene.parts(0)).toEqual(sent.map((toPart, index) => expect.objectContaining(toPart(addresses[index] ?? ""))));
      expect(scene.heard(0).raw.includes("[file: large.png (image/png)]")).toBe(pictureAt === null);
      expect(scene.heard(0).raw.includes("[file: large.pdf (application/pdf)]")).toBe(documentAt === null);
      const fetchAsProvider = (url = "") => fetch(url.replace(PUBLIC_URL, server.url));
      const stored = [...(pictureAt ? [LARGE_PNG] : []), ...(documentAt ? [LARGE_PDF] : [])];
      const types = [...(pictureAt ? ["image/png"] : []), ...(documentAt ? ["application/pdf"] : [])];
      for (const [index, bytes] of stored.entries()) {
        const fetched = await fetchAsProvider(addresses[index]);
        expect([fetched.status, fetched.headers.get("content-type")]).toEqual([200, types[index]]);
        expect(Buffer.from(await fetched.arrayBuffer()).equals(bytes)).toBe(true);
      }
      const shown = past.parse(await call("GET", `${scene.path}/context?at=${turn.id}`));
      expect([shown.digest.matches, shown.request.body]).toEqual([true, scene.heard(0).raw]);

      await call("DELETE", `/v1/files/${picture}`);
      if (pictureAt) expect((await fetchAsProvider(addresses[0])).status).toBe(404);
      await scene.say(words("Still there?"));
      expect(scene.heard(1).raw.includes("[file: large.png (image/png), deleted since]")).toBe(pictureAt !== null);
    },
    TEST_MS,
  );
});
