/** Chat completions of a session through OpenAI's own package, against the app and a session in this process. */
import type { OpenAI } from "openai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import { err, ok } from "../../../src/lib/result";
import { CALLER, SPEC } from "../../session/life";
import { makeId, SESSION, turn } from "../support";
import { calls, connectChat, says } from "./chat-life";

type Message = OpenAI.ChatCompletionMessageParam;
const user = (content: string): Message => ({ role: "user", content });
const said = (content: string): Message => ({ role: "assistant", content });
const model = "test-model";
const look = {
  type: "function",
  function: { name: "look", parameters: { type: "object", properties: { at: { type: "string" } } } },
} as const;

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of stream) found.push(each);
  return found;
}

let chat: Awaited<ReturnType<typeof connectChat>>;
const ask = (messages: readonly Message[], more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  chat.openai.chat.completions.create({ model, messages: [...messages], ...more });
/** A request whose type the SDK does not allow. */
const post = (body: object): Promise<unknown> => chat.openai.post("/chat/completions", { body: { model, messages: [user("x")], ...body } });

beforeEach(async () => {
  chat = await connectChat();
  await chat.life.open("oneclaw", "Be brief.");
});

describe("a completion of a session", () => {
  it("adds what is new, and answers with the reply and its usage", async () => {
    const first = await ask([user("天气?")]);
    const second = await ask([user("天气?"), said(first.choices[0]?.message.content ?? ""), user("And now?")]);

    expect(await chat.list()).toEqual(["user: 天气?", "assistant: echo 1", "user: And now?", "assistant: echo 3"]);
    expect(second).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9A-Z]{52}$/),
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "echo 3", refusal: null }, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
    expect(second.created).toBeLessThan(10_000_000_000);
  });

  it("takes a lone message, and says whose session it is and how often its view has changed", async () => {
    const { response } = await chat.openai.chat.completions.create({ model, messages: [user("a")] }).withResponse();
    await ask([user("b")]);

    expect(await chat.list()).toEqual(["user: a", "assistant: echo 1", "user: b", "assistant: echo 3"]);
    expect(response.headers.get("x-session-id")).toBe(SESSION);
    expect(response.headers.get("x-session-epoch")).toBe("0");
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  it("takes the session from the metadata", async () => {
    const plain = chat.connect({});
    await plain.chat.completions.create({ model, messages: [user("a")], metadata: { session_id: SESSION, other: "x" } });

    expect(await chat.list()).toEqual(["user: a", "assistant: echo 1"]);
  });

  it("has the whole copy where the session is empty", async () => {
    await ask([user("a"), said("A"), user("b")]);

    expect(await chat.list()).toEqual(["user: a", "assistant: A", "user: b", "assistant: echo 3"]);
  });

  it("puts the request's system messages in place of the session's, for its turn only", async () => {
    await ask([{ role: "developer", content: "Rhyme." }, user("a"), { role: "system", content: [{ type: "text", text: "In Latin." }] }]);
    await ask([user("b")]);

    expect(chat.requests.map(({ system }) => system)).toEqual([
      expect.stringContaining("Rhyme.\n\nIn Latin."),
      expect.stringContaining("Be brief."),
    ]);
    expect(await chat.list()).not.toContain("system: Rhyme.");
  });

  it("passes parts and a speaker's name", async () => {
    const image = { type: "image_url", image_url: { url: "https://example.com/cat.png" } } as const;
    await ask([{ role: "user", name: "Ada", content: [{ type: "text", text: "What is it?" }, image] }]);

    const page = await chat.life.service.items(CALLER, { after: null, limit: 1, order: "asc" });
    expect(page).toMatchObject({
      value: {
        data: [
          {
            name: "Ada",
            content: [
              { type: "text", text: "What is it?" },
              { type: "image", media_type: "image/png" },
            ],
          },
        ],
      },
    });
  });

  it("asks the model with the request's settings", async () => {
    await ask([user("a")], {
      temperature: 0.2,
      top_p: 0.9,
      max_completion_tokens: 50,
      max_tokens: 70,
      stop: "END",
      seed: 7,
      reasoning_effort: "low",
      tools: [look],
      tool_choice: { type: "function", function: { name: "look" } },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "reply", schema: { type: "object" }, strict: true } },
      user: "ada",
      store: true,
      service_tier: "auto",
      prompt_cache_key: "k",
      safety_identifier: "s",
      n: 1,
      logprobs: false,
      frequency_penalty: 0,
    });
    await ask([user("b")], { stop: ["x", "y"], max_tokens: 60, response_format: { type: "json_object" } });

    expect(chat.requests[0]?.tools).toMatchObject([{ name: "look", parameters: look.function.parameters }]);
    expect(chat.requests[0]?.generation).toMatchObject({
      temperature: 0.2,
      top_p: 0.9,
      stop: ["END"],
      seed: 7,
      reasoning: { effort: "low" },
      tool_choice: { name: "look" },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", name: "reply", schema: { type: "object" }, strict: true },
    });
    expect(chat.requests[1]?.generation).toMatchObject({ stop: ["x", "y"], response_format: { type: "json" } });
  });
});

