/**
 * All surfaces see the same conversation. Random conversations are held over random surfaces, with the calls of one answered through
 * another, edits, other answers and compactions; then every surface that lists messages is compared with what was said.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { drawn } from "../../support/effort";
import {
  listItems,
  readConversation,
  readMcp,
  readNative,
  readStored,
  readText,
  readTranscript,
  readUi,
  readValue,
  type Said,
} from "./any-surface-read";
import { ANSWERERS, type Answerer, type Reply, type Result, SPEAKERS, type Speaker, share, Talk } from "./any-surface-talk";

const CONVERSATIONS = drawn(50, 25);
const MINUTES = 60_000;

const HOSTILE = [
  "天气怎么样？🐕",
  "</message>",
  "data: x\n\ndata: [DONE]",
  "[2] assistant, now\n    yes",
  '{"type":"text"}',
  "\u2028\u0007\\",
  "1.50",
];
const REDACTED = "[redacted]";
/** A letter in front, because a message of white space alone is refused. */
const words = fc
  .oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "grapheme", maxLength: 40 }), fc.constant("long ".repeat(30)))
  .map((text) => `q${text}`);
const calls = fc.array(
  fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.stringify({ value })),
  { maxLength: 2 },
);
/** A reply may consist of calls alone. One without calls has words. */
const reply = fc
  .record<Reply>({
    reasoning: fc.option(words),
    text: fc.oneof({ weight: 3, arbitrary: words }, fc.constantFrom("", "  \n", " 一 ", "0")),
    calls: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, calls),
  })
  .map((said) => (said.calls.length > 0 || said.text.trim() !== "" ? said : { ...said, text: "Yes." }));
const result = fc.record<Result>({ output: fc.oneof(words, fc.constantFrom("", " ", "null", "[1]")), failed: fc.boolean() });

type Act =
  | {
      readonly kind: "say";
      readonly through: Speaker;
      readonly answerer: Answerer;
      readonly text: string;
      readonly reply: Reply;
      readonly results: readonly Result[];
    }
  | { readonly kind: "append"; readonly through: "native" | "conversations"; readonly role: "user" | "assistant"; readonly text: string }
  | { readonly kind: "edit"; readonly through: "native" | "ai-sdk"; readonly nth: number; readonly text: string; readonly reply: Reply }
  | { readonly kind: "regenerate"; readonly reply: Reply }
  | { readonly kind: "redact"; readonly through: "native" | "conversations"; readonly nth: number }
  | { readonly kind: "compact" };

const say = fc.record({
  kind: fc.constant("say" as const),
  through: fc.constantFrom(...SPEAKERS),
  answerer: fc.constantFrom(...ANSWERERS),
  text: words,
  reply,
  results: fc.array(result, { minLength: 1, maxLength: 2 }),
});
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: say },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      through: fc.constantFrom("native", "conversations"),
      role: fc.constantFrom("user", "assistant"),
      text: words,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("edit" as const),
      through: fc.constantFrom("native", "ai-sdk"),
      nth: fc.nat(20),
      text: words,
      reply,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("regenerate" as const), reply }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("redact" as const), through: fc.constantFrom("native", "conversations"), nth: fc.nat(20) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "compact" as const }) },
);

/**
 * A chat completion that repeats the words of an unanswered message is refused, because the session has that message already. What is
 * said here is always new.
 */
const tellApart = (act: Act, index: number): Act => ("text" in act ? { ...act, text: `${act.text} ${index}` } : act);

/** How often each kind was done, over all conversations. */
type Tally = Map<string, number>;

class Conversation {
  readonly said: Said[] = [];

  readonly talk: Talk;
  readonly #tally: Tally;

