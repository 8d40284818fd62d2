/**
 * Finds the database of a tenant. With one database no question is asked. With more, the tenant's object knows, and its answer is kept
 * for `PLACEMENT_TTL_MS`: a move waits longer than that before it takes anything away (docs/databases.md).
 */
import { tenantObjectName } from "../app/object-name";
import { FIRST_PLACEMENT, listHolding, listLeft, listWritten, PLACEMENT_TTL_MS, type Placement } from "../app/placement";
import type { Clock } from "../app/ports";
import type { TenantId } from "../domain/ids";

export interface DatabaseBindings {
  readonly DB: D1Database;
  readonly [name: `DB_${number}`]: D1Database | undefined;
}

export interface ReadModelEnv extends DatabaseBindings {
  /** Absent: there is one database. */
  readonly TENANTS?: { getByName(name: string): { readPlacement(): Promise<Placement | null> } };
  /** Absent: the time of the platform. */
  readonly now?: Clock;
}

/** More than a Worker can be bound to with all that it needs else. */
const MAX_DATABASES = 99;
/** The most tenants whose placement an isolate keeps. */
const MAX_KNOWN = 10_000;

interface Known {
  readonly placement: Placement;
  readonly until: number;
}

const placements = new WeakMap<object, Map<TenantId, Known>>();

const databases = new WeakMap<object, ReadonlyMap<string, D1Database>>();

/** All databases by the names of their bindings, the first one first. The bindings of an environment never change. */
export function listDatabases(env: DatabaseBindings): ReadonlyMap<string, D1Database> {
  const known = databases.get(env) ?? readBindings(env);
  databases.set(env, known);
  return known;
}

function readBindings(env: DatabaseBindings): ReadonlyMap<string, D1Database> {
  const found = new Map([["DB", env.DB]]);
  for (let number = 2; number <= MAX_DATABASES; number++) {
    const db = env[`DB_${number}`];
    if (db) found.set(`DB_${number}`, db);
  }
  return found;
}

/** Throws when no such database is bound: its rows cannot be read or written then. */
export function findDatabase(env: DatabaseBindings, name: string): D1Database {
  const db = listDatabases(env).get(name);
  if (!db) throw new Error(`no database is bound as ${name}`);
  return db;
}

/**
 * Keeps an answer of the tenant's object that came another way, unless a newer one is known. Where one database is bound, that is one thing
 * only: a newer build has placed the tenant in a database that this one does not know. No row of it may be written then.
 */
export function notePlacement(
  env: ReadModelEnv,
  tenant: TenantId,
  { placement, askedAt }: { readonly placement: Placement; readonly askedAt: number },
): void {
  const bound = listDatabases(env);
  const known = placements.get(env) ?? new Map<TenantId, Known>();
  placements.set(env, known);
  if (bound.size === 1 && listHolding(placement).every((name) => bound.has(name))) return void known.delete(tenant);
  const until = askedAt + PLACEMENT_TTL_MS;
  if ((known.get(tenant)?.until ?? 0) > until) return;
  known.delete(tenant);
  known.set(tenant, { placement, until });
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest) known.delete(oldest);
}

/** Where the tenant's rows are, as it was known at most `PLACEMENT_TTL_MS` ago. Throws when the tenant's object is out of reach. */
async function findPlacement(env: ReadModelEnv, tenant: TenantId): Promise<Placement> {
  const last = placements.get(env)?.get(tenant);
  if (!env.TENANTS || listDatabases(env).size === 1) return last?.placement ?? FIRST_PLACEMENT;
  const askedAt = (env.now ?? Date.now)();
  if (last && last.until > askedAt) return last.placement;
  const placement = await env.TENANTS.getByName(tenantObjectName(tenant)).readPlacement();
  // A tenant that does not exist may be made at any moment.
  if (placement) notePlacement(env, tenant, { placement, askedAt });
  return placement ?? FIRST_PLACEMENT;
}

/** The database that a tenant's rows are read from. */
export async function databaseFor(env: ReadModelEnv, tenant: TenantId): Promise<D1Database> {
  return findDatabase(env, (await findPlacement(env, tenant)).database);
}

/** The databases that a writer of the tenant's rows has to reach. */
export interface WrittenDatabases {
  /** The one that is read, and during a move another one. */
  readonly written: readonly [D1Database, ...D1Database[]];
  /** What is erased must go from here, too. */
  readonly left: readonly D1Database[];
}

export async function findWrittenDatabases(env: ReadModelEnv, tenant: TenantId): Promise<WrittenDatabases> {
  const placement = await findPlacement(env, tenant);
  const open = (name: string) => findDatabase(env, name);
  const [first, ...more] = listWritten(placement);
  return { written: [open(first), ...more.map(open)], left: listLeft(placement).map(open) };
}
