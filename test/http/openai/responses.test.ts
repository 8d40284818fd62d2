/** Responses through OpenAI's own package, against the app and sessions in this process. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";
import OpenAI from "openai";
import OpenAI5 from "openai-v5";
import OpenAI6 from "openai-v6";
import { describe, expect, it } from "vitest";
import type { TenantApi } from "../../../src/app/tenant-api";
import type { SessionId } from "../../../src/domain/ids";
import { ok } from "../../../src/lib/result";
import { Life } from "../../session/life";
import { KEY, TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const LOOK = {
  type: "function" as const,
  name: "look",
  description: "Looks",
  parameters: { type: "object", properties: {} },
  strict: false,
};

const never = (): never => {
  throw new Error("There is no such request");
};

/** One id for each key. */
function registerOnce(): TenantApi["registerSession"] {
  const known = new Map<string, SessionId>();
  return async ({ session, idempotency }) => {
    const key = idempotency?.key ?? session;
    const replayed = known.has(key);
    known.set(key, known.get(key) ?? session);
    return ok({ session: known.get(key) ?? session, replayed });
  };
}

type Created = OpenAI.Responses.Response;

async function readAll<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

const readEvents = (text: string): OpenAI.Responses.ResponseStreamEvent[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = ""]) => JSON.parse(json));

