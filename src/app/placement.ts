/**
 * Where a tenant's rows are, and the phases of a move to another database. The tenant's object stores it; these functions
 * decide what follows. Pure.
 */
import type { AuditSubject } from "../contract/audit";
import type { MovePhase } from "../contract/placement";
import type { SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";

/** The database of a tenant that no one has placed. It is always bound. */
const FIRST_DATABASE = "DB";

/** How long a reader or writer may use what it knows of a placement. */
export const PLACEMENT_TTL_MS = 30_000;
/** How long a change of writers or readers takes to reach all of them: what they know, and as long again for what they have begun. */
export const SETTLE_MS = 2 * PLACEMENT_TTL_MS;

/** How far `copy` or `verify` has come. */
export interface MovePlace {
  /** The stones of erased sessions come first, so that no copy brings one back. */
  readonly part: "tombstones" | "tenant" | "sessions";
  /** The last session that is finished. Null: none. */
  readonly after: SessionId | null;
  /** Where the comparison of the next session continues, as JSON. Null: at its beginning. */
  readonly rebuild: string | null;
}

export interface Move {
  readonly from: string;
  readonly to: string;
  readonly phase: MovePhase;
  readonly since: number;
  readonly place: MovePlace;
  readonly sessions: number;
  readonly differences: number;
  /** Sessions that `verify` could not bring in line. */
  readonly unequal: number;
  /** The end of a move that was cancelled: `from` is the target that it had, and `to` the tenant's own database. */
  readonly cancelled: boolean;
}

export interface Placement {
  /** The database that is read. */
  readonly database: string;
  /** Grows with each change, so that of two movers only one goes on. */
  readonly version: number;
  readonly move: Move | null;
}

export const FIRST_PLACEMENT: Placement = { database: FIRST_DATABASE, version: 0, move: null };

export type MoveRefusal =
  | { readonly code: "already_there" }
  | { readonly code: "move_conflict"; readonly reason: "other_target" | "switched"; readonly to: string };

const BEGINNING: MovePlace = { part: "tombstones", after: null, rebuild: null };

const enter = (move: Pick<Move, "from" | "to" | "cancelled">, phase: MovePhase, now: number): Move => ({
  from: move.from,
  to: move.to,
  cancelled: move.cancelled,
  phase,
  since: now,
  place: BEGINNING,
  sessions: 0,
  differences: 0,
  unequal: 0,
});

const change = ({ version }: Placement, database: string, move: Move | null): Placement => ({ database, version: version + 1, move });

/** The databases that every row is written to, the one that is read first. */
export function listWritten({ database, move }: Placement): readonly [string, ...string[]] {
  switch (move?.phase) {
    case "announce":
    case "copy":
    case "verify":
      return [database, move.to];
    case "settle":
      return [database, move.from];
    case "prepare":
    case "release":
    case "clean":
    case "sweep":
    case undefined:
      return [database];
  }
}

/** The databases that no one reads or writes, and that may hold a row of the tenant: one that is being emptied. */
export const listLeft = (placement: Placement): readonly string[] =>
  listHolding(placement).filter((name) => !listWritten(placement).includes(name));

/** The databases that may hold a row of the tenant. */
export const listHolding = ({ database, move }: Placement): readonly string[] => (move ? [move.from, move.to] : [database]);

/** Begins a move, or finds the one to the same database that is under way. */
export function beginMove(placement: Placement, to: string, now: number): Result<Placement, MoveRefusal> {
  const { move, database } = placement;
  if (move) return move.to === to ? ok(placement) : err({ code: "move_conflict", reason: "other_target", to: move.to });
  if (database === to) return err({ code: "already_there" });
  return ok(change(placement, database, enter({ from: database, to, cancelled: false }, "prepare", now)));
}

/** Ends a move before its switch: writers leave the target, which is emptied then. */
export function cancelMove(placement: Placement, now: number): Result<Placement, MoveRefusal> {
  const { move, database } = placement;
  if (!move || move.cancelled) return ok(placement);
  if (database === move.to) return err({ code: "move_conflict", reason: "switched", to: move.to });
  return ok(change(placement, database, enter({ from: move.to, to: move.from, cancelled: true }, "release", now)));
}

/** What an admin did by a change of the placement. Null: it was a step on the way. */
export function describeChange(before: Placement, after: Placement): Pick<AuditSubject, "action" | "details"> | null {
  const move = after.move ?? before.move;
  const details = move ? { from_database: move.from, to_database: move.to } : {};
  if (before.database !== after.database) return { action: "tenant.moved", details };
  if (after.move?.cancelled && !before.move?.cancelled) return { action: "tenant.move_cancelled", details };
  return after.move && !before.move ? { action: "tenant.move_begun", details } : null;
}

/** `sweep` waits for writes that were begun long ago, and reached the old database after it was emptied. */
const WAITING: ReadonlySet<MovePhase> = new Set(["announce", "settle", "release", "sweep"]);

/** How long the present phase still has to wait. */
export function findWait({ move }: Placement, now: number): number {
  return move && WAITING.has(move.phase) ? Math.max(0, move.since + SETTLE_MS - now) : 0;
}

/** The placement once the work of the present phase is done. */
export function endPhase(placement: Placement, now: number): Placement {
  const { database, move } = placement;
  switch (move?.phase) {
    case "prepare":
      return change(placement, database, enter(move, "announce", now));
    case "announce":
      return change(placement, database, enter(move, "copy", now));
    case "copy":
      return change(placement, database, enter(move, "verify", now));
    case "verify":
      // What could not be brought in line is compared again. Nothing is switched before all is equal.
      return move.unequal > 0
        ? change(placement, database, enter(move, "verify", now))
        : change(placement, move.to, enter(move, "settle", now));
    case "settle":
      return change(placement, database, enter(move, "release", now));
    case "release":
      return change(placement, database, enter(move, "clean", now));
    case "clean":
      return change(placement, database, enter(move, "sweep", now));
    case "sweep":
      return change(placement, database, null);
    case undefined:
      return placement;
  }
}

/** The placement after a part of the work of `copy` or `verify`. */
export const noteProgress = (
  placement: Placement,
  progress: Partial<Pick<Move, "place" | "sessions" | "differences" | "unequal">>,
): Placement => (placement.move ? change(placement, placement.database, { ...placement.move, ...progress }) : placement);

export interface MeasuredDatabase {
  readonly database: string;
  /** Null: it did not answer, or is without the tables. */
  readonly bytes: number | null;
  /** Tenants that have a row in it. Null: as above. */
  readonly tenants: number | null;
}

/** What D1 stores in one database (Cloudflare's D1 limits, paid plan). */
export const MAX_DATABASE_BYTES = 10_000_000_000;
/** Databases whose room differs by less have the same room, and the first of them is chosen. */
const ROOM_STEP_BYTES = MAX_DATABASE_BYTES / 100;

/** The database for a new tenant: the one with the most room. The first one when none has said what it holds. */
export function chooseDatabase(sizes: readonly MeasuredDatabase[]): string {
  const known = sizes.flatMap(({ database, bytes }) => (bytes === null ? [] : { database, steps: Math.floor(bytes / ROOM_STEP_BYTES) }));
  const [first, ...rest] = known;
  if (!first) return FIRST_DATABASE;
  return rest.reduce((best, each) => (each.steps < best.steps ? each : best), first).database;
}

type SizeLevel = "ok" | "high" | "critical";

export function rankSize(bytes: number): SizeLevel {
  const share = bytes / MAX_DATABASE_BYTES;
  return share >= 0.9 ? "critical" : share >= 0.5 ? "high" : "ok";
}