describe("tools of the client", () => {
  const results = (message: OpenAI.ChatCompletionMessage | undefined, outputs: readonly string[]): Message[] => {
    const made = message?.tool_calls ?? [];
    return [
      { role: "assistant", content: message?.content ?? null, tool_calls: made },
      ...made.map(({ id }, index): Message => ({ role: "tool", tool_call_id: id, content: outputs[index] ?? "" })).toReversed(),
    ];
  };

  beforeEach(() => {
    chat.script.say = (_, nth) =>
      nth === 1 ? calls({ call_id: "1", arguments: '{"at":"天"}' }, { call_id: "2" }) : says("Both are fine.");
  });

  it("are called in parallel, and their results in any order continue the turn", async () => {
    const first = await ask([user("a")], { tools: [look] });
    const message = first.choices[0]?.message;
    await chat.life.advance(1);
    const second = await ask([user("a"), ...results(message, ["", "sun"])], { tools: [look] });

    expect(first.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: null,
        tool_calls: [
          { id: expect.stringMatching(/^call_[0-9A-Z]{26}$/), type: "function", function: { name: "look", arguments: '{"at":"天"}' } },
          { type: "function", function: { name: "look", arguments: "{}" } },
        ],
      },
    });
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Both are fine." } });
    expect([first.usage?.prompt_tokens, second.usage?.prompt_tokens]).toEqual([20, 10]);
    expect(second.id).not.toBe(first.id);
    expect(await chat.list()).toEqual(["user: a", "assistant: ", "tool: sun", "tool: ", "assistant: Both are fine."]);
  });

  it("are answered together with a message", async () => {
    const first = await ask([user("a")], { tools: [look] });
    await ask([user("a"), ...results(first.choices[0]?.message, ["1", "2"]), user("Hurry.")], { tools: [look] });

    expect(await chat.list()).toEqual(["user: a", "assistant: ", "tool: 2", "tool: 1", "user: Hurry.", "assistant: Both are fine."]);
  });

  it("may be named by the model's own ids", async () => {
    await ask([user("a")], { tools: [look] });
    await ask(
      ["1", "2"].map((id) => ({ role: "tool", tool_call_id: id, content: id })),
      { tools: [look] },
    );

    expect(await chat.list()).toEqual(["user: a", "assistant: ", "tool: 1", "tool: 2", "assistant: Both are fine."]);
  });

  it("are refused as OpenAI does when some are not answered, and nothing is recorded", async () => {
    const first = await ask([user("a")], { tools: [look] });
    const [assistant, one] = results(first.choices[0]?.message, ["1", "2"]);
    if (!assistant || !one) throw new Error("no calls");

    for (const more of [
      [assistant, one],
      [assistant, user("b")],
    ] as const)
      await expect(ask([user("a"), ...more], { tools: [look] })).rejects.toMatchObject({
        status: 400,
        type: "invalid_request_error",
        message: expect.stringContaining("tool_call_ids did not have response messages: call_"),
      });
    expect(await chat.list()).toEqual(["user: a", "assistant: "]);
  });

  it("that are not open are refused by the message's field", async () => {
    await expect(ask([{ role: "tool", tool_call_id: "call_9", content: "x" }])).rejects.toMatchObject({ status: 400 });
    await ask([user("a")], { tools: [look] });
    await expect(ask([{ role: "tool", tool_call_id: "call_9", content: "x" }], { tools: [look] })).rejects.toMatchObject({
      status: 400,
      param: "messages[0].tool_call_id",
    });
  });

  it("are given up by a client that has lost them", async () => {
    await ask([user("a")], { tools: [look] });
    await ask([user("b")]);

    // By the request itself: a stop of its own could meet another turn.
    const ended = chat.life.events().flatMap((event) => (event.type === "TurnStopped" ? [event.reason] : []));
    expect(ended).toEqual(["superseded"]);
    expect(await chat.list()).toEqual(["user: a", "assistant: ", "user: b", "assistant: Both are fine."]);
  });

  it("are told again to a client that has lost them, and once answered they are not asked for again", async () => {
    chat.script.say = (_, nth) => [says("Hi."), calls({ call_id: "1" }), says("Sun."), says("Snow.")][nth - 1] ?? [];
    await ask([user("a")]);
    const asked = [user("a"), said("Hi."), user("b")];
    const first = await ask(asked, { tools: [look] });
    const again = await ask(asked, { tools: [look] });
    const streamed = await chat.openai.chat.completions.stream({ model, messages: asked, tools: [look] }).finalChatCompletion();
    expect([again.choices, streamed.choices[0]?.message.tool_calls]).toMatchObject([first.choices, first.choices[0]?.message.tool_calls]);

    // The answer to the results is lost, and the client says more.
    const answered = [...asked, ...results(first.choices[0]?.message, ["sun"])];
    await ask(answered, { tools: [look] });
    await ask([...answered, user("c")], { tools: [look] });

    expect(await chat.list()).toEqual([
      "user: a",
      "assistant: Hi.",
      "user: b",
      "assistant: ",
      "tool: sun",
      "assistant: Sun.",
      "user: c",
      "assistant: Snow.",
    ]);
  });

  it("come as chunks that the SDK puts together", async () => {
    const stream = chat.openai.chat.completions.stream({
      model,
      messages: [user("a")],
      tools: [look],
      stream_options: { include_usage: true },
    });
    const whole = await stream.finalChatCompletion();

    expect(whole.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: [{ function: { name: "look", arguments: '{"at":"天"}' } }, { function: { arguments: "{}" } }] },
    });
    expect(whole.usage?.total_tokens).toBe(23);
  });

  it("run in the SDK's own loop", async () => {
    const runner = chat.openai.chat.completions.runTools({
      model,
      messages: [user("a")],
      tools: [{ type: "function", function: { ...look.function, function: () => "sun", parse: JSON.parse, description: "Looks" } }],
    });

    expect(await runner.finalContent()).toBe("Both are fine.");
    expect(await chat.list()).toEqual(["user: a", "assistant: ", "tool: sun", "tool: sun", "assistant: Both are fine."]);
  });
});

