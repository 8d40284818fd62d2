/** What is new in a client's copy of a conversation, for clients that lose answers, say the same again and again, and cut their copy. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findNewMessages, type KnownEnd, type TranscriptMessage } from "../../../src/http/surface/new-messages";

const user = (text: string): TranscriptMessage => ({ role: "user", text });
const said = (text: string): TranscriptMessage => ({ role: "assistant", text });
const result = (answers: string, text = ""): TranscriptMessage => ({ role: "tool", text, answers });
const system = (text: string): TranscriptMessage => ({ role: "system", text });

const whole = (...newest: readonly TranscriptMessage[]): KnownEnd => ({ newest, isWhole: true });

describe("new is", () => {
  it("what follows the last answer", () => {
    const transcript = [user("a"), said("A"), user("b"), user("c")];
    expect(findNewMessages(transcript, whole(user("a"), said("A")))).toEqual({
      system: [],
      results: [],
      messages: [user("b"), user("c")],
      isRepeated: false,
      isSure: true,
    });
  });

  it("a lone message, also one that was said before and answered", () => {
    for (const text of ["a", "b"])
      expect(findNewMessages([user(text)], whole(user("a"), said("A")))).toMatchObject({
        messages: [user(text)],
        isRepeated: false,
      });
  });

  it("all of it, where the session is empty", () => {
    const transcript = [system("s"), user("a"), said("A"), user("b")];
    expect(findNewMessages(transcript, whole())).toMatchObject({ system: [system("s")], messages: transcript.slice(1) });
  });

  it("the results of calls, in any order, and a message behind them", () => {
    const known = whole(user("a"), said(""));
    const transcript = [user("a"), said(""), result("2", "x"), result("1", "y"), user("b")];
    expect(findNewMessages(transcript, known)).toEqual({
      system: [],
      results: [result("2", "x"), result("1", "y")],
      messages: [user("b")],
      isRepeated: false,
      isSure: true,
    });
  });

  it("nothing, where the copy ends with an answer", () => {
    expect(findNewMessages([user("a"), said("A")], whole(user("a"), said("A")))).toMatchObject({
      results: [],
      messages: [],
      isRepeated: false,
    });
  });

  it("never a system message, wherever it is", () => {
    const transcript = [system("one"), user("a"), said("A"), system("two"), user("b"), system("three")];
    const sorted = findNewMessages(transcript, whole(user("a"), said("A")));
    expect(sorted).toMatchObject({ system: [system("one"), system("two"), system("three")], messages: [user("b")] });
  });
});

describe("a request is repeated", () => {
  it("whose answer the session has, and the client has not", () => {
    const known = whole(user("a"), said("A"), user("b"), said("B"));
    expect(findNewMessages([user("a"), said(" A\n"), user("b")], known).isRepeated).toBe(true);
  });

  it("whose turn is under way", () => {
    const known = whole(user("a"), said("A"), user("b"));
    for (const transcript of [[user("a"), said("A"), user("b")], [user("b")]])
      expect(findNewMessages(transcript, known).isRepeated).toBe(true);
    expect(findNewMessages([user("b"), user("c")], known)).toMatchObject({ messages: [user("c")] });
  });

  it("whose turn failed, also without an earlier answer", () => {
    expect(findNewMessages([user("a")], whole(user("a"))).isRepeated).toBe(true);
  });

  it("of results, in another order and cut in the record", () => {
    const known = whole(user("a"), said("look"), result("1", "cut"), result("2", "y"), said("A"));
    const transcript = [user("a"), said("look"), result("2", "y"), result("1", "cut and more")];
    expect(findNewMessages(transcript, known).isRepeated).toBe(true);
  });

  it("not when the same words follow an answer that is the newest", () => {
    const known = whole(user("a"), said("A"), user("a"), said("A"));
    const again = [user("a"), said("A"), user("a"), said("A"), user("a")];
    expect(findNewMessages(again, known)).toMatchObject({ messages: [user("a")], isRepeated: false });
    expect(findNewMessages(again.slice(0, 3), known).isRepeated).toBe(true);
  });

  it("not when the copy and the session have nothing in common", () => {
    const known = whole(user("x"), said("X"), user("b"), said("B"));
    expect(findNewMessages([user("a"), said("A"), user("b")], known)).toMatchObject({ messages: [user("b")], isRepeated: false });
  });
});

it("only what is new follows a message whose turn failed", () => {
  const known = whole(user("a"), said("A"), user("b"));
  expect(findNewMessages([user("a"), said("A"), user("b"), user("c")], known)).toMatchObject({ messages: [user("c")] });
});

it("only what is new follows messages whose answer the client has lost", () => {
  const known = whole(user("a"), said("A"), user("b"), said("B"));
  expect(findNewMessages([user("a"), said("A"), user("b"), user("c")], known)).toMatchObject({ messages: [user("c")] });
  const called = whole(user("a"), said(""), result("1"), result("2"), said("B"));
  const transcript = [user("a"), said(""), result("2"), result("1"), user("c")];
  expect(findNewMessages(transcript, called)).toMatchObject({ results: [], messages: [user("c")] });
});

/** Few texts, so that everybody repeats themselves. */
const text = fc.constantFrom("hi", "yes", "天气?", " hi ", "");
interface Round {
  readonly asked: readonly string[];
  readonly answer: string;
  /** Calls that the client answers before the model's second answer. */
  readonly calls: number;
  readonly order: boolean;
}
const round = fc.record({
  asked: fc.array(text, { minLength: 1, maxLength: 2 }),
  answer: text,
  calls: fc.integer({ min: 0, max: 3 }),
  order: fc.boolean(),
});

