/** Stored files on their way to each provider: which form each takes, how long a signed address holds, and what a store does that fails. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileStore } from "../../src/app/file-api";
import type { ChatMessage } from "../../src/app/ports";
import type { StoredMedia } from "../../src/domain/message";
import { createFileReader } from "../../src/files/file-reader";
import { createFileSigner } from "../../src/files/signed-url";
import { withFiles } from "../../src/model/with-files";
import { id, TENANT } from "../support/builders";
import { ask, findEnd, requestTo } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const HOUR = 60 * 60 * 1_000;
/** Ten minutes after a full hour. */
const NOON = 495_000 * HOUR + 10 * 60 * 1_000;
const ORIGIN = "https://chat.example.com";
const LARGE = 5_000_000;

const text = Uint8Array.from(new TextEncoder().encode("name,age\nAda,36\n"));
const [table, picture, plan] = [id("fil", 1), id("fil", 2), id("fil", 3)];
const tablePart: StoredMedia = {
  type: "file",
  file_id: table,
  media_type: "text/csv",
  bytes: text.byteLength,
  tokens: 8,
  name: "people.csv",
};
const picturePart: StoredMedia = { type: "image", file_id: picture, media_type: "image/png", bytes: 4, tokens: 1_600, name: "ada.png" };
const planPart: StoredMedia = { type: "file", file_id: plan, media_type: "application/pdf", bytes: 4, tokens: 2_000, name: "plan.pdf" };
const large: StoredMedia = { ...picturePart, bytes: LARGE };
const user = (...parts: StoredMedia[]): ChatMessage => ({ role: "user", parts: [{ type: "text", text: "Look." }, ...parts] });

function createStore() {
  const held = new Map<string, Uint8Array<ArrayBuffer>>([
    [table, text],
    [picture, Uint8Array.from([137, 80, 0, 255])],
    [plan, Uint8Array.from([37, 80, 68, 70])],
  ]);
  const set = { away: false, reads: 0 };
  const reach = <T>(value: T): T => {
    if (set.away) throw new Error("R2 is away");
    return value;
  };
  const store: FileStore = {
    put: async () => {
      throw new Error("nothing is stored here");
    },
    open: async () => null,
    has: async (file) => reach(held.has(file)),
    read: async (file) => {
      set.reads += 1;
      return reach(held.get(file) ?? null);
    },
    remove: async (file) => void held.delete(file),
  };
  return { store, held, set };
}

function createReader(origin: string | null = ORIGIN) {
  const clock = { now: NOON };
  const signer = createFileSigner({ current: "a-pepper-for-tests-only", previous: null }, () => clock.now);
  const made = createStore();
  const reader = createFileReader({
    tenant: TENANT,
    store: made.store,
    signer: () => signer,
    publicUrl: () => origin,
    now: () => clock.now,
  });
  return { ...made, clock, signer, reader };
}

const READS_PDF = ["openai", "anthropic", "google"];
const FETCHES = ["openai", "openai-chat", "openai-compatible", "anthropic"];

