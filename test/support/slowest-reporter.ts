/** `npm test -- --slowest 20`: the files that took longest, and what they waited for. */
import type { Reporter, TestModule } from "vitest/node";
import type { FileCost } from "./file-costs.ts";

export interface FileTimes {
  readonly path: string;
  /** Milliseconds. `setup` empties storage, `imports` loads modules and sends them to workerd, `tests` holds hooks: servers, migrations. */
  readonly setup: number;
  readonly imports: number;
  readonly tests: number;
  readonly cost: FileCost | null;
}

const COLUMNS = ["total s", "setup", "imports", "tests", "own CPU", "MB written"];

const total = ({ setup, imports, tests }: FileTimes): number => setup + imports + tests;
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

function toCells({ cost, ...file }: FileTimes): readonly string[] {
  const written = cost?.written == null ? "-" : (cost.written / 1_000_000).toFixed(0);
  const times = [total({ cost, ...file }), file.setup, file.imports, file.tests].map(seconds);
  return [...times, cost ? seconds(cost.cpuMs) : "-", written];
}

const toRow = (cells: readonly string[], path: string): string => `${cells.map((cell) => cell.padStart(12)).join("")}  ${path}`;

/** A table of the `most` slowest files, and the sums of each project. */
export function tabulate(files: readonly FileTimes[], most: number): string {
  const slowest = files.toSorted((one, other) => total(other) - total(one)).slice(0, most);
  return [toRow(COLUMNS, "file"), ...slowest.map((file) => toRow(toCells(file), file.path)), toRow(toCells(sum(files)), "all files")].join(
    "\n",
  );
}

const add = (of: readonly (number | null | undefined)[]): number => of.reduce<number>((whole, each) => whole + (each ?? 0), 0);

const sum = (files: readonly FileTimes[]): FileTimes => ({
  path: "",
  setup: add(files.map(({ setup }) => setup)),
  imports: add(files.map(({ imports }) => imports)),
  tests: add(files.map(({ tests }) => tests)),
  cost: { cpuMs: add(files.map(({ cost }) => cost?.cpuMs)), written: add(files.map(({ cost }) => cost?.written)) },
});

function readTimes(module: TestModule): FileTimes {
  const { prepareDuration, environmentSetupDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  return {
    path: module.relativeModuleId,
    setup: prepareDuration + environmentSetupDuration + setupDuration,
    imports: collectDuration,
    tests: duration,
    cost: module.meta().cost ?? null,
  };
}

export class SlowestReporter implements Reporter {
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#most > 0) process.stdout.write(`\n${tabulate(modules.map(readTimes), this.#most)}\n`);
  }
}
