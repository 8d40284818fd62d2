/**
 * Drains the outbox into the read model: one run at a time, from the checkpoint to the end of the log. The alarm
 * continues what is left.
 */

import type { Clock, Log, Projection } from "../app/ports";
import { type ProjectionLimit, type ProjectionSource, projectSession } from "../app/projection/project";
import { countD1Rows } from "../app/projection/projection-cost";
import type { Schedule } from "../app/session-ports";
import { listEventBodies } from "../domain/event-bodies";
import type { StoredEvent } from "../domain/events";
import type { BodyId, TenantId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { utf8Bytes } from "../lib/text-bytes";
import { readBodies } from "./log/bodies";
import { readEvents } from "./log/event-log";
import type { Jobs } from "./log/jobs";
import { readMeta, writeMeta } from "./log/log-schema";
import type { Sql } from "./log/sql";

const CHECKPOINT = "projected_seq";

/**
 * The least time between the starts of two drains. Turns in quick succession, an import and the appends of a compaction
 * then share one batch, the most expensive part of a small turn. A single append is written at once.
 */
export const DRAIN_EVERY_MS = 200;

/**
 * The longest wait before events of a turn's tools are written while the turn goes on, which may take an hour: clients
 * read an execution by its id. A turn of ordinary length ends before.
 */
export const DRAIN_IN_TURN_MS = 1_000;

/** What the drain needs from its session. */
interface DrainHost {
  readonly state: SessionState;
  readonly exists: boolean;
  readonly jobs: Jobs;
  readonly deps: {
    readonly sql: Sql;
    readonly clock: Clock;
    readonly schedule: Schedule;
    readonly log: Log;
    projection(tenant: TenantId): Projection;
    background(work: Promise<void>): void;
  };
  syncAlarm(): void;
}

export interface Drain {
  /** Projects what is new, unless a drain is running. */
  start(): void;
  /** Starts a drain at the pace of `DRAIN_EVERY_MS`. The wait is only in memory: the job that the append armed outlives it. */
  startSoon(): void;
  /** Starts a drain within `DRAIN_IN_TURN_MS`. After a failed try it does nothing: the job's retry has its own delay. */
  startInTurn(): void;
  /** True while the read model may lack events. */
  isBehind(): boolean;
}

export function createDrain(host: DrainHost): Drain {
  let running = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  const run = async (): Promise<void> => {
    const { tenant } = host.state;
    if (!tenant) return;
    const attempt = host.jobs.get("project")?.attempts ?? 0;
    const { clock, log } = host.deps;
    const outcome = await projectSession(
      { source: buildSource(host), projection: host.deps.projection(tenant), log, schedule: host.deps.schedule },
      attempt,
    );
    if (!host.exists || host.state.lifecycle !== "open") return;
    if (outcome.done && isBehind(host)) return; // appended since the last read: its job is armed
    if (outcome.done) host.jobs.disarm("project");
    else host.jobs.arm("project", clock() + outcome.retryInMs, outcome.attempt);
    host.syncAlarm();
  };
  const start = (): void => {
    if (running || !isBehind(host)) return;
    running = true;
    startedAt = host.deps.clock();
    const done = run()
      // The job of this drain is still armed.
      .catch((error: unknown) => host.deps.log.error("drain_threw", { error: toErrorName(error) }))
      .finally(() => {
        running = false;
      });
    host.deps.background(done);
  };
  const startSoon = (): void => {
    const left = startedAt + DRAIN_EVERY_MS - host.deps.clock();
    return left <= 0 ? start() : soon(Math.min(left, DRAIN_EVERY_MS));
  };
  const soon = createWait(host, start);
  const inTurn = createWait(host, start);
  const startInTurn = (): void => {
    if ((host.jobs.get("project")?.attempts ?? 0) === 0) inTurn(DRAIN_IN_TURN_MS);
  };
  return { start, startSoon, startInTurn, isBehind: () => isBehind(host) };
}

/** Schedules one wait at a time. Later requests share the wait that is running. */
function createWait(host: DrainHost, start: () => void): (ms: number) => void {
  let waits = false;
  return (ms) => {
    if (waits) return;
    waits = true;
    host.deps.schedule(ms, () => {
      waits = false;
      if (host.state.lifecycle === "open") start(); // a separate job erases an erased session's rows
    });
  };
}

const readCheckpoint = (host: DrainHost): number => (host.exists ? Number(readMeta(host.deps.sql, CHECKPOINT) ?? 0) : 0);
/** The read model has no rows of a throwaway session: the tenant's object sends what it used. */
const isBehind = (host: DrainHost): boolean => !host.state.settings.throwaway && readCheckpoint(host) < host.state.seq;

function buildSource(host: DrainHost): ProjectionSource {
  const { sql } = host.deps;
  return {
    checkpoint: () => readCheckpoint(host),
    setCheckpoint: (seq) => writeMeta(sql, CHECKPOINT, String(seq)),
    read(after, limit) {
      const { tenant, session } = host.state;
      if (!tenant || !session) throw new TypeError("cannot project a session without a tenant and an id");
      return { tenant, session, ...readPage(sql, after, limit) };
    },
  };
}

/** Reads events after `after` with their bodies, within the limit. It always takes the first event, whatever its size and cost. */
export function readPage(sql: Sql, after: number, limit: ProjectionLimit): { events: StoredEvent[]; bodies: Map<BodyId, string> } {
  const events: StoredEvent[] = [];
  const bodies = new Map<BodyId, string>();
  let bytes = 0;
  let statements = 0;
  for (const event of readEvents(sql, after, limit.events)) {
    statements += countD1Rows(event);
    if (events.length > 0 && statements > limit.statements) break;
    const found = readBodies(sql, listEventBodies(event));
    const weight = [...found.values()].reduce((sum, text) => sum + utf8Bytes(text), 0);
    if (events.length > 0 && bytes + weight > limit.bytes) break;
    bytes += weight;
    events.push(event);
    for (const [id, text] of found) bodies.set(id, text);
  }
  return { events, bodies };
}
