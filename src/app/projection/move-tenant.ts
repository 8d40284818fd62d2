/**
 * Moves a tenant's rows from one database to another while its sessions chat. The history is not copied from the old database: it is
 * projected from the sessions' logs, which are the source, so that a full or slow database can be left too.
 *
 * Writers write to both databases before the first session is copied. What a session appended before that is in its log when the copy
 * reads it, and what it appends later comes to both. One step does a bounded part, and stores how far it came in the tenant's object.
 */

import type { SessionId, TenantId } from "../../domain/ids";
import { assertNever } from "../../lib/assert-never";
import { giveWay } from "../../lib/timer";
import { endPhase, findWait, type Move, type MovePlace, noteProgress, type Placement } from "../placement";
import type { LogPage, SessionError } from "../session-api";
import type { TenantOutcome } from "../tenant-api";
import type { MoveDatabase, MovePorts } from "./move-ports";
import { d1CostOfBatch } from "./projection-cost";
import { ProjectionGapError } from "./projection-gap";
import { rebuildStep, STEP_BUDGET } from "./rebuild";
import type { RebuildProgress } from "./rebuild-ports";
import { rebuildTenant } from "./rebuild-tenant";

/** A session refused its log for a reason that passes. The next step asks again. */
class LogRefusedError extends Error {
  override readonly name = "LogRefusedError";
  constructor(error: SessionError) {
    super(`a session refused to export its log: ${error.code}`);
  }
}

const TOMBSTONES = 500;
const SESSIONS = 20;
const PAGE_COST = 5;

interface Step {
  readonly ports: MovePorts;
  readonly tenant: TenantId;
  readonly move: Move;
  readonly from: MoveDatabase;
  readonly to: MoveDatabase;
  spent: number;
}

/** What a part of the work has come to, and whether the phase is done with it. */
interface Part {
  readonly progress: Parameters<typeof noteProgress>[1];
  readonly isDone: boolean;
}

const part = (isDone: boolean, progress: Part["progress"] = {}): Part => ({ isDone, progress });

/**
 * Runs one bounded step of the move that is under way, and returns where it is then. Throws D1's errors: nothing is lost, and the step is
 * repeated.
 */
export async function moveStep(ports: MovePorts, tenant: TenantId): Promise<TenantOutcome<Placement>> {
  const found = await ports.object().placement();
  if (!found.ok) return found;
  const { move } = found.value;
  if (!move || findWait(found.value, ports.now()) > 0) return found;
  const step: Step = { ports, tenant, move, from: ports.database(move.from), to: ports.database(move.to), spent: 0 };
  const { isDone, progress } = await work(step);
  const noted = noteProgress(found.value, progress);
  const placement = isDone ? endPhase(noted, ports.now()) : noted;
  return ports.object().place(ports.act, { after: found.value.version, placement });
}

async function work(step: Step): Promise<Part> {
  const { move, to, from, tenant } = step;
  switch (move.phase) {
    case "prepare":
      return part(await to.clearTenant(tenant));
    case "announce":
    case "settle":
    case "release":
      return part(true);
    case "copy":
    case "verify":
      return carry(step, move.place);
    case "clean":
    case "sweep":
      return part(await from.clearTenant(tenant));
    default:
      return assertNever(move.phase);
  }
}

/** Brings a part of the history to the target, or compares it there. */
async function carry(step: Step, place: MovePlace): Promise<Part> {
  switch (place.part) {
    case "tombstones":
      return carryTombstones(step, place.after);
    case "tenant":
      await carryTenant(step);
      return part(false, { place: { part: "sessions", after: null, rebuild: null } });
    case "sessions":
      return carrySessions(step, place.after);
    default:
      return assertNever(place.part);
  }
}

async function carryTombstones({ from, to, tenant }: Step, after: SessionId | null): Promise<Part> {
  const stones = await from.listTombstones({ tenant, after, limit: TOMBSTONES });
  if (stones.length > 0) await to.bury(tenant, stones);
  const last = stones.length < TOMBSTONES ? undefined : stones.at(-1);
  const place: MovePlace = { part: last ? "tombstones" : "tenant", after: last?.session ?? null, rebuild: null };
  return part(false, { place });
}

/** The tenant's own row, its models and the usage of its erased sessions: its object writes them to both databases. */
async function carryTenant({ ports, to, tenant }: Step): Promise<void> {
  const rebuilt = await rebuildTenant({ object: ports.object, rows: to.tenantRows, act: ports.act }, tenant);
  if (!rebuilt.ok) throw new Error(`the tenant's object refused: ${rebuilt.error.code}`);
  if (!rebuilt.value.repaired) throw new Error("the tenant's rows are not written yet");
}

