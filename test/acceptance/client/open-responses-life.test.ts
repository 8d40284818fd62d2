/** Responses over time, held to the Open Responses specification: resumed, in the background, not stored, deleted, compacted. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChatServer } from "../../client/chat-server";
import { ResponsesCaller, readEvents, readStreamed, readText } from "../../client/responses-caller";
import type { SentEvent } from "../../support/open-responses/check-stream";
import { cutSummary } from "../../support/stand-in/summary";

const MINUTES = 60_000;
const [MODEL, SMALL] = ["scripted", "scripted-small"];
const LOOK_UP = { type: "function", name: "look_up", parameters: { type: "object" } };
let server: ChatServer;
let responses: ResponsesCaller;

beforeAll(async () => {
  server = await ChatServer.start();
  responses = new ResponsesCaller(server.url, server.key);
}, 2 * MINUTES);
afterAll(() => server?.close());

const readLast = (sent: readonly SentEvent[]): number => readEvents(sent).at(-1)?.sequence_number ?? -1;
const readId = (sent: readonly SentEvent[]): string => {
  const [created] = readEvents(sent);
  if (created?.type !== "response.created") throw new Error("The stream has no beginning");
  return created.response.id;
};

/** A reply whose rest the test releases. */
function speak(beginning: string, rest: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* pieces() {
    yield beginning;
    await promise;
    yield rest;
  }
  return { reply: pieces(), goOn: resolve };
}

describe("a stream that its client left", () => {
  test("goes on without it, and is resumed where it left off", async () => {
    const { reply, goOn } = speak("Once upon ", "a time. 狗");
    server.provider.enqueue(reply);

    const before = await responses.begin({ model: MODEL, input: "A story." }, ({ type }) => type === "response.output_text.delta");
    const id = readId(before);
    expect(await responses.retrieve(id)).toMatchObject({ status: "in_progress", usage: null });
    const after = responses.replay(id, readLast(before));
    goOn();

    const { response } = readStreamed([...before, ...(await after)]);
    expect(readText(response)).toBe("Once upon a time. 狗");
    expect(await responses.retrieve(id)).toEqual(response);
  });

  test(
    "is the uninterrupted one, wherever it was cut",
    async () => {
      const call = { id: "call_1", name: "look_up", arguments: '{"of":"里斯本"}' };
      server.provider.enqueue({
        reasoning: "Hm.",
        text: "Let me see about that. 🐕 Wait a moment, please.",
        chunks: 4,
        tool_calls: [call],
      });
      const { sent, response } = await responses.stream({ model: MODEL, input: "Weather?", tools: [LOOK_UP] });

      for (const [at, { sequence_number: number }] of readEvents(sent).entries())
        expect([...sent.slice(0, at + 1), ...(await responses.replay(response.id, number))], `after ${number}`).toEqual(sent);
      expect(await responses.replay(response.id)).toEqual(sent);
    },
    MINUTES,
  );

  test("is not resumed by a number that is none", async () => {
    server.provider.enqueue({ text: "Hello." });
    const { id } = await responses.create({ model: MODEL, input: "Hello" });

    expect(await responses.refuse(`/${id}?stream=true&starting_after=-1`, {})).toMatchObject({ status: 400, param: "starting_after" });
    expect(await responses.refuse(`/${id}?stream=maybe`, {})).toMatchObject({ status: 400, param: "stream" });
  });
});

describe("a response in the background", () => {
  test("is answered at once, and is read when it is complete", async () => {
    const { reply, goOn } = speak("Once upon ", "a time.");
    server.provider.enqueue(reply);

    const begun = await responses.create({ model: MODEL, input: "A story.", background: true });

    expect(["queued", "in_progress"]).toContain(begun.status);
    expect(begun).toMatchObject({ background: true, store: true, output: [], usage: null });
    goOn();
    await expect.poll(async () => (await responses.retrieve(begun.id)).status).toBe("completed");
    const whole = await responses.retrieve(begun.id);
    expect(readText(whole)).toBe("Once upon a time.");
    expect(readStreamed(await responses.replay(begun.id)).response).toEqual(whole);
  });

  test("is streamed from its queue on, and resumed", async () => {
    const { reply, goOn } = speak("Once upon ", "a time.");
    server.provider.enqueue(reply);
    const ask = { model: MODEL, input: "A story.", background: true };

    const before = await responses.begin(ask, ({ type }) => type === "response.output_text.delta");
    goOn();

    const { events, response } = readStreamed([...before, ...(await responses.replay(readId(before), readLast(before)))]);
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual(["response.created", "response.queued", "response.in_progress"]);
    expect(await responses.retrieve(response.id)).toEqual(response);
  });

  test("is cancelled while it runs, and keeps what it said", async () => {
    const { reply, goOn } = speak("Once upon ", "a time.");
    server.provider.enqueue(reply);
    const before = await responses.begin({ model: MODEL, input: "A story.", background: true }, ({ type }) => type.endsWith(".delta"));
    const id = readId(before);

    await responses.cancel(id);
    goOn();

    await expect.poll(async () => (await responses.retrieve(id)).status).toBe("cancelled");
    const whole = await responses.retrieve(id);
    expect(readText(whole)).toBe("Once upon ");
    expect(await responses.cancel(id)).toEqual(whole);
    expect(readStreamed([...before, ...(await responses.replay(id, readLast(before)))]).response).toEqual(whole);
  });

  test("alone is cancelled, and alone it is refused where it would not be stored", async () => {
    server.provider.enqueue({ text: "Hello." });
    const { id } = await responses.create({ model: MODEL, input: "Hello" });

    expect(await responses.refuse(`/${id}/cancel`, { method: "POST" })).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(await responses.refuseCreate({ model: MODEL, input: "Hello", background: true, store: false })).toMatchObject({ status: 400 });
    expect(await responses.refuse("/resp_nope/cancel", { method: "POST" })).toMatchObject({ status: 404 });
  });
});

