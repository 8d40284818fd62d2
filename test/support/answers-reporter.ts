/**
 * Fails a complete run of the Worker's tests in which a documented success response never occurred, and so was never
 * checked against the document.
 */
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node";

/** For example `GET /v1/models 200`. */
export interface AnswersOfFile {
  /** Every documented success. */
  readonly documented: readonly string[];
  /** The responses that were checked against the document. */
  readonly met: readonly string[];
}

declare module "vitest" {
  interface TaskMeta {
    answers?: AnswersOfFile;
  }
}

/** The documented successes that occurred in no file. */
export function successesNeverMet(files: readonly AnswersOfFile[]): readonly string[] {
  const met = new Set(files.flatMap((file) => file.met));
  return [...new Set(files.flatMap((file) => file.documented))].filter((success) => !met.has(success));
}

export class AnswersReporter implements Reporter {
  readonly #project: string;
  #vitest: Vitest | null = null;

  /** `project`: the project whose files report their responses. */
  constructor(project: string) {
    this.#project = project;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], _errors: readonly unknown[], reason: TestRunEndReason): Promise<void> {
    const vitest = this.#vitest;
    const own = modules.filter(({ project }) => project.name === this.#project);
    const [first] = own;
    // A failed run needs no further failure, and a part of the files or tests covers only a part of the responses.
    if (!vitest || !first || reason !== "passed" || vitest.getGlobalTestNamePattern()) return;
    const { testFiles } = await first.project.globTestFiles();
    if (own.length < testFiles.length) return;
    const missing = successesNeverMet(own.flatMap((module) => module.meta().answers ?? []));
    if (missing.length === 0) return;
    vitest.logger.error(`Documented, and answered in no test of the Worker:\n${missing.map((success) => `  ${success}`).join("\n")}`);
    process.exitCode = 1;
  }
}
