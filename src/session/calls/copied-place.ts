/**
 * Finds out whether a turn that a request continues is to be continued in a copy of the session. For the clients of some APIs each answer is
 * a fixed place that any number of requests may continue, at any time: docs/decisions/0019-a-busy-response-is-continued-in-a-copy.md.
 */
import type { ForkCut } from "../../app/fork-parts";
import type { CopiedPlace, RespondFromInput } from "../../app/respond-api";
import type * as api from "../../app/session-api";
import { groupItems } from "../../context/groups";
import { MAX_BRANCHES, toRanges } from "../../domain/branch";
import type { ExecutionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { type CallRef, findOpenCall } from "../../domain/open-calls";
import type { OpenCall, SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import { findExecutionRow } from "../log/execution-rows";
import { readTurnItems } from "../log/log-tables";
import { readTurn, type TurnRow } from "../log/turn-rows";
import type { Session } from "../session";
import { findTurnEnd } from "./continue-after";

/** A reply that waited for its client. */
interface Wait {
  readonly at: number;
  readonly cut: ForkCut;
  /** Calls of the client. */
  readonly calls: readonly OpenCall[];
  readonly isAnswered: boolean;
}

/** Null: the place is here, or there is none, which is found when the session goes to it. */
export function findCopiedPlace(session: Session, state: SessionState, input: RespondFromInput): api.Outcome<CopiedPlace | null> {
  const { after, leg, copy, results } = input;
  const row = readTurn(session.deps.sql, after);
  if (!row || row.status === "queued") return ok(null);
  const waits = readWaits(session, row);
  const newest = waits.length + (waits.at(-1)?.isAnswered === false ? 0 : 1);
  if (leg > newest) return err({ code: "turn_not_found", turn: after });
  const wait = waits[leg - 1];
  const isOpen = state.turn?.id === after;
  if (wait && (leg < newest || (!isOpen && results.length > 0))) return placeBehind(wait, input);
  if (isOpen || (isFree(state) && state.branch.count < MAX_BRANCHES)) return ok(null);
  const at = findTurnEnd(session, row);
  return at === null ? err({ code: "turn_not_found", turn: after }) : ok({ copy, at });
}

const isFree = ({ turn, queue }: SessionState): boolean => turn === null && queue.length === 0;

/** The results must answer each of the calls, as they must for a turn that waits. */
function placeBehind({ at, cut, calls }: Wait, { copy, results }: RespondFromInput): api.Outcome<CopiedPlace> {
  let open = calls;
  for (const [index, { execution_id: execution, call_id }] of results.entries()) {
    const ref: CallRef = { execution, call_id };
    const call = findOpenCall(open, ref);
    if (!call) return err({ code: "call_not_open", index, call: execution ?? call_id ?? "" });
    open = open.filter((other) => other !== call);
  }
  if (open.length === 0) return ok({ copy, at, cut });
  return err({ code: "calls_unanswered", calls: open.map(({ execution, call_id }) => ({ execution, call_id })) });
}

/** More than any turn has. */
const MOST_ITEMS = 1_000_000;

/** The replies of the turn that waited for the client, in order. */
function readWaits({ deps: { sql } }: Session, row: TurnRow): readonly Wait[] {
  const items = readTurnItems(sql, row, MOST_ITEMS).items.toReversed();
  const groups = groupItems(items, new Set());
  return groups.flatMap((group, index): Wait[] => {
    const calls = group.items.flatMap(({ kind, tool }): OpenCall[] => {
      if (kind !== "tool_call" || !tool || findExecutionRow(sql, tool.execution)?.runs !== "client") return [];
      return [{ execution: tool.execution, call_id: tool.call_id, name: tool.name }];
    });
    const [first] = calls;
    return first ? [toWait(group.items, { calls, isFollowed: index < groups.length - 1 })] : [];
  });
}

function toWait(items: readonly ItemMeta[], { calls, isFollowed }: Pick<Wait, "calls"> & { readonly isFollowed: boolean }): Wait {
  const asked = new Set<ExecutionId>(calls.map(({ execution }) => execution));
  const answers = items.filter(({ kind, tool }) => kind === "tool_result" && tool && asked.has(tool.execution));
  const own = items.filter((item) => !answers.includes(item));
  const at = own.at(-1)?.position ?? 0;
  const without = toRanges(answers.flatMap(({ position }) => (position < at ? [position] : [])));
  return { at, cut: { without }, calls, isAnswered: isFollowed || answers.length === calls.length };
}
