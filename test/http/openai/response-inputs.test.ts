/** What responses were asked with, and how large a request would be, through OpenAI's own package and a session in this process. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { Caller } from "../../../src/app/session-api";
import type { TurnId } from "../../../src/domain/ids";
import { toLegName } from "../../../src/http/surface/ids";
import { err, ok } from "../../../src/lib/result";
import { CALLER, type Life, settle } from "../../session/life";
import { newLife, say } from "../../session/talk";
import { SESSION } from "../../support/builders";
import { KEY, modelEntry, world } from "../support";

async function connect() {
  const life = await newLife({ system: "You answer in one sentence, always." });
  const { service } = life;
  const here =
    <A extends readonly unknown[], R>(work: (caller: Caller, ...given: A) => R) =>
    (_: Caller, ...given: A) =>
      work(CALLER, ...given);
  const session: Partial<WholeSessionApi> = {
    describe: here((caller) => service.describe(caller)),
    items: here((caller, page) => service.items(caller, page)),
    message: here((caller, id) => service.message(caller, id)),
    executions: here((caller, page) => service.executions(caller, page)),
    turn: here((caller, id) => service.turn(caller, id)),
    notes: here((caller, asked) => service.notes(caller, asked)),
    askedWith: here((caller, id) => service.askedWith(caller, id)),
    context: here((caller, asked) => service.context(caller, asked)),
    contextAt: here((caller, asked) => service.contextAt(caller, asked)),
  };
  const getModel = async (model: string) => (model === "m" ? ok(modelEntry()) : err({ code: "model_not_found" as const, model }));
  const { app } = world({ session, tenant: { getModel } });
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => app.request(String(url), init);
  return { life, openai: new OpenAI({ apiKey: KEY, baseURL: "http://longhand.test/v1", maxRetries: 0, fetch }) };
}

const user = (text: string) => ({ role: "user" as const, parts: [{ type: "text" as const, text }] });

async function findTurn(life: Life): Promise<TurnId> {
  const turns = await life.service.turns(CALLER, { after: null, limit: 1, order: "desc" });
  const id = turns.ok ? turns.value.data[0]?.id : undefined;
  if (!id) throw new Error("no turn");
  return id;
}

const name = (turn: TurnId, leg = 1): string => toLegName("resp_", { session: SESSION, turn, leg });

async function list(openai: OpenAI, id: string, query: OpenAI.Responses.InputItemListParams = {}) {
  const found: string[] = [];
  for await (const item of openai.responses.inputItems.list(id, query)) {
    if (item.type === "message") found.push(item.content.map((part) => ("text" in part ? part.text : part.type)).join(""));
    else found.push(item.type === "function_call_output" ? String(item.output) : item.type);
  }
  return found;
}

describe("the input items of a response", () => {
  it("are the messages that came with it, the newest first", async () => {
    const { life, openai } = await connect();
    await say(life, "one", "1");
    await life.service.importMessages(CALLER, { messages: [user("before"), user("也在之前")], idempotency: null });
    await say(life, "two", "2");
    const turn = await findTurn(life);
    await say(life, "three", "3");

    expect(await list(openai, name(turn))).toEqual(["two", "也在之前", "before"]);
    for (const limit of [1, 2]) expect(await list(openai, name(turn), { limit, order: "asc" })).toEqual(["before", "也在之前", "two"]);
  });

  it("of a response that no message began are what it was asked with, also where it has said nothing", async () => {
    const { life, openai } = await connect();
    await say(life, "one", "1");
    const asked = { after: null, results: [], run: true, tools: null, idempotency: null };
    const messages = [user("in verse"), { ...user("请用诗"), role: "system" as const }];
    await life.service.respond(CALLER, { ...asked, messages });
    await settle();
    const turn = await findTurn(life);
    expect(await list(openai, name(turn))).toEqual(["请用诗", "in verse"]);
    await life.service.stop(CALLER, { idempotency: null });
    await settle();
    expect(await list(openai, name(turn))).toEqual(["请用诗", "in verse"]);
  });

  it("are the client's results for a response that goes on with them", async () => {
    const { life, openai } = await connect();
    await life.send("Weather?");
    for (const round of ["a", "b"]) {
      life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: round, name: "look", arguments: "{}" } });
      await life.say({ type: "finish", finish: "tool_calls", usage: null });
      const results = [{ execution_id: null, call_id: round, output: `seen ${round}`, is_error: false }];
      await life.service.toolResults(CALLER, { results, idempotency: null });
      await settle();
    }
    await life.answer("Sun.");
    const turn = await findTurn(life);

    expect(await list(openai, name(turn))).toEqual(["Weather?"]);
    expect(await list(openai, name(turn, 2))).toEqual(["seen a"]);
    expect(await list(openai, name(turn, 3))).toEqual(["seen b"]);
    await expect(list(openai, name(turn, 4))).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    "resp_1",
    "resp_01JD8Z3V6Q4N7R2T5W9X0Y1A0101JD8Z3V6Q4N7R2T5W9X0Y1A01",
    "resp_01JD8Z3V6Q4N7R2T5W9X0Y1A0101JD8Z3V6Q4N7R2T5W9X0Y1A01_1",
  ])("of a response that there is not are unknown: %s", async (id) => {
    await expect(list((await connect()).openai, id)).rejects.toMatchObject({ status: 404 });
  });

  it("after an item that is none of them are refused", async () => {
    const { life, openai } = await connect();
    await say(life, "one", "1");
    const listed = openai.responses.inputItems.list(name(await findTurn(life)), { after: "msg_x" });

    await expect(listed).rejects.toMatchObject({ status: 400, param: "after" });
  });
});

describe("the tokens of an input", () => {
  const count = async (openai: OpenAI, body: OpenAI.Responses.InputTokenCountParams) =>
    (await openai.responses.inputTokens.count(body)).input_tokens;

  it("grow with all that a request holds", async () => {
    const { openai } = await connect();
    const input = "What is the weather in Lisbon?";

    expect(await openai.responses.inputTokens.count({ model: "m", input })).toMatchObject({ object: "response.input_tokens" });
    const alone = await count(openai, { model: "m", input });
    expect(alone).toBeGreaterThan(0);
    const tool = { type: "function" as const, name: "look", parameters: { type: "object" }, strict: false };
    const call = { type: "function_call" as const, call_id: "a", name: "look", arguments: "{}" };
    const output = { type: "function_call_output" as const, call_id: "a", output: "Sun. ".repeat(100) };
    const image = {
      role: "user" as const,
      content: [{ type: "input_image" as const, detail: "auto" as const, image_url: "https://x.example/a.png" }],
    };
    for (const more of [
      { instructions: "Be brief, please." },
      { tools: [tool] },
      { text: { format: { type: "json_schema" as const, name: "sky", schema: { type: "object" } } } },
      { input: [{ role: "user" as const, content: input }, call, output] },
      { input: [{ role: "user" as const, content: input }, image] },
    ])
      expect(await count(openai, { model: "m", input, ...more })).toBeGreaterThan(alone);
    expect(await count(openai, { model: "m" })).toBe(0);
  });

  it("count the conversation before it, with the instructions of the request in place of the session's", async () => {
    const { life, openai } = await connect();
    await say(life, "word ".repeat(400), "1");
    const turn = await findTurn(life);
    await say(life, "word ".repeat(400), "2");
    const last = await findTurn(life);
    const conversation = `conv_${SESSION.slice(4)}`;

    const whole = await count(openai, { input: "x", conversation });
    expect(await count(openai, { input: "x", conversation: { id: conversation } })).toBe(whole);
    expect(await count(openai, { input: "x", previous_response_id: name(last) })).toBe(whole);
    expect(whole).toBeGreaterThan(600);
    const earlier = await count(openai, { input: "x", previous_response_id: name(turn) });
    expect(earlier).toBeGreaterThan(300);
    expect(earlier).toBeLessThan(whole - 300);
    expect(await count(openai, { input: "x", conversation, instructions: "a" })).toBeLessThan(whole);
  });

  it.each([
    [{ conversation: `conv_${SESSION.slice(4)}`, previous_response_id: "resp_1" }, 400, "previous_response_id"],
    [{ conversation: "conv_1" }, 404, null],
    [{ previous_response_id: "resp_1" }, 400, "previous_response_id"],
    [{ model: "nope" }, 404, "model"],
    [{ input: [{ type: "web_search_call" }] }, 400, "input[0].type"],
    [{ input: " " }, 400, "input"],
  ])("are refused by name: %j", async (body, status, param) => {
    const { openai } = await connect();
    await expect(openai.post("/responses/input_tokens", { body })).rejects.toMatchObject({ status, param });
  });
});
