/** What a client says of a message beside its content: name, metadata, its own id, when it was said. */
import { describe, expect, test } from "vitest";
import { buildRequest } from "../../src/app/request/build-request";
import type { SubmitInput } from "../../src/app/session-api";
import { estimateParts } from "../../src/context/item-tokens";
import type { DisplayItem } from "../../src/contract/item";
import type { MessageFacts } from "../../src/domain/item-content";
import { everything } from "./contents";
import { CALLER, type Life, settle } from "./life";
import { newLife, ROOMY } from "./talk";

const said = (text: string, about: MessageFacts = {}, more: Partial<SubmitInput> = {}): SubmitInput =>
  ({
    role: "user",
    parts: [{ type: "text", text }],
    run: false,
    onBusy: "queue",
    tools: null,
    idempotency: null,
    about,
    ...more,
  }) as SubmitInput;

async function append(life: Life, ...messages: readonly SubmitInput[]): Promise<void> {
  for (const message of messages) {
    const accepted = await life.service.submit(CALLER, message);
    if (!accepted.ok) throw new Error(accepted.error.code);
  }
  await settle();
}

async function read(life: Life, more: { readonly clientId?: string } = {}): Promise<readonly DisplayItem[]> {
  const page = await life.service.items(CALLER, { after: null, limit: 100, order: "asc", ...more });
  if (!page.ok) throw new Error(page.error.code);
  return page.value.data;
}

const texts = (life: Life): string[] =>
  buildRequest(life.runtime.content, ROOMY).messages.map(({ parts: [part] }) => (part?.type === "text" ? part.text : ""));

describe("a message's name", () => {
  test("is read by the model in front of the text and counted, and the message itself is read back as written", async () => {
    const life = await newLife();
    await append(life, said("你好", { name: "小明", metadata: { channel: "web" } }), said("Hello", { name: "Bot" }, { role: "assistant" }));

    expect(texts(life)).toEqual(["小明: 你好", "Bot: Hello"]);
    expect(await read(life)).toMatchObject([
      { content: [{ text: "你好" }], name: "小明", metadata: { channel: "web" } },
      { content: [{ text: "Hello" }], name: "Bot", metadata: {} },
    ]);
    expect(life.runtime.state.view.items[0]?.tokens).toBe(estimateParts([{ type: "text", text: "小明: 你好" }]));
  });

  test("stands alone before an image, and is found by a look-up", async () => {
    const life = await newLife();
    const image = { type: "image", url: "https://example.com/a.png", media_type: "image/png" } as const;
    await append(life, said("", { name: "Zenobia" }, { parts: [image] } as Partial<SubmitInput>));

    expect(texts(life)).toEqual(["Zenobia:"]);
    expect((await read(life))[0]).toMatchObject({ content: [image], name: "Zenobia" });
    const found = await life.service.recall(CALLER, { query: "Zenobia", execution: null, from: null, to: null, offset: 0, limit: 5 });
    expect(found.ok && found.value.data.map(({ position }) => position)).toEqual([1]);
  });

  test("and its metadata are gone with a redaction, from every table, and the client's id is free", async () => {
    const life = await newLife();
    await append(life, said("hush", { name: "Quixote", metadata: { note: "dulcinea" }, client_id: "c-1" }));
    const [message] = await read(life);
    if (!message) throw new Error("no message");

    await life.service.redact(CALLER, message.id);

    expect(await read(life)).toMatchObject([{ content: [{ text: "[redacted]" }], name: null, metadata: {}, client_id: null }]);
    expect(everything(life)).not.toMatch(/Quixote|dulcinea/);
    expect(await read(life, { clientId: "c-1" })).toEqual([]);
    expect(life.runtime.state.view.items.map((item) => item.client_id)).toEqual([undefined]);
    await append(life, said("louder", { client_id: "c-1" }));
    expect(await read(life, { clientId: "c-1" })).toMatchObject([{ content: [{ text: "louder" }] }]);
  });

  test("stays when the words are edited", async () => {
    const life = await newLife();
    await append(life, said("hello", { name: "Ada", metadata: { a: "b" } }));
    const [message] = await read(life);
    if (!message) throw new Error("no message");
    await life.service.editMessage(CALLER, { message: message.id, parts: [{ type: "text", text: "hi" }], tools: null, idempotency: null });
    await settle();

    expect(await read(life)).toMatchObject([{ content: [{ text: "hi" }], name: "Ada", metadata: { a: "b" } }]);
  });
});