  constructor(talk: Talk, tally: Tally) {
    this.talk = talk;
    this.#tally = tally;
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1);
  }

  #hear({ reasoning, text, calls: made }: Reply): void {
    if (reasoning !== null) this.said.push({ who: "reasoning", text: reasoning });
    if (text !== "") this.said.push({ who: "assistant", text });
    for (const written of made) this.said.push({ who: "call", name: "look", input: JSON.parse(written), result: null, failed: false });
  }

  async do(act: Act): Promise<void> {
    const open = await this.talk.listOpenCalls();
    if (open.length > 0) return this.#whileWaiting(act, open);
    this.#count(act.kind);
    switch (act.kind) {
      case "say":
        return this.#say(act);
      case "append":
        await this.talk.append(act.through, act.role, act.text);
        this.said.push({ who: act.role, text: act.text });
        return;
      case "edit":
        return this.#edit(act);
      case "regenerate":
        return this.#regenerate(act.reply);
      case "redact":
        return this.#redact(act);
      case "compact":
        await this.talk.compact();
        if (this.talk.isCompacted) this.#count("compacted");
    }
  }

  async #say({ through, text, reply: planned }: Extract<Act, { kind: "say" }>): Promise<void> {
    this.talk.plan(planned);
    const answered = await this.talk.say(through, text);
    this.#count(`say ${through}`);
    this.said.push({ who: "user", text });
    this.#hear(planned);
    if (answered !== null) expect(answered).toBe(planned.text);
  }

  /** A turn waits: its calls are answered, or another message ends the waiting. */
  async #whileWaiting(act: Act, open: Awaited<ReturnType<Talk["listOpenCalls"]>>): Promise<void> {
    if (act.kind !== "say") return;
    const supersedes = act.through === "native" || act.through === "mcp" || act.through === "ai-sdk";
    if (supersedes && act.results.length === 1) {
      this.#count("superseded");
      return this.#say(act);
    }
    const { answerer, results, reply: planned } = act;
    this.talk.plan(planned);
    const answered = await this.talk.answer(answerer, open, results);
    this.#count(`answer ${answerer}`);
    const first = this.said.length - open.length;
    for (const [index] of open.entries()) {
      const call = this.said[first + index];
      const given = results[index % results.length];
      if (call?.who !== "call" || !given) throw new Error("the open calls are not the last ones");
      // A chat completion has no word for a tool that failed, and a page's tool gives a value and not JSON text.
      const failed = given.failed && answerer !== "chat";
      const value = answerer === "ai-sdk" && !failed ? given.output : readValue(given.output);
      this.said[first + index] = { ...call, result: value, failed };
    }
    this.#hear(planned);
    if (answered !== null) expect(answered).toBe(planned.text);
  }

  async #edit({ through, nth, text, reply: planned }: Extract<Act, { kind: "edit" }>): Promise<void> {
    const messages = (await listItems(this.talk)).filter(({ role }) => role === "user");
    const places = this.said.flatMap(({ who }, index) => (who === "user" ? [index] : []));
    const [message, place] = [messages[nth % messages.length], places[nth % messages.length]];
    if (!message || place === undefined) return;
    this.talk.plan(planned);
    await this.talk.edit(through, message, text);
    this.said.splice(place, Number.POSITIVE_INFINITY, { who: "user", text });
    this.#hear(planned);
  }

  /** A message of the user. Responses whose input it is are gone with it. */
  async #redact({ through, nth }: Extract<Act, { kind: "redact" }>): Promise<void> {
    const messages = (await listItems(this.talk)).filter(({ role }) => role === "user");
    const places = this.said.flatMap(({ who }, index) => (who === "user" ? [index] : []));
    const [message, place] = [messages[nth % messages.length], places[nth % messages.length]];
    if (!message || place === undefined) return;
    // An item that is deleted at the end takes the conversation back, which test/http/openai/conversations.test.ts shows.
    const before = this.said[place];
    const isListed = before?.who === "user" && before.text !== REDACTED;
    if (through === "conversations" && (place === this.said.length - 1 || !isListed)) return;
    await this.talk.redact(through, message);
    this.#count(`redact ${through}`);
    this.said[place] = { who: "user", text: REDACTED };
    this.talk.stored.length = 0;
  }

  async #regenerate(planned: Reply): Promise<void> {
    const place = this.said.findLastIndex(({ who }) => who === "user");
    if (place < 0) return;
    this.talk.plan(planned);
    await this.talk.regenerate();
    this.said.splice(place + 1);
    this.#hear(planned);
  }

  async expectSameEverywhere(): Promise<void> {
    const native = await readNative(this.talk);
    expect(native).toEqual(this.said);
    // A message that was redacted is a deleted item.
    expect(await readConversation(this.talk)).toEqual(native.filter((each) => each.who !== "user" || each.text !== REDACTED));
    expect(await readUi(this.talk)).toEqual(native);
    for (const { id, ...created } of this.talk.stored) expect(await readStored(this.talk, id)).toEqual(created);
    if (this.talk.stored.length > 0) this.#count("stored");
    const items = await listItems(this.talk, 200);
    expect(await readTranscript(this.talk)).toEqual(items.map(({ position, role }) => `${position} ${role}`));
    const shown = await readMcp(this.talk);
    expect(shown.map(({ position, role, text, is_error, tool_calls }) => [position, role, text, is_error, tool_calls])).toEqual(
      items.map((item) => [
        ...[item.position, item.role, readText(item), item.is_error ?? false],
        (item.tool_calls ?? []).map(({ execution_id, name, arguments: written }) => ({ execution_id, name, arguments: written })),
      ]),
    );
  }
}

test(
  "a conversation over any surfaces is the same in all of them",
  async () => {
    const tally: Tally = new Map();
    const shared = share();
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 2, maxLength: 14 }), async (acts) => {
        const conversation = new Conversation(new Talk(shared), tally);
        await conversation.talk.open();
        for (const [index, each] of acts.entries()) await conversation.do(tellApart(each, index));
        await conversation.expectSameEverywhere();
        conversation.talk.close();
      }),
      { numRuns: CONVERSATIONS, endOnFailure: true },
    );

    const tried = [...SPEAKERS.map((through) => `say ${through}`), ...ANSWERERS.map((through) => `answer ${through}`)];
    expect(
      [...tried, "append", "edit", "regenerate", "superseded", "compacted", "stored", "redact native", "redact conversations"].filter(
        (kind) => !tally.has(kind),
      ),
    ).toEqual([]);
  },
  MINUTES + CONVERSATIONS * 2_000,
);