const KEYS = [
  ...["id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id", "instructions"],
  ...["output", "error", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text", "top_p", "presence_penalty"],
  ...["frequency_penalty", "top_logprobs", "temperature", "reasoning", "usage", "max_output_tokens", "max_tool_calls", "store"],
  ...["background", "service_tier", "metadata", "safety_identifier", "prompt_cache_key"],
];

describe("a response", () => {
  it("has every key, the text and the usage", async () => {
    const { openai, model, requests } = connect();
    model.say = () => says("In Lisbon, ", "sun.");

    const response = await openai.responses.create({
      model: MODEL,
      instructions: "Be brief.",
      input: "天气?",
      metadata: { topic: "天气" },
      temperature: 0.5,
      max_output_tokens: 100,
    });

    expect(Object.keys(response)).toEqual(expect.arrayContaining(KEYS));
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9A-Z]{52}$/),
      object: "response",
      status: "completed",
      output_text: "In Lisbon, sun.",
      instructions: "Be brief.",
      metadata: { topic: "天气" },
      temperature: 0.5,
      max_output_tokens: 100,
      previous_response_id: null,
      error: null,
      store: true,
      background: false,
      text: { format: { type: "text" } },
      usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12, input_tokens_details: { cached_tokens: 4 } },
    });
    expect(response.output).toMatchObject([{ type: "message", role: "assistant", status: "completed", content: [{ annotations: [] }] }]);
    expect(requests.map(show)).toEqual([["system: Be brief.", "user: 天气?"]]);
  });

  it("is streamed in the order that the SDK's accumulator asks for, and equals the whole response", async () => {
    const { openai, model } = connect();
    model.say = () => [{ type: "reasoning", text: "Hm." }, ...says("In Lisbon, ", "sun.")];

    const events = await readAll(await openai.responses.create({ model: MODEL, input: "Weather?", stream: true }));

    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace("response.", ""));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      "created",
      "in_progress",
      ...["output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done"],
      ...["reasoning_summary_part.done", "output_item.done"],
      ...["output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done"],
      "completed",
    ]);
    const [created] = events;
    expect(created?.type === "response.created" && Object.keys(created.response)).toEqual(expect.arrayContaining(KEYS));

    const whole = await openai.responses.stream({ model: MODEL, input: "Again?" }).finalResponse();
    expect(whole).toMatchObject({ status: "completed", output_text: "In Lisbon, sun." });
  });

  it.each(["length", "content_filter"] as const)(
    "that ended by %s is incomplete in its last item, wherever that is read",
    async (finish) => {
      const { openai, model } = connect();
      model.say = () => [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "In Lis" },
        { type: "finish", finish, usage: null },
      ];
      const { id: conversation } = await openai.conversations.create();
      const asked = { model: MODEL, input: "Weather?", conversation };

      const whole = await openai.responses.create(asked);
      const events = await readAll(await openai.responses.create({ ...asked, stream: true }));
      const stored = await openai.responses.retrieve(whole.id);
      const items = await readAll(openai.conversations.items.list(conversation, { order: "asc" }));

      const last = events.at(-1);
      const streamed = last?.type === "response.incomplete" ? last.response.output : [];
      const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
      const listed = items.filter((item) => item.type === "reasoning" || (item.type === "message" && item.role === "assistant"));
      const expected = [
        { type: "reasoning", status: "completed" },
        { type: "message", status: "incomplete" },
      ];
      expect(whole.status).toBe("incomplete");
      for (const output of [whole.output, streamed, done, stored.output, listed.slice(0, 2), listed.slice(2)])
        expect(output).toMatchObject(expected);
    },
  );

  it("says why it is incomplete, or failed, and a refused request is not sent again", async () => {
    const { openai, model, options, requests } = connect();
    model.say = () => [
      { type: "text", text: "In" },
      { type: "finish", finish: "length", usage: null },
    ];
    const cut = await openai.responses.create({ model: MODEL, input: "Weather?" });
    expect(cut).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      usage: null,
      completed_at: null,
    });

    model.say = () => [{ type: "failure", failure: { kind: "quota", status: 429 } }];
    const failed: unknown = await openai.responses.create({ model: MODEL, input: "Weather?" }).catch((error: unknown) => error);
    if (!(failed instanceof OpenAI.RateLimitError)) throw failed;
    expect(failed).toMatchObject({ type: "insufficient_quota", code: "insufficient_quota", message: expect.stringContaining("quota") });
    expect(failed.headers?.get("x-should-retry")).toBe("false");
    const kept = await openai.responses.retrieve(failed.headers?.get("x-response-id") ?? "");
    expect(kept).toMatchObject({ status: "failed", error: { code: "insufficient_quota" }, output: [], completed_at: null });

    const { responses } = createOpenAI({ ...options, fetch: options.fetch as typeof fetch });
    const asked = generateText({ model: responses(MODEL), prompt: "Weather?", maxRetries: 2 });
    const count = requests.length;
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining("quota"), isRetryable: false });
    expect(requests.length - count).toBe(1);

    const stream = await openai.responses.create({ model: MODEL, input: "Weather?", stream: true }).asResponse();
    const events = readEvents(await stream.text());
    expect(events.slice(-2)).toMatchObject([
      { type: "error", code: "insufficient_quota", error: { code: "insufficient_quota", message: expect.any(String) } },
      { type: "response.failed", response: { status: "failed", error: { code: "insufficient_quota" } } },
    ]);
  });

  it("takes the form of its text, images by address, and choices of tools", async () => {
    const { openai, requests } = connect();
    const schema = { type: "object", properties: { sun: { type: "boolean" } }, required: ["sun"], additionalProperties: false };

    const response = await openai.responses.create({
      model: MODEL,
      input: [
        { role: "developer", content: "Only JSON." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", detail: "auto", image_url: "https://example.com/a.png" },
          ],
        },
      ],
      text: { format: { type: "json_schema", name: "weather", schema, strict: true } },
      tools: [LOOK],
      tool_choice: { type: "function", name: "look" },
      parallel_tool_calls: false,
    });

    expect(response).toMatchObject({
      text: { format: { type: "json_schema", name: "weather", strict: true, schema } },
      tools: [LOOK],
      tool_choice: { type: "function", name: "look" },
      parallel_tool_calls: false,
    });
    expect(requests[0]?.generation).toMatchObject({
      response_format: { type: "json_schema", name: "weather", schema, strict: true },
      tool_choice: { name: "look" },
      parallel_tool_calls: false,
    });
    expect(requests.map(show)).toEqual([["system: Only JSON.", "user: What is it?image"]]);
  });

  it("repeats the verbosity that the Agents SDK sends by itself", async () => {
    const { openai } = connect();
    const response = await openai.responses.create({ model: MODEL, input: "Hi.", text: { verbosity: "low" } });
    expect(response).toMatchObject({ status: "completed", text: { format: { type: "text" }, verbosity: "low" } });
  });

  it("offers the model the allowed tools alone", async () => {
    const { openai, requests } = connect();
    const other = { ...LOOK, name: "hear" };
    const tool_choice = { type: "allowed_tools" as const, mode: "required" as const, tools: [{ type: "function", name: "hear" }] };

    const response = await openai.responses.create({ model: MODEL, input: "Hi.", tools: [LOOK, other], tool_choice });

    expect(response).toMatchObject({ tools: [LOOK, other], tool_choice });
    expect(requests[0]?.generation).toMatchObject({ tool_choice: "required" });
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["hear"]);
  });

  it("comes once for one idempotency key", async () => {
    const { openai, requests } = connect({ tenant: { registerSession: registerOnce() } });
    const asked = { model: MODEL, input: "Weather?" };
    const [first, second] = [
      await openai.responses.create(asked, { headers: { "Idempotency-Key": "k" } }),
      await openai.responses.create(asked, { headers: { "Idempotency-Key": "k" } }),
    ];
    expect(second).toEqual(first);
    expect(requests).toHaveLength(1);
  });

  it("that is not stored leaves nothing", async () => {
    const { openai, lives } = connect();
    const response = await openai.responses.create({ model: MODEL, input: "Weather?", store: false });
    expect(response).toMatchObject({ store: false, status: "completed", output_text: "echo 1" });
    const whole = await openai.responses.stream({ model: MODEL, input: "Weather?", store: false }).finalResponse();
    expect(whole.output_text).toBe("echo 1");

    for (const [session, life] of lives) {
      const described = await life.service.describe({ tenant: TENANT, session });
      expect(described).toMatchObject({ ok: false, error: { code: "session_not_found" } });
    }
    expect(lives.size).toBe(2);
  });
});

