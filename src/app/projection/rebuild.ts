/**
 * Compares the rows of one session with its log, and corrects them where they differ. The log is projected by the same code into separate
 * rows (scratch), up to the seq of the live rows, so that a projection that lags is no difference. Then both are read in order of their
 * keys, a page of each in one transaction, and differences are copied over if neither side has moved.
 *
 * Clients never see an empty list, and memory holds two pages. A session that is written meanwhile is compared page by page, each page at a
 * moment of its own. Any other writer only moves a side's `last_seq`, which always marks a prefix of the log: the scratch rows then follow,
 * and the page is read again. One step does a bounded part of the work, and its progress is all that the next step needs.
 */

import type { RowDifference } from "../../contract/rebuild";
import { assertNever } from "../../lib/assert-never";
import { err, ok } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import { mergePages } from "../diff-rows";
import type { Projection } from "../ports";
import type { Caller, LogPage, Outcome } from "../session-api";
import { d1CostOfBatch } from "./projection-cost";
import { ProjectionGapError } from "./projection-gap";
import type { RebuildPorts, RebuildProgress, RebuildStep, RowPage, RowSeqs } from "./rebuild-ports";

/** Statements to D1 in one step. A Worker's invocation has 1,000 (Cloudflare's D1 limits), and a page of the log may exceed the budget. */
export const STEP_BUDGET = 400;
const PAGE_COST = 5;
/** The rebuild ends after the third pass. A difference that this pass still finds counts as not repaired. */
const PASSES = 3;
const TIDY_PARTS = 20;

interface Run {
  readonly ports: RebuildPorts;
  readonly at: Caller;
  readonly differences: RowDifference[];
  progress: RebuildProgress;
  /** True when the log says that the session was erased. Its rows are then removed, whatever the log still holds. */
  erased: boolean;
  spent: number;
}

const begin = ({ rows }: RebuildPorts): RebuildProgress => ({
  phase: "clear",
  pass: 1,
  place: { table: rows.tables[0], after: null },
  found: 0,
  rows: 0,
});

/**
 * Runs one bounded step, from the beginning or from a previous step's `next`. Throws D1's errors; the session's refusals are values. After
 * either of them, begin again. A step that has found differences returns them although it then failed: corrections must not go unreported,
 * and the next step will meet the same failure.
 */
export async function rebuildStep(ports: RebuildPorts, at: Caller, from: RebuildProgress | null): Promise<Outcome<RebuildStep>> {
  const run: Run = { ports, at, differences: [], progress: from ?? begin(ports), erased: false, spent: 0 };
  try {
    const stepped = await advanceWithin(run);
    if (!stepped.ok) await tidyUp(run);
    return stepped;
  } catch (error) {
    if (run.differences.length > 0) return ok(report(run, null));
    await tidyUp(run);
    throw error;
  }
}

async function advanceWithin(run: Run): Promise<Outcome<RebuildStep>> {
  const probed = await readPage(run, Number.MAX_SAFE_INTEGER);
  if (!probed.ok) return probed;
  while (run.spent < (run.ports.budget ?? STEP_BUDGET)) {
    const stepped = await advance(run, run.progress);
    if (!stepped.ok) return stepped;
    if (!stepped.value) return ok(report(run, run.progress.found === 0));
    run.progress = stepped.value;
    await giveWay(run.ports.schedule);
  }
  return ok(report(run, null));
}

function report({ at, differences, progress }: Run, repaired: boolean | null): RebuildStep {
  return { session_id: at.session, differences, repaired, rows: progress.rows, next: repaired === null ? progress : null };
}

/** Null: the rebuild is over. */
async function advance(run: Run, from: RebuildProgress): Promise<Outcome<RebuildProgress | null>> {
  switch (from.phase) {
    case "clear":
      return ok((await clearPart(run)) ? { ...from, phase: "compare" } : from);
    case "compare":
      return comparePage(run, from);
    case "extend":
      return extendLive(run, from);
    case "clean":
      return ok((await clearPart(run)) ? null : from);
    default:
      return assertNever(from.phase);
  }
}

function clearPart(run: Run): Promise<boolean> {
  run.spent += PAGE_COST;
  return run.ports.rows.clearScratch(run.at);
}

/**
 * Cleans up after a failure, in as many parts as a session of usual length takes. For a longer session, the next rebuild or the erasure
 * removes the rest.
 */
async function tidyUp(run: Run): Promise<void> {
  for (let parts = 0; parts < TIDY_PARTS; parts++) {
    if (await clearPart(run)) return;
    await giveWay(run.ports.schedule);
  }
}

async function comparePage(run: Run, from: RebuildProgress): Promise<Outcome<RebuildProgress>> {
  const { rows } = run.ports;
  const standing = await stand(run);
  if (isAhead(standing)) return ok({ ...from, phase: "clear" });
  const levelled = await level(run, standing);
  if (!levelled.ok) return levelled;
  if (!levelled.value) return ok(from);
  const page = await rows.readPage(run.at, from.place);
  run.spent += PAGE_COST;
  if (page.standing.live !== standing.live || page.standing.scratch !== standing.scratch) return ok(from);
  return ok(await mergePage(run, from, page));
}