describe("a request that is sent again", () => {
  it("gets the answer that was lost, whole and as a stream", async () => {
    const first = await ask([user("a")]);
    const again = [user("a"), said("echo 1"), user("b")];
    const second = await ask(again);
    const { data, response } = await chat.openai.chat.completions.create({ model, messages: again }).withResponse();
    const streamed = await chat.openai.chat.completions
      .stream({ model, messages: again, stream_options: { include_usage: true } })
      .finalChatCompletion();

    expect(data).toEqual(second);
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect([streamed.id, streamed.choices[0]?.message.content, streamed.usage?.total_tokens]).toEqual([second.id, "echo 3", 12]);
    expect(first.id).not.toBe(second.id);
    expect(await chat.list()).toEqual(["user: a", "assistant: echo 1", "user: b", "assistant: echo 3"]);
  });

  it("by the SDK is known by its count, also for a first message, and after another surface has gone on", async () => {
    const retry = { headers: { "x-stainless-retry-count": "1" } };
    const first = await ask([user("a")]);
    const again = await chat.openai.chat.completions.create({ model, messages: [user("a")] }, retry);
    await chat.life.send("b");
    const late = await chat.openai.chat.completions.create({ model, messages: [user("a")] }, retry);
    await ask([user("a")]);

    expect([again, late].map(({ id, choices }) => [id, choices[0]?.message.content])).toEqual([
      [first.id, "echo 1"],
      [first.id, "echo 1"],
    ]);
    expect(await chat.list()).toEqual(["user: a", "assistant: echo 1", "user: b", "assistant: echo 3", "user: a", "assistant: echo 5"]);
  });

  it("after a failure is tried again, and its message is not added again", async () => {
    chat.script.say = (_, nth) => (nth === 1 ? [{ type: "failure", failure: { kind: "auth", status: 401 } }] : says("Now."));
    await expect(ask([user("a")])).rejects.toMatchObject({ status: 500, code: "provider_unauthorized" });
    expect((await ask([user("a")])).choices[0]?.message.content).toBe("Now.");

    expect(await chat.list()).toEqual(["user: a", "assistant: Now."]);
  });

  it("while its turn runs is answered by that turn, also a first message of a client that counts no tries", async () => {
    const held = Promise.withResolvers<void>();
    const waits = vi.spyOn(chat.life.service, "waitForTurn");
    chat.life.chat = {
      async *stream(_, { onRequest }) {
        onRequest?.("body");
        await held.promise;
        yield* says("Once.");
      },
      render: async () => ({ url: "", body: "" }),
    };
    const both = [ask([user("a")])];
    await expect.poll(() => waits.mock.calls.length).toBe(1);
    both.push(ask([user("a")]));
    await expect.poll(() => waits.mock.calls.length).toBe(2);
    held.resolve();

    expect((await Promise.all(both)).map(({ choices }) => choices[0]?.message.content)).toEqual(["Once.", "Once."]);
    expect(await chat.list()).toEqual(["user: a", "assistant: Once."]);
  });

  it("with a key has one effect, and another body is refused", async () => {
    const options = { headers: { "Idempotency-Key": "k1" } };
    const one = await chat.openai.chat.completions.create({ model, messages: [user("a")] }, options);
    await ask([user("b")]);
    const other = await chat.openai.chat.completions.create({ model, messages: [user("a")] }, options);

    expect(other.id).toBe(one.id);
    await expect(chat.openai.chat.completions.create({ model, messages: [user("c")] }, options)).rejects.toMatchObject({ status: 422 });
  });
});

