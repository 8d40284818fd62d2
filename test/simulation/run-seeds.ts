/**
 * Runs hundreds of seeds, in several files that run in parallel. `npm run simulate -- --seed N` replays one seed with
 * its complete story, and `--seeds N` runs the first N. They arrive as SEED and SEEDS.
 */
import { afterAll, describe, expect, test } from "vitest";
import { drawn, sized } from "../support/effort";
import { type RunResult, simulate } from "./simulate";
import { Stats } from "./stats";

/** Of the four parts together. */
const SEEDS_IN_TESTS = sized({ whole: drawn(2_000), small: 24 });
const PER_TEST = 50;
/** Up to this many seeds run in the first part alone (`scripts/run.mjs`). */
const FEW_SEEDS = 50;
const SHOWN_STEPS = 60;
const PARTS = 4;

const one = Number(process.env.SEED ?? 0);
const many = Number(process.env.SEEDS ?? 0);

/** The broken invariant, the command that repeats the run, and the story that led to it. */
function describeFailure({ seed, violation, trace, steps }: RunResult): string {
  const shown = one ? trace : trace.slice(-SHOWN_STEPS);
  const story = shown.map((line) => `  ${line}`).join("\n");
  return `seed ${seed} breaks ${violation?.message}\nreplay it: npm run simulate -- --seed ${seed}\n${story}\nafter ${steps} steps`;
}

/** Every fourth seed, in groups of fifty. A few seeds all run in the first part. */
function listSeeds(part: number): number[][] {
  if (one) return part === 1 ? [[one]] : [];
  if (many > 0 && many < FEW_SEEDS) return part === 1 ? [Array.from({ length: many }, (_, index) => index + 1)] : [];
  const all = Array.from({ length: many || SEEDS_IN_TESTS }, (_, index) => index + 1).filter((seed) => seed % PARTS === part % PARTS);
  return Array.from({ length: Math.ceil(all.length / PER_TEST) }, (_, n) => all.slice(n * PER_TEST, (n + 1) * PER_TEST));
}

/**
 * Counters that a part of a given size must have reached, or it proves nothing: the beginnings of their names
 * (`stats`). Rarer ones are required of a part of `.ci/run`, so that none is missing by chance.
 */
const TRIED = [
  {
    seeds: 50,
    what: [
      "event TurnCompleted",
      "event EpochChanged",
      "event PinsSet",
      "compaction requests",
      "compaction requests inside a turn",
      "inline: summarize",
      "event CompactionProgressed",
      "guard: drop",
      "log overflow_rescue",
      "log model_retry",
      "turn asked of another model",
      "miscounts",
      "crashes",
      "title requests",
      "asked with choices",
      "asked with a system prompt of its own",
      "asked without a system prompt",
      "notes read back",
      "asked of the message's own model",
      "asked of an own model with a ratio",
      "asked of an own model that sees no images",
      "retry: done",
      "respond: done",
      "placed after a turn",
      "client ids taken",
      "archived by a rule",
      "searches that found",
      "endpoints created",
      "announcements taken",
    ],
  },
  {
    seeds: 500,
    what: [
      "turns run on after many deaths",
      "endpoints disabled",
      "answers to announcements lost",
      "changed: model",
      "changed: title",
      "import: done",
      "reverted",
      "rewind: done",
      "switch: done",
      "redact: done",
      "archived by hand",
      "archive: turn_running",
      "event SessionUnarchived",
      "redacted a pinned message",
      "searches for redacted words",
      "edit: done",
      "repeated with choices",
      "requests told again with choices",
      "import: turn_running",
      "results answered",
      "respond: results and messages",
      "respond: call_not_open",
      "respond: calls_unanswered",
      "respond: turn_running",
      "respond: client_id_taken",
      "respond: asked otherwise",
      "respond: superseded",
      "continued: in a copy",
      "continued: in a copy behind calls",
      "counted: sent again",
      "counted: answered again",
      "meddled",
      "imports beside a compaction",
      "changed: summary_instructions",
      "instructions changed under a summary",
      "pinned a message",
      "redacted under a chain of summaries",
      "regenerate: done",
      "event CompactionDrafted",
      "drafts edited",
      "drafts committed",
      "compare: done",
      "compaction asked of another model",
      "output caps",
      "retry after 3600000",
      "manual: reset",
      "model_switch: ",
      "fallback: ",
      "summaries by same_prefix",
      "plans that split a turn",
      "breaker opened",
      "instructions applied",
      "instructions left_out",
      "compaction failed: lease_expired",
      "paid calls",
      "budget: refused",
      "budget: changed",
      "budget answers lost",
      "compaction failed: budget",
      "turn failed: budget",
      "refused: budget_exhausted",
      "refused: budgets_unavailable",
      "counters compared",
      "jobs lost",
      "jobs of an erased session",
      "rebuilds after an erasure",
      "jobs doubled",
      "jobs delayed",
      "consumer crashes",
      "rebuilds: equal",
      "rebuilds cut off",
      "writes failed",
      "writes on a full disk",
      "failures to write between two turns",
      "runs that stayed full",
      "stream.gap",
      "stream.halted",
    ],
  },
] as const;

/** The counters that many seeds never reached. */
function neverTried(total: Stats, seeds: number): string[] {
  const names = [...total.counts.keys()];
  const asked = TRIED.flatMap((each): readonly string[] => (seeds < each.seeds ? [] : each.what));
  return asked.filter((what) => !names.some((name) => name.startsWith(what)));
}

export function testPart(part: number): void {
  const total = new Stats();
  let run = 0;
  const startedAt = performance.now();

  describe(`the simulation, part ${part} of ${PARTS}`, () => {
    const groups = listSeeds(part).map((seeds) => [seeds[0] ?? 0, seeds.at(-1) ?? 0, seeds] as const);
    test.each(groups)("seeds %i to %i hold every invariant", { timeout: 240_000 }, async (_first, _last, seeds) => {
      for (const seed of seeds) {
        const result = await simulate(seed);
        total.add(result.stats);
        total.count("steps", result.steps);
        if (result.violation) expect.fail(describeFailure(result));
      }
      run += seeds.length;
      expect(neverTried(total, run)).toEqual([]);
    });

    afterAll(() => {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      if (one || many) process.stdout.write(`part ${part} of ${PARTS}, ${seconds} s: ${total}\n`);
    });
  });
}
