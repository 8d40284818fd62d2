/** The guard's margin: planning includes every token of a request. `npm run margin` plays the recordings. */
import { expect, test } from "vitest";
import { type Corpus, generateCorpora } from "../../../scripts/estimates/corpora";
import { orderId } from "../../../scripts/estimates/material";
import { toSetup } from "../../../scripts/lab/engine/setup";
import { playMargin } from "../../../scripts/margin/play-margin";
import type { RecordedMessage } from "../../../scripts/replay/recording";
import { createRandom } from "../../../scripts/support/random";

const setup = toSetup("balanced", { guard: true, eachCall: false, countsChain: false, recall: true });

/** Rounds of tools with one-word results, whose frames and call ids are larger than the results. */
function shortRounds(seed: number): Corpus {
  const random = createRandom(seed);
  const messages = Array.from({ length: 120 }, (_, n): RecordedMessage[] => {
    const order = orderId(random);
    const call = { id: `call-${n}`, name: "get_order", arguments: JSON.stringify({ order }) };
    return [
      { role: "user", content: `Is ${order} on its way?` },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: "yes" },
      { role: "assistant", content: "It is." },
    ];
  });
  return { name: "short rounds", conversations: [{ id: "short", messages: messages.flat() }] };
}

const corpora = [shortRounds(1), ...generateCorpora(1, ["English", "JSON, compact", "base64", "mixed results"])];
const WITHIN = 0.95;
const SECONDS = 60_000;

test.each(corpora.flatMap(({ name, conversations }) => [4_000, 8_000].map((window) => ({ name, conversations, window }))))(
  "no request of $name is above the limit of a window of $window, nor above what it was planned with",
  { timeout: SECONDS },
  ({ conversations, window }) => {
    for (const seed of [1, 2]) {
      const { calls, epochs, overflows, short, outside } = playMargin({ conversations, window, seed, setup });
      expect({ seed, overflows, short: Math.max(0, short) }).toEqual({ seed, overflows: 0, short: 0 });
      expect(1 - outside / calls).toBeGreaterThanOrEqual(WITHIN);
      expect(epochs).toBeGreaterThan(0);
    }
  },
);

test("the same seed plays the same run, another one another", () => {
  const { conversations } = shortRounds(1);
  const play = (seed: number) => playMargin({ conversations, window: 4_000, seed, setup });
  expect(play(1)).toEqual(play(1));
  expect(play(2)).not.toEqual(play(1));
});
