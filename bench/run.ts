/**
 * `npm run bench`: the cost of operations in workerd, side by side in one run. CPU is the workerd process's own time
 * according to the kernel, minus idle time. Ratios are comparable between machines; absolute figures are not.
 */
import { cpus } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import { readCommandLine } from "../scripts/support/command-line.ts";
import { Failure, print, runScript, say } from "../scripts/support/output.ts";
import { useUntilStopped } from "../scripts/support/stop-signal.ts";
import { benchAgainst, buildsAgainst } from "./against.ts";
import { benchAppends } from "./appends.ts";
import { benchBatch } from "./batch.ts";
import { benchContext } from "./context.ts";
import { benchEvaluate } from "./evaluate.ts";
import { benchFind } from "./find.ts";
import { benchHistory } from "./history.ts";
import { benchImport } from "./import.ts";
import { benchLimits } from "./limits.ts";
import { benchMemory } from "./memory.ts";
import { benchMicro } from "./micro.ts";
import { benchPast } from "./past.ts";
import { benchRecall } from "./recall.ts";
import { benchResident } from "./resident.ts";
import { benchScale } from "./scale.ts";
import { benchStream } from "./stream.ts";
import { type BenchResult, formatResult, toJson } from "./support/report.ts";
import { COUNTED, createRig, type Rig } from "./support/rig.ts";
import { benchSurfaces } from "./surfaces.ts";
import { benchTurn } from "./turn.ts";
import { benchWake } from "./wake.ts";
import { benchWebhooks } from "./webhooks.ts";

const BENCHES: Readonly<Record<string, (rig: Rig) => BenchResult | Promise<BenchResult>>> = {
  micro: benchMicro,
  context: benchContext,
  turn: benchTurn,
  stream: benchStream,
  appends: benchAppends,
  history: benchHistory,
  wake: benchWake,
  recall: benchRecall,
  find: benchFind,
  import: benchImport,
  batch: benchBatch,
  memory: benchMemory,
  resident: benchResident,
  past: benchPast,
  evaluate: benchEvaluate,
  surfaces: benchSurfaces,
  limits: benchLimits,
  webhooks: benchWebhooks,
  scale: benchScale,
};

const USAGE = `Usage: npm run bench -- [NAME …] [--json]
       npm run bench -- --against DIR [--json]
  NAME    only these: ${Object.keys(BENCHES).join(", ")}; BENCH_SESSIONS=5000 makes scale small
  --against DIR  only a turn, beside another checkout in DIR, which has its packages installed
  --json  figures as JSON, samples included`;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { json: { type: "boolean", default: false }, against: { type: "string" } },
    schema: z.object({ files: z.array(z.enum(Object.keys(BENCHES))), json: z.boolean(), against: z.string().optional() }),
  });
}

/** Each benchmark has its own rig, so that one does not affect the other. */
async function runBench(name: string): Promise<BenchResult> {
  const bench = BENCHES[name];
  if (!bench) throw new Failure(`No benchmark is called ${name}`);
  say(`${name} …`);
  return useUntilStopped(
    () => (bench === benchScale ? createRig([COUNTED]) : createRig()),
    async (rig) => bench(rig),
  );
}

function runAgainst(directory: string): Promise<BenchResult> {
  say(`a turn beside ${directory} …`);
  return useUntilStopped(() => createRig(buildsAgainst(resolve(directory))), benchAgainst);
}

/** What a command line asks for, in order. */
function chooseRuns({ files, against }: { readonly files: readonly string[]; readonly against?: string | undefined }) {
  if (against !== undefined) return [() => runAgainst(against)];
  return (files.length > 0 ? files : Object.keys(BENCHES)).map((name) => () => runBench(name));
}

async function main(): Promise<number> {
  const { json, ...chosen } = readOptions();
  const machine = `${process.platform} ${process.arch}, ${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown"}`;
  if (!json) print(`Longhand in workerd through Miniflare, on ${machine}`);
  const results: BenchResult[] = [];
  for (const run of chooseRuns(chosen)) {
    const result = await run();
    results.push(result);
    if (!json) print(formatResult(result));
  }
  if (json) print(JSON.stringify({ machine, results: results.map(toJson) }));
  return 0;
}

await runScript(main);
