/**
 * The rows of one session, compared with what its log says and mended where they differ. The log is projected with the
 * same code into rows of their own (scratch), up to where the live rows stand: a projection that lags is no difference.
 * Then both are read in order of their keys, a page of each in one transaction, and what differs is taken over, if
 * neither has moved. So nobody's list is ever empty, memory holds two pages, and a session that is written meanwhile
 * is compared page by page, each at a moment of its own. Whoever else writes or clears either of them only moves its
 * `last_seq`, which always stands for a prefix of the log: then the scratch rows follow, and the page is read again. One step does a bounded part of it; its progress is all that
 * the next one needs.
 */
import { assertNever } from "../../lib/assert-never";
import { err, ok } from "../../lib/result";
import { mergePages, type RowDifference } from "../diff-rows";
import type { Projection } from "../ports";
import type { Caller, Outcome } from "../session-api";
import type { LogPage } from "../session-views";
import { d1CostOfBatch } from "./projection-cost";
import { ProjectionGapError } from "./projection-gap";
import type { RebuildPorts, RebuildProgress, RebuildStep, RowPage, Standing } from "./rebuild-ports";

/** Statements to D1 in one step: a Worker's invocation has 1,000 (Cloudflare's D1 limits), and a page of the log overshoots. */
export const STEP_BUDGET = 400;
const PAGE_COST = 5;
/** What two passes could not mend stays wrong; the third says so. */
const PASSES = 3;
const TIDY_PARTS = 20;

interface Run {
  readonly ports: RebuildPorts;
  readonly at: Caller;
  readonly differences: RowDifference[];
  progress: RebuildProgress;
  /** The log says so: then no rows belong there, whatever it still holds. */
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
 * One bounded step, from the beginning or from a step's `next`. Throws what D1 throws; the session's refusals are
 * values. After either it is to be begun again. A step that already found something says that first: what was mended
 * must not go unreported, and what fails will fail the next step too.
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
  }
  return ok(report(run, null));
}

function report({ at, differences, progress }: Run, repaired: boolean | null): RebuildStep {
  return { session: at.session, differences, repaired, rows: progress.rows, next: repaired === null ? progress : null };
}

/** Null: it is over. */
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

/** After a failure: what a session of usual length left. Of a longer one's the next rebuild, or the erasure, takes the rest. */
async function tidyUp(run: Run): Promise<void> {
  for (let parts = 0; parts < TIDY_PARTS; parts++) if (await clearPart(run)) return;
}

async function comparePage(run: Run, from: RebuildProgress): Promise<Outcome<RebuildProgress>> {
  const { rows } = run.ports;
  const standing = await stand(run);
  const levelled = await level(run, standing);
  if (!levelled.ok) return levelled;
  if (!levelled.value) return ok(from);
  const page = await rows.readPage(run.at, from.place);
  run.spent += PAGE_COST;
  if (page.standing.live !== standing.live || page.standing.scratch !== standing.scratch) return ok(from);
  return ok(await mergePage(run, from, page));
}

async function stand(run: Run): Promise<Standing> {
  run.spent += 1;
  return run.ports.rows.stand(run.at);
}

/** Brings the scratch rows a page nearer to where the live ones stand, or to the log's end if those say nothing. True: they are there. */
async function level(run: Run, { live, scratch, buried }: Standing): Promise<Outcome<boolean>> {
  const upTo = live === 0 ? Number.POSITIVE_INFINITY : live;
  if (run.erased || buried || scratch >= upTo) return ok(true);
  const written = await writePage(run, { into: run.ports.rows.scratch, after: scratch, upTo });
  if (!written.ok) return written;
  // Rows that did not move were cleared by another rebuild meanwhile: nothing is compared with what is missing from them.
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

/** Later passes find what could not be mended, or what came in between: what was wrong was said by the first. */
function note(run: Run, { pass }: RebuildProgress, ...differences: readonly RowDifference[]): void {
  if (pass === 1) run.differences.push(...differences);
}

function nextTable(run: Run, from: RebuildProgress, { buried }: Standing): RebuildProgress {
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

/** What is mended stands where the live rows stood: the rest of the log follows, or the erasure. Then all is looked at again. */
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

/** A page of the log as rows. False: there was nothing up to there. */
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
    // Someone else cleared them meanwhile: the next look at where they stand says so.
    if (!(error instanceof ProjectionGapError)) throw error;
  }
  return ok(true);
}

/** A session that was never opened has an empty log: rows of it do not belong there. */
async function readPage(run: Run, after: number): Promise<Outcome<LogPage>> {
  const nothing = ok({ events: [], bodies: [], has_more: false });
  const page = await run.ports.readLog(after);
  run.erased ||= page.ok ? page.value.events.some((event) => event.type === "SessionErased") : page.error.code === "session_erased";
  if (run.erased) return nothing;
  if (page.ok) return page;
  return page.error.code === "session_not_found" ? nothing : err(page.error);
}
