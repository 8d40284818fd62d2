/** The chat's routes against fakes: what they refuse, and what they ask of the session. */
import { describe, expect, test } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { RespondInput } from "../../../src/app/respond-api";
import type { SubmitInput, ToolResultInput } from "../../../src/app/session-api";
import type { ClientSettings } from "../../../src/contract/client-settings";
import type { DisplayItem } from "../../../src/contract/item";
import type { TurnId } from "../../../src/domain/ids";
import { err, ok } from "../../../src/lib/result";
import { accepted, description, KEY, makeId, principal, SESSION, toStream, turn, world } from "../support";

const TURN = makeId("trn");
const text = (said: string) => [{ type: "text", text: said }];
const WRITTEN: DisplayItem = {
  id: makeId("msg"),
  position: 1,
  role: "user",
  content: [{ type: "text", text: "Before." }],
  turn_id: TURN,
  name: null,
  client_id: null,
  metadata: {},
  created_at: 1,
  recorded_at: 1,
  incomplete: false,
  tokens: { tokens: 1, source: "estimated", error_bound: 1 },
};

function connect(session: Partial<WholeSessionApi> = {}, clients: Partial<ClientSettings> = {}) {
  const submitted: SubmitInput[] = [];
  const described = { count: 0 };
  const submit: WholeSessionApi["submit"] = async (_, input) => {
    submitted.push(input);
    return ok(accepted({ turn_id: TURN }));
  };
  const settings = { session_header: null, on_disconnect: null, chat_instructions: null, ...clients };
  const { app } = world({
    principal: { ...principal(), clients: settings },
    session: {
      describe: async () => {
        described.count += 1;
        return ok(description());
      },
      follow: async () => ok({ stream: toStream(""), compacting: null }),
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
  const stop = (body?: object) =>
    app.request(`/api/chat/${SESSION}/stop`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  return { post, get, stop, submitted, described };
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

  const weather = { description: "The weather", parameters: { type: "object", properties: { city: { type: "string" } } } };

  test("has its instructions and tools ignored, and named, because a page's user can change them", async () => {
    const { post, submitted } = connect();
    const response = await post(said(text("x"), { system: "Obey.", tools: { weather } }));
    expect([response.status, response.headers.get("x-ignored")]).toEqual([200, "system, tools"]);
    expect(submitted).toMatchObject([{ tools: null }]);
    expect(submitted[0]).not.toHaveProperty("system");
  });

  test("has them for its turn where the key takes them", async () => {
    const { post, submitted } = connect({}, { chat_instructions: "take" });
    const response = await post(said(text("x"), { system: "Be brief.", tools: { weather, now: {} } }));
    expect([response.status, response.headers.get("x-ignored")]).toEqual([200, null]);
    const tools = [
      { name: "weather", ...weather },
      { name: "now", parameters: { type: "object", properties: {} } },
    ];
    expect(submitted).toMatchObject([{ system: "Be brief.", tools }]);
  });

  test.each([
    [{ system: 5 }, "system"],
    [{ tools: { weather: { parameters: { type: "string" } } } }, "tools.weather.parameters.type"],
    [{ tools: { "a b": {} } }, "tools.a b"],
  ])("with ones that no model takes is refused there: %j", async (more, field) => {
    const { post, submitted } = connect({}, { chat_instructions: "take" });
    const response = await post(said(text("x"), more));
    expect(await response.json()).toMatchObject({ status: 400, errors: [{ field }] });
    expect(submitted).toEqual([]);
  });

  test("with something said asks the session's object twice: to take it, and for the stream", async () => {
    const { post, submitted, described } = connect();
    const asked = { id: "m-1", role: "user", parts: text("Weather?") };
    const done = { type: "tool-weather", toolCallId: makeId("exe"), state: "output-available", input: {}, output: 1 };
    const reply = { id: TURN, role: "assistant", parts: [{ type: "step-start" }, done, { type: "step-start" }, ...text("Sun.")] };

    await post({ id: SESSION, messages: [asked, reply, { id: "m-2", role: "user", parts: text("And tomorrow?") }] });

    expect([submitted.length, described.count]).toEqual([1, 0]);
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
    const both: RespondInput[] = [];
    const toolResults: WholeSessionApi["toolResults"] = async (_, input) => {
      if (input.results.some(({ execution_id }) => execution_id !== open)) return err({ code: "call_not_open", index: 0, call: closed });
      results.push(...input.results);
      return ok(accepted({ turn_id: TURN }));
    };
    const respond: WholeSessionApi["respond"] = async (_, input) => {
      both.push(input);
      return ok(accepted({ turn_id: makeId("trn", 2) }));
    };
    const session = { describe: async () => ok(waiting), toolResults, respond };
    return { results, both, ...connect({ ...session, turn: async () => ok(turn({ id: TURN, status: "awaiting_tools" })) }) };
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

  test("go before the user's next message, and one turn answers both", async () => {
    const { post, both, results, submitted } = connectWaiting();
    const message = reply(part(open, { state: "output-error", errorText: "broken" }));

    const response = await post({ id: SESSION, messages: [message, { id: "m", role: "user", parts: text("And now?") }] });

    expect(await response.text()).toContain(makeId("trn", 2));
    expect(both).toMatchObject([
      {
        supersedes: TURN,
        results: [{ execution_id: open, output: "broken", is_error: true }],
        messages: [{ role: "user", parts: text("And now?"), about: { client_id: "m" } }],
      },
    ]);
    expect([results, submitted]).toEqual([[], []]);
  });

  test("that are missing are asked for", async () => {
    const response = await connectWaiting().post({ id: SESSION, messages: [reply(part(open, { state: "input-available" }))] });

    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringContaining("no open call") }),
    ]);
  });

  test("to a turn that has ended without an answer are refused, so that no page sends them forever", async () => {
    const toolResults = async () => err({ code: "call_not_open", index: 0, call: open } as const);
    const { post } = connect({ toolResults, turn: async () => ok(turn({ id: TURN, status: "stopped" })) });

    const response = await post({ id: SESSION, messages: [reply(part(open, { state: "output-available", output: 1 }))] });

    expect(response.status).toBe(409);
  });
});

describe("a stop", () => {
  const other = makeId("trn", 2);

  /** A session in which the turn `running` runs. */
  function connectRunning(running: TurnId | null) {
    const stopped: (TurnId | undefined)[] = [];
    const stop: WholeSessionApi["stop"] = async (_, input) => {
      stopped.push(input.turn);
      return err({ code: "turn_not_found", turn: TURN });
    };
    const open = running && { id: running, phase: "generating" as const, open_calls: [] };
    return { stopped, ...connect({ describe: async () => ok(description({ turn: open })), stop }) };
  }

  test("is of the turn that is open when it comes, so that the next one is not stopped in its place", async () => {
    const { stop, stopped } = connectRunning(TURN);

    expect((await stop()).status).toBe(204);

    expect(stopped).toEqual([TURN]);
  });

  test("is of the turn that the page names, whichever runs", async () => {
    const { stop, stopped } = connectRunning(other);

    expect((await stop({ messageId: TURN })).status).toBe(204);

    expect(stopped).toEqual([TURN]);
  });

  test("of nothing stops nothing, and one of no message of the chat is refused", async () => {
    const { stop, stopped } = connectRunning(null);

    expect((await stop()).status).toBe(204);
    expect((await stop({ messageId: "msg-1" })).status).toBe(400);

    expect(stopped).toEqual([]);
  });

  test("for a change of what was said is of the turn that refused it", async () => {
    const stopped: (TurnId | undefined)[] = [];
    const stop: WholeSessionApi["stop"] = async (_, input) => {
      stopped.push(input.turn);
      return err({ code: "turn_not_found", turn: TURN });
    };
    const editMessage: WholeSessionApi["editMessage"] = async () =>
      stopped.length === 0 ? err({ code: "turn_running", turn: other }) : ok(accepted({ turn_id: TURN }));
    const items = async () => ok({ data: [WRITTEN], has_more: false });
    const { post } = connect({ stop, editMessage, items, message: async () => ok(WRITTEN) });

    const response = await post(said(text("Again."), { messageId: WRITTEN.id }));

    expect([response.status, stopped]).toEqual([200, [other]]);
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
