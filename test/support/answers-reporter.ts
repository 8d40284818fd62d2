/**
 * Fails where a documented answer never occurred: a success, or a refusal with each of its reasons. What never occurred was never checked
 * against the document, and may be impossible. The tests run in two steps, so the first keeps what it met for the second.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node";

/** For example `GET /v1/models 200` and `GET /v1/models 401 unauthorized`. */
export interface AnswersOfFile {
  /** Every documented answer. */
  readonly documented: readonly string[];
  /** The answers that were checked against the document. */
  readonly met: readonly string[];
}

declare module "vitest" {
  interface TaskMeta {
    answers?: AnswersOfFile;
  }
}

/** The faults of the service itself: they are caused by objects that fail, which the tests of the HTTP layer put in place of real ones. */
const isFault = (answer: string): boolean => / 5\d\d /.test(answer);

interface Run {
  /** The files that ask the Worker. Only real objects show that a success or a refusal is possible. */
  readonly worker: readonly AnswersOfFile[];
  /** The files that ask the HTTP layer over objects of their own. Null: they were not run. */
  readonly layer: readonly AnswersOfFile[] | null;
}

/** The documented answers that did not occur where they must. */
export function answersNeverMet({ worker, layer }: Run): readonly string[] {
  const [real, all] = [listMet(worker), listMet([...worker, ...(layer ?? [])])];
  const documented = [...new Set(worker.flatMap((file) => file.documented))];
  return documented.filter((answer) => (isFault(answer) ? layer !== null && !all.has(answer) : !real.has(answer)));
}

const listMet = (files: readonly AnswersOfFile[]): ReadonlySet<string> => new Set(files.flatMap((file) => file.met));

interface Projects {
  /** In the order of the steps. The last one judges. */
  readonly worker: readonly string[];
  readonly layer: string;
  /** The answers that cannot be caused, each with the reason. */
  readonly exempt: ReadonlyMap<string, string>;
}

export class AnswersReporter implements Reporter {
  readonly #projects: Projects;
  #vitest: Vitest | null = null;

  constructor(projects: Projects) {
    this.#projects = projects;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], _errors: readonly unknown[], reason: TestRunEndReason): Promise<void> {
    const vitest = this.#vitest;
    // A failed run needs no further failure, and a part of the tests covers only a part of the answers.
    if (!vitest || reason !== "passed" || vitest.getGlobalTestNamePattern()) return;
    const { worker: names, layer, exempt } = this.#projects;
    const whole = new Map<string, readonly AnswersOfFile[]>();
    for (const name of [...names, layer]) {
      const answers = await readWholeProject(modules, name);
      if (answers) whole.set(name, answers);
    }
    for (const [name, answers] of whole) keepAnswers(name, answers);
    if (!whole.has(names.at(-1) ?? "")) return;
    const worker = names.map((name) => whole.get(name) ?? findKept(name));
    if (worker.some((answers) => answers === null)) return vitest.logger.log("  Documented answers are not judged: run npm test first.");
    const real = worker.flatMap((answers) => answers ?? []);
    const faults = findFaults({ worker: real, layer: whole.get(layer) ?? findKept(layer) }, exempt);
    if (faults.length === 0) return;
    vitest.logger.error(faults.map((fault) => `  ${fault}`).join("\n"));
    process.exitCode = 1;
  }
}

function findFaults(run: Run, exempt: ReadonlyMap<string, string>): readonly string[] {
  const met = listMet(run.worker);
  return [
    ...answersNeverMet(run)
      .filter((answer) => !exempt.has(answer))
      .map((answer) => `${answer}: documented, and answered in no test`),
    ...[...exempt.keys()].filter((answer) => met.has(answer)).map((answer) => `${answer}: exempt, and answered`),
  ];
}

/** git ignores it. */
const KEPT = join(import.meta.dirname, "..", "..", ".longhand", "answers");

/** The files of a project as one. */
function keepAnswers(project: string, files: readonly AnswersOfFile[]): void {
  const documented = [...new Set(files.flatMap((file) => file.documented))];
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(join(KEPT, `${project}.json`), JSON.stringify([{ documented, met: [...listMet(files)] }]));
}

function findKept(project: string): readonly AnswersOfFile[] | null {
  try {
    return JSON.parse(readFileSync(join(KEPT, `${project}.json`), "utf8"));
  } catch {
    return null;
  }
}

/** What the files of a project report. Null unless all of them were run. */
async function readWholeProject(modules: readonly TestModule[], name: string): Promise<readonly AnswersOfFile[] | null> {
  const own = modules.filter(({ project }) => project.name === name);
  const [first] = own;
  if (!first) return null;
  const { testFiles } = await first.project.globTestFiles();
  return own.length < testFiles.length ? null : own.flatMap((module) => module.meta().answers ?? []);
}