describe.each(PROVIDERS_UNDER_TEST)("stored files for $name", (provider) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());

  const send = async (reader: ReturnType<typeof createReader>["reader"], messages: readonly ChatMessage[]) => {
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    const chunks = await ask({ ...bench, model: withFiles(bench.model, reader) }, { messages });
    expect(bench.standIn.log.at(-1)?.refusal?.body).toBeUndefined();
    expect(findEnd(chunks)?.type).toBe("finish");
    return bench.standIn.log.at(-1)?.raw ?? "";
  };
  const render = async (reader: ReturnType<typeof createReader>["reader"], at: number, parts: readonly StoredMedia[]) =>
    (await withFiles(bench.model, reader).render(requestTo(bench, { messages: [user(...parts)], at }))).body;

  it("are text, data or words, as the provider reads them", async () => {
    const raw = await send(createReader().reader, [user(tablePart, picturePart, planPart)]);
    expect(raw).toContain("name,age\\nAda,36");
    expect(raw.includes("iVAA/w==")).toBe(provider.name !== "workers-ai");
    expect(raw.includes("[file: ada.png (image/png)]")).toBe(provider.name === "workers-ai");
    expect(raw.includes("JVBERg==")).toBe(READS_PDF.includes(provider.name));
    expect(raw.includes("[file: plan.pdf (application/pdf)]")).toBe(!READS_PDF.includes(provider.name));
  });

  it("go by a signed address when they are large, where the provider fetches, and in words where the deployment has no address", async () => {
    const raw = await send(createReader().reader, [user(large)]);
    expect(raw.includes(`${ORIGIN}/v1/files/${picture}/content?signature=`)).toBe(FETCHES.includes(provider.name));
    expect(await send(createReader(null).reader, [user(large)])).toContain("[file: ada.png (image/png)]");
  });

  it("keep their address within an hour and in the past request for good, although it works to the end of the next hour only", async () => {
    if (!FETCHES.includes(provider.name)) return expect(await render(createReader().reader, NOON, [large])).toContain("[file: ada.png");
    const { reader, clock, signer } = createReader();
    const sent = await render(reader, NOON, [large]);
    expect(await render(reader, NOON + 49 * 60_000, [large])).toBe(sent);
    expect(await render(reader, NOON + 50 * 60_000, [large])).not.toBe(sent);
    const [, signature = ""] = /signature=([0-9A-Za-z.]+)/.exec(sent) ?? [];

    clock.now = NOON + 110 * 60_000 - 1;
    expect(await signer.verify(signature)).toMatchObject({ file: picture });
    clock.now += 1;
    expect([await signer.verify(signature), await render(reader, NOON, [large])]).toEqual([null, sent]);
  });

  it("that are gone are words, and the conversation goes on", async () => {
    const { reader, held } = createReader();
    await send(reader, [user(tablePart, picturePart)]);
    held.clear();
    const raw = await send(reader, [user(tablePart, picturePart, large)]);
    expect(raw).toContain("[file: people.csv (text/csv), deleted since]");
    expect(raw.includes("[file: ada.png (image/png), deleted since]")).toBe(provider.name !== "workers-ai");
    expect(raw).not.toContain("iVAA/w==");
  });

  it("whose store is out of reach fail the call as one that can be tried again, before anything is sent", async () => {
    const { reader, set } = createReader();
    set.away = true;
    const before = bench.standIn.log.length;
    const chunks = await ask({ ...bench, model: withFiles(bench.model, reader) }, { messages: [user(tablePart)] });
    expect(chunks).toEqual([{ type: "failure", failure: expect.objectContaining({ kind: "unavailable" }) }]);
    expect(bench.standIn.log).toHaveLength(before);
  });

  it("are read once for the rounds of a turn", async () => {
    const { reader, set } = createReader();
    for (let round = 0; round < 3; round++) await send(reader, [user(tablePart)]);
    expect(set.reads).toBe(1);
  });
});

it("stored images of an endpoint go as its quirk says, however small: by a signed address, or inside the request", async () => {
  const provider = PROVIDERS_UNDER_TEST.find(({ name }) => name === "openai-compatible");
  if (!provider) throw new Error("there is no such provider");
  const bench = await openBench(provider);
  const render = async (images: "url" | "data", part: StoredMedia) => {
    const request = requestTo(bench, { model: { ...bench.spec, quirks: { images } }, messages: [user(part)] });
    return (await withFiles(bench.model, createReader().reader).render(request)).body;
  };
  const byAddress = await render("url", picturePart);
  expect([byAddress.includes("iVAA/w=="), byAddress.includes(`${ORIGIN}/v1/files/${picture}/content?signature=`)]).toEqual([false, true]);
  expect(await render("data", picturePart)).toContain("iVAA/w==");
  expect(await render("data", large)).toContain("[file: ada.png");
  await bench.standIn.close();
});
