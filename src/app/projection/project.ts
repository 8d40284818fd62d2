/**
 * The session's events on their way to the read model: from the checkpoint, page by page, each page one transaction
 * there, then the checkpoint moves. With D1 down nothing moves and nothing is lost; chat does not notice. What one run
 * may ask of D1 is bounded: a long way behind, it is several.
 */

import type { StoredEvent } from "../../domain/events";
import type { Log, Projection, ProjectionBatch } from "../ports";
import { d1CostOfBatch } from "./projection-cost";
import { ProjectionGapError } from "./projection-gap";

/** The session's side, synchronous: it is the object's own storage. */
export interface ProjectionSource {
  /** The seq up to which everything is in the read model; 0: nothing is. */
  checkpoint(): number;
  /** Events after `after`, at most so many and so heavy (the first one always, whatever it weighs); none: at the end. */
  read(after: number, limit: ProjectionLimit): ProjectionBatch;
  setCheckpoint(seq: number): void;
}

export interface ProjectionLimit {
  readonly events: number;
  /** Of bodies, UTF-8. */
  readonly bytes: number;
  /** That they make in the read model, as `costOf` counts them. */
  readonly statements: number;
}

interface ProjectPorts {
  readonly source: ProjectionSource;
  readonly projection: Projection;
  readonly log: Log;
}

/** Not done: come again after `retryInMs`, with `attempt` as the number of failures in a row by then. */
type ProjectOutcome = { readonly done: true } | { readonly done: false; readonly retryInMs: number; readonly attempt: number };

/** One page: few enough statements for one D1 batch, and far below what it may weigh. */
export const PAGE: ProjectionLimit = { events: 100, bytes: 1_000_000, statements: 200 };

/** Statements of one drain, at most: the rest is another invocation's, which has its own 1,000. */
export const DRAIN_BUDGET = 400;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** `attempt`: how many times in a row it has failed before, from 0. */
export const retryDelay = (attempt: number): number => Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 16));

interface Run extends ProjectPorts {
  spent: number;
}

/** Never throws: whatever goes wrong is logged, and the caller comes again after `retryInMs`. To be run by one caller at a time. */
export async function projectSession(ports: ProjectPorts, attempt: number): Promise<ProjectOutcome> {
  const run: Run = { ...ports, spent: 0 };
  let rewound = false;
  for (;;) {
    try {
      const page = await projectPage(run);
      if (page === "none") return { done: true };
      if (page === "too_much") return { done: false, retryInMs: 0, attempt: 0 };
    } catch (error) {
      if (error instanceof ProjectionGapError && !rewound && rewind(ports, error.upTo)) {
        rewound = true;
        continue;
      }
      const retryInMs = retryDelay(attempt);
      ports.log.warn("projection.failed", { attempt, retry_in_ms: retryInMs, cause: error });
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
  // The rows of an erased session go by a job of their own, which knows what stays of its ledger.
  if (batch.events.some((event: StoredEvent) => event.type === "SessionErased")) return "none";
  const cost = d1CostOfBatch(batch.events);
  if (run.spent > 0 && run.spent + cost > DRAIN_BUDGET) return "too_much";
  run.spent += cost;
  await projection.write(batch);
  // The log may have been emptied during the await: then its checkpoint is its own, and this one means nothing.
  if (source.checkpoint() === from) source.setCheckpoint(last.seq);
  return "written";
}

/** False: the gap does not lie behind the checkpoint, and going there would not close it. */
function rewind({ source, log }: ProjectPorts, upTo: number): boolean {
  const from = source.checkpoint();
  if (upTo >= from) return false;
  log.warn("projection.rewound", { from, to: upTo });
  source.setCheckpoint(upTo);
  return true;
}
