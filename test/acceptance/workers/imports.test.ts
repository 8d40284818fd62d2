import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { NO_RESULT } from "../../../src/context/view";
import type { Accepted, DisplayItem, ImportedMessages } from "../../../src/contract/item";
import { readRows } from "../../read-model/rows";
import { type Chat, migrate, newChat, readBody, readText } from "../../workers/support";

beforeAll(migrate);

const weather = { name: "weather", parameters: { type: "object", properties: {} } };
const call = (call_id: string, city: string) => ({ call_id, name: "weather", arguments: JSON.stringify({ city }) });

const send = (chat: Chat, body: object, headers?: Record<string, string>) =>
  chat.call("POST", "/messages", { run: false, ...body }, headers);
const take = async (chat: Chat, body: object, headers?: Record<string, string>) => readBody<Accepted>(await send(chat, body, headers), 201);
const reply = (chat: Chat, content: string, ...tool_calls: object[]) => take(chat, { role: "assistant", content, tool_calls });
const result = (chat: Chat, call_id: string, content: string) => take(chat, { role: "tool", call_id, content });

/** The last request as the provider received it. */
async function wire(chat: Chat, nth = 1): Promise<readonly string[]> {
  const request = (await chat.model.heard(nth))[nth - 1];
  return (request?.body.messages ?? []).map(
    ({ role, content, tool_calls, tool_call_id }) =>
      `${role} ${tool_call_id ?? (tool_calls ?? []).map((made) => made.id).join(",")}: ${content ?? ""}`,
  );
}
const kinds = async (chat: Chat) => (await chat.items()).map(({ position, role }) => `${position} ${role}`);

