/**
 * Runs the commands of each page in bash and in zsh against a backend: all must succeed, and no request may be refused.
 * Excluded are blocks that name a further requirement ("**Needs a Cloudflare account.**"), and those that start the
 * backend or the tests.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTenant, writeConnection } from "../../scripts/support/connection";
import { createSandbox, type Sandbox } from "../../scripts/support/sandbox";
import { findCommandBlocks, readPages } from "../support/doc-pages";

const ROOT = join(import.meta.dirname, "..", "..");
/** The environment of the commands. `node scripts/run.mjs` runs in the repository itself. */
const PARTS = ["scripts", "node_modules", "package.json", "wrangler.toml"];
const MINUTES = 60_000;
const SHELLS = ["bash", "zsh"].map((shell) => ({ shell, missing: spawnSync(shell, ["-c", "true"]).status !== 0 }));

const isOfTheProject = (commands: string): boolean =>
  /^(PORT=\d+ )?(npm (start|test|ci)\b|npm run (check|simulate)\b|bash \.ci\/run)/m.test(commands);

const pages = readPages()
  .map((page) => ({
    path: page.path,
    script: findCommandBlocks(page)
      .filter(({ needs, commands }) => needs === null && !isOfTheProject(commands))
      .map(({ commands }) => commands)
      .join("\n"),
  }))
  .filter(({ script }) => script !== "");

let sandbox: Sandbox;
let url: string;

beforeAll(async () => {
  sandbox = await createSandbox();
  ({ url } = await sandbox.start());
}, 2 * MINUTES);

afterAll(() => sandbox.close());

interface Run {
  readonly code: unknown;
  readonly said: string;
  /** Refused requests, with their status. */
  readonly refused: readonly string[];
}

/** A folder as `npm start` leaves it, with its own tenant, and a `curl` that records the status of each response. */
async function createFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "longhand-page-"));
  for (const name of PARTS) symlinkSync(join(ROOT, name), join(folder, name));
  writeConnection(await createTenant(url, sandbox.adminKey), join(folder, ".longhand", "dev.json"));
  writeFileSync(join(folder, ".dev.vars"), `ADMIN_KEY=${sandbox.adminKey}\n`);
  for (const name of ["bin", "answers"]) mkdirSync(join(folder, name));
  const curl = spawnSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).stdout.trim();
  const note = `answer=$(mktemp "${folder}/answers/XXXXXX")\nprintf '%s\\n' "$*" > "$answer.request"\nexec ${curl} -D "$answer" "$@"\n`;
  writeFileSync(join(folder, "bin", "curl"), `#!/bin/sh\n${note}`);
  chmodSync(join(folder, "bin", "curl"), 0o755);
  return folder;
}

function findRefused(folder: string): readonly string[] {
  const answers = join(folder, "answers");
  const names = readdirSync(answers).filter((name) => !name.endsWith(".request"));
  return names.flatMap((name) => {
    const status = /^HTTP\/[\d.]+ (\d{3})(?![\s\S]*^HTTP\/)/m.exec(readFileSync(join(answers, name), "utf8"))?.[1] ?? "no answer";
    return /^[23]/.test(status) ? [] : [`${status}: ${readFileSync(join(answers, `${name}.request`), "utf8").trim()}`];
  });
}

/** A page that fails in the middle may leave a service running, which would hold its output open. */
function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

async function runPage(shell: string, script: string): Promise<Run> {
  const folder = await createFolder();
  try {
    const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH ?? ""}` };
    const options = shell === "zsh" ? ["-f"] : ["--noprofile", "--norc"];
    const child = spawn(shell, [...options, "-e", "-u", "-c", script], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-4_000);
      });
    }
    const closed = once(child, "close");
    const [code] = await once(child, "exit");
    killGroup(child.pid);
    await closed;
    return { code, said, refused: findRefused(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

describe.each(SHELLS)("the commands of a page, in $shell (skipped where it is not installed)", ({ shell, missing }) => {
  test.skipIf(missing).each(pages)(
    "all work: $path",
    async ({ script }) => {
      const { code, said, refused } = await runPage(shell, script);
      expect(refused).toEqual([]);
      expect(code, said).toBe(0);
    },
    2 * MINUTES,
  );
});