describe("two at once", () => {
  it("wait in line, and the same request is taken once", async () => {
    await ask([user("a")]);
    const more = [user("a"), said("echo 1")];
    const held = Promise.withResolvers<void>();
    const { waitForTurn } = chat.life.service;
    const waits = vi.spyOn(chat.life.service, "waitForTurn").mockImplementation(async (...args) => {
      await held.promise;
      return waitForTurn(...args);
    });
    // No answer arrives before all three are asked: a client that repeats an answered request asks for another answer.
    const first = ask([...more, user("b")]);
    await expect.poll(() => waits.mock.calls.length).toBe(1);
    const others = [ask([...more, user("b")]), ask([user("c")])];
    await expect.poll(() => waits.mock.calls.length).toBe(3);
    held.resolve();
    const [one, same, other] = await Promise.all([first, ...others]);

    expect(same?.choices).toEqual(one.choices);
    expect(other?.choices[0]?.message.content).toMatch(/^echo/);
    const list = await chat.list();
    expect(list.filter((line) => line.startsWith("user"))).toHaveLength(3);
    expect(list.toSorted()).toEqual(["assistant: echo 1", "assistant: echo 3", "assistant: echo 5", "user: a", "user: b", "user: c"]);
  });
});

describe("a stream", () => {
  it("tells reasoning and text as they come, and the usage when asked", async () => {
    chat.script.say = () => [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "In Lisbon" },
      ...says(", sun.", { finish: "length" }),
    ];
    const stream = await chat.openai.chat.completions.create({
      model,
      messages: [user("a")],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);

    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toContainEqual({ reasoning_content: "Hm." });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("In Lisbon, sun.");
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("length");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 12 } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    const again = await chat.openai.chat.completions.create(
      { model, messages: [user("a")], stream: true, stream_options: { include_usage: true } },
      { headers: { "x-stainless-retry-count": "1" } },
    );
    expect((await collect(again)).map(({ choices }) => choices[0]?.delta)).toEqual(chunks.map(({ choices }) => choices[0]?.delta));
  });

  it("without the option tells no usage", async () => {
    const chunks = await collect(await chat.openai.chat.completions.create({ model, messages: [user("a")], stream: true }));

    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  });

  it("ends with an error when the turn fails, and the SDK throws it", async () => {
    chat.script.say = () => [
      { type: "text", text: "I" },
      { type: "failure", failure: { kind: "quota", status: 429 } },
    ];
    const stream = await chat.openai.chat.completions.create({ model, messages: [user("a")], stream: true });

    await expect(collect(stream)).rejects.toMatchObject({ code: "insufficient_quota", type: "insufficient_quota" });
  });

  /** The stream that comes with what was accepted is this one. */
  const respondWith =
    (stream: ReadableStream<Uint8Array>): WholeSessionApi["respond"] =>
    async (_, given) => {
      const done = await chat.life.service.respond(CALLER, given);
      return done.ok && done.value.stream ? ok({ ...done.value, stream }) : done;
    };

  it("whose connection is lost is told to its end from the record", async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("lost")) });
    chat = await connectChat({ session: { respond: respondWith(broken) } });
    await chat.life.open();

    const chunks = await collect(await chat.openai.chat.completions.create({ model, messages: [user("a")], stream: true }));

    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("echo 1");
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  });

  it("whose connection is lost together with the record says so, and the answer is not lost", async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("lost")) });
    let isLost = true;
    const waitOrLose: WholeSessionApi["waitForTurn"] = async (_, id) => {
      if (isLost) throw new Error("lost");
      return chat.life.service.waitForTurn(CALLER, id);
    };
    chat = await connectChat({ session: { respond: respondWith(broken), waitForTurn: waitOrLose } });
    await chat.life.open();
    const asked: OpenAI.ChatCompletionCreateParamsStreaming = { model, messages: [user("a")], stream: true };

    await expect(collect(await chat.openai.chat.completions.create(asked))).rejects.toMatchObject({ error: { type: "server_error" } });
    isLost = false;
    const again = await chat.openai.chat.completions.create(asked, { headers: { "x-stainless-retry-count": "1" } });
    expect((await collect(again)).map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("echo 1");
  });

  it("that a client leaves goes on", async () => {
    const stream = await chat.openai.chat.completions.create({ model, messages: [user("a")], stream: true });
    stream.controller.abort();

    await chat.life.advance(0);
    expect(await chat.list()).toEqual(["user: a", "assistant: echo 1"]);
  });
});

