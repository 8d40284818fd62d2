/**
 * `npm run client`: the types of the client from the OpenAPI document of this checkout, and the package that is published. The
 * types are committed, so that a change of the API shows what it changes for clients.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { buildClient } from "./client/build.ts";
import { generateClient } from "./client/generate.ts";
import { readCommandLine } from "./support/command-line.ts";
import { readOpenApi } from "./support/openapi.ts";
import { Failure, runScript, say } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";

const USAGE = `Usage: npm run client -- [options]
  --check  says whether the committed types are those of the document, and writes nothing`;

const SOURCES = join(ROOT, "packages", "client", "src");

async function main(): Promise<number> {
  const { check } = readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { check: { type: "boolean", default: false } },
    schema: z.object({ files: z.array(z.string()).length(0, "No files are needed."), check: z.boolean() }),
  });
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

function readOr(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

await runScript(main);
