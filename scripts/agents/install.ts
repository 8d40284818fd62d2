/** Installs the agents of the lock file in `packages` into `.longhand/agents`, once for each lock file. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { say } from "../support/output.ts";
import { ROOT } from "../support/paths.ts";

const FILES = ["package.json", "package-lock.json"] as const;
const SOURCE = join(import.meta.dirname, "packages");

/** The scripts that put a command in its place. Of the other packages none has to run. */
const SCRIPTS = [
  ["@anthropic-ai/claude-code", "install.cjs"],
  ["opencode-ai", "postinstall.mjs"],
] as const;

const run = (command: string, args: readonly string[], cwd: string): boolean =>
  spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2] }).status === 0;

/** The folder with the agents. Null: they could not be installed, because the package registry is out of reach. */
export function installAgents(): string | null {
  const digest = createHash("sha256")
    .update(readFileSync(join(SOURCE, "package-lock.json")))
    .digest("hex")
    .slice(0, 16);
  const folder = join(ROOT, ".longhand", "agents", digest);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  for (const file of FILES) copyFileSync(join(SOURCE, file), join(draft, file));
  say("Installing the agents (1.5 GB); this happens once …");
  // The lock file has the packages of some platforms only, which `npm ci` refuses.
  const npm = run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], draft);
  const isDone = npm && SCRIPTS.every(([name, script]) => run(process.execPath, [script], join(draft, "node_modules", name)));
  if (!isDone) return null;
  renameSync(draft, folder);
  return folder;
}

/** The version of an installed package. */
export function readVersion(folder: string, name: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")) as { version: string };
  return version;
}