describe("a model that refuses", () => {
  beforeEach(() => {
    chat.script.say = () => [{ type: "failure", failure: { kind: "refused", status: 200 } }];
  });

  it("answers with a refusal, whole and as a stream", async () => {
    const whole = await ask([user("a")]);
    const chunks = await collect(await chat.openai.chat.completions.create({ model, messages: [user("b")], stream: true }));

    expect(whole.choices[0]).toMatchObject({ finish_reason: "content_filter", message: { content: null, refusal: expect.any(String) } });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("content_filter");
    expect(chunks.some(({ choices }) => choices[0]?.delta.refusal === whole.choices[0]?.message.refusal)).toBe(true);
  });
});

describe("a request without a session", () => {
  const connectAlone = async () => {
    const connected = await connectChat();
    return { ...connected, openai: connected.connect({}) };
  };

  it("is answered from its own messages, and is erased after the answer", async () => {
    const { openai, requests, seen } = await connectAlone();
    const messages = [{ role: "developer", content: "Rhyme." } as const, user("天气?"), said("晴"), user("And now?")];

    const { data, response } = await openai.chat.completions.create({ model, messages }).withResponse();

    expect(data).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      choices: [{ message: { content: "echo 3" }, finish_reason: "stop" }],
      usage: { total_tokens: 12 },
    });
    expect(requests[0]?.system).toContain("Rhyme.");
    expect(["x-session-id", "x-session-epoch", "x-should-retry"].map((name) => response.headers.get(name))).toEqual([null, null, null]);
    await expect.poll(() => seen).toEqual({ opened: 1, erased: 1 });
  });

  it("is erased when its stream ends, and when its client leaves", async () => {
    for (const isLeaving of [false, true]) {
      const { openai, seen } = await connectAlone();
      const stream = await openai.chat.completions.create({ model, messages: [user("a")], stream: true });
      if (isLeaving) {
        const chunks = stream[Symbol.asyncIterator]();
        await chunks.next();
        await chunks.return?.();
      } else expect((await collect(stream)).at(-1)?.choices[0]?.finish_reason).toBe("stop");
      await expect.poll(() => seen.erased).toBe(1);
    }
  });

  it("says that nothing of it is kept where its answer is lost", async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("lost")) });
    const gone = err({ code: "session_erased" } as const);
    const openAndRespond: WholeSessionApi["openAndRespond"] = async (_, asked) => {
      const done = await life.service.openAndRespond(CALLER, asked);
      return done.ok ? ok({ ...done.value, stream: broken }) : done;
    };
    const { connect, life } = await connectChat({ session: { openAndRespond, waitForTurn: async () => gone } });
    const stream = await connect({}).chat.completions.create({ model, messages: [user("a")], stream: true });

    await expect(collect(stream)).rejects.toThrow(/nothing of the request is kept/);
  });

  it("may hold instructions alone, which the model answers", async () => {
    const { openai, requests } = await connectAlone();
    await openai.chat.completions.create({ model, messages: [{ role: "system", content: "Greet in Latin." }] });

    expect(requests[0]?.messages).toMatchObject([{ role: "user", parts: [{ text: "Greet in Latin." }] }]);
  });

  it("holds calls and their results, also with ids that repeat", async () => {
    const { openai, requests } = await connectAlone();
    const round = (output: string): Message[] => [
      { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "look", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "1", content: output },
    ];

    await openai.chat.completions.create({ model, messages: [user("a"), ...round("sun"), ...round("")], tools: [look] });

    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  });

  it.each([
    ["that ends with the assistant", [user("a"), said("b")], "messages[1].role"],
    ["with a result of no call", [user("a"), said("b"), { role: "tool", tool_call_id: "c1", content: "x" }], "messages[2].tool_call_id"],
    ["of more messages than a session takes at once", Array.from({ length: 1_001 }, () => user("a")), "messages"],
  ])("%s is refused by its field, and nothing is left", async (_, messages, param) => {
    const { openai, life } = await connectAlone();

    await expect(openai.post("/chat/completions", { body: { model, messages } })).rejects.toMatchObject({ status: 400, param });
    expect(await life.service.describe(CALLER)).toMatchObject({ error: { code: "session_not_found" } });
  });

  it("that exceeds the window gets OpenAI's error", async () => {
    const { openai, life } = await connectAlone();
    life.models = { resolve: async () => ({ ...SPEC, context_window: 2_048, max_output: 256 }) };
    const messages = [user("word ".repeat(3_000)), said("Yes."), user("b")];

    await expect(openai.chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      code: "context_length_exceeded",
      param: "messages",
      message: expect.stringContaining("maximum context length"),
    });
  });

  it("by a session's name in the metadata is one of that session", async () => {
    await chat.connect({}).chat.completions.create({ model, messages: [user("a")], metadata: { session_id: SESSION } });

    expect(await chat.list()).toEqual(["user: a", "assistant: echo 1"]);
  });
});