describe("a response that is gone", () => {
  test("because it was not stored is unknown, streamed or not", async () => {
    server.provider.enqueue({ text: "Hello." }, { text: "Hello." });
    const ask = { model: MODEL, input: "Hello", store: false };
    const { response } = await responses.stream(ask);
    const whole = await responses.create(ask);

    for (const { id, store, previous_response_id } of [response, whole]) {
      expect([store, previous_response_id]).toEqual([false, null]);
      await expect.poll(async () => (await responses.ask(`/${id}`)).status).toBe(404);
      for (const path of [`/${id}`, `/${id}?stream=true`, `/${id}/input_items`])
        expect(await responses.refuse(path, {})).toMatchObject({ status: 404 });
      expect(await responses.refuseCreate({ model: MODEL, input: "And?", previous_response_id: id })).toMatchObject({
        code: "previous_response_not_found",
        param: "previous_response_id",
      });
    }
  });

  test("because it was deleted is unknown, and the chain before it is not", async () => {
    server.provider.enqueue({ text: "One." }, { text: "Two." });
    const first = await responses.create({ model: MODEL, input: "1" });
    const second = await responses.create({ model: MODEL, input: "2", previous_response_id: first.id });

    expect(await responses.delete(second.id)).toMatchObject({ id: second.id });

    expect(await responses.refuse(`/${second.id}`, {})).toMatchObject({ status: 404 });
    expect(await responses.refuse(`/${second.id}`, { method: "DELETE" })).toMatchObject({ status: 404 });
    expect(await responses.retrieve(first.id)).toEqual(first);
  });
});