describe("a chain of responses", () => {
  it("shares its past, and branches where it is continued a second time", async () => {
    const { openai, requests, lives } = connect();
    const first = await openai.responses.create({ model: MODEL, input: "A", instructions: "Be brief." });
    const second = await openai.responses.create({ model: MODEL, input: "B", previous_response_id: first.id });
    const other = await openai.responses.create({ model: MODEL, input: "C", previous_response_id: first.id });
    const third = await openai.responses.create({ model: MODEL, input: "D", previous_response_id: second.id });

    expect(requests.map(show)).toEqual([
      ["system: Be brief.", "user: A"],
      ["user: A", "assistant: echo 1", "user: B"],
      ["user: A", "assistant: echo 1", "user: C"],
      ["user: A", "assistant: echo 1", "user: B", "assistant: echo 3", "user: D"],
    ]);
    expect([second, other, third].map((response) => response.previous_response_id)).toEqual([first.id, first.id, second.id]);
    expect(second.instructions).toBeNull();
    expect(lives.size).toBe(1);
  });

  it("goes on in the session's conversation, and the other way round", async () => {
    const { openai, requests } = connect();
    const { id } = await openai.conversations.create({ items: [{ type: "message", role: "user", content: "A" }] });
    const first = await openai.responses.create({ model: MODEL, input: "B", conversation: id });
    const second = await openai.responses.create({ model: MODEL, input: "C", conversation: { id } });

    expect([first.conversation, second.conversation]).toEqual([{ id }, { id }]);
    expect(show(requests[1] ?? never())).toEqual(["user: A", "user: B", "assistant: echo 2", "user: C"]);
    const items = await readAll(openai.conversations.items.list(id, { order: "asc" }));
    expect(items.map((item) => item.id)).toEqual(expect.arrayContaining([first.output[0]?.id, second.output[0]?.id]));
    expect(items).toHaveLength(5);
  });

  it("waits in line: two requests at once are answered one after the other", async () => {
    const { openai } = connect();
    const { id } = await openai.conversations.create();
    const ask = (input: string) => openai.responses.create({ model: MODEL, input, conversation: id });
    const answers = await Promise.all([ask("A"), ask("B"), ask("C")]);
    expect(answers.map(({ output_text }) => output_text).toSorted()).toEqual(["echo 1", "echo 3", "echo 5"]);
  });
});

