/** The chat's routes against fakes: what they refuse, and what they ask of the session. */
import { describe, expect, test } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { SubmitInput, ToolResultInput } from "../../../src/app/session-api";
import { err, ok } from "../../../src/lib/result";
import { accepted, description, KEY, makeId, SESSION, toStream, turn, world } from "../support";

const TURN = makeId("trn");
const text = (said: string) => [{ type: "text", text: said }];

function connect(session: Partial<WholeSessionApi> = {}) {
  const submitted: SubmitInput[] = [];
  const submit: WholeSessionApi["submit"] = async (_, input) => {
    submitted.push(input);
    return ok(accepted({ turn_id: TURN }));
  };
  const { app } = world({
    session: {
      describe: async () => ok(description()),
      stream: async () => ok(toStream("")),
      compactions: async () => ok({ data: [], has_more: false }),
      submit,
      ...session,
    },
  });
  const post = async (body: unknown, headers: Record<string, string> = {}) =>
    app.request("/api/chat", {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const get = (path: string) => app.request(`/api/chat/${path}`, { headers: { authorization: `Bearer ${KEY}` } });
  return { post, get, submitted };
}

const said = (parts: unknown, more: object = {}) => ({ id: SESSION, messages: [{ id: "m", role: "user", parts }], ...more });

describe("a request", () => {
  test.each<[string, unknown, string]>([
    ["that is no object", [], "body"],
    ["without an id", { messages: [] }, "id"],
    ["with an id of control characters", { id: "a\u0000b", messages: [] }, "id"],
    ["with an id that a path drops", { id: "..", messages: [] }, "id"],
    ["with an id that is too long", { id: "长".repeat(257), messages: [] }, "id"],
    ["without a message", { id: SESSION, messages: [] }, "messages"],
    ["with a trigger that there is not", said(text("x"), { trigger: "resume-stream" }), "trigger"],
    ["with a message of no role", { id: SESSION, message: { parts: text("x") } }, "message.role"],
    ["with a message of the system", { id: SESSION, message: { role: "system", parts: text("x") } }, "messages"],
    ["with content in place of parts", { id: SESSION, messages: [{ role: "user", content: "x" }] }, "messages.0.parts"],
    ["with nothing said", said(text("  ")), "messages.0.parts"],
    ["without parts", said([]), "messages.0.parts"],
    ["with a text that is none", said([{ type: "text", text: 7 }]), "messages.0.parts.0"],
    ["with a part of an assistant", said([...text("x"), { type: "tool-weather", toolCallId: "1" }]), "messages.0.parts.1"],
    ["with a file without an address", said([{ type: "file", mediaType: "image/png" }]), "messages.0.parts.0"],
    [
      "with a file at a strange address",
      said([{ type: "file", mediaType: "image/png", url: "javascript:alert(1)" }]),
      "messages.0.parts.0",
    ],
    [
      "with metadata that is too much",
      said(text("x"), { messages: [{ role: "user", parts: text("x"), metadata: { a: "b".repeat(513) } }] }),
      "messages.0.metadata",
    ],
    ["with instructions", said(text("x"), { system: "Obey." }), "system"],
    ["with tools", said(text("x"), { tools: { weather: {} } }), "tools"],
    ["with a reply that is not of this chat", { id: SESSION, message: { id: "foreign", role: "assistant", parts: [] } }, "messages"],
  ])("%s is refused by the field's name, and nothing is sent", async (_, body, field) => {
    const { post, submitted } = connect();

    const response = await post(body);

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ field }] });
    expect(submitted).toEqual([]);
  });

  test("may hold what does no harm: empty tools, unknown fields, older messages of any form", async () => {
    const { post, submitted } = connect();

    const response = await post({
      id: SESSION,
      tools: {},
      system: "",
      threadId: "7",
      messages: [
        { nonsense: true },
        null,
        { id: "m-2", role: "user", parts: [{ type: "step-start" }, { type: "data-x", data: 1 }, ...text("你好")] },
      ],
    });

    expect(response.status).toBe(200);
    expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(submitted).toMatchObject([{ parts: text("你好"), about: { client_id: "m-2" }, onBusy: "queue", run: true }]);
  });

  test("may be larger than others, because pages send all of the conversation, and is bounded", async () => {
    const { post, submitted } = connect();
    const long = "长".repeat(100_000);
    const messages = Array.from({ length: 20 }, (_, nth) => ({ id: `m-${nth}`, role: "user", parts: text(long) }));

    expect((await post({ id: SESSION, messages })).status).toBe(200);
    expect(submitted).toHaveLength(1);
    expect((await post({ id: SESSION, messages: [...messages, ...messages] })).status).toBe(413);
  });

  test("with a model and a generation asks this turn with them", async () => {
    const { post, submitted } = connect();

    await post(said(text("x"), { model: "gpt-5", generation: { temperature: 0.5 } }));

    expect(submitted).toMatchObject([{ model: "gpt-5", generation: { temperature: 0.5 } }]);
  });
});

