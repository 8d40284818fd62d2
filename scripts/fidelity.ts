/**
 * `npm run fidelity`: a long conversation in a small window, with facts, instructions, decisions, identifiers and tasks
 * at known places. Each is then asked for, under each policy. The report says where the answer came from and what was
 * lost. It runs the real session in plain Node, with the embedded model or a real one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DEFAULT_POLICY, POLICY_NAMES } from "../src/context/presets.ts";
import { missedHere } from "./fidelity/goals.ts";
import { embedded, type Played, type PlayedModel, playStory } from "./fidelity/play.ts";
import { asked } from "./fidelity/real-model.ts";
import { describeLost, describePolicies, describeRun, hasRow } from "./fidelity/report.ts";
import { type Story, writeStory } from "./fidelity/story.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";
import { startProgress } from "./support/progress.ts";

/** The conversation that docs/claims.md and the goals speak of. */
const DOCUMENTED = { window: 4_000, facts: 24, gap: 3, seed: 1 };

const USAGE = `Usage: npm run fidelity -- [options]
  --policy NAME           one of ${POLICY_NAMES.join(", ")}: in full; absent: a row for each
  --window N              context window, in tokens (${DOCUMENTED.window})
  --facts N               facts of each of the four languages, at most 40 (${DOCUMENTED.facts}); of the rest a third as many of each kind
  --gap N                 exchanges about nothing after each of them (${DOCUMENTED.gap})
  --seed N                another conversation (${DOCUMENTED.seed})
  --model PROVIDER/MODEL  a real model, with its key from the environment (the embedded one); a turn for every message: --facts 3 is a start
  --base-url URL          its address, where it is not the provider's own
  --check                 the default policy: fails where less is answered than before, and when docs/claims.md has another row`;

function readOptions() {
  const given = readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      window: { type: "string", default: String(DOCUMENTED.window) },
      facts: { type: "string", default: String(DOCUMENTED.facts) },
      gap: { type: "string", default: String(DOCUMENTED.gap) },
      seed: { type: "string", default: String(DOCUMENTED.seed) },
      policy: { type: "string" },
      model: { type: "string" },
      "base-url": { type: "string" },
      check: { type: "boolean", default: false },
    },
    schema: z
      .object({
        files: z.array(z.string()).length(0, "It takes no files."),
        window: wholeNumber(2_048, 1_000_000),
        facts: wholeNumber(1, 40),
        gap: wholeNumber(0, 100),
        seed: wholeNumber(1, 1_000_000),
        policy: z.enum(POLICY_NAMES).optional(),
        model: z.string().optional(),
        "base-url": z.url().optional(),
        check: z.boolean(),
      })
      .refine((by) => !by.check || isDocumented(by), {
        path: ["check"],
        message: "is about one conversation: it goes without other options",
      }),
  });
  return { ...given, policies: given.check ? [DEFAULT_POLICY] : given.policy ? [given.policy] : POLICY_NAMES };
}

const isDocumented = (by: typeof DOCUMENTED & { readonly policy?: string | undefined; readonly model?: string | undefined }): boolean =>
  Object.entries(DOCUMENTED).every(([name, value]) => by[name as keyof typeof DOCUMENTED] === value) &&
  by.model === undefined &&
  (by.policy ?? DEFAULT_POLICY) === DEFAULT_POLICY;

async function play(story: Story, { model, policies }: { readonly model: PlayedModel; readonly policies: readonly string[] }) {
  const rows: Played[] = [];
  for (const policy of policies) {
    const progress = startProgress(policy, story.steps.length + story.questions.length);
    rows.push(await playStory(story, { model, policy, onProgress: (done) => progress.show(done) }));
    progress.end();
  }
  return rows;
}

async function main(): Promise<number> {
  const { window, facts, gap, seed, model: named, "base-url": base_url = null, policies, check } = readOptions();
  const model = named === undefined ? embedded(window) : asked({ model: named, window, base_url }, process.env);
  const rows = await play(writeStory({ seed, facts, gap }), { model, policies });
  print(describePolicies(rows));
  const [only] = rows;
  if (only && rows.length === 1) print(`\n${describeRun(only)}\n\n${describeLost(only.asked)}`.trimEnd());
  if (!check || !only) return 0;
  const stale = hasRow(readFileSync(join(ROOT, "docs", "claims.md"), "utf8"), only) ? [] : ["docs/claims.md has another row"];
  const missed = [...missedHere(only), ...stale];
  for (const goal of missed) say(`missed: ${goal}`);
  return missed.length > 0 ? 1 : 0;
}

await runScript(main);
