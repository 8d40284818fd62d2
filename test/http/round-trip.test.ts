/** What the list of messages answers can be sent to another session as it is. Over HTTP, with two sessions in this process. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DisplayItem } from "../../src/contract/item";
import { CALLER, Life, settle } from "../session/life";
import { drawn } from "../support/effort";
import { SESSION, world } from "./support";

const base = `/v1/sessions/${SESSION}`;

async function newSession() {
  const life = new Life();
  await life.open();
  const { service } = life;
  const { call } = world({
    session: {
      items: (_, page) => service.items(CALLER, page),
      importMessages: (_, input) => service.importMessages(CALLER, input),
      submit: (_, input) => service.submit(CALLER, input),
    },
  });
  const list = async (query = ""): Promise<DisplayItem[]> => {
    const items: DisplayItem[] = [];
    for (let after = ""; ; ) {
      const page = await (await call("GET", `${base}/messages?limit=7${after}${query}`)).json<{
        data: DisplayItem[];
        next_cursor: string | null;
      }>();
      items.push(...page.data);
      if (page.next_cursor === null) return items;
      after = `&after=${page.next_cursor}`;
    }
  };
  return { life, call, list };
}

/** The fields that the client may set. The server gives each session its own ids, and the time of recording. */
const written = ({ id: _, turn_id: __, recorded_at: ___, execution_id: ____, tool_calls, ...item }: DisplayItem) => ({
  ...item,
  ...(tool_calls && {
    tool_calls: tool_calls.map(({ call_id, name, arguments: given, position }) => ({ call_id, name, given, position })),
  }),
});

const text = fc.constantFrom("hello", "你好，世界", "🙂 ok", "a\nb", "  spaced  ", '{"json":true}', "emoji 👩‍👩‍👧", "\u0000 nul");
const textPart = text.map((said) => ({ type: "text" as const, text: said }));
const media = fc.constantFrom(
  { type: "image", url: "https://example.com/a.png", media_type: "image/png" },
  { type: "file", url: "https://example.com/a.pdf", media_type: "application/pdf", name: "Bericht ä.pdf" },
);
const facts = fc.record(
  {
    name: fc.constantFrom("Ada", "小明", "O'Neil: the 2nd"),
    metadata: fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }).filter((key) => key !== "__proto__"),
      fc.string({ maxLength: 8 }),
      { maxKeys: 3 },
    ),
    created_at: fc.integer({ min: 0, max: 2_000_000_000_000 }),
  },
  { requiredKeys: [] },
);
const calls = fc.array(
  fc.record({
    call_id: fc.constantFrom("same", "c-1", "呼"),
    name: fc.constantFrom("look", "search-web"),
    arguments: fc.constantFrom("{}", "", "not json"),
  }),
  { minLength: 1, maxLength: 3 },
);
const user = fc.tuple(facts, fc.oneof(text, fc.array(fc.oneof(textPart, media), { minLength: 1, maxLength: 3 })));
const assistant = fc.tuple(
  facts,
  fc.option(
    fc.array(
      fc.oneof(
        textPart,
        textPart.map((part) => ({ ...part, type: "reasoning" as const })),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  ),
  fc.option(calls),
  fc.array(fc.tuple(fc.constantFrom("", "seen", "见"), fc.boolean()), { maxLength: 3 }),
  fc.boolean(),
);

/** A message, or a reply with calls and the results of some of them. */
const exchange = fc.oneof(
  user.map(([about, content]) => [{ role: "user", content, ...about }]),
  facts.map((about) => [{ role: "system", content: "Be brief.", ...about }]),
  assistant.map(([about, content, made, results, incomplete]) => {
    const said = content ?? (made ? undefined : "well");
    const answered = (made ?? []).slice(0, results.length);
    return [
      { role: "assistant", ...(said !== undefined && { content: said }), ...(made && { tool_calls: made }), incomplete, ...about },
      ...answered.map(({ call_id }, index) => ({
        role: "tool",
        call_id,
        content: results[index]?.[0] ?? "",
        is_error: results[index]?.[1] ?? false,
      })),
    ];
  }),
);

test("any conversation can be read from one session and sent to another, which then answers the same", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 8 }), async (exchanges) => {
      const items = exchanges.flat().map((item, index) => (index % 3 === 0 ? { ...item, client_id: `id-${index}` } : item));
      const first = await newSession();
      const sent = await first.call("POST", `${base}/messages/batch`, { body: { items } });
      expect([sent.status, sent.status === 201 ? "" : await sent.text()]).toEqual([201, ""]);
      const read = await first.list();

      const second = await newSession();
      const again = await second.call("POST", `${base}/messages/batch`, { body: { items: read } });
      expect([again.status, again.status === 201 ? "" : await again.text()]).toEqual([201, ""]);

      expect((await second.list()).map(written)).toEqual(read.map(written));
      expect(read).toHaveLength(items.length);
    }),
    { numRuns: drawn(60) },
  );
});

