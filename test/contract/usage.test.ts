import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallUsage } from "../../src/domain/model-call";
import { countTokens } from "../support/stand-in/count-tokens.ts";
import { ask, assistant, findEnd, user } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const SYSTEM = `You answer briefly. ${Array.from({ length: 1_000 }, (_, place) => `rule${place}`).join(" ")}`;
const THOUGHT = "Let me think about that for a while.";
const ANSWER = "Here is what I have found.";

describe.each(PROVIDERS_UNDER_TEST)("usage that $name reports", (provider) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());

  async function askUsage(...messages: Parameters<typeof user>[0][]): Promise<CallUsage | null> {
    bench.standIn.enqueue({
      blocks: [
        { type: "thinking", text: THOUGHT },
        { type: "text", text: ANSWER },
      ],
    });
    const said = messages.flatMap((text, place) => (place === 0 ? [user(text)] : [assistant({ type: "text", text: ANSWER }), user(text)]));
    const end = findEnd(await ask(bench, { system: SYSTEM, messages: said }));
    return end?.type === "finish" ? end.usage : null;
  }

  it("is of the whole input, of what was read from the cache and written to it, and of thinking as part of the output", async () => {
    const cold = await askUsage("One.");
    const warm = await askUsage("One.", "Two.");
    const [first, second] = bench.standIn.log.map(({ usage }) => usage);
    const thought = countTokens(THOUGHT);
    const said = { output: thought + countTokens(ANSWER), reasoning: thought };
    const written = (usage: typeof first) => (provider.reportsWrites ? { cache_write: usage?.cacheWrite } : {});
    expect(cold).toMatchObject({ input: first?.input, cached: 0, ...said, ...written(first) });
    expect(warm).toMatchObject({ input: second?.input, cached: second?.cacheRead, ...said, ...written(second) });
    expect(warm?.cached).toBeGreaterThan(1_024);
    if (provider.reportsWrites) expect([(cold?.cache_write ?? 0) > 1_024, (warm?.cache_write ?? 0) < 200]).toEqual([true, true]);
  });

  it("is none when the reply ended too early to say", async () => {
    bench.standIn.enqueue({ blocks: [{ type: "text", text: ANSWER }], mishap: { type: "unfinished" } });
    expect((await ask(bench)).filter(({ type }) => type === "finish")).toEqual([]);
  });
});