describe("a client's own id", () => {
  test("is unique in the session: a second message with it names the first, and nothing is stored", async () => {
    const life = await newLife();
    await append(life, said("one", { client_id: "c-1" }));
    const seq = life.runtime.state.seq;

    const again = await life.service.submit(CALLER, said("two", { client_id: "c-1" }));

    expect(again).toEqual({ ok: false, error: { code: "client_id_taken", message: (await read(life))[0]?.id } });
    expect(life.runtime.state.seq).toBe(seq);
    expect(await read(life, { clientId: "c-1" })).toMatchObject([{ content: [{ text: "one" }] }]);
    expect(await read(life, { clientId: "c-2" })).toEqual([]);
  });

  test("is taken by a message that waits, and free again when that is cancelled", async () => {
    const life = await newLife();
    await life.send("go");
    await append(life, said("later", { client_id: "c-1" }));
    const waiting = life.runtime.state.queue[0]?.item.id;
    if (!waiting) throw new Error("nothing waits");

    expect(await life.service.submit(CALLER, said("again", { client_id: "c-1" }))).toMatchObject({ error: { message: waiting } });
    await life.service.cancelQueued(CALLER, waiting);
    expect(await life.service.submit(CALLER, said("again", { client_id: "c-1" }))).toMatchObject({ ok: true });
    await life.answer("done");

    expect(await read(life, { clientId: "c-1" })).toMatchObject([{ content: [{ text: "again" }] }]);
  });

  test("of a reply with calls finds the whole reply, and the search uses the index", async () => {
    const life = await newLife();
    const calls = [{ call_id: "a", name: "look", arguments: "{}" }];
    await append(life, said("well", { client_id: "c-1" }, { role: "assistant", calls } as Partial<SubmitInput>));

    expect(await read(life, { clientId: "c-1" })).toMatchObject([{ content: [{ text: "well" }], tool_calls: calls }]);
    const column = "json_extract(meta, '$.client_id')";
    const plan = life.sql.all(`EXPLAIN QUERY PLAN SELECT meta FROM items WHERE ${column} IS NOT NULL AND ${column} = 'x'`);
    expect(JSON.stringify(plan)).toContain("items_by_client_id");
  });

  test("with an idempotency key is answered as the first time", async () => {
    const life = await newLife();
    const keyed = said("one", { client_id: "c-1" }, { idempotency: { key: "k", digest: "d" } });

    const [first, second] = [await life.service.submit(CALLER, keyed), await life.service.submit(CALLER, keyed)];

    expect([first, second]).toMatchObject([{ value: { replayed: false } }, { value: { replayed: true } }]);
  });
});

describe("when a message was said", () => {
  const DAY = Date.UTC(2023, 4, 17, 9, 30);

  test("is shown beside when it was recorded, told by a look-up, and never used for order", async () => {
    const life = await newLife();
    await append(life, said("first", { said_at: DAY }), said("the ferry leaves at noon", { said_at: DAY - 86_400_000 }), said("now"));

    expect((await read(life)).map(({ created_at, recorded_at, position }) => [created_at, recorded_at, position])).toEqual([
      [DAY, life.time.now(), 1],
      [DAY - 86_400_000, life.time.now(), 2],
      [life.time.now(), life.time.now(), 3],
    ]);
    const found = await life.service.recall(CALLER, { query: null, execution: null, from: 2, to: 2, offset: 0, limit: 5 });
    expect(found.ok && found.value.text).toContain("2023-05-16T09:30Z");
    expect(found.ok && found.value.data).toMatchObject([{ created_at: DAY - 86_400_000 }]);
  });
});

test("an imported reply that was cut off stays marked, its calls too", async () => {
  const life = await newLife();
  const calls = [{ call_id: "a", name: "look", arguments: "{}" }];
  await append(life, said("Hal", { incomplete: true }, { role: "assistant", calls } as Partial<SubmitInput>));

  expect(await read(life)).toMatchObject([{ incomplete: true, tool_calls: calls }]);
  expect(life.runtime.state.view.items.map(({ incomplete }) => incomplete)).toEqual([true, true]);
});
