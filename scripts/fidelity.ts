/**
 * `npm run fidelity`: a long conversation in a small window, with facts planted at known places; then every one of them is asked for. Where
 * did the answer come from, and is any of them lost? The real session in plain Node, the embedded model, the given policy.
 */
import { z } from "zod";
import { POLICY_NAMES } from "../src/context/presets.ts";
import { playStory } from "./fidelity/play.ts";
import { describeLost, describeRun, missedGoals } from "./fidelity/report.ts";
import { writeStory } from "./fidelity/story.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";

const USAGE = `Usage: npm run fidelity -- [options]
  --window N     context window, in tokens (4000)
  --facts N      facts of each of the four languages, at most 40 (24)
  --gap N        exchanges about nothing after each of them (3)
  --seed N       another conversation (1)
  --policy NAME  one of ${POLICY_NAMES.join(", ")} (balanced)
  --check        fails where a goal is missed: all that is asked in its own words or by its execution, 95 % of what shares words`;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      window: { type: "string", default: "4000" },
      facts: { type: "string", default: "24" },
      gap: { type: "string", default: "3" },
      seed: { type: "string", default: "1" },
      policy: { type: "string", default: "balanced" },
      check: { type: "boolean", default: false },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "It takes no files."),
      window: wholeNumber(2_048, 1_000_000),
      facts: wholeNumber(1, 40),
      gap: wholeNumber(0, 100),
      seed: wholeNumber(1, 1_000_000),
      policy: z.enum(POLICY_NAMES),
      check: z.boolean(),
    }),
  });
}

async function main(): Promise<number> {
  const { window, facts, gap, seed, policy, check } = readOptions();
  const story = writeStory({ seed, facts, gap });
  const played = await playStory(story, { window, policy });
  print(describeRun(played));
  const lost = describeLost(played.asked);
  if (lost !== "") print(`\n${lost}`);
  const missed = missedGoals(played);
  for (const goal of missed) say(`missed: ${goal}`);
  return check && missed.length > 0 ? 1 : 0;
}

await runScript(main);