/** The requests' new messages and the answers to them, in order. */
function toSteps(rounds: readonly Round[]): { readonly fresh: readonly TranscriptMessage[]; readonly reply: TranscriptMessage }[] {
  let made = 0;
  return rounds.flatMap(({ asked, answer, calls, order }) => {
    const first = { fresh: asked.map(user), reply: said(answer) };
    if (calls === 0) return [first];
    const results = Array.from({ length: calls }, () => result(`call_${made++}`, answer));
    return [first, { fresh: order ? results : results.toReversed(), reply: said(answer) }];
  });
}

describe("a client with a whole copy", () => {
  const noise = fc.array(fc.record({ at: fc.nat(), text }), { maxLength: 3 });
  /** The copy with system messages anywhere. */
  const mix = (copy: readonly TranscriptMessage[], added: readonly { readonly at: number; readonly text: string }[]) =>
    added.reduce<readonly TranscriptMessage[]>(
      (mixed, { at, text: words }) => mixed.toSpliced(at % (mixed.length + 1), 0, system(words)),
      copy,
    );

  it("adds each message once, whatever it says, and however often it asks again", () => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), noise, (rounds, added) => {
        let held: readonly TranscriptMessage[] = [];
        for (const { fresh, reply } of toSteps(rounds)) {
          const transcript = mix([...held, ...fresh], added);
          const sorted = findNewMessages(transcript, whole(...held));
          expect([...sorted.results, ...sorted.messages]).toEqual(fresh);
          expect(sorted.isRepeated).toBe(false);
          const isFirst = held.length === 0;
          // Its turn runs, and the client asks again; then it has ended, and the client has lost the answer.
          expect(findNewMessages(transcript, whole(...held, ...fresh)).isRepeated).toBe(true);
          // Nothing tells a lone message from one with the same words.
          expect(findNewMessages(transcript, whole(...held, ...fresh, reply)).isRepeated).toBe(!isFirst);
          held = [...held, ...fresh, reply];
        }
      }),
    );
  });

  it("has the same new messages when the session shows only its end", () => {
    fc.assert(
      fc.property(fc.array(round, { minLength: 3, maxLength: 8 }), fc.integer({ min: 1, max: 8 }), (rounds, shown) => {
        const steps = toSteps(rounds);
        const held = steps.slice(0, -1).flatMap(({ fresh, reply }) => [...fresh, reply]);
        const { fresh } = steps.at(-1) ?? { fresh: [] };
        const known = { newest: held.slice(-shown), isWhole: shown >= held.length };
        const sorted = findNewMessages([...held, ...fresh], known);
        expect([...sorted.results, ...sorted.messages]).toEqual(fresh);
      }),
    );
  });
});

it("a client that cuts its copy adds its new messages, and loses none", () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), fc.integer({ min: 0, max: 4 }), (rounds, kept) => {
      let held: readonly TranscriptMessage[] = [];
      for (const { fresh, reply } of toSteps(rounds)) {
        const copy = kept === 0 ? [] : held.slice(-kept);
        const sorted = findNewMessages([...copy, ...fresh], whole(...held));
        expect([...sorted.results, ...sorted.messages]).toEqual(fresh);
        held = [...held, ...fresh, reply];
      }
    }),
  );
});

describe("the end of a session decides alone", () => {
  const held = [user("a"), said("A"), user("b"), said("B"), user("c"), said("C")];
  const end = (shown: number): KnownEnd => ({ newest: held.slice(-shown), isWhole: shown >= held.length });

  it("where the client says something else than it said last, and its last question is in sight", () => {
    expect(findNewMessages([...held, user("d")], end(3))).toMatchObject({ messages: [user("d")], isSure: true });
    expect(findNewMessages([...held, user("d")], end(2)).isSure).toBe(false);
    expect(findNewMessages([user("c")], end(3))).toMatchObject({ messages: [user("c")], isSure: true });
  });

  it("not where the client says again what it said last", () => {
    expect(findNewMessages([...held, user("c")], end(3)).isSure).toBe(false);
    expect(findNewMessages([...held, user("c")], end(held.length))).toMatchObject({ messages: [user("c")], isSure: true });
  });

  it("only as the whole session decides, for any copy and any end", () => {
    const copy = fc.record({ from: fc.nat(12), to: fc.nat(12), fresh: fc.array(text, { maxLength: 2 }) });
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 6 }), copy, fc.nat(12), (rounds, { from, to, fresh }, shown) => {
        const all = toSteps(rounds).flatMap((step) => [...step.fresh, step.reply]);
        const transcript = [...all.slice(from, from + to), ...fresh.map(user)];
        const sorted = findNewMessages(transcript, {
          newest: all.slice(all.length - Math.min(shown, all.length)),
          isWhole: shown >= all.length,
        });
        if (sorted.isSure) expect(sorted).toEqual(findNewMessages(transcript, whole(...all)));
      }),
    );
  });
});
