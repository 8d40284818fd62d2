/**
 * A client that counts its tries loses answers: before its request arrives, after it is recorded, in the middle of a stream, and while it
 * still waits. It sends the request again each time. Random conversations over the surfaces have each message once, and each client gets
 * its answer.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { drawn, isWhole } from "../../support/effort";
import { FAULTS, type Fault, LossyClient, type Request, SURFACES, type Surface, share, type Told } from "./lossy-client";

const CONVERSATIONS = drawn(60, 20);
const MINUTES = 60_000;
const REDACTED = "[redacted]";

/** How one request fares. */
interface Fate {
  readonly faults: readonly Fault[];
  readonly streams: boolean;
  /** Two of the last try come at once. */
  readonly isDoubled: boolean;
  /** What happens to the conversation before the last try, once the request was answered. */
  readonly meanwhile: "nothing" | "spoken" | "redacted";
  /** The model fails once, and its failure is lost. */
  readonly fails: boolean;
}
const fate = fc.record<Fate>({
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 3 }),
  streams: fc.boolean(),
  isDoubled: fc.boolean(),
  meanwhile: fc.constantFrom("nothing", "nothing", "spoken", "redacted"),
  fails: fc.boolean(),
});

interface Act {
  readonly surface: Surface;
  readonly text: string;
  readonly asked: Fate;
  /** How the result of the reply's call fares. Null: the reply has no call. */
  readonly answered: Fate | null;
}
const act = fc.record<Act>({
  surface: fc.constantFrom(...SURFACES),
  // Few words, so that people repeat themselves.
  text: fc.constantFrom("yes", "天气怎么样？🐕"),
  asked: fate,
  answered: fc.option(fate),
});

type Tally = Map<string, number>;

class Conversation {
  readonly client: LossyClient;
  readonly #tally: Tally;
  /** As `role: text`. */
  readonly said: string[] = [];
  readonly #accepted = new Set<string>();
  #made = 0;

  constructor(client: LossyClient, tally: Tally) {
    this.client = client;
    this.#tally = tally;
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1);
  }

  async do({ surface, text, asked, answered }: Act): Promise<void> {
    this.#count(surface);
    if (surface === "items") return this.#append(`noted: ${text}`, asked);
    const call = answered ? `given-${++this.#made}` : undefined;
    await this.#say(surface, { text, call, fate: asked });
    if (!answered) return;
    this.#count(`${surface} results`);
    await this.#say(surface, { text: `result ${this.#made}`, call: undefined, fate: answered, answers: true });
  }

  async #append(text: string, fate: Fate): Promise<void> {
    this.said.push(`user: ${text}`);
    const request = await this.client.build("items", { text, answers: false, streams: false });
    const told = await this.#insist(request, { ...fate, meanwhile: fate.meanwhile === "redacted" ? "redacted" : "nothing", fails: false });
    // An item that was deleted is in no list.
    expect(told).toEqual({ status: 200, said: this.#isRedacted ? "" : text });
  }

  #isRedacted = false;

  async #say(
    surface: Surface,
    { text, call, fate, answers = false }: { text: string; call: string | undefined; fate: Fate; answers?: boolean },
  ): Promise<void> {
    const reply = `re ${++this.#made}`;
    const isSeen = fate.faults.includes("lost");
    const fails = fate.fails && isSeen;
    if (fails) this.client.planFailure();
    this.client.plan({ text: reply, ...(call !== undefined && { call }) });
    const request = await this.client.build(surface, { text, answers, streams: fate.streams });
    this.said.push(`${answers ? "tool" : "user"}: ${text}`, `assistant: ${reply}`);
    const told = await this.#insist(request, {
      ...fate,
      fails,
      ...(call !== undefined && { meanwhile: "nothing" }),
      ...(fails && { meanwhile: "nothing" }),
    });
    if (fails) this.#count("failed once");
    // A response goes with the words that it answers.
    if (this.#isRedacted && (surface === "conversation" || surface === "chain")) expect(told.status).toBe(404);
    else expect(told).toEqual({ status: 200, said: reply });
    expect(this.client.hasPlans).toBe(false);
  }

  /** Sends the request until it has its answer. */
  async #insist(request: Request, fate: Fate): Promise<Told> {
    this.#isRedacted = false;
    await this.#letPass(request, fate);
    for (const [tries, fault] of fate.faults.entries()) {
      this.#count(fault);
      await this.client.lose(request, tries, fault);
    }
    if (fate.faults.includes("lost")) await this.#goOn(fate.meanwhile);
    const tries = fate.faults.length;
    const [told, again] = await Promise.all([
      this.client.ask(request, tries),
      fate.isDoubled && tries > 0 ? this.client.ask(request, tries) : null,
    ]);
    await this.client.settle();
    if (again) this.#count("doubled");
    if (again) expect(again).toEqual(told);
    return told;
  }

  /** Without time in between, a request that comes after its repetition could not be told from one with the same words that came before. */
  async #letPass({ path, body }: Request, { faults }: Fate): Promise<void> {
    const words = JSON.stringify([path, body]);
    const isKnown = this.#accepted.has(words);
    if (isKnown) this.#count("said again");
    await this.client.life.advance(isKnown && (faults[0] === "unsent" || faults[0] === "left") ? 60 * MINUTES : 1);
    this.#accepted.add(words);
  }

  async #goOn(meanwhile: Fate["meanwhile"]): Promise<void> {
    if (meanwhile === "nothing") return;
    this.#count(meanwhile);
    const { session } = this.client;
    if (meanwhile === "spoken") {
      const text = `meanwhile ${++this.#made}`;
      this.client.plan({ text: `re ${text}` });
      await this.client.native(`/${session}/messages`, { content: text });
      this.said.push(`user: ${text}`, `assistant: re ${text}`);
      return;
    }
    const { data } = await this.client.native(`/${session}/messages?limit=200&order=desc`);
    const message: { id: string; position: number } = data.find(({ role }: { role: string }) => role === "user");
    await this.client.native(`/${session}/messages/${message.id}/redact`, {});
    const place = this.said.findLastIndex((line) => line.startsWith("user: "));
    this.said[place] = `user: ${REDACTED}`;
    this.#isRedacted = true;
  }
}

test(
  "each message is recorded once, and its client gets the answer",
  async () => {
    const tally: Tally = new Map();
    const shared = share();
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 8 }), async (acts) => {
        const conversation = new Conversation(new LossyClient(shared), tally);
        await conversation.client.open();
        for (const each of acts) {
          await conversation.do(each);
          expect(await conversation.client.list()).toEqual(conversation.said);
        }
        conversation.client.close();
      }),
      { numRuns: CONVERSATIONS, endOnFailure: true },
    );

    const answering = SURFACES.filter((surface) => surface !== "items").map((surface) => `${surface} results`);
    const tried = [...SURFACES, ...answering, ...FAULTS, "said again", "doubled", "spoken", "redacted", "failed once"];
    if (isWhole()) expect(tried.filter((kind) => !tally.has(kind))).toEqual([]);
  },
  2 * MINUTES + CONVERSATIONS * 2_000,
);