describe("function tools", () => {
  const asked = { model: MODEL, tools: [LOOK] };
  const output = (call_id: string, text: string) => ({ type: "function_call_output" as const, call_id, output: text });

  it.each(["chain", "conversation"] as const)("are answered in a %s, and every answer is a response of its own", async (kind) => {
    const { openai, model, requests } = connect();
    model.say = (_, nth) => (nth < 3 ? calls({ call_id: `a${nth}`, arguments: '{"at":"里斯本"}' }, { call_id: `b${nth}` }) : says("Sun."));
    const place = kind === "chain" ? {} : { conversation: (await openai.conversations.create()).id };
    const next = (previous: Created) => (kind === "chain" ? { previous_response_id: previous.id } : place);

    const first = await openai.responses.create({ ...asked, ...place, input: "Weather?" });
    expect(first.status).toBe("completed");
    expect(first.output).toMatchObject([
      {
        type: "function_call",
        id: expect.stringMatching(/^fc_/),
        call_id: "a1",
        name: "look",
        arguments: '{"at":"里斯本"}',
        status: "completed",
      },
      { type: "function_call", call_id: "b1" },
    ]);
    const second = await openai.responses
      .stream({ ...asked, ...next(first), input: [output("a1", "sun"), output("b1", "")] })
      .finalResponse();
    expect(second.output).toMatchObject([{ call_id: "a2" }, { call_id: "b2" }]);
    const third = await openai.responses.create({ ...asked, ...next(second), input: [output("b2", "x"), output("a2", "y")] });
    expect(third).toMatchObject({ output_text: "Sun.", usage: { input_tokens: 10, output_tokens: 2 } });

    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
    if (kind === "chain") expect([second, third].map((response) => response.previous_response_id)).toEqual([first.id, second.id]);
    expect(second.usage).toMatchObject({ input_tokens: 20, output_tokens: 3 });
    expect(show(requests[1] ?? never()).slice(-2)).toEqual(["tool: sun", "tool: "]);
  });

  it("may be answered together with a message, and with other instructions", async () => {
    const { openai, model, requests } = connect();
    model.say = (_, nth) => (nth === 1 ? calls({ call_id: "a" }) : says("Sun."));
    const first = await openai.responses.create({ ...asked, input: "Weather?" });
    const second = await openai.responses.create({
      ...asked,
      instructions: "Be brief.",
      previous_response_id: first.id,
      input: [output("a", "sun"), { role: "user", content: "And tomorrow?" }],
    });
    expect(second).toMatchObject({ output_text: "Sun.", instructions: "Be brief.", previous_response_id: first.id });
    expect(show(requests[1] ?? never())).toEqual([
      "system: Be brief.",
      "user: Weather?",
      "assistant: tool_call",
      "tool: sun",
      "user: And tomorrow?",
    ]);

    model.say = (_, nth) => (nth === 3 ? calls({ call_id: "b" }) : says("Rain."));
    const third = await openai.responses.create({ ...asked, previous_response_id: second.id, input: "There?" });
    const fourth = await openai.responses.create({
      ...asked,
      instructions: "Rhyme.",
      previous_response_id: third.id,
      input: [output("b", "rain")],
    });
    expect(fourth).toMatchObject({ output_text: "Rain.", instructions: "Rhyme.", previous_response_id: third.id });
    expect(show(requests.at(-1) ?? never()).at(0)).toBe("system: Rhyme.");
  });

  it("refuse results that are missing, or of no call", async () => {
    const { openai, model } = connect();
    model.say = () => calls({ call_id: "a" }, { call_id: "b" });
    const first = await openai.responses.create({ ...asked, input: "Weather?" });
    const next = (input: OpenAI.Responses.ResponseInput) => openai.responses.create({ ...asked, previous_response_id: first.id, input });

    const refusals = [
      [[{ role: "user", content: "Hello?" }], "No tool output found for function call a."],
      [[output("a", "x")], "No tool output found for function call b."],
      [[output("a", "x"), output("c", "x")], "No tool call found for function call output with call_id c."],
    ] satisfies [OpenAI.Responses.ResponseInput, string][];
    for (const [input, message] of refusals)
      await expect(next(input)).rejects.toMatchObject({ status: 400, param: "input", type: "invalid_request_error", error: { message } });
  });
});