async function carrySessions(step: Step, from: SessionId | null): Promise<Part> {
  const { move, ports } = step;
  const { sessions, isLast } = await listSessions(step, from);
  const total = { sessions: move.sessions, differences: move.differences, unequal: move.unequal };
  let after = from;
  for (const session of sessions) {
    if (step.spent >= (ports.budget ?? STEP_BUDGET)) break;
    const rebuild = session === sessions[0] ? move.place.rebuild : null;
    const carried = await carrySession(step, session, rebuild).catch((error: unknown) => {
      // What is finished is stored. The next step meets the same failure.
      if (after === from) throw error;
      return null;
    });
    if (carried === null) return part(false, { ...total, place: { part: "sessions", after, rebuild: null } });
    total.differences += carried.differences;
    if (!carried.done) return part(false, { ...total, place: { part: "sessions", after, rebuild: carried.rebuild } });
    total.unequal += carried.isEqual ? 0 : 1;
    total.sessions++;
    await giveWay(ports.schedule);
    after = session;
  }
  const isDone = isLast && after === (sessions.at(-1) ?? from);
  return part(isDone, { ...total, place: { part: "sessions", after, rebuild: null } });
}

const carrySession = (step: Step, session: SessionId, rebuild: MovePlace["rebuild"]): Promise<Carried> =>
  step.move.phase === "copy" ? copySession(step, session) : verifySession(step, session, rebuild);

interface Carried {
  readonly done: boolean;
  readonly isEqual: boolean;
  readonly differences: number;
  readonly rebuild: MovePlace["rebuild"];
}

const COPIED: Carried = { done: true, isEqual: true, differences: 0, rebuild: null };

/** Sessions that the directory knows or that have rows, newest first. Both lists have the same order. */
async function listSessions(
  { ports, from, tenant }: Step,
  after: SessionId | null,
): Promise<{ readonly sessions: readonly SessionId[]; readonly isLast: boolean }> {
  const known = await ports.object().listSessions({ after, limit: SESSIONS });
  if (!known.ok) throw new Error(`the tenant's object refused: ${known.error.code}`);
  const shown = await from.tenantRows.listSessions({ tenant, after, limit: SESSIONS });
  // A page is complete down to its last session only.
  const ends = [known.value, shown].flatMap(({ has_more, data }) => (has_more ? (data.at(-1)?.id ?? []) : []));
  const end = ends.sort().at(-1);
  const all = [...new Set([...known.value.data, ...shown.data].map(({ id }) => id))].sort().reverse();
  return { sessions: end === undefined ? all : all.filter((id) => id >= end), isLast: end === undefined };
}

/** Projects the session's log into the target, from where its rows are there. */
async function copySession(step: Step, session: SessionId): Promise<Carried> {
  const { ports, to, tenant } = step;
  const at = { tenant, session };
  for (;;) {
    const { live, buried } = await to.rows.stand(at);
    step.spent += PAGE_COST;
    if (buried) return COPIED;
    const page = await readLog(step, session, live);
    if (page === "erased") await to.rows.live.erase({ ...at, at: ports.now() });
    if (page === "erased" || page.events.length === 0) return COPIED;
    const { events, bodies } = page;
    await writeBatch(to, { ...at, events, bodies: new Map(bodies.map(({ id, text }) => [id, text])) });
    step.spent += d1CostOfBatch(events);
    await giveWay(ports.schedule);
    if (step.spent >= (ports.budget ?? STEP_BUDGET)) return { ...COPIED, done: false };
  }
}

/** A page of the log. A session that was never opened has an empty one. */
async function readLog({ ports }: Step, session: SessionId, after: number): Promise<LogPage | "erased"> {
  const page = await ports.readLog(session, after);
  if (page.ok) return page.value.events.some(({ type }) => type === "SessionErased") ? "erased" : page.value;
  if (page.error.code === "session_erased") return "erased";
  if (page.error.code === "session_not_found") return { events: [], bodies: [], has_more: false };
  throw new LogRefusedError(page.error);
}

async function writeBatch(to: MoveDatabase, batch: Parameters<MoveDatabase["rows"]["live"]["write"]>[0]): Promise<void> {
  try {
    await to.rows.live.write(batch);
  } catch (error) {
    // Another writer was faster. The next look at the rows shows where they are.
    if (!(error instanceof ProjectionGapError)) throw error;
  }
}

/** Compares the session's rows in the target with its log, and corrects them. */
async function verifySession(step: Step, session: SessionId, from: MovePlace["rebuild"]): Promise<Carried> {
  const { ports, to, tenant } = step;
  const readLog = (after: number) => ports.readLog(session, after);
  const { budget = STEP_BUDGET, schedule } = ports;
  const progress: RebuildProgress | null = from === null ? null : JSON.parse(from);
  const stepped = await rebuildStep(
    { readLog, rows: to.rows, now: ports.now, budget, ...(schedule && { schedule }) },
    { tenant, session },
    progress,
  );
  if (!stepped.ok) throw new LogRefusedError(stepped.error);
  const { next, repaired, differences } = stepped.value;
  step.spent += next === null ? PAGE_COST * 10 : budget;
  return { done: next === null, isEqual: repaired !== false, differences: differences.length, rebuild: next && JSON.stringify(next) };
}
