/**
 * The session's events on their way to the read model: from the checkpoint, page by page, each page one transaction
 * there, then the checkpoint moves. With D1 down nothing moves and nothing is lost; chat does not notice.
 */

import type { StoredEvent } from "../domain/events";
import type { Log, Projection, ProjectionBatch } from "./ports";
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
}

export interface ProjectPorts {
  readonly source: ProjectionSource;
  readonly projection: Projection;
  readonly log: Log;
}

export type ProjectOutcome = { readonly done: true } | { readonly done: false; readonly retryInMs: number };

/** One page: few enough events for one D1 batch, and far below what it may weigh. */
export const PAGE: ProjectionLimit = { events: 100, bytes: 1_000_000 };

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** `attempt`: how many times in a row it has failed before, from 0. */
export const retryDelay = (attempt: number): number => Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 16));

/** Never throws: whatever goes wrong is logged, and the caller comes again after `retryInMs`. To be run by one caller at a time. */
export async function projectSession(ports: ProjectPorts, attempt: number): Promise<ProjectOutcome> {
  let rewound = false;
  for (;;) {
    try {
      if (!(await projectPage(ports))) return { done: true };
    } catch (error) {
      if (error instanceof ProjectionGapError && !rewound && rewind(ports, error.upTo)) {
        rewound = true;
        continue;
      }
      const retryInMs = retryDelay(attempt);
      ports.log.warn("projection.failed", { attempt, retry_in_ms: retryInMs, cause: error });
      return { done: false, retryInMs };
    }
  }
}

/** False: there was nothing to do. */
async function projectPage({ source, projection }: ProjectPorts): Promise<boolean> {
  const from = source.checkpoint();
  const batch = source.read(from, PAGE);
  const last = batch.events.at(-1);
  if (!last) return false;
  const { tenant, session } = batch;
  const erased = batch.events.find((event: StoredEvent) => event.type === "SessionErased");
  if (erased) await projection.erase({ tenant, session, at: erased.at });
  else await projection.write(batch);
  // The log may have been emptied during the await: then its checkpoint is its own, and this one means nothing.
  if (source.checkpoint() === from) source.setCheckpoint(last.seq);
  return true;
}

/** False: the gap does not lie behind the checkpoint, and going there would not close it. */
function rewind({ source, log }: ProjectPorts, upTo: number): boolean {
  const from = source.checkpoint();
  if (upTo >= from) return false;
  log.warn("projection.rewound", { from, to: upTo });
  source.setCheckpoint(upTo);
  return true;
}