describe("a stored response", () => {
  it("is retrieved as it was created, with its calls, in each of its legs", async () => {
    const { openai, model } = connect();
    model.say = (_, nth) => (nth === 1 ? calls({ call_id: "a" }) : says("Sun."));
    const asked = { model: MODEL, tools: [LOOK], metadata: { nth: "1" }, instructions: "Be brief." };
    const first = await openai.responses.create({ ...asked, input: "Weather?" });
    const output = [{ type: "function_call_output" as const, call_id: "a", output: "sun" }];
    const second = await openai.responses.create({ ...asked, previous_response_id: first.id, input: output });
    const third = await openai.responses.create({ ...asked, metadata: { nth: "3" }, previous_response_id: second.id, input: "Thanks." });

    for (const created of [first, second, third]) expect(await openai.responses.retrieve(created.id)).toEqual(created);
    expect(second.id).toBe(`${first.id}_2`);
    const inputs = await Promise.all(
      [first, second, third].map(({ id }) => readAll(openai.responses.inputItems.list(id, { order: "asc" }))),
    );
    expect(inputs).toMatchObject([
      [{ role: "user", content: [{ text: "Weather?" }] }],
      [{ type: "function_call_output", output: "sun" }],
      [{ role: "user", content: [{ text: "Thanks." }] }],
    ]);
  });

  it("that answers calls has what it was asked with itself, and its input", async () => {
    const { openai, model } = connect();
    model.say = (_, nth) => (nth < 3 ? calls({ call_id: `a${nth}` }) : says("Sun."));
    const asked = { model: MODEL, tools: [LOOK], tool_choice: "required" as const };
    const answer = (call_id: string) => ({ type: "function_call_output" as const, call_id, output: `of ${call_id}` });
    const first = await openai.responses.create({ ...asked, input: "Weather?", metadata: { nth: "1" } });
    const second = await openai.responses.create({
      ...asked,
      previous_response_id: first.id,
      input: [answer("a1")],
      metadata: { nth: "2" },
    });
    const third = await openai.responses.create({
      ...asked,
      previous_response_id: second.id,
      input: [answer("a2"), { role: "user", content: "Quick!" }],
    });

    expect([first, second, third].map(({ metadata }) => metadata)).toEqual([{ nth: "1" }, { nth: "2" }, {}]);
    expect(await openai.responses.retrieve(first.id)).toEqual(first);
    expect(await openai.responses.retrieve(second.id)).toEqual(second);
    const inputs = await Promise.all(
      [first, second, third].map(({ id }) => readAll(openai.responses.inputItems.list(id, { order: "asc" }))),
    );
    expect(inputs).toMatchObject([
      [{ role: "user" }],
      [{ type: "function_call_output", output: "of a1" }],
      [
        { type: "function_call_output", output: "of a2" },
        { role: "user", content: [{ text: "Quick!" }] },
      ],
    ]);
  });

  it("is resumed behind any event, and the events are the same", async () => {
    const { openai, app, model } = connect();
    model.say = () => [{ type: "reasoning", text: "Hm." }, ...says("In ", "Lisbon, ", "sun.")];
    const told = await readAll(await openai.responses.create({ model: MODEL, input: "Weather?", stream: true }));
    const [created] = told;
    const id = created?.type === "response.created" ? created.response.id : "";

    for (const { sequence_number } of told.slice(0, -1)) {
      const rest = await readAll(await openai.responses.retrieve(id, { stream: true, starting_after: sequence_number }));
      expect(rest).toEqual(told.slice(sequence_number + 1));
    }
    expect(await readAll(await openai.responses.retrieve(id, { stream: true }))).toEqual(told);
    const done = await app.request(`/v1/responses/${id}?stream=true&starting_after=99`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(await done.text()).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("is deleted for good, with its input unless that is a conversation's", async () => {
    const { openai, lives } = connect();
    const alone = await openai.responses.create({ model: MODEL, input: "secret A" });
    const { id: conversation } = await openai.conversations.create();
    const within = await openai.responses.create({ model: MODEL, input: "kept B", conversation });

    for (const { id } of [alone, within]) {
      expect(await openai.responses.delete(id)).toMatchObject({ id, object: "response", deleted: true });
      await expect(openai.responses.delete(id)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
      await expect(openai.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
    }
    const texts = await Promise.all(
      [...lives].map(async ([session, { service }]) => {
        const page = await service.items({ tenant: TENANT, session }, { after: null, limit: 9, order: "asc" });
        return page.ok ? JSON.stringify(page.value.data.map(({ content }) => content)) : "";
      }),
    );
    expect(texts.join()).not.toMatch(/secret|echo/);
    expect(texts.join()).toContain("kept B");
  });

  it("is unknown by a name that nothing has, and by one of another session", async () => {
    const { openai } = connect();
    const { id } = await openai.responses.create({ model: MODEL, input: "A" });
    const other = await openai.responses.create({ model: MODEL, input: "B" });
    const names = ["resp_1", `resp_${"0".repeat(52)}`, `${id}_2`, `${id}_1`, `${id.slice(0, 31)}${other.id.slice(31)}`];
    for (const name of names)
      await expect(openai.responses.retrieve(name)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
  });
});

describe("a response in the background", () => {
  it("is answered at once, read until it is complete, and heard as a stream", async () => {
    const { openai, model } = connect();
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof says>>();
    model.say = () => promise;
    const begun = await openai.responses.create({ model: MODEL, input: "Weather?", background: true });
    expect(begun).toMatchObject({ status: "in_progress", output: [], background: true, usage: null, completed_at: null });
    resolve(says("Sun."));
    const told = await readAll(await openai.responses.retrieve(begun.id, { stream: true }));
    expect(told.slice(0, 3).map(({ type }) => type)).toEqual(["response.created", "response.queued", "response.in_progress"]);
    expect(await openai.responses.retrieve(begun.id)).toMatchObject({ status: "completed", output_text: "Sun." });
  });

  it("is cancelled, once and again, and its message stays", async () => {
    const { openai, model, lives } = connect();
    model.say = () => new Promise(() => {});
    const begun = await openai.responses.create({ model: MODEL, input: "Weather?", background: true });
    const queued = await openai.responses.create({
      model: MODEL,
      input: "And?",
      conversation: `conv_${[...lives.keys()][0]?.slice(4)}`,
      background: true,
    });
    expect(queued.status).toBe("queued");

    expect(await openai.responses.cancel(queued.id)).toMatchObject({ status: "cancelled" });
    expect(await openai.responses.retrieve(begun.id)).toMatchObject({ status: "in_progress" });
    expect(await openai.responses.cancel(begun.id)).toMatchObject({ status: "cancelled", output: [] });
    expect(await openai.responses.cancel(begun.id)).toMatchObject({ status: "cancelled" });

    model.say = () => says("Sun.");
    const next = await openai.responses.create({ model: MODEL, input: "Now?", previous_response_id: begun.id });
    expect(next.output_text).toBe("Sun.");
    await expect(openai.responses.cancel(next.id)).rejects.toMatchObject({
      status: 400,
      error: { message: "Cannot cancel a synchronous response." },
    });
  });
});

describe("a response whose session was lost in the middle", () => {
  it("ends for a client that has heard more than is on record", async () => {
    const { openai, app, lives } = connect();
    const { id: conversation } = await openai.conversations.create();
    const [session, life] = [...lives][0] ?? never();
    life.chat = {
      async *stream() {
        for (let nth = 0; nth < 20; nth++) yield { type: "text", text: `piece ${nth} ` };
        await new Promise(() => undefined);
      },
      render: async () => ({ url: "", body: "" }),
    };
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: MODEL, conversation, input: "A story.", stream: true });
    const begun = await app.request("/v1/responses", { method: "POST", headers, body });
    const reader = begun.body?.pipeThrough(new TextDecoderStream()).getReader() ?? never();
    let text = "";
    while (!text.includes("output_text.delta")) text += (await reader.read()).value ?? "";
    const heard = readEvents(text);
    const [created] = heard;
    const id = created?.type === "response.created" ? created.response.id : "";

    const next = new Life(life.sql, "life-2");
    lives.set(session, next);
    await next.service.describe({ tenant: TENANT, session });
    // More pieces than the record has: as many as its whole stream has events, and others.
    for (const more of [0, 1, 2, 3, 4, 5, 6, 40]) {
      const after = (heard.at(-1)?.sequence_number ?? 0) + more;
      const rest = await app.request(`/v1/responses/${id}?stream=true&starting_after=${after}`, { headers });
      const events = readEvents(await rest.text());
      expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "error",
        "failed",
      ]);
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, nth) => after + 1 + nth));
    }
  });
});

