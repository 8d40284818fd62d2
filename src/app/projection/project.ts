/**
 * Copies the session's events to the read model: from the checkpoint on, page by page. Each page is one transaction there, and then the
 * checkpoint moves. While D1 is down the checkpoint stays, no event is lost, and chat is not affected. One run is bounded in what it asks
 * of D1, so a long backlog takes several runs.
 */

import type { StoredEvent } from "../../domain/events";
import { backOff } from "../../lib/back-off";
import { toDatabaseCause } from "../../lib/error-name";
import { giveWay } from "../../lib/timer";
import type { Log, Projection, ProjectionBatch } from "../ports";
import type { Schedule } from "../session-ports";
import { d1CostOfBatch } from "./projection-cost";
import { ProjectionGapError } from "./projection-gap";

/** The session's side. It is synchronous, because it is the object's own storage. */
export interface ProjectionSource {
  /** The seq up to which everything is in the read model; 0 when nothing is. */
  checkpoint(): number;
  /** Events after `after`, within the limits. The first event is always included, however large it is. Empty at the end of the log. */
  read(after: number, limit: ProjectionLimit): ProjectionBatch;
  setCheckpoint(seq: number): void;
}

export interface ProjectionLimit {
  readonly events: number;
  /** UTF-8 bytes of bodies. */
  readonly bytes: number;
  /** Statements that the events take in the read model, as `countD1Rows` counts them. */
  readonly statements: number;
}

interface ProjectPorts {
  readonly source: ProjectionSource;
  readonly projection: Projection;
  readonly log: Log;
  /** Absent: the timers of the platform. */
  readonly schedule?: Schedule;
}

/** Not done: call again after `retryInMs`, and pass `attempt`, the number of failures in a row so far. */
type ProjectOutcome = { readonly done: true } | { readonly done: false; readonly retryInMs: number; readonly attempt: number };

/** One page: few enough statements for one D1 batch, and far below a batch's size limit. */
export const PAGE: ProjectionLimit = { events: 100, bytes: 1_000_000, statements: 190 };

/** The most statements of one drain. The rest is left to another invocation, which has its own limit of 1,000. */
export const DRAIN_BUDGET = 400;

/** A run of more statements is long: other requests run between its pages. Most turns take fewer, and need no timer. */
const LONG_COST = PAGE.statements / 2;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** `attempt`: the number of failures in a row before, from 0. */
export const retryDelay = (attempt: number): number => backOff(attempt, { first: FIRST_RETRY_MS, longest: LONGEST_RETRY_MS });

interface Run extends ProjectPorts {
  spent: number;
}

/** Never throws: failures are logged, and the caller calls again after `retryInMs`. Only one caller at a time may run it. */
export async function projectSession(ports: ProjectPorts, attempt: number): Promise<ProjectOutcome> {
  const run: Run = { ...ports, spent: 0 };
  let rewound = false;
  for (;;) {
    try {
      const page = await projectPage(run);
      if (page === "none") return { done: true };
      if (page === "too_much") return { done: false, retryInMs: 0, attempt: 0 };
      if (run.spent > LONG_COST) await giveWay(ports.schedule);
    } catch (error) {
      if (error instanceof ProjectionGapError && !rewound && rewind(ports, error.upTo)) {
        rewound = true;
        continue;
      }
      const retryInMs = retryDelay(attempt);
      ports.log.warn("projection.failed", { attempt, retry_in_ms: retryInMs, cause: toDatabaseCause(error) });
      return { done: false, retryInMs, attempt: attempt + 1 };
    }
  }
}

async function projectPage(run: Run): Promise<"written" | "none" | "too_much"> {
  const { source, projection } = run;
  const from = source.checkpoint();
  const batch = source.read(from, PAGE);
  const last = batch.events.at(-1);
  if (!last) return "none";
  // A separate job removes the rows of an erased session, because it knows what remains of the ledger.
  if (batch.events.some((event: StoredEvent) => event.type === "SessionErased")) return "none";
  const cost = d1CostOfBatch(batch.events);
  if (run.spent > 0 && run.spent + cost > DRAIN_BUDGET) return "too_much";
  run.spent += cost;
  await projection.write(batch);
  // The log may have been emptied during the await. It then has a checkpoint of its own, and this one is obsolete.
  if (source.checkpoint() === from) source.setCheckpoint(last.seq);
  return "written";
}

/** Moves the checkpoint back to `upTo`. False when the gap is not before the checkpoint, so that moving there would not close it. */
function rewind({ source, log }: ProjectPorts, upTo: number): boolean {
  const from = source.checkpoint();
  if (upTo >= from) return false;
  log.warn("projection.rewound", { from, to: upTo });
  source.setCheckpoint(upTo);
  return true;
}
