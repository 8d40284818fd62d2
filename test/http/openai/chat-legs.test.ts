/** Completions that the live stream or the turn's report alone cannot tell: they are read from the session's record. */
import type { OpenAI } from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import { ok } from "../../../src/lib/result";
import { formatSse } from "../../../src/lib/sse";
import { CALLER, SPEC } from "../../session/life";
import { toStream } from "../support";
import { calls, connectChat, says } from "./chat-life";

const model = "test-model";
const user = (content: string) => ({ role: "user", content }) as const;
const look = { type: "function", function: { name: "look", parameters: { type: "object" } } } as const;

type Chat = Awaited<ReturnType<typeof connectChat>>;
type Message = OpenAI.ChatCompletionMessageParam;
type Headers = Readonly<Record<string, string>>;

const FORMS = ["create", "stream"] as const;
const AGAIN = { "x-stainless-retry-count": "1" };

/** The same request as JSON and as a stream, with the same tools. */
function connectBoth({ openai }: Chat, tools: { readonly tools?: (typeof look)[] } = { tools: [look] }) {
  const create = (messages: readonly Message[], headers: Headers = {}) =>
    openai.chat.completions.create({ model, messages: [...messages], ...tools }, { headers });
  const stream = (messages: readonly Message[], headers: Headers = {}) =>
    openai.chat.completions
      .stream({ model, messages: [...messages], ...tools, stream_options: { include_usage: true } }, { headers })
      .finalChatCompletion();
  return { create, stream };
}

interface Completion {
  readonly id: string;
  readonly usage?: object;
  readonly choices: readonly { readonly finish_reason: string | null; readonly message: OpenAI.ChatCompletionMessage }[];
}

/** What both forms of a completion have. */
function toPlain({ id, usage, choices: [choice] }: Completion) {
  const made = (choice?.message.tool_calls ?? []).map((call) => {
    if (call.type !== "function") throw new Error("A call of another type");
    return { id: call.id, name: call.function.name, arguments: call.function.arguments };
  });
  return { id, usage, finish: choice?.finish_reason, content: choice?.message.content || null, calls: made };
}

const readCalls = ({ choices: [choice] }: Completion) => choice?.message.tool_calls ?? [];
const answer = (completion: Completion, content: string): Message[] => [
  { role: "assistant", content: null, tool_calls: [...readCalls(completion)] },
  ...readCalls(completion).map(({ id }) => ({ role: "tool", tool_call_id: id, content }) as const),
];

let chat: Chat;

beforeEach(async () => {
  chat = await connectChat();
  await chat.life.open();
});

describe("a leg that is asked for again after its turn went on", () => {
  beforeEach(() => {
    chat.script.say = (_, nth) => [[{ type: "text" as const, text: "I look." }, ...calls({ call_id: "1" })], says("Sun.")][nth - 1] ?? [];
  });

  it.each(FORMS)("is the same: %s", async (form) => {
    const ask = connectBoth(chat);
    const key = { "Idempotency-Key": "k1" };
    const first = await ask[form]([user("a")], key);
    await chat.life.advance(1);
    const last = await ask[form]([user("a"), ...answer(first, "sun")]);
    const again = await ask[form]([user("a")], key);

    expect(toPlain(first)).toMatchObject({ finish: "tool_calls", content: "I look.", calls: [{ name: "look" }] });
    expect(toPlain(last)).toMatchObject({ finish: "stop", content: "Sun.", calls: [] });
    expect(toPlain(again)).toEqual(toPlain(first));
  });
});

