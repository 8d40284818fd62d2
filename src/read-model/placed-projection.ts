/**
 * Writes rows to every database that has the tenant's: one, and during a move two. A write that one of them refuses is repeated for both.
 * Repeated rows change nothing. What is erased goes from the database that is being emptied too, at once.
 */
import type { Projection, ProjectionBatch } from "../app/ports";
import { ProjectionGapError } from "../app/projection/projection-gap";
import type { TenantProjection } from "../app/tenant-projection";
import type { WrittenDatabases } from "./database-for";
import { removeSession } from "./store";

/** `find` is called for each write, after its events were read: what a move waits for depends on it. */
export function createPlacedProjection(find: () => Promise<WrittenDatabases>, open: (db: D1Database) => Projection): Projection {
  return {
    async write(batch) {
      const { written, left } = await find();
      const [read, ...others] = written;
      await open(read).write(batch);
      for (const other of others) await writeBeside(open(other), batch);
      // A redaction is not written where no one reads. The session's rows go from there before the database is emptied of the others.
      if (isRedacting(batch)) for (const db of left) await removeSession(db, batch);
    },
    async erase(input) {
      const { written, left } = await find();
      const removed = left.map((db) => removeSession(db, input).then(() => ({ rows: 0 })));
      const erased = await reachAll([...written.map((db) => open(db).erase(input)), ...removed]);
      const counts = erased.map(({ rows }) => rows);
      return { rows: counts.some((rows) => rows === null) ? null : Math.max(...counts.map((rows) => rows ?? 0)) };
    },
    async forgetEndUsers(input) {
      const { written, left } = await find();
      const removed = left.map((db) => removeSession(db, input).then(() => true));
      return (await reachAll([...written.map((db) => open(db).forgetEndUsers(input)), ...removed])).every((forgotten) => forgotten);
    },
  };
}

const isRedacting = ({ events }: ProjectionBatch): boolean => events.some(({ type }) => type === "MessageRedacted");

/** No database waits for another one: a text goes wherever it can be reached. Throws the first failure when all have ended. */
async function reachAll<T>(calls: readonly Promise<T>[]): Promise<readonly T[]> {
  const ended = await Promise.allSettled(calls);
  return ended.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}

/** Rows that begin later than those in the other database are left to the copy, which reads the log up to its end. */
async function writeBeside(other: Projection, batch: ProjectionBatch): Promise<void> {
  try {
    await other.write(batch);
  } catch (error) {
    if (!(error instanceof ProjectionGapError)) throw error;
  }
}

interface TenantPlaces {
  /** The databases that rows are written to. */
  readonly written: () => readonly TenantProjection[];
  /** The databases that may hold a row of the tenant. */
  readonly held: () => readonly TenantProjection[];
}

export function createPlacedTenantProjection({ written, held }: TenantPlaces): TenantProjection {
  const reach = async (places: readonly TenantProjection[], work: (each: TenantProjection) => Promise<void>): Promise<void> =>
    void (await reachAll(places.map(work)));
  const isDoneIn = async (places: readonly TenantProjection[], work: (each: TenantProjection) => Promise<boolean>): Promise<boolean> =>
    (await reachAll(places.map(work))).every((isDone) => isDone);
  return {
    async write(change) {
      for (const each of written()) await each.write(change);
    },
    close: (tenant, at) => reach(held(), (each) => each.close(tenant, at)),
    sweep: (tenant, at) => isDoneIn(held(), (each) => each.sweep(tenant, at)),
    // The lists do not show what is in another database.
    hide: (tenant, sessions, at) => reach(written(), (each) => each.hide(tenant, sessions, at)),
    async writeUsage(tenant, usage) {
      for (const each of written()) await each.writeUsage(tenant, usage);
    },
    // A database that is emptied by a move loses all of it there.
    removeUsage: (tenant, before) => isDoneIn(written(), (each) => each.removeUsage(tenant, before)),
  };
}
