/** The end of a conversation, as far as a request is compared with it, and the stream that comes with an answer. */
import { describe, expect, test } from "vitest";
import type { EndInput, RespondInput } from "../../src/app/respond-api";
import type { WrittenMessage } from "../../src/app/written-message";
import { CALLER, type Life, settle } from "./life";
import { newLife } from "./talk";

const user = (text: string): WrittenMessage => ({ role: "user", parts: [{ type: "text", text }], about: {} });
const reply = (text: string, ...ids: readonly string[]): WrittenMessage => ({
  role: "assistant",
  parts: text === "" ? [] : [{ type: "text", text }],
  calls: ids.map((call_id) => ({ call_id, name: "look", arguments: "{}" })),
});
const result = (call_id: string): WrittenMessage => ({ role: "tool", call_id, output: "seen", is_error: false });

async function talked(...messages: readonly WrittenMessage[]): Promise<Life> {
  const life = await newLife();
  const imported = await life.service.importMessages(CALLER, { messages, idempotency: null });
  if (!imported.ok) throw new Error(imported.error.code);
  return life;
}

async function readEnd(life: Life, input: Partial<EndInput> = {}) {
  const end = await life.service.conversationEnd(CALLER, { limit: 64, toQuestion: true, ...input });
  if (!end.ok) throw new Error(end.error.code);
  return { ...end.value, roles: end.value.items.map(({ role }) => role[0]).join("") };
}

describe("the end of a conversation", () => {
  test("goes back to the model's words before the newest message of a user", async () => {
    const life = await talked(user("1"), reply("a"), user("2"), reply("b"), user("3"), user("4"), reply("", "c"), result("c"), reply("d"));

    expect(await readEnd(life)).toMatchObject({ roles: "auuata", is_whole: false });
    expect(await readEnd(life, { toQuestion: false })).toMatchObject({ roles: "uauauuata", is_whole: true });
    expect(await readEnd(life, { limit: 2 })).toMatchObject({ roles: "ta", is_whole: false });
    expect(await readEnd(life, { limit: 0 })).toMatchObject({ roles: "", is_whole: false, model: "test-model" });
  });

  test("is whole where nothing precedes it", async () => {
    expect(await readEnd(await talked(user("1"), reply("a")))).toMatchObject({ roles: "ua", is_whole: true });
    expect(await readEnd(await newLife())).toMatchObject({ roles: "", is_whole: true, turn: null, last_turn: null, next_turn: null });
  });

  test("says what is open, and what was asked last", async () => {
    const life = await newLife();
    const asked = await life.service.respond(CALLER, { ...NOTHING, messages: [user("1")] });
    await settle();
    life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: "a", name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });

    const turn = asked.ok ? asked.value.turn_id : "";
    expect(await readEnd(life)).toMatchObject({
      turn: { id: turn, phase: "awaiting_tools", open_calls: [{ call_id: "a" }] },
      items: [
        { role: "user", turn_id: turn },
        { role: "assistant", tool_calls: [{ call_id: "a" }] },
      ],
    });
    await life.service.stop(CALLER, { idempotency: null });
    expect(await readEnd(life)).toMatchObject({ turn: null, last_turn: turn });
  });
});

const NOTHING = { after: null, results: [], messages: [], run: true, tools: null, idempotency: null } as const;

describe("a request that listens", () => {
  async function respond(life: Life, input: Partial<RespondInput>) {
    const done = await life.service.respond(CALLER, { ...NOTHING, messages: [user("1")], ...input });
    if (!done.ok) throw new Error(done.error.code);
    await settle();
    return done.value;
  }

  test("has the frames that the stream of its turn has from its cursor on", async () => {
    const life = await newLife();
    const { stream, cursor, turn_id: turn } = await respond(life, { listens: true });
    await life.answer("Hello.");

    const again = await life.service.stream(CALLER, { after: cursor, turn });
    const [heard, expected] = [await new Response(stream).text(), again.ok ? await new Response(again.value).text() : ""];
    expect(heard).toContain("turn.completed");
    expect(heard.replaceAll(/^: .*\n\n/gm, "")).toBe(expected.replaceAll(/^: .*\n\n/gm, ""));
  });

  test.each<[string, Partial<RespondInput>]>([
    ["that does not ask for it", {}],
    ["that begins no turn", { listens: true, run: false }],
  ])("%s has no stream", async (_, input) => {
    expect(await respond(await newLife(), input)).not.toHaveProperty("stream");
  });

  test("has no stream when it is repeated", async () => {
    const life = await newLife();
    const keyed = { listens: true, idempotency: { key: "k", digest: "d" } } as const;
    expect(await respond(life, keyed)).toHaveProperty("stream");
    expect(await respond(life, keyed)).toMatchObject({ replayed: true });
    expect(await respond(life, keyed)).not.toHaveProperty("stream");
  });
});