describe("answers to calls", () => {
  const [open, closed] = [makeId("exe", 1), makeId("exe", 2)];
  const call = { id: open, call_id: "a", name: "weather", arguments: "{}", runs: "client", approval: null } as const;
  const waiting = description({ turn: { id: TURN, phase: "awaiting_tools", open_calls: [call] } });
  const part = (toolCallId: string, more: object) => ({ type: "tool-weather", toolCallId, input: {}, ...more });
  const reply = (...parts: object[]) => ({ id: TURN, role: "assistant", parts: [{ type: "step-start" }, ...parts] });

  function connectWaiting() {
    const results: ToolResultInput[] = [];
    const toolResults: WholeSessionApi["toolResults"] = async (_, input) => {
      results.push(...input.results);
      return ok(accepted({ turn_id: TURN }));
    };
    return {
      results,
      ...connect({ describe: async () => ok(waiting), toolResults, turn: async () => ok(turn({ id: TURN, status: "awaiting_tools" })) }),
    };
  }

  test("are those of open calls alone", async () => {
    const { post, results } = connectWaiting();

    const message = reply(
      part(closed, { state: "output-available", output: "old" }),
      part(open, { state: "output-available", output: { 天: "晴" } }),
    );
    const response = await post({ id: SESSION, messages: [message], messageId: TURN });

    expect(await response.text()).toContain(`"messageId":"${TURN}"`);
    expect(results).toEqual([{ execution_id: open, call_id: null, output: '{"天":"晴"}', is_error: false }]);
  });

  test("go before the user's next message", async () => {
    const { post, results, submitted } = connectWaiting();
    const message = reply(part(open, { state: "output-error", errorText: "broken" }));

    await post({ id: SESSION, messages: [message, { id: "m", role: "user", parts: text("And now?") }] });

    expect(results).toMatchObject([{ execution_id: open, output: "broken", is_error: true }]);
    expect(submitted).toHaveLength(1);
  });

  test("that are missing are asked for", async () => {
    const response = await connectWaiting().post({ id: SESSION, messages: [reply(part(open, { state: "input-available" }))] });

    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringContaining("no open call") }),
    ]);
  });

  test("to a turn that has ended without an answer are refused, so that no page sends them forever", async () => {
    const { post } = connect({ turn: async () => ok(turn({ id: TURN, status: "stopped" })) });

    const response = await post({ id: SESSION, messages: [reply(part(open, { state: "output-available", output: 1 }))] });

    expect(response.status).toBe(409);
  });
});

describe("a chat that there is not", () => {
  const missing: Partial<WholeSessionApi> = { describe: async () => err({ code: "session_not_found" }) };

  test("has no history, and nothing to resume", async () => {
    const { get } = connect(missing);

    expect(await (await get("new%2Fchat/messages")).json()).toEqual({ messages: [], has_more: false, next_before: null });
    expect((await get("new%2Fchat/stream")).status).toBe(204);
  });

  test("cannot be named by an id that no session may have", async () => {
    expect((await connect(missing).get("%00/messages")).status).toBe(400);
  });
});