test("a conversation with turns, a cut-off reply and calls is sent message by message, too", async () => {
  const first = await newSession();
  await first.life.send("look it up");
  await first.life.say(
    { type: "text", text: "Let me look." },
    { type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } },
    { type: "finish", finish: "tool_calls", usage: null },
  );
  const results = [{ execution_id: null, call_id: "c", output: "", is_error: true }];
  await first.life.service.toolResults(CALLER, { results, idempotency: null });
  await settle();
  first.life.call.say({ type: "text", text: "Half of" });
  await settle();
  await first.life.service.stop(CALLER, { idempotency: null });
  await settle();
  const read = await first.list();
  expect(read.at(-1)).toMatchObject({ incomplete: true });

  const second = await newSession();
  for (const item of read) {
    const sent = await second.call("POST", `${base}/messages`, { body: { ...item, run: false } });
    expect([sent.status, sent.status === 201 ? "" : await sent.text()]).toEqual([201, ""]);
  }

  expect((await second.list()).map(written)).toEqual(read.map(written));
});

test.each([
  [{ items: [{ content: "a" }, { content: "" }] }, "items.1.content"],
  [{ items: [{ content: "a" }, { content: "b", run: true }] }, "items.1.run"],
  [{ items: [{ role: "tool", content: "x" }] }, "items.0.call_id"],
  [{ items: [{ role: "tool", call_id: "a", content: "x" }] }, "items.0.call_id"],
  [
    {
      items: [
        {
          content: [
            { type: "text", text: "" },
            { type: "text", text: "a" },
          ],
        },
      ],
    },
    "items.0.content.0.text",
  ],
  [{ items: [{ content: "a", name: "two\nlines" }] }, "items.0.name"],
  [{ items: [{ content: "a", name: "x".repeat(65) }] }, "items.0.name"],
  [{ items: [{ content: "a", client_id: "" }] }, "items.0.client_id"],
  [{ items: [{ content: "a", created_at: -1 }] }, "items.0.created_at"],
  [{ items: [{ content: "a", metadata: { a: 1 } }] }, "items.0.metadata.a"],
  [{ items: [{ content: "a", incomplete: true }] }, "items.0.incomplete"],
  [{ items: [] }, "items"],
  [{ items: Array.from({ length: 1_001 }, () => ({ content: "a" })) }, "items"],
])("%j is refused by the name of the field (%s)", async (body, field) => {
  const { call, list } = await newSession();

  const refused = await call("POST", `${base}/messages/batch`, { body });

  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ errors: expect.arrayContaining([expect.objectContaining({ field })]) });
  expect(await list()).toEqual([]);
});

test.each([
  [{ role: "assistant", content: "a" }, 201],
  [{ role: "system", content: "a" }, 201],
  [{ role: "user", content: "a", run: false, created_at: 5 }, 201],
  [{ role: "assistant", content: "a", run: true }, 400],
])("%j is answered with %i: run defaults by role", async (body, status) => {
  expect((await (await newSession()).call("POST", `${base}/messages`, { body })).status).toBe(status);
});

test("a message is found by the client's own id", async () => {
  const { call, list } = await newSession();
  await call("POST", `${base}/messages/batch`, { body: { items: [{ content: "a", client_id: "c/1 ü" }, { content: "b" }] } });

  expect(await list(`&client_id=${encodeURIComponent("c/1 ü")}`)).toMatchObject([{ content: [{ text: "a" }] }]);
  expect(await list("&client_id=other")).toEqual([]);
});
