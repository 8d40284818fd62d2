/**
 * The Worker as it would be deployed, its bindings, and its empty database: built once, and kept for every sandbox of this checkout until a
 * source changes. Building them takes longer than most runs of a script.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyMigrations } from "./migrations.ts";
import { Failure } from "./output.ts";
import { BUILT, ROOT } from "./paths.ts";
import { runWrangler } from "./wrangler.ts";

/** All that the build reads, and the build itself. The lock file stands for the packages. */
const BUILD = "scripts/support/built-worker.ts";
const SOURCES = ["src", "scripts/bundle", BUILD, "migrations", "wrangler.toml", "tsconfig.json", "package-lock.json"];
/** A checkout that goes back and forth between a few states builds each once. */
const KEPT = 4;

export interface BuiltWorker {
  /** A directory with `index.js`. */
  readonly bundle: string;
  /** A directory of data without rows. */
  readonly state: string;
  /** A JSON file: what wrangler.toml says of the Worker, in Miniflare's words. It holds no variables. */
  readonly worker: string;
}

/** Copy what you take: another process may remove it after later builds. */
export async function findBuiltWorker(): Promise<BuiltWorker> {
  const kept = join(BUILT, digestSources());
  if (!existsSync(kept)) await build(kept);
  return placeIn(kept);
}

const placeIn = (directory: string): BuiltWorker => ({
  bundle: join(directory, "bundle"),
  state: join(directory, "state"),
  worker: join(directory, "worker.json"),
});

/** Two processes may build at once. The directory gets its name when it is complete, and the first one keeps it. */
async function build(kept: string): Promise<void> {
  mkdirSync(BUILT, { recursive: true });
  const directory = mkdtempSync(join(BUILT, "new-"));
  try {
    const { bundle, state, worker } = placeIn(directory);
    const [{ code, output }] = await Promise.all([runWrangler(["deploy", "--dry-run", "--outdir", bundle]), applyMigrations(state)]);
    if (code !== 0) throw new Failure(`The Worker could not be built:\n${output}`);
    writeFileSync(worker, JSON.stringify(await readWorkerOptions()));
    rename(directory, kept);
  } finally {
    remove(directory);
  }
  for (const old of listNewestFirst().slice(KEPT)) remove(old);
}

/** Wrangler itself reads its file, so that a server has what `wrangler dev` would give it. Importing Wrangler takes a second, so the result is kept. */
async function readWorkerOptions(): Promise<object> {
  const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(ROOT, "wrangler.toml"));
  // Wrangler adds the developer's `.dev.vars` to the variables. A sandbox has its own.
  return { ...workerOptions, bindings: {} };
}

function rename(directory: string, kept: string): void {
  try {
    renameSync(directory, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
  }
}

const remove = (directory: string): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });

function listNewestFirst(): readonly string[] {
  const paths = readdirSync(BUILT).map((name) => join(BUILT, name));
  const dated = paths.map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  return dated.sort((one, other) => other.time - one.time).map(({ path }) => path);
}

function digestSources(): string {
  // The Worker's options name the directory of its assets.
  const hash = createHash("sha256").update(`${ROOT}\0`);
  for (const source of SOURCES) {
    const names = statSync(join(ROOT, source)).isDirectory()
      ? readdirSync(join(ROOT, source), { recursive: true, encoding: "utf8" })
      : [""];
    for (const name of names.sort()) {
      const path = join(ROOT, source, name);
      if (statSync(path).isFile()) hash.update(`${source}/${name}\0`).update(readFileSync(path)).update("\0");
    }
  }
  return hash.digest("hex").slice(0, 32);
}
