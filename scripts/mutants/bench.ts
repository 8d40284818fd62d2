/** A copy of the source in its own directory, in which mutants are applied and tested one at a time. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "../support/paths.ts";
import type { Mutant } from "./mutant.ts";

/** The test that detected the mutant, or the reason why it counts as undetected. */
export type Caught = { readonly ok: true; readonly by: string } | { readonly ok: false; readonly why: string };

export interface Trial {
  readonly mutant: Mutant;
  readonly caught: Caught;
  readonly seconds: number;
}

const COPIED = ["src", "test", "scripts", "bench", "docs", "migrations", "package.json", "tsconfig.json"];
const SIMULATION = ["test/simulation/seeds-"];
/** Tests that need workerd, which the bench does not have. */
export const LEFT_OUT = ["test/workers/", "test/acceptance/workers/"] as const;
/** The tests of the copy in plain Node. Only the tests that the mutant names are loaded. */
const CONFIG = `import { SEEDED } from "./test/support/read-seed";
export default { test: { ...SEEDED, include: ["test/**/*.test.ts"], exclude: ${JSON.stringify(LEFT_OUT.map((folder) => `${folder}**`))}, maxWorkers: 1 } };
`;
/** A test that hangs has detected something, but its report would not say what. */
const PATIENCE_MS = 240_000;
/** All named tests, whole, without a mutant. */
const PATIENCE_OF_ALL_MS = 3_600_000;

const report = z.object({
  numTotalTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string(), title: z.string(), failureMessages: z.array(z.string()).nullish() })),
    }),
  ),
});
type Report = z.infer<typeof report>;

export function createBench() {
  const directory = mkdtempSync(join(tmpdir(), "longhand-mutants-"));
  const children = new Set<ChildProcess>();
  for (const name of COPIED) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"), "dir");
  writeFileSync(join(directory, "vitest.config.mjs"), CONFIG);
  const runTests: RunTests = (paths, how) => runVitest({ directory, children, paths, ...how });

  /** Runs the tests that the mutants name on the unchanged source. Null when all pass. */
  const checkSound = async (mutants: readonly Mutant[]): Promise<string | null> => {
    const named = [...new Set(mutants.flatMap(({ tests }) => tests))];
    const most = Math.max(...mutants.map(({ seeds }) => seeds ?? 0));
    const results = [
      named.length > 0 ? await runTests(named, SOUND) : EMPTY,
      most > 0 ? await runTests(SIMULATION, { ...SOUND, seeds: most }) : EMPTY,
    ];
    return results.map((result) => (result === null ? UNENDED : isUnsound(result) ? describe(result) : "")).find(Boolean) ?? null;
  };

  const tryOne = async (mutant: Mutant): Promise<Trial> => {
    const startedAt = Date.now();
    const path = join(directory, mutant.file);
    const source = readFileSync(path, "utf8");
    const times = source.split(mutant.find).length - 1;
    const seconds = (): number => (Date.now() - startedAt) / 1_000;
    if (times !== 1) return { mutant, caught: { ok: false, why: `applies ${times} times in ${mutant.file}` }, seconds: seconds() };
    try {
      writeFileSync(
        path,
        source.replace(mutant.find, () => mutant.replace),
      );
      return { mutant, caught: await judge(mutant, runTests), seconds: seconds() };
    } finally {
      writeFileSync(path, source);
    }
  };

  const close = (): void => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  return { checkSound, tryOne, close };
}

/** A test file that fails to load runs no test, so it would detect no mutant. */
const isUnsound = ({ numFailedTests, testResults }: Report): boolean =>
  numFailedTests > 0 || testResults.some(({ assertionResults }) => assertionResults.length === 0);

/** First as `npm test` runs them. What escapes there meets all random cases and sizes, as in the second step of `.ci/run`. */
async function judge(mutant: Mutant, runTests: RunTests): Promise<Caught> {
  const stages: (readonly [readonly string[], How])[] = [];
  if (mutant.tests.length > 0) stages.push([mutant.tests, { ...WHOLE, effort: "" }], [mutant.tests, WHOLE]);
  if (mutant.seeds) stages.push([SIMULATION, { ...WHOLE, seeds: mutant.seeds }]);
  for (const [paths, how] of stages) {
    const result = await runTests(paths, how);
    if (!result) return { ok: false, why: `the tests of ${paths} did not come to an end` };
    if (result.numTotalTests === 0) return { ok: false, why: `no test of ${paths} ran: ${describe(result)}` };
    if (result.numFailedTests > 0) return { ok: true, by: describe(result) };
  }
  return { ok: false, why: "nothing noticed" };
}

/** The first failure: the broken invariant of the simulation, or the title of any other test. */
function describe({ testResults }: Report): string {
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (!failed) continue;
    const seed = /seed \d+ breaks I\d+[^\n]{0,60}/.exec(failed.failureMessages?.join("\n") ?? "")?.[0];
    return seed ?? `${name.slice(name.lastIndexOf("test/"))}: ${failed.title}`;
  }
  const unloaded = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  return `${unloaded?.name ?? "a test file"} does not load: ${unloaded?.message ?? ""}`;
}

interface How {
  /** Seeds of the simulation. 0: it does not run. */
  readonly seeds: number;
  /** `TEST_EFFORT`. */
  readonly effort: string;
  readonly patienceMs: number;
}

const WHOLE: How = { seeds: 0, effort: "1", patienceMs: PATIENCE_MS };
const SOUND: How = { ...WHOLE, patienceMs: PATIENCE_OF_ALL_MS };
const EMPTY: Report = { numTotalTests: 0, numFailedTests: 0, testResults: [] };
const UNENDED = "they did not come to an end";

type RunTests = (paths: readonly string[], how: How) => Promise<Report | null>;

interface Run extends How {
  readonly directory: string;
  readonly children: Set<ChildProcess>;
  readonly paths: readonly string[];
}

/** Null when the run was cancelled. */
function runVitest({ directory, children, paths, seeds, effort, patienceMs }: Run): Promise<Report | null> {
  const output = join(directory, "report.json");
  rmSync(output, { force: true });
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "--bail=1", "--reporter=json", `--outputFile=${output}`, ...paths];
  const env = { ...process.env, SEED: "", SEEDS: seeds > 0 ? String(seeds) : "", TEST_EFFORT: effort };
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: directory, env, stdio: "ignore" });
    children.add(child);
    const impatience = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    child.on("exit", (_code, signal) => {
      clearTimeout(impatience);
      children.delete(child);
      resolve(signal ? null : report.parse(JSON.parse(readFileSync(output, "utf8"))));
    });
  });
}
