/** Moves the conversation to the place after a turn, whichever branch the turn is on, as one step of a transaction. */
import { goBack } from "../../app/branch/go-back";
import { switchBranch } from "../../app/branch/switch-branch";
import type * as api from "../../app/session-api";
import { isAmong, rangesWithin } from "../../domain/branch";
import type { CoveredRange } from "../../domain/compaction-events";
import type { TurnId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { findNewest } from "../log/branch-items";
import { readBranches } from "../log/branch-rows";
import { readTurnItems } from "../log/log-tables";
import { createSessionPast, findItemAnywhere } from "../log/session-past";
import type { Step } from "../log/store";
import { readTurn, type TurnRow } from "../log/turn-rows";
import type { Session } from "../session";

/**
 * Nothing changes where the turn is the last thing on the current branch. A branch that was left and ends with the turn becomes the current
 * one again. Any other place starts a branch. A waiting turn that is left behind is superseded.
 */
export function continueAfter(session: Session, step: Step, id: TurnId): api.Outcome<null> {
  const { sql, clock } = session.deps;
  const row = readTurn(sql, id);
  if (!row) return err({ code: "turn_not_found", turn: id });
  if (row.status === "queued") return err({ code: "turn_running", turn: id });
  if (isNewest(session, step, row)) return ok(null);
  const position = findTurnEnd(session, row);
  if (position === null) return err({ code: "turn_not_found", turn: id });
  if (isAmong(step.state.branch.elsewhere, position)) {
    const found = findBranch(session, position);
    if (!found) return err({ code: "turn_not_found", turn: id });
    const past = createSessionPast(sql, step.state);
    const switched = switchBranch(found.number, { writer: step, clock, past });
    if (!switched.ok) return switched;
    if (found.last === position) return ok(null);
  }
  const past = createSessionPast(sql, step.state);
  const gone = goBack(position, { do: "nothing" }, { writer: step, clock, past, field: "after" });
  return gone.ok ? ok(null) : gone;
}

/** What a model reads at a place: all up to a position, but what is on other branches. */
export interface Line {
  readonly elsewhere: readonly CoveredRange[];
  readonly last: number;
}

/** The conversation up to the place after the turn, or null: up to the newest place. Null when the turn is not there, or has not begun. */
export function findLineAfter(session: Session, id: TurnId | null): Line | null {
  const { deps, state } = session;
  const current = { elsewhere: state.branch.elsewhere, last: state.next_position - 1 };
  if (id === null) return current;
  const row = readTurn(deps.sql, id);
  if (!row || row.status === "queued") return null;
  if (isNewest(session, session, row)) return current;
  const last = findTurnEnd(session, row);
  if (last === null) return null;
  const line = isAmong(current.elsewhere, last) ? findBranch(session, last) : current;
  return line && { elsewhere: line.elsewhere, last };
}

/** The turn is open, or nothing came after it on the current branch. */
function isNewest({ deps }: Session, { state }: Pick<Step, "state">, { id, from }: TurnRow): boolean {
  if (state.turn) return state.turn.id === id;
  if (state.last_turn?.id !== id) return false;
  const newest = findNewest({ sql: deps.sql, elsewhere: state.branch.elsewhere }, () => true);
  return newest === null || newest.turn === id || newest.position < from;
}

/** The last position that the turn produced, or what it answers if it produced nothing. Null: neither is in the record. */
export function findTurnEnd({ deps }: Session, row: TurnRow): number | null {
  const produced = readTurnItems(deps.sql, row, 1).items[0];
  if (produced) return produced.position;
  if (row.message_id === null) return row.from - 1;
  return findItemAnywhere(deps.sql, row.message_id)?.position ?? null;
}

interface LeftBranch extends Line {
  readonly number: number;
}

/** A branch with that position which is not the current one: the branch that ends there, or else the first of them. */
export function findBranch({ deps }: Pick<Session, "deps">, position: number): LeftBranch | null {
  const found = readBranches(deps.sql).flatMap(({ number, left }) => {
    if (!left || position > left.view.to || isAmong(left.elsewhere, position)) return [];
    const { elsewhere } = left;
    return [{ number, elsewhere, last: rangesWithin(elsewhere, { from: 1, to: left.view.to }).at(-1)?.to ?? 0 }];
  });
  return found.find(({ last }) => last === position) ?? found[0] ?? null;
}
