import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage } from "../../src/app/ports";
import { countTokens } from "../support/stand-in/count-tokens.ts";
import { countBreakpoints } from "../support/stand-in/providers/anthropic/rules.ts";
import type { Heard } from "../support/stand-in/providers/provider-server.ts";
import type { SaidBlock } from "../support/stand-in/providers/script.ts";
import { ask, assistant, findCalls, findEnd, toParts, toResults, user } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const TURNS = 10;
/** Parallel calls by turn. The long lists have more blocks than Anthropic looks back over from one marker. */
const CALLS = [1, 3, 2, 16, 1, 2, 3, 24, 1, 2];
const words = (count: number, seed: string) => Array.from({ length: count }, (_, place) => `${seed}${place}`).join(" ");
const SYSTEM = `You answer briefly. ${words(900, "rule")}`;

const lookup = (turn: number, place: number): SaidBlock => ({
  type: "call",
  name: "lookup",
  arguments: JSON.stringify({ q: `${turn}.${place}` }),
});

const SUMMARY = `Summary. ${words(200, "so far ")}`;

/** A turn: the user writes, the model thinks and calls, twice, and answers. */
async function runTurn(
  bench: Bench,
  { said, turn, older }: { readonly said: readonly ChatMessage[]; readonly turn: number; readonly older: number },
) {
  const calls = Array.from({ length: CALLS[turn] ?? 1 }, (_, place) => lookup(turn, place));
  bench.standIn.enqueue(
    { blocks: [{ type: "thinking", text: words(20, "hm") }, { type: "text", text: "Looking." }, ...calls] },
    { blocks: [{ type: "thinking", text: words(10, "so") }, lookup(turn, 99)] },
    { blocks: [{ type: "text", text: words(60, `answer${turn}-`) }] },
  );
  const messages = [...said, user(words(80, `question${turn}-`))];
  for (;;) {
    const chunks = await ask(bench, { system: SYSTEM, messages, older });
    expect([bench.standIn.log.at(-1)?.refusal?.body, findEnd(chunks)?.type]).toEqual([undefined, "finish"]);
    messages.push(assistant(...toParts(chunks)));
    if (findCalls(chunks).length === 0) return messages;
    messages.push(toResults(findCalls(chunks), ({ arguments: args }) => `${args} ${words(60, "found")}`));
  }
}

/** The request without its cache markers: its messages as text, and the rest of it. */
function unmarked(heard: Heard, bench: Bench): { readonly messages: string; readonly rest: unknown } {
  const strip = (_: string, value: unknown) =>
    isRecord(value) && "cache_control" in value ? { ...value, cache_control: undefined } : value;
  const { [bench.messages]: messages, ...rest } = JSON.parse(JSON.stringify(heard.body, strip)) as Record<string, unknown>;
  return { messages: JSON.stringify(messages).slice(0, -1), rest };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** The part of the previous request that a request can read from the cache: all of it, in the provider's steps. */
const readable = (before: Heard, { cache }: Bench): number => {
  const whole = before.usage?.input ?? 0;
  return whole < cache.least ? 0 : Math.floor(whole / cache.step) * cache.step;
};

describe.each(PROVIDERS_UNDER_TEST)("the cached prefix with $name", (provider) => {
  let bench: Bench;
  let first: readonly Heard[];
  let second: readonly Heard[];
  let third: readonly Heard[];

  beforeAll(async () => {
    bench = await openBench(provider);
    let said: readonly ChatMessage[] = [];
    for (let turn = 0; turn < TURNS; turn++) said = await runTurn(bench, { said, turn, older: 0 });
    first = bench.standIn.log.slice();
    // An epoch ends: older messages become one summary, and the last turns stay.
    said = [user(SUMMARY), ...said.slice(-12)];
    for (let turn = 0; turn < 3; turn++) said = await runTurn(bench, { said, turn, older: 1 });
    second = bench.standIn.log.slice(first.length);
    // Another epoch ends, with the same summary before fewer messages.
    await runTurn(bench, { said: [user(SUMMARY), ...said.slice(-6)], turn: 0, older: 1 });
    third = bench.standIn.log.slice(first.length + second.length);
  });
  afterAll(() => bench.standIn.close());

  it("grows with every request between two epochs, and each reads all that the one before it sent", () => {
    for (const epoch of [first, second, third]) {
      for (const [place, heard] of epoch.entries()) {
        const before = epoch[place - 1];
        if (before) expect(heard.usage?.cacheRead).toBeGreaterThanOrEqual(readable(before, bench));
        if (before) expect(heard.usage?.cacheRead).toBeGreaterThanOrEqual(before.usage?.cacheRead ?? 0);
      }
    }
    expect(first.at(-1)?.usage?.cacheRead).toBeGreaterThan((first[1]?.usage?.cacheRead ?? 0) + 5_000);
  });

  const inSteps = (tokens: number) => Math.floor(tokens / provider.cache.step) * provider.cache.step;

  it("begins anew with an epoch, behind the tools and the system prompt, or behind a summary that stays", () => {
    const reads = [first.at(-1), second[0], second.at(-1), third[0]].map((heard) => heard?.usage?.cacheRead ?? 0);
    const [before = 0, fresh = 0, grown = 0, kept = 0] = reads;
    expect(fresh).toBeGreaterThanOrEqual(inSteps(countTokens(SYSTEM)));
    expect(kept).toBeGreaterThanOrEqual(inSteps(countTokens(SYSTEM) + countTokens(SUMMARY)));
    expect([fresh < before, kept < grown]).toEqual([true, true]);
  });

  it("holds the same bytes, apart from its marks", () => {
    for (const epoch of [first, second, third]) {
      const requests = epoch.map((heard) => unmarked(heard, bench));
      for (const [place, request] of requests.entries()) {
        const before = requests[place - 1];
        if (!before) continue;
        expect(request.messages.startsWith(before.messages)).toBe(true);
        expect(request.rest).toEqual(before.rest);
      }
    }
  });

  if (provider.name !== "anthropic") return;
  it("is marked in at most four places, and always at the newest block", () => {
    for (const { body } of [...first, ...second, ...third]) {
      const request = body as Parameters<typeof countBreakpoints>[0];
      expect(countBreakpoints(request)).toBeLessThanOrEqual(4);
      const last = request.messages.at(-1)?.content.at(-1);
      expect(last).toHaveProperty("cache_control");
    }
  });
});
