/**
 * `npm run client`: the types of the client from the OpenAPI document of this checkout, and the package that is published. The
 * types are committed, so that a change of the API shows what it changes for clients.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { buildClient } from "./client/build.ts";
import { generateClient } from "./client/generate.ts";
import { findRuntime, type Report, RUNTIMES, type Runtime, RuntimeBench } from "./client/runtimes.ts";
import { readCommandLine } from "./support/command-line.ts";
import { readOpenApi } from "./support/openapi.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";

const USAGE = `Usage: npm run client -- [options]
  --check     says whether the committed types are those of the document, and writes nothing
  --build     only builds the package, from the committed types
  --runtimes  runs one program with the client in Node, Deno, Bun, a browser and a Worker, over cut connections
  --deno, --bun, --browser COMMAND
              with --runtimes: where that runtime is, if it is not on the PATH`;

const SOURCES = join(ROOT, "packages", "client", "src");

async function main(): Promise<number> {
  const command = z.string().optional();
  const { check, build, runtimes, ...commands } = readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      check: { type: "boolean", default: false },
      build: { type: "boolean", default: false },
      runtimes: { type: "boolean", default: false },
      deno: { type: "string" },
      bun: { type: "string" },
      browser: { type: "string" },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "No files are needed."),
      check: z.boolean(),
      build: z.boolean(),
      runtimes: z.boolean(),
      deno: command,
      bun: command,
      browser: command,
    }),
  });
  if (runtimes) return runEverywhere(commands);
  if (build) {
    say(await buildClient());
    return 0;
  }
  const files = await generateClient(await readOpenApi());
  const stale = Object.entries(files).filter(([name, text]) => readOr(join(SOURCES, name)) !== text);
  if (check) {
    if (stale.length > 0)
      throw new Failure(`packages/client/src/${stale[0]?.[0]} is not what the OpenAPI document says. Try: npm run client`);
    say("The client's types are those of the OpenAPI document");
    return 0;
  }
  for (const [name, text] of stale) writeFileSync(join(SOURCES, name), text);
  say(await buildClient());
  return 0;
}

async function runEverywhere(given: {
  deno?: string | undefined;
  bun?: string | undefined;
  browser?: string | undefined;
}): Promise<number> {
  const { deno, bun, browser } = given;
  const commands = { ...(deno !== undefined && { deno }), ...(bun !== undefined && { bun }), ...(browser !== undefined && { browser }) };
  const bench = await RuntimeBench.open();
  try {
    for (const runtime of RUNTIMES) {
      const command = findRuntime(runtime, commands);
      print(command === null ? `${runtime}: not found` : describeReport(runtime, await bench.run(runtime, command)));
    }
  } finally {
    await bench.close();
  }
  return 0;
}

function describeReport(runtime: Runtime, { offsets, cuts, status, text, output, ms }: Report): string {
  const isOrdered = offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? offset));
  if (!isOrdered || text !== output || status !== "completed") throw new Failure(`${runtime}: the stream or the tool loop is wrong`);
  return `${runtime}: ${offsets.length} events of a stream once and in order, a turn with a tool, ${cuts} connections cut, ${ms} ms`;
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

await runScript(main);
