/**
 * `npm run openapi`: the OpenAPI document of this checkout, without a server, for generators of clients and for the linter. It is the
 * document that `GET /openapi.json` serves.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readCommandLine } from "./support/command-line.ts";
import { readOpenApi } from "./support/openapi.ts";
import { print, runScript, say } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";

const USAGE = `Usage: npm run openapi -- [options]
  --out FILE  writes the document to a file (stdout)
  --lint      checks the document by the rules of redocly.yaml instead`;

const LINTER = join(ROOT, "node_modules", "@redocly", "cli", "bin", "cli.js");
/** The linter works offline and sends no telemetry. */
const OFFLINE = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

function lint(document: string): number {
  const folder = mkdtempSync(join(tmpdir(), "longhand-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    writeFileSync(file, document);
    const args = [LINTER, "lint", file, "--config", join(ROOT, "redocly.yaml"), "--max-problems=50"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, ...OFFLINE } });
    say(status === 0 ? "The OpenAPI document keeps the rules of redocly.yaml" : `${stdout}${stderr}`);
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function main(): Promise<number> {
  const options = readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { out: { type: "string" }, lint: { type: "boolean", default: false } },
    schema: z.object({
      files: z.array(z.string()).length(0, "Name the file by --out."),
      out: z.string().min(1, "must name a file").optional(),
      lint: z.boolean(),
    }),
  });
  const document = await readOpenApi();
  if (options.lint) return lint(document);
  if (options.out === undefined) print(document);
  else writeFileSync(resolve(process.env.INIT_CWD ?? ".", options.out), `${document}\n`);
  return 0;
}

await runScript(main);