describe("a transcript", () => {
  it("of a client that keeps its own copy is a session of its own each time, with calls and results", async () => {
    const { openai, requests, lives } = connect();
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "Weather?" },
      { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: "sun" },
    ];
    const response = await openai.responses.create({ model: MODEL, tools: [LOOK], input });
    expect(response).toMatchObject({ status: "completed", output_text: "echo 3" });
    const unstored = await openai.responses.create({ model: MODEL, tools: [LOOK], input, store: false });
    expect(unstored.output_text).toBe("echo 3");
    expect(requests.map(show)).toEqual(Array.from({ length: 2 }, () => ["user: Weather?", "assistant: tool_call", "tool: sun"]));
    expect(lives.size).toBe(2);
    expect(await openai.responses.retrieve(response.id)).toEqual(response);
  });

  it("may answer a call that was added to the conversation as an item", async () => {
    const { openai, requests } = connect();
    const { id } = await openai.conversations.create({
      items: [
        { type: "message", role: "user", content: "Weather?" },
        { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      ],
    });
    const input = [{ type: "function_call_output" as const, call_id: "a", output: "sun" }];
    const response = await openai.responses.create({ model: MODEL, tools: [LOOK], conversation: id, input });
    expect(response.output_text).toBe("echo 3");
    expect(requests.map(show)).toEqual([["user: Weather?", "assistant: tool_call", "tool: sun"]]);
  });

  it("that does not fit is refused when nothing of it is kept, unless it may be truncated", async () => {
    const { openai } = connect();
    const asked = {
      model: MODEL,
      store: false,
      input: Array.from({ length: 40 }, () => ({ role: "user" as const, content: "why? ".repeat(400) })),
    };
    await expect(openai.responses.create(asked)).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
    expect(await openai.responses.create({ ...asked, truncation: "auto" })).toMatchObject({ status: "completed" });
  });
});

