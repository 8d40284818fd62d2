/**
 * `npm run agents`: the coding agents that people run, unmodified and set up as docs/clients says, on a task of twelve tool rounds or
 * more through a server of its own.
 */
import { join } from "node:path";
import { z } from "zod";
import { CLIENTS } from "./agents/clients.ts";
import { installAgents, readVersion } from "./agents/install.ts";
import { recordRequests } from "./agents/record.ts";
import { MODES, tryClient } from "./agents/try-client.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { createTenant } from "./support/connection.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { createSandbox } from "./support/sandbox.ts";
import { useUntilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run agents -- [options] [AGENT…]
  --mode MODE     one of ${MODES.join(", ")}; absent: all of them
  --patient       for a machine that does other work: a stop may take ten seconds
  --rounds N      least tool rounds of the task (12); an agent that cuts results makes more
  --record        writes the requests of mode session to test/fixtures/agents
  --if-reachable  succeeds where the agents cannot be installed, because there is no package registry
  AGENT…          a part of a name: ${CLIENTS.map(({ name }) => name).join("; ")}`;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      mode: { type: "string" },
      patient: { type: "boolean", default: false },
      rounds: { type: "string", default: "12" },
      record: { type: "boolean", default: false },
      "if-reachable": { type: "boolean", default: false },
    },
    schema: z.object({
      files: z.array(z.string()),
      patient: z.boolean(),
      mode: z.enum(MODES, `must be one of ${MODES.join(", ")}`).optional(),
      rounds: wholeNumber(1, 100),
      record: z.boolean(),
      "if-reachable": z.boolean(),
    }),
  });
}

const COLUMNS = [28, 9, 12, 7, 7, 8, 7, 12] as const;
const HEADINGS = ["client", "version", "mode", "window", "rounds", "refused", "beside", "compactions", "result"];
const toRow = (cells: readonly (string | number)[]): string =>
  cells.map((cell, index) => String(cell).padEnd(COLUMNS[index] ?? 0)).join(" ");

async function startServer() {
  const sandbox = await createSandbox();
  let server = await sandbox.start();
  const connection = await createTenant(server.url, sandbox.adminKey);
  const restart = async (): Promise<void> => {
    await server.kill();
    server = await sandbox.start();
  };
  return { connection, restart, close: () => sandbox.close() };
}

async function main(): Promise<number> {
  const { files, mode: only, patient, rounds, record, "if-reachable": isOptional } = readOptions();
  const wanted = CLIENTS.filter(({ name }) => files.length === 0 || files.some((part) => name.toLowerCase().includes(part.toLowerCase())));
  if (wanted.length === 0) throw new Failure(`No agent has such a name.\n\n${USAGE}`);
  const folder = installAgents();
  if (folder === null) {
    say("The agents could not be installed: is the package registry within reach?");
    return isOptional ? 0 : 1;
  }
  const modes = only === undefined ? MODES : [only];
  const runs = wanted.flatMap((client) => modes.map((mode) => ({ client, mode })));
  const faults: string[] = [];
  await useUntilStopped(startServer, async ({ connection, restart }) => {
    const scene = { connection, restart, rounds, isPatient: patient, bin: join(folder, "node_modules", ".bin") };
    print(toRow(HEADINGS));
    for (const { client, mode } of runs) {
      const outcome = await tryClient(client, mode, scene);
      const version = readVersion(folder, client.package);
      if (record && mode === "session") recordRequests({ client: client.name, version, exchanges: outcome.exchanges });
      const { window, rounds: done, refused, beside, compactions, stopped, fault } = outcome;
      const result = fault ?? (stopped === null ? "done" : `stopped in ${stopped} ms`);
      print(toRow([client.name, version, mode, window, done, refused, beside, compactions, result]));
      if (fault !== null) faults.push(`${client.name}, ${mode}: ${fault}\n${outcome.output}`);
    }
  });
  for (const fault of faults) say(`\n${fault}`);
  return faults.length > 0 ? 1 : 0;
}

await runScript(main);