/** Scratch rows that were projected to the log's end, since there were no live rows yet. What they hold beyond the live rows is no difference. */
const isAhead = ({ live, scratch }: RowSeqs): boolean => live > 0 && scratch > live;

async function stand(run: Run): Promise<RowSeqs> {
  run.spent += 1;
  return run.ports.rows.stand(run.at);
}

/**
 * Projects one page into the scratch rows, up to the seq of the live rows, or to the log's end if there are no live rows. True when the
 * scratch rows are there.
 */
async function level(run: Run, { live, scratch, buried }: RowSeqs): Promise<Outcome<boolean>> {
  const upTo = live === 0 ? Number.POSITIVE_INFINITY : live;
  if (run.erased || buried || scratch >= upTo) return ok(true);
  const written = await writePage(run, { into: run.ports.rows.scratch, after: scratch, upTo });
  if (!written.ok) return written;
  // Rows were written, so check again: another rebuild may have cleared them meanwhile, and missing rows must not be compared.
  return ok(!written.value);
}

async function mergePage(run: Run, from: RebuildProgress, page: RowPage): Promise<RebuildProgress> {
  const { table } = from.place;
  const { rows } = run.ports;
  const { differences, write, remove, upTo, rows: seen } = mergePages(run.erased ? [] : page.scratch, page.live);
  if (upTo === null) return nextTable(run, from, page.standing);
  if (differences.length > 0) {
    run.spent += 2;
    note(run, from, ...differences.map((difference) => ({ table, ...difference })));
    await rows.mend(run.at, { table, standing: page.standing, write, remove });
  }
  return { ...from, place: { table, after: upTo }, found: from.found + differences.length, rows: from.rows + seen };
}

/** Only the first pass reports. Later passes find what could not be corrected, or what changed in between. */
function note(run: Run, { pass }: RebuildProgress, ...differences: readonly RowDifference[]): void {
  if (pass === 1) run.differences.push(...differences);
}

function nextTable(run: Run, from: RebuildProgress, { buried }: RowSeqs): RebuildProgress {
  const { tables } = run.ports.rows;
  const next = tables[tables.indexOf(from.place.table) + 1];
  if (next !== undefined) return { ...from, place: { table: next, after: null } };
  const tombstone = diffTombstone(run, buried);
  note(run, from, ...tombstone);
  const found = from.found + tombstone.length;
  return { ...from, found, phase: found === 0 || from.pass >= PASSES ? "clean" : "extend" };
}

function diffTombstone({ at, erased }: Run, buried: boolean): readonly RowDifference[] {
  if (buried === erased) return [];
  return [{ table: "session_tombstones", key: at.session, column: null, before: buried ? "row" : null, after: erased ? "row" : null }];
}

/** Corrected rows end at the seq of the live rows: project the rest of the log, or erase the rows, and then compare everything again. */
async function extendLive(run: Run, from: RebuildProgress): Promise<Outcome<RebuildProgress>> {
  const { rows, now } = run.ports;
  const again: RebuildProgress = { ...begin(run.ports), phase: "compare", pass: from.pass + 1 };
  const { live, buried } = await stand(run);
  if (run.erased) {
    await rows.live.erase({ ...run.at, at: now() });
    return ok(again);
  }
  const written = await writePage(run, { into: rows.live, after: live, upTo: Number.POSITIVE_INFINITY });
  if (!written.ok) return written;
  const moved = written.value && !buried && (await stand(run)).live > live;
  return ok(moved ? from : again);
}

/** Writes a page of the log as rows. False when the log has no event in that range. */
async function writePage(
  run: Run,
  { into, after, upTo }: { readonly into: Projection; readonly after: number; readonly upTo: number },
): Promise<Outcome<boolean>> {
  const page = await readPage(run, after);
  if (!page.ok) return page;
  const events = page.value.events.filter((event) => event.seq <= upTo);
  if (run.erased) return ok(true);
  if (events.length === 0) return ok(false);
  run.spent += d1CostOfBatch(events);
  const bodies = new Map(page.value.bodies.map((body) => [body.id, body.text]));
  try {
    await into.write({ ...run.at, events, bodies });
  } catch (error) {
    // Another caller cleared the rows meanwhile. The next query for their standing shows it.
    if (!(error instanceof ProjectionGapError)) throw error;
  }
  return ok(true);
}

/** Reads a page of the log. A session that was never opened has an empty log, so it should have no rows. */
async function readPage(run: Run, after: number): Promise<Outcome<LogPage>> {
  const nothing = ok({ events: [], bodies: [], has_more: false });
  const page = await run.ports.readLog(after);
  run.erased ||= page.ok ? page.value.events.some((event) => event.type === "SessionErased") : page.error.code === "session_erased";
  if (run.erased) return nothing;
  if (page.ok) return page;
  return page.error.code === "session_not_found" ? nothing : err(page.error);
}