describe("a recorded conversation", () => {
  it("is imported whole, read back as it was, and is what the model then reads", async () => {
    const chat = await newChat({ tools: [weather], replies: [{ text: "Oslo is wetter." }] });
    await chat.append("Compare Paris and Oslo.");
    const told = await reply(chat, "Let me look.", call("same", "Paris"), call("same", "Oslo"));
    await result(chat, "same", "sun");
    await take(chat, {
      role: "tool",
      call_id: "same",
      content: [
        { type: "text", text: "ra" },
        { type: "text", text: "in" },
      ],
      is_error: true,
    });
    await chat.append("Paris is dry.", "assistant");
    await chat.say("And Oslo?");

    const items = await chat.items();
    expect(told).toMatchObject({ position: 2, queued: false, turn_id: null });
    expect(items.map(({ position, role }) => `${position} ${role}`)).toEqual([
      "1 user",
      "2 assistant",
      "5 tool",
      "6 tool",
      "7 assistant",
      "8 user",
      "9 assistant",
    ]);
    const [first, second] = items[1]?.tool_calls ?? [];
    expect([first, second]).toMatchObject([
      { position: 3, ...call("same", "Paris") },
      { position: 4, ...call("same", "Oslo") },
    ]);
    expect(items[3]).toMatchObject({
      execution_id: second?.execution_id,
      call_id: "same",
      tool_name: "weather",
      is_error: true,
      content: [{ type: "text", text: "rain" }],
    });
    expect(await wire(chat)).toEqual([
      "user : Compare Paris and Oslo.",
      "assistant same,same: Let me look.",
      "tool same: sun",
      "tool same: rain",
      "assistant : Paris is dry.",
      "user : And Oslo?",
    ]);
  });

  it("is acknowledged message by message, whatever each becomes in the record", async () => {
    const chat = await newChat();
    const frames = await chat.listen(0);
    const told = await reply(chat, "Let me look.", call("a", "Paris"), call("b", "Oslo"));
    const answered = await result(chat, "b", "rain");

    await frames.until("message.accepted", ({ message_id }) => message_id === answered.message_id);
    expect(frames.seen).toMatchObject([
      { type: "message.accepted", message_id: told.message_id, position: 1 },
      { type: "message.accepted", message_id: answered.message_id, position: 4 },
    ]);
    await frames.leave();
  });

  it("may hold a reply that is nothing but calls", async () => {
    const chat = await newChat();
    await take(chat, { role: "assistant", tool_calls: [call("a", "Paris")] });
    await result(chat, "a", "");

    expect(await kinds(chat)).toEqual(["1 assistant", "2 tool"]);
  });

  it("is in the read model as any other", async () => {
    const chat = await newChat();
    await reply(chat, "Let me look.", call("a", "Paris"));
    await result(chat, "a", "sun");
    await chat.say("Thanks.");

    await expect
      .poll(async () =>
        Object.values((await readRows(env.DB, { tenant: chat.tenant.id, session: chat.id })).messages ?? {}).map(
          (row) => `${row.kind} ${row.role}`,
        ),
      )
      .toEqual(["assistant assistant", "tool_call assistant", "tool_result tool", "user user", "assistant assistant"]);
  });

  it("has its results cut when they are recorded, as everywhere", async () => {
    const chat = await newChat();
    await reply(chat, "", call("a", "Paris"));
    await result(chat, "a", "x".repeat(40_000));

    const recorded = readText((await chat.items())[1]);
    expect(recorded).toMatch(/^x{30000}\n\n\[\.\.\. content truncated, showing first 30000 of 40000 characters/);
  });

  it("is imported once however often a request with one key is sent", async () => {
    const chat = await newChat();
    await reply(chat, "", call("a", "Paris"));
    const key = { "idempotency-key": "once" };
    const body = { role: "tool", call_id: "a", content: "sun" };

    const first = await take(chat, body, key);
    const again = await take(chat, body, key);

    expect(again).toEqual(first);
    expect(await kinds(chat)).toEqual(["1 assistant", "2 tool"]);
  });
});

describe("a batch", () => {
  it("is read from one session and sent to another as it is, whole, and is not taken while a turn runs", async () => {
    const chat = await newChat({ tools: [weather], replies: [{ text: "Oslo is wetter." }] });
    await take(chat, {
      content: "比较巴黎和奥斯陆",
      name: "小明",
      client_id: "c-1",
      metadata: { channel: "web" },
      created_at: 1_700_000_000_000,
    });
    await reply(chat, "Let me look.", call("same", "Paris"), call("same", "Oslo"));
    await result(chat, "same", "sun");
    await result(chat, "same", "");
    await chat.say("And?");
    const { data } = await chat.read<{ readonly data: readonly DisplayItem[] }>("/messages");

    const other = await newChat({ replies: [{ gate: "go", text: "ok" }] });
    const key = { "idempotency-key": "all" };
    const imported = await readBody<ImportedMessages>(await other.call("POST", "/messages/batch", { items: data }, key), 201);
    const again = await other.call("POST", "/messages/batch", { items: data }, key);

    expect(await readBody(again, 201)).toEqual(imported);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(imported.data.map(({ position, client_id }) => [position, client_id])).toEqual(
      data.map(({ position, client_id }) => [position, client_id]),
    );
    const plain = ({ role, content, name, metadata, created_at }: DisplayItem) => ({ role, content, name, metadata, created_at });
    expect((await other.items()).map(plain)).toEqual(data.map(plain));
    expect((await readBody<{ data: unknown[] }>(await other.call("GET", "/messages?client_id=c-1"))).data).toHaveLength(1);
    const taken = await other.call("POST", "/messages/batch", { items: [{ content: "x", client_id: "c-1" }] });
    expect([taken.status, await taken.json()]).toMatchObject([
      409,
      { errors: [{ field: "items.0.client_id" }], message_id: imported.data[0]?.id },
    ]);

    const { turn_id } = await other.post("go");
    expect((await other.call("POST", "/messages/batch", { items: [{ content: "now" }] })).status).toBe(409);
    await other.model.open("go");
    await other.ended(turn_id);
  });
});

describe("open imported calls", () => {
  it("are cancelled by a new message: the model reads a placeholder, and a later result is refused", async () => {
    const chat = await newChat({ tools: [weather] });
    await reply(chat, "Let me look.", call("a", "Paris"), call("b", "Oslo"));
    await result(chat, "b", "rain");
    await chat.say("Never mind.");

    const refused = await send(chat, { role: "tool", call_id: "a", content: "sun" });
    const problem = await readBody<{ errors: object[] }>(refused, 409);

    expect(await wire(chat)).toEqual(["assistant a,b: Let me look.", `tool a: ${NO_RESULT}`, "tool b: rain", "user : Never mind."]);
    expect(problem).toMatchObject({ type: "urn:longhand:problem:call_not_open", errors: [{ field: "call_id" }] });
    expect(await kinds(chat)).toEqual(["1 assistant", "4 tool", "5 user", "6 assistant"]);
  });

  it("are not those of a turn that waits for its tools, which goes on waiting", async () => {
    const chat = await newChat({ tools: [weather], replies: [{ tool_calls: [{ id: "a", name: "weather", arguments: "{}" }] }] });
    await chat.say("How is Paris?");

    const refused = await send(chat, { role: "tool", call_id: "a", content: "sun" });

    expect(refused.status).toBe(409);
    expect((await chat.describe()).turn?.phase).toBe("awaiting_tools");
  });

  it("wait their turn together with their results while a turn runs", async () => {
    const chat = await newChat({ tools: [weather], replies: [{ text: "One.", gate: "go" }] });
    const asked = await chat.post("Count.");
    const told = await reply(chat, "Let me look.", call("a", "Paris"));
    await result(chat, "a", "sun");
    const refused = await send(chat, { role: "tool", call_id: "a", content: "again" });
    await chat.model.open("go");
    await chat.ended(asked.turn_id);

    expect(told).toMatchObject({ position: null, queued: true });
    expect(refused.status).toBe(409);
    await expect.poll(() => kinds(chat)).toEqual(["1 user", "2 assistant", "3 assistant", "5 tool"]);
  });
});
