/** Importing many messages at once: all or none, in one transaction. */
import { describe, expect, test } from "vitest";
import type { WrittenMessage } from "../../src/app/written-message";
import { CALLER, type Life, settle } from "./life";
import { newLife } from "./talk";

const user = (text: string, about: WrittenMessage["about"] = {}): WrittenMessage => ({
  role: "user",
  parts: [{ type: "text", text }],
  about,
});
const reply = (...ids: readonly string[]): WrittenMessage => ({
  role: "assistant",
  parts: [],
  calls: ids.map((call_id) => ({ call_id, name: `tool_${call_id}`, arguments: "{}" })),
});
const result = (call_id: string): WrittenMessage => ({ role: "tool", call_id, output: "seen", is_error: false });

async function take(life: Life, ...messages: readonly WrittenMessage[]) {
  const done = await life.service.importMessages(CALLER, { messages, idempotency: null });
  await settle();
  return done;
}

async function read(life: Life) {
  const page = await life.service.items(CALLER, { after: null, limit: 200, order: "asc" });
  return page.ok ? page.value.data : [];
}

describe("many messages at once", () => {
  test("are appended in order, results beside the calls of an earlier message, and no model is called", async () => {
    const life = await newLife();

    const done = await take(life, user("look", { client_id: "c-1" }), reply("a", "a"), result("a"), result("a"), user("thanks"));

    const items = await read(life);
    expect(items.map(({ position, role }) => `${position} ${role}`)).toEqual(["1 user", "2 assistant", "4 tool", "5 tool", "6 user"]);
    expect(items.slice(2, 4).map(({ execution_id, tool_name }) => [execution_id, tool_name])).toEqual(
      items[1]?.tool_calls?.map(({ execution_id }) => [execution_id, "tool_a"]),
    );
    expect(done).toMatchObject({ ok: true, value: { data: items.map(({ id, position, client_id }) => ({ id, position, client_id })) } });
    expect(life.calls).toEqual([]);
  });

  test("of thousands of calls are several events of one commit", async () => {
    const life = await newLife();
    const ids = Array.from({ length: 100 }, (_, n) => `c${n}`);
    await take(life, ...Array.from({ length: 12 }, () => reply(...ids)));

    const events = life.events().filter((event) => event.type === "MessagesAppended");
    expect(events.map(({ items }) => items.length)).toEqual(Array.from({ length: 12 }, () => 100));
    expect(await read(life)).toHaveLength(12);
  });

  test.each([
    ["a result that answers nothing", [user("one"), result("x")], { code: "invalid", field: "items.1.call_id" }],
    ["a result after another message", [reply("a"), user("one"), result("a")], { code: "invalid", field: "items.2.call_id" }],
    ["a result that comes twice", [reply("a"), result("a"), result("a")], { code: "invalid", field: "items.2.call_id" }],
    [
      "one client id twice",
      [user("one", { client_id: "c" }), user("two", { client_id: "c" })],
      { code: "invalid", field: "items.1.client_id" },
    ],
    ["a client id of the session", [user("one"), user("two", { client_id: "taken" })], { code: "client_id_taken", index: 1 }],
  ])("with %s leave nothing", async (_, messages, error) => {
    const life = await newLife();
    await take(life, user("before", { client_id: "taken" }));
    const { seq } = life.runtime.state;

    expect(await take(life, ...messages)).toMatchObject({ ok: false, error });

    expect(life.runtime.state.seq).toBe(seq);
    expect(await read(life)).toHaveLength(1);
    expect(life.sql.all("SELECT DISTINCT id FROM bodies WHERE id LIKE 'msg_%'")).toHaveLength(1);
  });

  test("are refused while a turn is open or a message waits, and taken afterwards", async () => {
    const life = await newLife();
    await life.send("go");
    expect(await take(life, user("now"))).toMatchObject({ ok: false, error: { code: "turn_running" } });
    await life.answer("done");
    expect(await take(life, user("now"))).toMatchObject({ ok: true });
    expect((await read(life)).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("with one key are appended once, and two at once with different keys one after the other", async () => {
    const life = await newLife();
    const send = (key: string) =>
      life.service.importMessages(CALLER, { messages: [user("a"), user("b")], idempotency: { key, digest: "d" } });

    const [first, again, other] = await Promise.all([send("k"), send("k"), send("l")]);

    expect([first, again, other]).toMatchObject([
      { value: { replayed: false } },
      { value: { replayed: true } },
      { value: { replayed: false } },
    ]);
    expect(first.ok && again.ok && again.value.data).toEqual(first.ok && first.value.data);
    expect(await read(life)).toHaveLength(4);
  });

  test("are what the model reads next, and wake another life as they were", async () => {
    const life = await newLife();
    await take(life, user("My dog is Rex.", { name: "Ada" }), { role: "assistant", parts: [{ type: "text", text: "Noted." }] });
    await life.send("And?");
    expect(life.call.messages).toEqual(["user: Ada: My dog is Rex.", "assistant: Noted.", "user: And?"]);
  });
});