describe("compaction", () => {
  const story = (nth: number): string => `Chapter ${nth}: ${"and the dog Rex ran on and on. ".repeat(20)}`;

  test(
    "keeps a chain within a window of 2,048 tokens, and every response of it as it was",
    async () => {
      server.provider.respondWith(({ messages }) => ({ text: story(messages.length) }));
      const compactions = server.provider.totals().compactions;
      const chain: string[] = [];
      for (let nth = 0; nth < 10; nth++) {
        const { response } = await responses.stream({
          model: SMALL,
          input: `Go on, chapter ${nth}. 狗`,
          context_management: [{ type: "compaction", compact_threshold: 1_000 }],
          ...(nth > 0 && { previous_response_id: chain.at(-1) }),
        });
        expect(response.status).toBe("completed");
        expect(readStreamed(await responses.replay(response.id)).response).toEqual(response);
        chain.push(response.id);
      }

      expect(server.provider.totals()).toMatchObject({ overflows: 0 });
      expect(server.provider.totals().compactions).toBeGreaterThan(compactions);
      for (const [nth, id] of chain.entries()) {
        expect(await responses.retrieve(id)).toMatchObject({ status: "completed", previous_response_id: chain[nth - 1] ?? null });
        expect(await responses.listInputs(id)).toMatchObject({ data: [{ content: [{ text: `Go on, chapter ${nth}. 狗` }] }] });
      }
    },
    2 * MINUTES,
  );

  const compactAbove = (compact_threshold: number) => ({ context_management: [{ type: "compaction", compact_threshold }] });

  test(
    "comes before a response of a conversation that is above the threshold of the request",
    async () => {
      server.provider.respondWith(() => ({ text: story(1) }));
      const { compactions } = server.provider.totals();
      let previous: string | undefined;
      for (let nth = 0; nth < 8; nth++) {
        const { id } = await responses.create({ model: MODEL, input: story(nth), ...(previous && { previous_response_id: previous }) });
        previous = id;
      }
      const next = { model: MODEL, input: "Go on.", previous_response_id: previous };
      const below = await responses.create({ ...next, ...compactAbove(500_000) });
      expect(server.provider.totals().compactions).toBe(compactions);
      const { input_tokens: before = 0 } = below.usage ?? {};
      const above = { ...next, previous_response_id: below.id, ...compactAbove(1_000) };

      const { response } = await responses.stream(above);

      expect(server.provider.totals().compactions).toBe(compactions + 1);
      expect(response.usage?.input_tokens).toBeLessThan(before / 2);
      expect(await responses.retrieve(response.id)).toEqual(response);
      await responses.create({ ...above, previous_response_id: response.id, ...compactAbove(10) });
      expect(server.provider.totals().compactions).toBe(compactions + 2);
      const other = await responses.create({ ...above, previous_response_id: below.id });
      expect(other.id.slice(0, 31)).toBe(below.id.slice(0, 31));
      expect(server.provider.totals().compactions).toBe(compactions + 2);
    },
    2 * MINUTES,
  );

  test(
    "comes before a response that is not stored, whose input is above the threshold",
    async () => {
      server.provider.respondWith(() => ({ text: "Rex." }));
      const { compactions } = server.provider.totals();
      const past = Array.from({ length: 16 }, (_, nth) => ({ role: nth % 2 === 0 ? "user" : "assistant", content: story(nth) }));
      const call = { type: "function_call", call_id: "call_1", name: "look_up", arguments: "{}" };
      const output = { type: "function_call_output", call_id: "call_1", output: "狗" };
      const ask = { model: MODEL, store: false, tools: [LOOK_UP] };
      const question = { role: "user", content: "Its name?" };
      const whole = await responses.create({ ...ask, input: [...past, question], ...compactAbove(500_000) });
      expect(server.provider.totals().compactions).toBe(compactions);

      for (const [nth, end] of [[question], [question, call, output]].entries()) {
        const { response } = await responses.stream({ ...ask, input: [...past, ...end], ...compactAbove(1_000) });
        expect(readText(response)).toBe("Rex.");
        expect(response.usage?.input_tokens).toBeLessThan((whole.usage?.input_tokens ?? 0) / 2);
        expect(server.provider.totals().compactions).toBe(compactions + nth + 1);
      }
      const asked = server.provider.log.at(-1)?.body.messages.map(({ role }) => role);
      expect(asked?.slice(-3)).toEqual(["user", "assistant", "tool"]);
    },
    2 * MINUTES,
  );

  test("that fails does not keep the response, and two at once are both answered", async () => {
    server.provider.respondWith(() => ({ text: story(1).repeat(4) }));
    const first = await responses.create({ model: MODEL, input: story(0) });
    const second = await responses.create({ model: MODEL, input: story(1), previous_response_id: first.id });
    server.provider.summarizeWith(() => ({ status: 400, error: { message: "No." } }));
    const ask = { model: MODEL, input: "Go on.", previous_response_id: second.id, ...compactAbove(100) };
    const { compactions } = server.provider.totals();

    const failed = await responses.create(ask);

    expect(failed.status).toBe("completed");
    expect(server.provider.totals().compactions).toBeGreaterThan(compactions);
    server.provider.summarizeWith((request) => ({ text: cutSummary(request) }));
    const both = await Promise.all(["A", "B"].map((input) => responses.create({ ...ask, input, previous_response_id: failed.id })));
    expect(both.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  test(
    "gives items that begin a new chain",
    async () => {
      const input = Array.from({ length: 16 }, (_, nth) => ({
        type: "message",
        role: nth % 2 === 0 ? "user" : "assistant",
        content: story(nth),
      }));

      const compacted = await responses.compact({ model: SMALL, input });

      expect(compacted.output.at(-1)).toMatchObject({ type: "compaction" });
      expect(JSON.stringify(compacted.output).length).toBeLessThan(JSON.stringify(input).length * 2);
      server.provider.respondWith(() => ({ text: "Rex." }));
      const question = { type: "message", role: "user", content: "Its name?" };
      const { response } = await responses.stream({ model: SMALL, input: [...compacted.output, question] });
      expect(readText(response)).toBe("Rex.");
      const next = await responses.create({ model: SMALL, previous_response_id: response.id, input: "Sure?" });
      expect(next).toMatchObject({ status: "completed", previous_response_id: response.id });
      const again = await responses.compact({ model: SMALL, previous_response_id: next.id });
      expect(again.output.some(({ type }) => type === "compaction")).toBe(true);
    },
    2 * MINUTES,
  );

  test("is refused without a model, and of what is not its own", async () => {
    expect(await responses.refuse("/compact", { method: "POST", body: { input: "Hello" } })).toMatchObject({ status: 400, param: "model" });
    const made = { type: "compaction", encrypted_content: "gAAAAA==" };
    expect(await responses.refuseCreate({ model: MODEL, input: [made, { role: "user", content: "Hello" }] })).toMatchObject({
      status: 400,
    });
  });
});
