/** How large the databases are. */
import { type MeasuredDatabase, rankSize } from "../app/placement";
import type { Log } from "../app/ports";
import { type DatabaseBindings, listDatabases } from "./database-for";

/** How often an isolate repeats its warning. */
const REPEAT_MS = 60 * 60_000;

const warned = new WeakMap<D1Database, { readonly level: ReturnType<typeof rankSize>; readonly at: number }>();

interface Written {
  readonly db: D1Database;
  /** What the database holds after a write. */
  readonly bytes: number;
  readonly now: number;
  readonly log: Log;
}

/** Warns of a database that is filling: when it reaches a level, and then once an hour. */
export function warnOfSize(env: DatabaseBindings, { db, bytes, now, log }: Written): void {
  const level = rankSize(bytes);
  const last = warned.get(db);
  if (level === "ok" || (last?.level === level && now - last.at < REPEAT_MS)) return;
  warned.set(db, { level, at: now });
  const database = [...listDatabases(env)].find(([, each]) => each === db)?.[0];
  log.warn("d1.size", { database, level, bytes });
}

/** Asks each database. One that does not answer, or has no tables yet, has no size. */
export function measureDatabases(env: DatabaseBindings): Promise<readonly MeasuredDatabase[]> {
  return Promise.all(
    [...listDatabases(env)].map(async ([database, db]) => {
      try {
        const { results, meta } = await db.prepare("SELECT count(*) AS tenants FROM tenants").all<{ tenants: number }>();
        return { database, bytes: meta.size_after, tenants: results[0]?.tenants ?? 0 };
      } catch {
        return { database, bytes: null, tenants: null };
      }
    }),
  );
}
