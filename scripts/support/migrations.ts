/** Applies D1 migrations to the local databases that `wrangler.toml` names. It skips them quickly when nothing changed since the last time. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "./output.ts";
import { ROOT } from "./paths.ts";
import { runWrangler } from "./wrangler.ts";

const MIGRATIONS = join(ROOT, "migrations");

/** Marks the lines of the stamp that name a database. Each other line is a digest and the name of a migration. */
const DATABASE = "database ";

/** Applies missing migrations to the databases under `state`. Throws a `Failure`: with Wrangler's output, or if another build made the data. */
export async function applyMigrations(state: string): Promise<void> {
  // The stamp is stored beside the data, so that deleting the data deletes it too.
  const stamp = join(state, "migrations.sha256");
  const names = readDatabaseNames();
  const migrations = digestMigrations();
  const wanted = [...names.map((name) => `${DATABASE}${name}`), ...migrations].join("\n");
  const found = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  const d1 = join(state, "v3", "d1");
  if (existsSync(d1) && found === wanted) return;
  const stamped = found.split("\n").filter((line) => line !== "");
  refuseOtherData(state, { stamped, applied: readApplied(d1), migrations });
  for (const name of names) {
    const { code, output } = await runWrangler(["d1", "migrations", "apply", name, "--local", "--persist-to", state]);
    if (code !== 0) throw new Failure(`The D1 migrations could not be applied to ${name} in ${state}:\n${output}`);
  }
  mkdirSync(state, { recursive: true });
  writeFileSync(stamp, wanted);
}

interface Traces {
  /** The lines of the stamp that the last start left. */
  readonly stamped: readonly string[];
  /** The names of the migrations that the databases have. */
  readonly applied: readonly string[];
  readonly migrations: readonly string[];
}

/**
 * Refuses data of a build that had other migrations, or the same by name with other contents, and objects of which nothing says who made them.
 * The objects may hold events and tables that mean something else, and D1 would keep columns that no code writes.
 */
function refuseOtherData(state: string, { stamped, applied, migrations }: Traces): void {
  const isChanged = stamped.some((line) => !line.startsWith(DATABASE) && !migrations.includes(line));
  const isUnknown = applied.some((name) => !migrations.some((line) => line.endsWith(`  ${name}`)));
  const isUnmarked = stamped.length === 0 && applied.length === 0 && existsSync(join(state, "v3", "do"));
  if (!isChanged && !isUnknown && !isUnmarked) return;
  const inside = relative(ROOT, state);
  const folder = inside.startsWith("..") || isAbsolute(inside) ? state : inside;
  throw new Failure(
    `The data in ${folder} is of another build, and this one cannot read it. Delete the folder ${folder} to start without data.`,
  );
}

/** The names of all migrations that were applied to a database in the directory. Wrangler notes them in a table. */
function readApplied(d1: string): readonly string[] {
  if (!existsSync(d1)) return [];
  const files = readdirSync(d1, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sqlite"));
  return files.flatMap((name) => readNoted(join(d1, name)));
}

function readNoted(path: string): readonly string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'd1_migrations'").get() !== undefined;
    return hasTable
      ? database
          .prepare("SELECT name FROM d1_migrations")
          .all()
          .map(({ name }) => String(name))
      : [];
  } finally {
    database.close();
  }
}

function readDatabaseNames(): readonly string[] {
  const names = readFileSync(join(ROOT, "wrangler.toml"), "utf8").matchAll(/^database_name = "([^"]+)"/gm);
  return [...names].flatMap(([, name]) => name ?? []);
}

/** A line for each migration, in order. */
function digestMigrations(): readonly string[] {
  const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
  return names.sort().map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(MIGRATIONS, name)))
        .digest("hex")}  ${name}`,
  );
}