// The types of three majors are not one type. What this test calls is the same in all of them.
describe.each([
  ["5", OpenAI5 as unknown as typeof OpenAI],
  ["6", OpenAI6 as unknown as typeof OpenAI],
  ["7", OpenAI],
] as const)("version %s of the package", (_, Package) => {
  it("creates, chains and streams responses, and answers calls", async () => {
    const { options, model } = connect();
    model.say = (_request, nth) => (nth === 2 ? calls({ call_id: "a" }) : says("In ", "Lisbon."));
    const openai = new Package(options);
    const asked = { model: MODEL, tools: [LOOK] };

    const first = await openai.responses.create({ ...asked, input: "Where?" });
    expect(first).toMatchObject({ status: "completed", output_text: "In Lisbon." });
    const second = await openai.responses.stream({ ...asked, previous_response_id: first.id, input: "Look!" }).finalResponse();
    expect(second.output).toMatchObject([{ type: "function_call", call_id: "a" }]);
    const results = [{ type: "function_call_output" as const, call_id: "a", output: "sun" }];
    const third = await openai.responses.stream({ ...asked, previous_response_id: second.id, input: results }).finalResponse();
    expect(third).toMatchObject({ output: [{ content: [{ text: "In Lisbon." }] }], previous_response_id: second.id });

    const refused = openai.responses.create({ ...asked, previous_response_id: "resp_1", input: "x" });
    await expect(refused).rejects.toBeInstanceOf(Package.BadRequestError);
    await expect(refused).rejects.toMatchObject({ code: "previous_response_not_found" });
  });
});

