/** A system prompt that fills most of the window: the provider has counted it, so that its estimate is not padded. */
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/context/tokens";
import { failure, Life, SPEC } from "./life";

/** The most tokens of a request: the window less the reserve. */
const LIMIT = 7_500;
const buildPrompt = (share: number): string => "Obey. ".repeat(Math.floor((LIMIT * share) / estimateTokens("Obey. ")));
const QUESTION = "why is that, and what of it? ".repeat(6);

/** Counts what was sent as a provider does: a little more than by our estimate. */
function weigh(life: Life): number {
  const texts = [life.call.request.system ?? "", ...life.call.messages];
  return Math.round(1.05 * texts.reduce((sum, text) => sum + estimateTokens(text) + 4, 0));
}

const lastTurn = (life: Life) => life.runtime.state.last_turn;

/** At an endpoint that cuts what is too long, nothing is tried: what the provider counted is all that helps. */
describe.each([
  [0.79, { truncates_silently: true }],
  [0.83, {}],
  [0.85, {}],
  [0.9, {}],
])("a system prompt of %f of the window, at an endpoint with the quirks %j", (share, quirks) => {
  test.each(["balanced", "oneclaw", "opal", "odincode", "yeoman"])("leaves room for every message under %s", async (policy) => {
    const life = new Life();
    life.models = { resolve: async () => ({ ...SPEC, quirks }) };
    await life.open(policy, buildPrompt(share));
    for (let turn = 1; turn <= 24; turn++) {
      await life.send(`question-${turn}: ${QUESTION}`);
      while (life.call.request.purpose === "compaction") await life.say(failure("refused"));
      expect(life.call.messages.at(-1)).toContain(`question-${turn}: `);
      const weight = weigh(life);
      expect(weight).toBeLessThanOrEqual(LIMIT);
      const reply = `reply-${turn}: ${QUESTION}`;
      const usage = { input: weight, output: estimateTokens(reply), cached: 0, reasoning: 0 };
      await life.say({ type: "text", text: reply }, { type: "finish", finish: "stop", usage });
      expect(lastTurn(life)).toMatchObject({ status: "completed" });
    }
    expect(life.runtime.state.view.overlays.length).toBeGreaterThan(0);
  });
});

describe("a first message that fits by its likely size, and not by the upper bound of it", () => {
  /** `share`: of the window, beside a system prompt of six tenths. */
  const send = async (share: number, change: Partial<typeof SPEC> = {}): Promise<Life> => {
    const life = new Life();
    life.models = { resolve: async () => ({ ...SPEC, ...change }) };
    await life.open({ preset: "balanced", unknown_window: 8_000 }, buildPrompt(0.6));
    await life.send(buildPrompt(share));
    return life;
  };

  test("is tried once, and a refusal says what weighs most", async () => {
    const life = await send(0.3);
    expect(life.asked).toBe("t");

    await life.say(failure("overflow"));

    expect(life.asked).toBe("t");
    expect(lastTurn(life)).toMatchObject({ failure: { kind: "overflow", fit: { limit: LIMIT, biggest: expect.anything() } } });
  });

  test("has the reserve for its reply where the provider needs a length", async () => {
    const life = await send(0.3, { provider: "anthropic" });
    expect(life.call.request.maxOutput).toBe(500);
  });

  test.each([
    ["the endpoint cuts what is too long without a word", 0.3, { quirks: { truncates_silently: true } }],
    ["nobody has stated the window", 0.3, { context_window: null }],
    ["it does not fit by its likely size either", 0.5, {}],
  ])("is not tried where %s", async (_, share, change) => {
    const life = await send(share, change);
    expect(life.asked).toBe("");
    expect(lastTurn(life)).toMatchObject({ failure: { kind: "cannot_fit" } });
  });
});
