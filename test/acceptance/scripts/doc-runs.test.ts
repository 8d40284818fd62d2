/**
 * Runs the commands of each page in bash and in zsh against a backend: all must succeed, no request may be refused, a block must print the
 * text that the page shows behind it, and the tenant's settings are at the end what they were.
 * Excluded are blocks that name a further requirement ("**Needs a Cloudflare account.**"), and those that start the
 * backend or the tests.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "../../../scripts/support/api-client";
import { createTenant, writeConnection } from "../../../scripts/support/connection";
import { createSandbox, type Sandbox } from "../../../scripts/support/sandbox";
import { type CommandBlock, findCommandBlocks, readPages, toOutputPattern } from "../../support/doc-pages";
import { type CommandsRun, runCommands, SHELLS } from "../../support/run-commands";
import { readTenantSettings } from "../../support/tenant-settings";

const ROOT = join(import.meta.dirname, "..", "..", "..");
/** The environment of the commands. `node scripts/run.mjs` runs in the repository itself. */
const PARTS = ["scripts", "node_modules", "package.json", "wrangler.toml"];
const MINUTES = 60_000;

const isOfTheProject = (commands: string): boolean =>
  /^(PORT=\d+ )?(npm (start|test|ci)\b|npm run (check|simulate)\b|bash \.ci\/run)/m.test(commands);

const pages = readPages()
  .map((page) => ({
    path: page.path,
    blocks: findCommandBlocks(page).filter(({ needs, commands }) => needs === null && !isOfTheProject(commands)),
  }))
  .filter(({ blocks }) => blocks.length > 0);

let sandbox: Sandbox;
let url: string;

beforeAll(async () => {
  sandbox = await createSandbox();
  ({ url } = await sandbox.start());
}, 2 * MINUTES);

afterAll(() => sandbox.close());

/** A folder as `npm start` leaves it, with a `curl` that records the status of each response. */
function createFolder(connection: Connection): string {
  const folder = mkdtempSync(join(tmpdir(), "longhand-page-"));
  for (const name of PARTS) symlinkSync(join(ROOT, name), join(folder, name));
  writeConnection(connection, join(folder, ".longhand", "dev.json"));
  writeFileSync(join(folder, ".dev.vars"), `ADMIN_KEY=${sandbox.adminKey}\n`);
  for (const name of ["bin", "answers"]) mkdirSync(join(folder, name));
  const curl = spawnSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).stdout.trim();
  const note = `answer=$(mktemp "${folder}/answers/XXXXXX")\nprintf '%s\\n' "$*" > "$answer.request"\nexec ${curl} -D "$answer" "$@"\n`;
  writeFileSync(join(folder, "bin", "curl"), `#!/bin/sh\n${note}`);
  chmodSync(join(folder, "bin", "curl"), 0o755);
  return folder;
}

/** Refused requests, with their status. */
function findRefused(folder: string): readonly string[] {
  const answers = join(folder, "answers");
  const names = readdirSync(answers).filter((name) => !name.endsWith(".request"));
  return names.flatMap((name) => {
    const status = /^HTTP\/[\d.]+ (\d{3})(?![\s\S]*^HTTP\/)/m.exec(readFileSync(join(answers, name), "utf8"))?.[1] ?? "no answer";
    return /^[23]/.test(status) ? [] : [`${status}: ${readFileSync(join(answers, `${name}.request`), "utf8").trim()}`];
  });
}

interface PageRun extends CommandsRun {
  readonly refused: readonly string[];
  /** The tenant's settings before and after. */
  readonly settings: readonly [before: object, after: object];
}

async function runPage(shell: string, blocks: readonly CommandBlock[]): Promise<PageRun> {
  const connection = await createTenant(url, sandbox.adminKey);
  const folder = createFolder(connection);
  try {
    const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH ?? ""}` };
    const before = await readTenantSettings(connection);
    const run = await runCommands(shell, blocks, { cwd: folder, env });
    return { ...run, refused: findRefused(folder), settings: [before, await readTenantSettings(connection)] };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

describe.each(SHELLS)("the commands of a page, in $shell (skipped where it is not installed)", ({ shell, missing }) => {
  test.skipIf(missing).each(pages)(
    "all work, print what the page shows, and put back what they changed: $path",
    async ({ blocks }) => {
      const { code, said, outputs, refused, settings } = await runPage(shell, blocks);
      expect(refused).toEqual([]);
      expect(code, said).toBe(0);
      expect(settings[1]).toEqual(settings[0]);
      for (const [index, { shows }] of blocks.entries()) if (shows !== null) expect(outputs[index]?.trim()).toMatch(toOutputPattern(shows));
    },
    2 * MINUTES,
  );

  test.skipIf(missing).each(pages.filter(({ blocks }) => blocks.some(({ commands }) => /idempotency-key/i.test(commands))))(
    "can be pasted twice where they name an Idempotency-Key: $path",
    async ({ blocks }) => {
      const { code, said, refused } = await runPage(shell, [...blocks, ...blocks]);
      expect(refused).toEqual([]);
      expect(code, said).toBe(0);
    },
    2 * MINUTES,
  );
});
