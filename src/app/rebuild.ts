/**
 * The rows of one session, compared with what its log says and written again where they differ. The comparison
 * projects the log with the same code into rows of their own, so that nobody's list is empty meanwhile, and stops
 * where the live rows stand: a projection that lags is no difference.
 */

import { err, ok } from "../lib/result";
import { countRows, diffRows, type RowDifference, type RowSnapshot } from "./diff-rows";
import type { Clock, Projection } from "./ports";
import type { Caller, Outcome } from "./session-api";
import type { LogPage } from "./session-views";

/** Rows of one kind: the live ones, or those made only to be compared. */
export interface SessionRows {
  readonly projection: Projection;
  read(at: Caller): Promise<RowSnapshot>;
  /** Leaves no tombstone. */
  clear(at: Caller): Promise<void>;
  isErased(at: Caller): Promise<boolean>;
}

export interface RebuildPorts {
  /** The session's log after a seq, from its object. */
  readonly readLog: (after: number) => Promise<Outcome<LogPage>>;
  readonly live: SessionRows;
  readonly scratch: SessionRows;
  readonly now: Clock;
}

export interface RebuildReport {
  readonly session: string;
  /** What was wrong. */
  readonly differences: readonly RowDifference[];
  /** Nothing is wrong now. */
  readonly repaired: boolean;
  /** Live rows afterwards. */
  readonly rows: number;
}

/** Throws what D1 throws; the session's refusals are values. To be run again after a failure: it starts over. */
export async function rebuildSession(ports: RebuildPorts, at: Caller): Promise<Outcome<RebuildReport>> {
  const comparison = await compare(ports, at);
  if (!comparison.ok) return comparison;
  const { differences, rows, erased } = comparison.value;
  if (differences.length === 0) return ok({ session: at.session, differences, repaired: true, rows });
  const written = erased ? await eraseRows(ports, at) : await writeRows(ports, at);
  if (!written.ok) return written;
  const after = await compare(ports, at);
  if (!after.ok) return after;
  return ok({ session: at.session, differences, repaired: after.value.differences.length === 0, rows: after.value.rows });
}

interface Comparison {
  readonly differences: readonly RowDifference[];
  readonly rows: number;
  readonly erased: boolean;
}

async function compare(ports: RebuildPorts, at: Caller): Promise<Outcome<Comparison>> {
  const before = await ports.live.read(at);
  await ports.scratch.clear(at);
  try {
    const projected = await projectLog(ports, { at, into: ports.scratch, upTo: standsAt(before) });
    if (!projected.ok) return projected;
    const expected = projected.value.erased ? {} : await ports.scratch.read(at);
    const differences = [...diffRows(expected, before), ...(await diffTombstone(ports, { at, erased: projected.value.erased }))];
    return ok({ differences, rows: countRows(before), erased: projected.value.erased });
  } finally {
    await ports.scratch.clear(at);
  }
}

/** Where the live rows stand; without a session's row nothing limits what is missing. */
function standsAt(rows: RowSnapshot): number {
  const seq = Object.values(rows.sessions ?? {})[0]?.last_seq;
  return typeof seq === "number" ? seq : Number.POSITIVE_INFINITY;
}

async function diffTombstone(
  { live }: RebuildPorts,
  { at, erased }: { readonly at: Caller; readonly erased: boolean },
): Promise<readonly RowDifference[]> {
  const buried = await live.isErased(at);
  if (buried === erased) return [];
  return [{ table: "session_tombstones", key: at.session, column: null, before: buried ? "row" : null, after: erased ? "row" : null }];
}

/** The log's events up to a seq, written page by page. An erased session has none, whatever its log still says. */
async function projectLog(
  ports: RebuildPorts,
  { at, into, upTo }: { readonly at: Caller; readonly into: SessionRows; readonly upTo: number },
): Promise<Outcome<{ readonly erased: boolean }>> {
  for (let after = 0; ; ) {
    const read = await readPage(ports, after);
    if (!read.ok) return read;
    if (read.value === "erased") return ok({ erased: true });
    const { events, bodies, has_more } = read.value;
    const wanted = events.filter((event) => event.seq <= upTo);
    const texts = new Map(bodies.map((body) => [body.id, body.text]));
    if (wanted.length > 0) await into.projection.write({ ...at, events: wanted, bodies: texts });
    const last = events.at(-1);
    if (!last || !has_more || last.seq >= upTo) return ok({ erased: false });
    after = last.seq;
  }
}

/** A session that was never opened has an empty log: rows of it do not belong there. */
async function readPage({ readLog }: RebuildPorts, after: number): Promise<Outcome<LogPage | "erased">> {
  const page = await readLog(after);
  if (page.ok) return page.value.events.some((event) => event.type === "SessionErased") ? ok("erased") : page;
  if (page.error.code === "session_erased") return ok("erased");
  return page.error.code === "session_not_found" ? ok({ events: [], bodies: [], has_more: false }) : err(page.error);
}

async function eraseRows({ live, now }: RebuildPorts, at: Caller): Promise<Outcome<null>> {
  await live.projection.erase({ ...at, at: now() });
  return ok(null);
}

/** The session's own projection may write meanwhile: it finds a gap and goes back, or finds its rows already there. */
async function writeRows(ports: RebuildPorts, at: Caller): Promise<Outcome<null>> {
  await ports.live.clear(at);
  const written = await projectLog(ports, { at, into: ports.live, upTo: Number.POSITIVE_INFINITY });
  return written.ok ? ok(null) : written;
}
