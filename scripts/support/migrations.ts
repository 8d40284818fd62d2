/** Applies D1 migrations to the local databases that `wrangler.toml` names. It skips them quickly when nothing changed since the last time. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./output.ts";
import { ROOT } from "./paths.ts";
import { runWrangler } from "./wrangler.ts";

const MIGRATIONS = join(ROOT, "migrations");

/** Applies missing migrations to the databases under `state`. Throws a `Failure` with Wrangler's output. */
export async function applyMigrations(state: string): Promise<void> {
  // The stamp is stored beside the data, so that deleting the data deletes it too.
  const stamp = join(state, "migrations.sha256");
  const names = readDatabaseNames();
  const digest = digestMigrations(names);
  if (existsSync(join(state, "v3", "d1")) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  for (const name of names) {
    const { code, output } = await runWrangler(["d1", "migrations", "apply", name, "--local", "--persist-to", state]);
    if (code !== 0) throw new Failure(`The D1 migrations could not be applied to ${name} in ${state}:\n${output}`);
  }
  mkdirSync(state, { recursive: true });
  writeFileSync(stamp, digest);
}

function readDatabaseNames(): readonly string[] {
  const names = readFileSync(join(ROOT, "wrangler.toml"), "utf8").matchAll(/^database_name = "([^"]+)"/gm);
  return [...names].flatMap(([, name]) => name ?? []);
}

function digestMigrations(names: readonly string[]): string {
  const hash = createHash("sha256").update(`${names.join(" ")}\n`);
  for (const name of readdirSync(MIGRATIONS).sort()) {
    if (name.endsWith(".sql")) hash.update(`${name}\n`).update(readFileSync(join(MIGRATIONS, name)));
  }
  return hash.digest("hex");
}