describe("a request with store: false", () => {
  it.each(["previous_response_id", "conversation"] as const)("behind a stored response is refused, named by %s", async (named) => {
    const { openai, requests } = connect();
    const conversation = (await openai.conversations.create()).id;
    const stored = await openai.responses.create({ model: MODEL, input: "One", conversation });
    const place = { previous_response_id: stored.id, conversation };

    const refused = openai.responses.create({ model: MODEL, input: "Two", store: false, [named]: place[named] });

    await expect(refused).rejects.toMatchObject({ status: 400, param: "store", code: "invalid_request", type: "invalid_request_error" });
    expect(requests).toHaveLength(1);
    const next = await openai.responses.create({ model: MODEL, input: "Three", [named]: place[named] });
    expect(next.output_text).toBe("echo 3");
  });
});

describe("a request is refused", () => {
  const user = { role: "user" as const, content: "x" };
  it.each([
    [{ input: "x", previous_response_id: "resp_1" }, 400, "previous_response_id", "previous_response_not_found"],
    [{ input: "x", previous_response_id: `resp_${"0".repeat(52)}` }, 400, "previous_response_id", "previous_response_not_found"],
    [{ input: "x", conversation: "conv_1" }, 404, null, "session_not_found"],
    [
      { input: "x", conversation: `conv_${"0".repeat(26)}`, previous_response_id: `resp_${"0".repeat(52)}` },
      400,
      "previous_response_id",
      "invalid_request",
    ],
    [{}, 400, "input", "missing_required_parameter"],
    [{ input: "" }, 400, "input", "invalid_request"],
    [{ input: [] }, 400, "input", "invalid_request"],
    [{ input: [user, { type: "computer_call" }] }, 400, "input[1].type", "invalid_request"],
    [
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "ftp://x" }] }] },
      400,
      "input[0].content[0].image_url",
      "invalid_request",
    ],
    [{ input: "x", temperature: 3 }, 400, "temperature", "invalid_request"],
    [{ input: "x", top_logprobs: 5 }, 400, "top_logprobs", "invalid_request"],
    [{ input: "x", tools: [{ type: "local_shell" }] }, 400, "tools[0].type", "invalid_request"],
    [{ input: "x", tools: [{ type: "mcp", server_label: "github" }] }, 400, "tools[0].server_label", "invalid_request"],
    [{ input: "x", tools: [LOOK, LOOK] }, 400, "tools[1].name", "invalid_request"],
    [{ input: "x", tool_choice: { type: "function", name: "nothing" } }, 400, "tool_choice", "invalid_request"],
    [
      { input: "x", tools: [LOOK], tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "nothing" }] } },
      400,
      "tool_choice.tools[0]",
      "invalid_request",
    ],
    [{ input: "x", text: { format: { type: "json_schema", name: "a b", schema: {} } } }, 400, "text.format.name", "invalid_request"],
    [{ input: "x", prompt: { id: "p" } }, 400, "prompt", "invalid_request"],
    [{ input: "x", store: false, background: true }, 400, "background", "invalid_request"],
    [{ input: "x", metadata: { a: "x".repeat(513) } }, 400, "metadata.a", "invalid_request"],
  ])("by the name of its field: %#", async (body, status, param, code) => {
    const { openai, requests } = connect();
    const refused = openai.post("/responses", { body: { model: MODEL, ...body } });
    await expect(refused).rejects.toMatchObject({ status, param, code, type: "invalid_request_error" });
    expect(requests).toEqual([]);
  });
});