describe("a refusal", () => {
  it.each([
    [{ n: 2 }, "n"],
    [{ logprobs: true }, "logprobs"],
    [{ top_logprobs: 3 }, "top_logprobs"],
    [{ frequency_penalty: 1 }, "frequency_penalty"],
    [{ logit_bias: { "50256": -100 } }, "logit_bias"],
    [{ modalities: ["text", "audio"] }, "modalities"],
    [{ functions: [{ name: "f" }] }, "functions"],
    [{ model: "" }, "model"],
    [{ messages: [] }, "messages"],
    [{ messages: [{ role: "user", content: "" }] }, "messages[0].content"],
    [{ messages: [{ role: "function", name: "f", content: "x" }] }, "messages[0].role"],
    [{ messages: [user("a"), { role: "tool", content: "x" }] }, "messages[1].tool_call_id"],
    [{ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "ftp://x" } }] }] }, "messages[0].content[0].image_url"],
    [{ messages: [{ role: "user", content: [{ type: "video", video: "x" }] }] }, "messages[0].content[0].type"],
    [
      { messages: [{ role: "system", content: [{ type: "image_url", image_url: { url: "https://x.com/a.png" } }] }] },
      "messages[0].content[0].image_url",
    ],
    [{ messages: [said("A")] }, "messages[0].role"],
    [{ temperature: 3 }, "temperature"],
    [{ max_tokens: 0 }, "max_completion_tokens"],
    [{ seed: -1 }, "seed"],
    [{ stop: ["a", ""] }, "stop[1]"],
    [{ reasoning_effort: "huge" }, "reasoning_effort"],
    [{ tools: [{ type: "custom", custom: { name: "x" } }] }, "tools[0].type"],
    [{ tools: [{ type: "function", function: { name: "no spaces" } }] }, "tools[0].function.name"],
    [{ tools: [look, look] }, "tools[1].function.name"],
    [{ tool_choice: { type: "allowed_tools" } }, "tool_choice"],
    [{ response_format: { type: "json_schema", json_schema: { name: "no spaces", schema: {} } } }, "response_format.json_schema.name"],
    [{ context_management: [{ type: "magic" }] }, "context_management[0].type"],
  ])("names the parameter: %j", async (body, param) => {
    await expect(post(body)).rejects.toMatchObject({ status: 400, param, type: "invalid_request_error" });
    expect(await chat.list()).toEqual([]);
  });

  it("of a transcript that brings nothing new", async () => {
    await ask([user("a")]);
    await expect(ask([user("a"), said("echo 1")])).rejects.toMatchObject({ status: 400, param: "messages[1].role" });
  });

  it("of a model that there is not", async () => {
    chat.life.models = { resolve: async (id) => (id === model ? (await import("../../session/life")).SPEC : null) };
    await expect(ask([user("a")], { model: "gpt-nothing" })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      param: "model",
    });
  });

  it("of a session that there is not", async () => {
    const other = await connectChat({ session: { conversationEnd: async () => err({ code: "session_not_found" }) } });
    const asked = other.connect({ "X-Session-Id": SESSION }).chat.completions.create({ model, messages: [user("a")] });
    await expect(asked).rejects.toMatchObject({ status: 404, code: "session_not_found" });
  });

  it("of a session that stays busy says when to come again", async () => {
    const busy = err({ code: "turn_running", turn: makeId("trn") } as const);
    const other = await connectChat({ session: { respond: async () => busy, waitForTurn: async () => ok(turn()) } });
    await other.life.open();
    const refused = other.openai.chat.completions.create({ model, messages: [user("a")] });

    await expect(refused).rejects.toMatchObject({ status: 409, code: "conversation_locked" });
    await refused.catch(({ headers }: { headers: Headers }) => expect(headers.get("retry-after")).toBe("1"));
  });
});
