/**
 * `npm run soak`: hours of mixed sessions with a model that fails as providers do, while the whole server is killed
 * (kill -9, all its processes) and restarted. Memory, files, latency and lag are recorded as curves. At the end nothing
 * acknowledged may be lost or duplicated, every turn must have ended, and the lists must equal the logs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { conduct } from "./soak/conduct.ts";
import { drawCurves, toCsv } from "./soak/curves.ts";
import { startFaultyProvider } from "./soak/faulty-provider.ts";
import { describe, findFaults } from "./soak/report.ts";
import { startToolService } from "./soak/tool-service.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";
import { LONGHAND } from "./support/paths.ts";
import { createRandom } from "./support/random.ts";
import { createSandbox } from "./support/sandbox.ts";
import { useUntilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run soak -- [options]
  --minutes N   how long clients talk (60)
  --kills N     how often the server is killed meanwhile (200)
  --sessions N  how many talk at the same time, in six manners (12)
  --tenants N   whose they are (3)
  --seed N      draws texts, faults and moments as the run with this seed did (a new one)
  --out FILE    the samples as CSV (.longhand/soak.csv)`;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      minutes: { type: "string", default: "60" },
      kills: { type: "string", default: "200" },
      sessions: { type: "string", default: "12" },
      tenants: { type: "string", default: "3" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      out: { type: "string" },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "Everything is said by options."),
      minutes: wholeNumber(1, 10_000),
      kills: wholeNumber(0, 100_000),
      sessions: wholeNumber(1, 200),
      tenants: wholeNumber(1, 20),
      seed: wholeNumber(0, 2 ** 32 - 1),
      out: z.string().optional(),
    }),
  });
}

async function main(): Promise<number> {
  const options = readOptions();
  const out = options.out === undefined ? join(LONGHAND, "soak.csv") : resolve(process.env.INIT_CWD ?? ".", options.out);
  say(`seed ${options.seed}: the same again with --seed ${options.seed}`);
  const provider = await startFaultyProvider(createRandom(options.seed));
  const tools = await startToolService();
  try {
    const run = await useUntilStopped(
      () => createSandbox(),
      (sandbox) => conduct({ sandbox, provider, tools }, options),
    );
    mkdirSync(LONGHAND, { recursive: true });
    writeFileSync(out, `${toCsv(run.samples)}\n`);
    print(`${describe(run, { provider })}\n\n${drawCurves(run.samples)}\n\nsamples         ${relative(process.cwd(), out)}`);
    const faults = findFaults(run, options);
    for (const fault of faults) say(`wrong: ${fault}`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await provider.close();
    await tools.close();
  }
}

await runScript(main);
