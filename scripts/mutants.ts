/**
 * `npm run mutants`: breaks a copy of the source in one place at a time, and reports which test fails. The command
 * fails for a mutant that no test detects, or that no longer applies: a test is missing, or the list is outdated. The
 * working tree is not changed.
 */
import { availableParallelism } from "node:os";
import { z } from "zod";
import { type Caught, createBench, type Trial } from "./mutants/bench.ts";
import { MUTANTS } from "./mutants/list.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { readCommandLine } from "./support/command-line.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { untilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run mutants [-- PART-OF-A-NAME]
  PART-OF-A-NAME  only the mutants whose name contains it (all)`;

function readWanted(): string {
  const schema = z.object({ files: z.array(z.string()).max(1, "Give one part of a name.") });
  return readCommandLine(process.argv.slice(2), { usage: USAGE, options: {}, schema }).files[0] ?? "";
}

async function main(): Promise<number> {
  const wanted = readWanted();
  const chosen = MUTANTS.filter(({ name }) => name.includes(wanted));
  if (chosen.length === 0) throw new Failure(`No mutant's name contains "${wanted}".`);
  const startedAt = Date.now();
  const benches = Array.from({ length: Math.min(availableParallelism(), chosen.length) }, () => createBench());
  try {
    return await untilStopped(work(benches, chosen, startedAt));
  } finally {
    for (const bench of benches) bench.close();
  }
}

type Bench = ReturnType<typeof createBench>;

async function work(benches: readonly Bench[], chosen: readonly Mutant[], startedAt: number): Promise<number> {
  const [first] = benches;
  if (!first) throw new TypeError("no bench");
  const complaint = await first.checkSound(chosen);
  if (complaint) throw new Failure(`Without any breakage the tests must pass:\n${complaint}`);
  const trials = await tryAll(benches, chosen);
  for (const trial of trials) print(toRow(trial));
  const missed = trials.filter(({ caught }) => !caught.ok);
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  print(`\n${trials.length - missed.length} of ${trials.length} mutants caught in ${seconds} s`);
  return missed.length === 0 ? 0 : 1;
}

async function tryAll(benches: readonly Bench[], chosen: readonly Mutant[]): Promise<Trial[]> {
  const left = chosen.entries();
  const trials: Trial[] = [];
  const drain = async (bench: Bench): Promise<void> => {
    for (const [index, mutant] of left) {
      const trial = await bench.tryOne(mutant);
      trials[index] = trial;
      say(toRow(trial));
    }
  };
  await Promise.all(benches.map(drain));
  return trials;
}

const NAME_WIDTH = 72;

const toRow = ({ mutant, caught, seconds }: Trial): string =>
  `${caught.ok ? "caught  " : "SURVIVED"} ${`${seconds.toFixed(1)} s`.padStart(7)}  ${mutant.name.padEnd(NAME_WIDTH)} ${toReason(caught, mutant)}`;

const toReason = (caught: Caught, mutant: Mutant): string => (caught.ok ? caught.by : `${caught.why} (${mutant.breaks})`);

await runScript(main);
