/** The outbox's drain: one at a time, from the checkpoint to the end of the log; the alarm comes back for what is left. */

import type { Clock, Log, Projection } from "../app/ports";
import { type ProjectionLimit, type ProjectionSource, projectSession } from "../app/projection/project";
import { d1CostOf } from "../app/projection/projection-cost";
import type { Schedule } from "../app/session-ports";
import { bodiesOf } from "../domain/event-bodies";
import type { StoredEvent } from "../domain/events";
import type { BodyId, TenantId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import { readBodies } from "./log/bodies";
import { readEvents } from "./log/event-log";
import type { Jobs } from "./log/jobs";
import { readMeta, writeMeta } from "./log/log-schema";
import type { Sql } from "./log/sql";

const CHECKPOINT = "projected_seq";

/**
 * What is appended within this time of a drain's start waits for the next: turns in quick succession, an import and the
 * several appends of a compaction share one batch, the dearest part of a small turn. What comes alone goes at once.
 */
export const DRAIN_EVERY_MS = 200;

/**
 * What tools are called and do in a turn is written within this time, also while the turn goes on, which may be for an hour: an
 * execution can be read by its id. A turn of ordinary length is over before.
 */
export const DRAIN_IN_TURN_MS = 1_000;

/** What the drain needs of the session around it. */
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
  /** Projects what is new, unless that is going on. */
  start(): void;
  /** The same, at the pace of `DRAIN_EVERY_MS`. A wait is only in memory: the job that the append armed outlives it. */
  startSoon(): void;
  /** The same, within `DRAIN_IN_TURN_MS`; where the last try failed, the job comes back when it may work again. */
  startInTurn(): void;
}

export function createDrain(host: DrainHost): Drain {
  let running = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  const run = async (): Promise<void> => {
    const { tenant } = host.state;
    if (!tenant) return;
    const attempt = host.jobs.get("project")?.attempts ?? 0;
    const { clock, log } = host.deps;
    const outcome = await projectSession({ source: sourceOf(host), projection: host.deps.projection(tenant), log }, attempt);
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
      // Its job is still armed.
      .catch((error: unknown) => host.deps.log.error("drain_threw", { error: error instanceof Error ? error.name : "unknown" }))
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
  return { start, startSoon, startInTurn };
}

/** One wait at a time: whoever comes meanwhile is served with it. */
function createWait(host: DrainHost, start: () => void): (ms: number) => void {
  let waits = false;
  return (ms) => {
    if (waits) return;
    waits = true;
    host.deps.schedule(ms, () => {
      waits = false;
      if (host.state.lifecycle === "open") start(); // an erased session's rows go by a job of their own
    });
  };
}

const checkpointOf = (host: DrainHost): number => (host.exists ? Number(readMeta(host.deps.sql, CHECKPOINT) ?? 0) : 0);
const isBehind = (host: DrainHost): boolean => checkpointOf(host) < host.state.seq;

function sourceOf(host: DrainHost): ProjectionSource {
  const { sql } = host.deps;
  return {
    checkpoint: () => checkpointOf(host),
    setCheckpoint: (seq) => writeMeta(sql, CHECKPOINT, String(seq)),
    read(after, limit) {
      const { tenant, session } = host.state;
      if (!tenant || !session) throw new TypeError("a session without a name has nothing to project");
      return { tenant, session, ...readPage(sql, after, limit) };
    },
  };
}

/** Events after `after` with their bodies, within the limit; the first event always, whatever it weighs and costs. */
export function readPage(sql: Sql, after: number, limit: ProjectionLimit): { events: StoredEvent[]; bodies: Map<BodyId, string> } {
  const events: StoredEvent[] = [];
  const bodies = new Map<BodyId, string>();
  let bytes = 0;
  let statements = 0;
  for (const event of readEvents(sql, after, limit.events)) {
    statements += d1CostOf(event);
    if (events.length > 0 && statements > limit.statements) break;
    const found = readBodies(sql, bodiesOf(event));
    const weight = [...found.values()].reduce((sum, text) => sum + text.length, 0);
    if (events.length > 0 && bytes + weight > limit.bytes) break;
    bytes += weight;
    events.push(event);
    for (const [id, text] of found) bodies.set(id, text);
  }
  return { events, bodies };
}
