/** The list of compactions: a table of the object, written in the transaction of the events. */
import type { CompactionView, DraftView, ShownOp } from "../../contract/compaction";
import { type CoveredRange, type EpochOp, isSummarized } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import type { TextRef } from "../../domain/message";
import type { Receipt } from "../../domain/receipt";
import type { SessionState } from "../../domain/state";
import type { Sql } from "./sql";

/** A compaction without its texts: the summary, and the instructions that a person gave. */
export type CompactionRow = Omit<CompactionView, "summary" | "instructions" | "receipt" | "policy"> & {
  readonly instructions: TextRef | null;
  readonly receipt: Receipt | null;
  /** The policy as settings store it, without its instructions. */
  readonly policy: string | null;
  readonly policy_instructions: TextRef | null;
  /** The present text of a draft. Null when there is none, or the draft is over. */
  readonly drafted: TextRef | null;
};

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

const emptyRow = {
  status: "requested",
  did_compact: false,
  finished_at: null,
  attempts: 0,
  failure: null,
  epoch: null,
  range: null,
  keep_recent: null,
  up_to: null,
  instructions: null,
  rebuild: false,
  model: null,
  policy: null,
  policy_instructions: null,
  draft: null,
  drafted: null,
  ops: [],
  receipt: null,
  cache: null,
  reverted: null,
} as const;

const parseRow = (data: string): CompactionRow => JSON.parse(data) as CompactionRow;

export function readCompaction(sql: Sql, id: CompactionId): CompactionRow | null {
  const row = sql.all<{ data: string }>("SELECT data FROM compactions WHERE id = ?", id)[0];
  return row ? parseRow(row.data) : null;
}

/** Compactions in the order of their requests; `after` is the seq of a request. */
export function readCompactions(
  sql: Sql,
  page: { readonly after: number; readonly limit: number; readonly order: "asc" | "desc" },
): CompactionRow[] {
  const [compare, direction] = page.order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const query = `SELECT data FROM compactions WHERE seq ${compare} ? ORDER BY seq ${direction} LIMIT ?`;
  return sql.all<{ data: string }>(query, page.after, page.limit).map(({ data }) => parseRow(data));
}

function writeCompaction(sql: Sql, row: CompactionRow): void {
  const query = "INSERT INTO compactions (id, seq, data) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data";
  sql.all(query, row.id, row.seq, JSON.stringify(row));
}

const changeCompaction = (sql: Sql, id: CompactionId, change: (row: CompactionRow) => CompactionRow): void => {
  const row = readCompaction(sql, id);
  if (row) writeCompaction(sql, change(row));
};

const newRow = (
  id: CompactionId,
  event: { readonly seq: number; readonly at: number; readonly trigger: CompactionRow["trigger"] },
): CompactionRow => ({ ...emptyRow, id, seq: event.seq, trigger: event.trigger, requested_at: event.at });

export function requestRow(sql: Sql, event: Of<"CompactionRequested">): void {
  const { keep_recent = null, up_to = null, instructions = null, rebuild = false, model = null } = event.options ?? {};
  const { policy = null, policy_instructions = null, draft = false } = event.options ?? {};
  const asked = { keep_recent, up_to, instructions, rebuild, model, policy, policy_instructions };
  writeCompaction(sql, { ...newRow(event.compaction, event), ...asked, draft: draft ? NOT_EDITED : null });
}

const NOT_EDITED: DraftView = { edits: 0, edited_by: null, edited_at: null };

export const draftRow = (sql: Sql, { compaction, summary }: Of<"CompactionDrafted">): void =>
  changeCompaction(sql, compaction, (row) => ({ ...row, status: "drafted", failure: null, drafted: summary }));

export const editRow = (sql: Sql, { compaction, summary, by, at }: Of<"DraftEdited">): void =>
  changeCompaction(sql, compaction, (row) => ({
    ...row,
    drafted: summary,
    draft: { edits: (row.draft?.edits ?? 0) + 1, edited_by: by, edited_at: at },
  }));

export const startRow = (sql: Sql, event: Of<"CompactionStarted">): void =>
  changeCompaction(sql, event.compaction, (row) => ({ ...row, status: "running", attempts: event.attempt, range: event.range }));

export function failCompaction(sql: Sql, event: Of<"CompactionFailed">): void {
  const { final, failure } = event;
  changeCompaction(sql, event.compaction, (row) => ({
    ...row,
    status: final ? "failed" : "requested",
    failure,
    finished_at: final ? event.at : null,
    drafted: null,
  }));
}

/** Completes a compaction's row. Inline work has no request of its own, so its row begins here. */
export function applyEpoch(sql: Sql, event: Of<"EpochChanged">): void {
  const id = event.compaction;
  if (!id) return;
  const row = readCompaction(sql, id) ?? newRow(id, event);
  writeCompaction(sql, {
    ...row,
    // A turn that took the compaction over completed it for its own reason, so the trigger is the event's.
    ...(row.status === "failed" ? { status: "failed" } : { status: "completed", failure: null, trigger: event.trigger }),
    did_compact: isSummarized(event),
    epoch: event.epoch,
    range: findRange(event.ops) ?? row.range,
    ops: event.ops.map(toShownOp),
    drafted: null,
    receipt: event.receipt,
    finished_at: event.at,
    cache: { expected: event.receipt.economy.cache_kept, first_call: null },
  });
  for (const op of event.ops) if (op.op === "revert") markReverted(sql, op.compaction, { by: id, at: event.at });
}

const markReverted = (sql: Sql, id: CompactionId, reverted: NonNullable<CompactionRow["reverted"]>): void =>
  changeCompaction(sql, id, (row) => ({ ...row, status: "reverted", reverted }));

function findRange(ops: readonly EpochOp[]): CoveredRange | null {
  const ranges = ops.flatMap((op) => (op.op === "summarize" || op.op === "drop" ? [op] : []));
  if (ranges.length === 0) return null;
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) };
}

/** Replaces the items that came back by their number: they would make a row as large as the history. */
export const toShownOp = (op: EpochOp): ShownOp => (op.op === "revert" || op.op === "reset" ? { ...op, items: op.items.length } : op);

/** Notes what the provider reported about its cache the first time that it read the new view. */
export function noteFirstCall(sql: Sql, event: Of<"ModelCallFinished">, { compaction }: SessionState): void {
  const newest = compaction.changed_by;
  const { usage, model, epoch, at } = event;
  if (!newest || !usage || event.purpose !== "turn") return;
  const row = readCompaction(sql, newest);
  if (row?.epoch !== epoch || !row.cache || row.cache.first_call) return;
  const first_call = { model, input: usage.input, cached: usage.cached, at };
  writeCompaction(sql, { ...row, cache: { ...row.cache, first_call } });
}
