/**
 * The branches of a conversation: where each left its parent, and what it takes to go on with one that is not current.
 * Written in the transaction of the events. A session that was never rewound has no row.
 */
import type { ViewBefore } from "../../context/revert-reset";
import type { CoveredRange } from "../../domain/compaction-events";
import type { LastTurn, StoredEvent } from "../../domain/events";
import type { SessionState } from "../../domain/state";
import type { Sql } from "./sql";
import { toViewBefore } from "./views-before";

/** A branch as it was when it was left. */
interface LeftLine {
  readonly at: number;
  readonly elsewhere: readonly CoveredRange[];
  readonly taken_back: readonly CoveredRange[];
  readonly messages: number;
  readonly last_turn: LastTurn | null;
  readonly view: ViewBefore;
}

interface BranchRow {
  readonly number: number;
  /** The branch that this one left. Null: it is the first. */
  readonly parent: number | null;
  /** The last position that the branch shares with its parent. */
  readonly shared_to: number;
  readonly created_at: number;
  /** Null: it is the current branch. */
  readonly left: LeftLine | null;
}

export function readBranch(sql: Sql, number: number): BranchRow | null {
  const row = sql.all<{ data: string }>("SELECT data FROM branches WHERE number = ?", number)[0];
  return row ? (JSON.parse(row.data) as BranchRow) : null;
}

export const readBranches = (sql: Sql): BranchRow[] =>
  sql.all<{ data: string }>("SELECT data FROM branches ORDER BY number").map(({ data }) => JSON.parse(data) as BranchRow);

/** The ancestors of a branch, itself included: each branch's number, with the last position that it shares with this one. */
export function readLineage(sql: Sql, number: number): ReadonlyMap<number, number> {
  const shared = new Map<number, number>();
  let to = Number.MAX_SAFE_INTEGER;
  for (let at: number | null = number; at !== null; ) {
    shared.set(at, to);
    const row: BranchRow | null = readBranch(sql, at);
    to = Math.min(to, row?.shared_to ?? to);
    at = row?.parent ?? null;
  }
  return shared;
}

const write = (sql: Sql, row: BranchRow): void => {
  sql.all("INSERT OR REPLACE INTO branches (number, data) VALUES (?, ?)", row.number, JSON.stringify(row));
};

/** Stores the current branch as it is, because the conversation leaves it. */
function leave(sql: Sql, before: SessionState, at: number): void {
  const { number, elsewhere, taken_back } = before.branch;
  const row = readBranch(sql, number) ?? { number, parent: null, shared_to: 0, created_at: before.opened_at, left: null };
  const { messages, last_turn } = before;
  write(sql, { ...row, left: { at, elsewhere, taken_back, messages, last_turn, view: toViewBefore(before) } });
}

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

export function branchOff(sql: Sql, event: Of<"HistoryRewound">, before: SessionState): void {
  leave(sql, before, event.at);
  write(sql, { number: event.line.branch, parent: before.branch.number, shared_to: event.to, created_at: event.at, left: null });
}

export function goOnWith(sql: Sql, event: Of<"BranchSwitched">, before: SessionState): void {
  leave(sql, before, event.at);
  const row = readBranch(sql, event.line.branch);
  if (row) write(sql, { ...row, left: null });
}
