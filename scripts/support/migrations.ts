/**
 * Applies D1 migrations to the local databases that `wrangler.toml` names. It skips them quickly when nothing changed since the last time. Whether
 * a database is there is seen in its file: a person may delete it alone.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "./output.ts";
import { ROOT } from "./paths.ts";
import { runWrangler } from "./wrangler.ts";

const MIGRATIONS = join(ROOT, "migrations");

/** Marks the lines of the stamp that name a database. Each other line is a digest and the name of a migration. */
const DATABASE = "database ";

interface Migrated {
  /** A database that an earlier start made was missing, and is empty now. */
  readonly isLost: boolean;
}

/** Applies missing migrations to the databases under `state`. Throws a `Failure`: with Wrangler's output, or if another build made the data. */
export async function applyMigrations(state: string): Promise<Migrated> {
  // The stamp is stored beside the data, so that deleting the data deletes it too.
  const stamp = join(state, "migrations.sha256");
  const names = readDatabaseNames();
  const migrations = digestMigrations();
  const wanted = [...names.map((name) => `${DATABASE}${name}`), ...migrations].join("\n");
  const found = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  const d1 = join(state, "v3", "d1");
  removeLeftLogs(d1);
  const databases = readApplied(d1);
  const whole = databases.filter((applied) => migrations.every((line) => applied.some((name) => line.endsWith(`  ${name}`))));
  if (whole.length >= names.length && found === wanted) return { isLost: false };
  const stamped = found.split("\n").filter((line) => line !== "");
  refuseOtherData(state, { stamped, applied: databases.flat(), migrations });
  for (const name of names) {
    const { code, output } = await runWrangler(["d1", "migrations", "apply", name, "--local", "--persist-to", state]);
    if (code !== 0) throw new Failure(`The D1 migrations could not be applied to ${name} in ${state}:\n${output}`);
  }
  mkdirSync(state, { recursive: true });
  writeFileSync(stamp, wanted);
  return { isLost: stamped.filter((line) => line.startsWith(DATABASE)).length > databases.length };
}

/** SQLite would take what a deleted database's log holds for the beginning of the next one. */
function removeLeftLogs(d1: string): void {
  const files = listFiles(d1);
  const isLeft = (name: string): boolean => /\.sqlite-(wal|shm)$/.test(name) && !files.includes(name.replace(/-(wal|shm)$/, ""));
  for (const name of files.filter(isLeft)) rmSync(join(d1, name));
}

const listFiles = (d1: string): readonly string[] => (existsSync(d1) ? readdirSync(d1, { recursive: true, encoding: "utf8" }) : []);

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

/** The names of all migrations that were applied, for each database in the directory that has any. Wrangler notes them in a table. */
function readApplied(d1: string): readonly (readonly string[])[] {
  const files = listFiles(d1).filter((name) => name.endsWith(".sqlite"));
  return files.map((name) => readNoted(join(d1, name))).filter((applied) => applied.length > 0);
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