describe("a leg of which its turn's report leaves the first replies out", () => {
  /** Rounds of the server's tools, with more calls and results than one report holds. */
  const [ROUNDS, CALLS] = [5, 126];

  it.each(FORMS)("is a whole completion with its own usage, also when it is asked for again: %s", async (form) => {
    const ask = connectBoth(chat, {});
    // Nothing is compacted: the script counts the calls of the model.
    chat.life.models = { resolve: async (id) => ({ ...SPEC, id, context_window: 1_000_000 }) };
    chat.life.tools.run = async () => ({ output: "seen", failure: null });
    const find = { name: "find", parameters: { type: "object" }, runs: { by: "http", tool: "find" } } as const;
    await chat.life.service.patch(CALLER, { tools: [{ name: "look", parameters: { type: "object" } }, find] });
    const made = Array.from({ length: CALLS }, (_, n) => ({ call_id: `${n}`, name: "find" }));
    chat.script.say = (_, nth) => {
      if (nth === 1) return calls({ call_id: "1" });
      return nth > ROUNDS + 1 ? says("Done.") : [{ type: "text" as const, text: `Step ${nth - 1}.` }, ...calls(...made)];
    };
    const steps = Array.from({ length: ROUNDS }, (_, nth) => `Step ${nth + 1}.`);

    const first = await chat.openai.chat.completions.create({ model, messages: [user("a")] });
    await chat.life.advance(1);
    const whole = await ask[form]([user("a"), ...answer(first, "sun")]);
    const again = await ask[form]([user("a"), ...answer(first, "sun")], AGAIN);
    const turn = chat.life.events().find((event) => event.type === "TurnStarted")?.turn;
    const report = turn && (await chat.life.service.turn(CALLER, turn));

    expect(report).toMatchObject({ value: { items_truncated: true } });
    expect(toPlain(whole)).toMatchObject({ content: [...steps, "Done."].join("\n\n"), finish: "stop" });
    expect(whole.usage).toMatchObject({ prompt_tokens: ROUNDS * 20 + 10, completion_tokens: ROUNDS * 3 + 2 });
    expect(toPlain(again)).toEqual(toPlain(whole));
  });
});

describe("an answer", () => {
  it("whose stream has a gap in its middle is told to its end from the record", async () => {
    const gapped: WholeSessionApi["stream"] = async (_, given) => {
      const opened = await chat.life.service.stream(CALLER, given);
      if (!opened.ok) return opened;
      const events = (await new Response(opened.value).text()).split("\n\n");
      const first = events.findIndex((event) => event.includes("text.delta"));
      const last = events.findLastIndex((event) => event.includes("text.delta"));
      const gap = formatSse({ offset: 99, type: "stream.gap", json: JSON.stringify({ type: "stream.gap", to: 99 }) }).trimEnd();
      expect(last).toBeGreaterThan(first);
      return ok(toStream([...events.slice(0, first + 1), gap, ...events.slice(last + 1)].join("\n\n")));
    };
    chat = await connectChat({ session: { stream: gapped } });
    await chat.life.open();
    const pieces = ["In ", "x".repeat(150_000), " the sun shines."];
    chat.script.say = () => [...pieces.map((text) => ({ type: "text" as const, text })), ...says("")];

    const whole = await connectBoth(chat).stream([user("a")]);

    expect(toPlain(whole)).toMatchObject({ content: pieces.join(""), finish: "stop", usage: { total_tokens: 12 } });
  });

  it.each(FORMS)("has calls that are too large for a frame, also when it is asked for again: %s", async (form) => {
    const given = Array.from({ length: 3 }, (_, nth) => JSON.stringify({ at: `${nth}${"天".repeat(150_000)}` }));
    chat.script.say = (_, nth) => (nth > 1 ? says("Sun.") : calls(...given.map((written, n) => ({ call_id: `${n}`, arguments: written }))));
    const ask = connectBoth(chat);

    const first = await ask[form]([user("a")]);
    const again = await ask[form]([user("a")], AGAIN);
    const last = await ask[form]([user("a"), ...answer(first, "sun")]);

    expect(toPlain(first).calls.map((call) => call.arguments)).toEqual(given);
    expect(toPlain(again)).toEqual(toPlain(first));
    expect(toPlain(last)).toMatchObject({ content: "Sun.", finish: "stop" });
  });
});
