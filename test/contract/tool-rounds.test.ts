import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage } from "../../src/app/ports";
import type { Part } from "../../src/domain/message";
import type { ScriptedReply } from "../support/stand-in/providers/script.ts";
import { ask, assistant, findCalls, findEnd, joinText, toParts, toResults, user } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const call = (q: string) => ({ type: "call", name: "lookup", arguments: JSON.stringify({ q }) }) as const;
const think = (text: string) => ({ type: "thinking", text }) as const;
const say = (text: string) => ({ type: "text", text }) as const;

/** Three rounds before the answer, with visible thinking, hidden thinking, and parallel calls. */
const rounds: readonly ScriptedReply[] = [
  { blocks: [think("First the one.\n\nThen the other."), say("Looking."), call("one"), call("two")] },
  { blocks: [{ type: "redacted" }, call("three")] },
  { blocks: [think("Nearly there."), call("four"), call("five"), call("six")] },
  { blocks: [think("That is all."), say("Done.")] },
];

/** A whole turn: every call is answered until there are none. The stand-in's log has each request. */
async function runTurn(bench: Bench, said: readonly ChatMessage[]): Promise<readonly ChatMessage[]> {
  const messages = [...said];
  for (;;) {
    const chunks = await ask(bench, { messages });
    expect(bench.standIn.log.at(-1)?.refusal?.body).toBeUndefined();
    expect(findEnd(chunks)?.type).toBe("finish");
    messages.push(assistant(...toParts(chunks)));
    if (findCalls(chunks).length === 0) return messages;
    messages.push(toResults(findCalls(chunks)));
  }
}

/** The view as a change of it leaves it (`context/view`). */
function unsigned(part: Part): Part[] {
  if (part.type === "reasoning") return [];
  if (!("provider_metadata" in part)) return [part];
  const { provider_metadata: _, ...rest } = part;
  return [rest];
}

/** Values that a provider handed out and needs back. All of them are long, and nothing else in a request resembles them. */
const SEALED = /[A-Za-z0-9+/=]{80,}/g;
const sealsIn = (text: string | undefined): readonly string[] => [...new Set(text?.match(SEALED) ?? [])];

describe.each(PROVIDERS_UNDER_TEST)("a reply of thinking alone from $name", (provider) => {
  it.each(["length", "refused", undefined] as const)(
    "that ended with %s is not sent back, and the conversation goes on",
    async (finish) => {
      const bench = await openBench(provider);
      try {
        const blocks = [{ type: "thinking", text: "Where do I begin?" }] as const;
        bench.standIn.enqueue({ blocks, ...(finish && { finish }) }, { blocks: [{ type: "text", text: "Fine." }] });
        const parts = toParts(await ask(bench));
        const next = await ask(bench, { messages: [user("Hello."), assistant(...parts), user("Go on.")] });
        expect([bench.standIn.log[1]?.refusal, joinText(next)]).toEqual([null, "Fine."]);
      } finally {
        await bench.standIn.close();
      }
    },
  );
});

describe.each(PROVIDERS_UNDER_TEST)("rounds of tools with $name", (provider) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());

  it("go through to the answer, and thinking goes back as it was given out", async () => {
    const start = bench.standIn.log.length;
    bench.standIn.enqueue(...rounds);
    const messages = await runTurn(bench, [user("Look all of it up.")]);
    const heard = bench.standIn.log.slice(start);
    expect(heard).toHaveLength(4);
    expect(messages.filter(({ role }) => role === "tool").map(({ parts }) => parts.length)).toEqual([2, 1, 3]);
    const seals = heard.map(({ raw }) => sealsIn(raw).length);
    if (provider.takesThinkingBack) expect(seals).toEqual([0, 1, 2, 3]);
    else expect(seals).toEqual([0, 0, 0, 0]);
  });

  it.each([
    ["between two calls", [think("First."), call("one"), think("Second."), call("two")]],
    ["and words between two calls", [think("First."), say("Looking."), call("one"), think("Second."), say("And there."), call("two")]],
    ["that is hidden, and a call, after a call", [call("one"), { type: "redacted" }, call("two")]],
  ] as const)("go on after a reply with thinking %s", async (_, blocks) => {
    const start = bench.standIn.log.length;
    bench.standIn.enqueue({ blocks }, { blocks: [say("Done.")] });
    await runTurn(bench, [user("Look it up.")]);
    expect(bench.standIn.log.slice(start).map(({ refusal }) => refusal?.body)).toEqual([undefined, undefined]);
    const raw = bench.standIn.log.at(-1)?.raw ?? "";
    const [seal = ""] = sealsIn(raw).slice(-1);
    expect(raw.indexOf("two")).toBeGreaterThan(raw.indexOf("one"));
    if (provider.takesThinkingBack) expect(seal).not.toBe("");
  });

  it("can be followed by another turn, with all of it in the request", async () => {
    bench.standIn.enqueue(...rounds);
    const messages = await runTurn(bench, [user("Look all of it up.")]);
    bench.standIn.enqueue({ blocks: [say("You are welcome.")] });
    const chunks = await ask(bench, { messages: [...messages, user("Thanks.")] });
    expect(bench.standIn.log.at(-1)?.refusal?.body).toBeUndefined();
    expect(joinText(chunks)).toBe("You are welcome.");
    for (const text of ["Look all of it up.", "three", "Done.", "Thanks."]) expect(bench.standIn.log.at(-1)?.raw).toContain(text);
  });

  it("go on when the thinking of a turn that is over was dropped, all of it at once", async () => {
    bench.standIn.enqueue(...rounds);
    const whole = await runTurn(bench, [user("Look all of it up.")]);
    const over = whole.map((message) => ({ ...message, parts: message.parts.flatMap(unsigned) }));
    bench.standIn.enqueue(...rounds);
    const messages = await runTurn(bench, [...over, user("And again.")]);
    expect(messages).toHaveLength(over.length + 8);
    expect(sealsIn(bench.standIn.log.at(-1)?.raw).length).toBe(provider.takesThinkingBack ? 3 : 0);
  });
});

describe.each(PROVIDERS_UNDER_TEST)("a conversation that $name takes over", (provider) => {
  const others = PROVIDERS_UNDER_TEST.filter(({ name }) => name !== provider.name);

  it.each(others)("from $name, between two turns and in the middle of one, comes without the other's thinking", async (other) => {
    const [first, second] = [await openBench(other), await openBench(provider)];
    try {
      first.standIn.enqueue(...rounds);
      const whole = await runTurn(first, [user("Look all of it up.")]);
      second.standIn.enqueue({ blocks: [say("Hello.")] }, { blocks: [say("Going on.")] });
      const between = await ask(second, { messages: [...whole, user("Who are you?")] });
      const middle = await ask(second, { messages: whole.slice(0, -1) });
      expect(second.standIn.log.map(({ refusal }) => refusal?.body)).toEqual([undefined, undefined]);
      expect([joinText(between), joinText(middle)]).toEqual(["Hello.", "Going on."]);
      const given = first.standIn.log.flatMap(({ raw }) => sealsIn(raw));
      for (const { raw } of second.standIn.log) expect(sealsIn(raw).filter((seal) => given.includes(seal))).toEqual([]);
      expect(second.standIn.log[0]?.raw).not.toContain("Nearly there.");
    } finally {
      await first.standIn.close();
      await second.standIn.close();
    }
  });
});
