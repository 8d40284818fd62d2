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
import { type ExecutionRow, findExecutionRow, hasWaited } from "../log/execution-rows";
import { readTurnItems } from "../log/log-tables";
import { readTurn, type TurnRow } from "../log/turn-rows";
import type { Session } from "../session";
import { findTurnEnd } from "./continue-after";

/** A reply that waited for its client, or for a person's approval. */
interface Wait {
  readonly at: number;
  readonly cut: ForkCut;
  /** Calls of the client. */
  readonly calls: readonly OpenCall[];
  readonly isAnswered: boolean;
}

/** Null: the place is here, or there is none, which is found when the session goes to it. */
export function findCopiedPlace(session: Session, state: SessionState, input: RespondFromInput): api.Outcome<CopiedPlace | null> {
  const { after, leg, copy, results, approvals = [] } = input;
  const row = readTurn(session.deps.sql, after);
  if (!row || row.status === "queued") return ok(null);
  const waits = readWaits(session, state, row);
  const newest = waits.length + (waits.at(-1)?.isAnswered === false ? 0 : 1);
  if (leg > newest) return err({ code: "turn_not_found", turn: after });
  const wait = waits[leg - 1];
  const isOpen = state.turn?.id === after;
  if (wait && (leg < newest || (!isOpen && results.length + approvals.length > 0))) return placeBehind(wait, input);
  if (isOpen || (isFree(state) && state.branch.count < MAX_BRANCHES)) return ok(null);
  const at = findTurnEnd(session, row);
  return at === null ? err({ code: "turn_not_found", turn: after }) : ok({ copy, at });
}

const isFree = ({ turn, queue }: SessionState): boolean => turn === null && queue.length === 0;

/** The results must answer each of the calls, as they must for a turn that waits. A copy runs no call that waited for an approval. */
function placeBehind({ at, cut, calls }: Wait, { copy, results, approvals = [] }: RespondFromInput): api.Outcome<CopiedPlace> {
  const [approval] = approvals;
  if (approval) return err({ code: "approval_not_open", index: 0, execution: approval.execution_id });
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

/** The replies of the turn that waited for the client or for a person, in order. */
function readWaits({ deps: { sql } }: Session, state: SessionState, row: TurnRow): readonly Wait[] {
  const items = readTurnItems(sql, row, MOST_ITEMS).items.toReversed();
  const groups = groupItems(items, new Set());
  return groups.flatMap((group, index): Wait[] => {
    const found = group.items.flatMap(({ kind, tool }) => {
      const execution = kind === "tool_call" && tool ? findExecutionRow(sql, tool.execution) : null;
      return tool && execution ? [{ tool, execution }] : [];
    });
    const calls = found.flatMap(({ tool: { execution: id, call_id, name }, execution }): OpenCall[] =>
      execution.runs === "client" ? [{ execution: id, call_id, name }] : [],
    );
    const approvals = found.flatMap(({ execution }) => (hasWaited(execution, state) ? [execution] : []));
    const isFollowed = index < groups.length - 1;
    return calls.length + approvals.length > 0 ? [toWait(group.items, { calls, approvals, isFollowed })] : [];
  });
}

interface Waiting extends Pick<Wait, "calls"> {
  /** The calls that a person was asked to approve. */
  readonly approvals: readonly ExecutionRow[];
  readonly isFollowed: boolean;
}

function toWait(items: readonly ItemMeta[], { calls, approvals, isFollowed }: Waiting): Wait {
  const [owed, asked] = [
    new Set<ExecutionId>(calls.map(({ execution }) => execution)),
    new Set<ExecutionId>(approvals.map(({ id }) => id)),
  ];
  const results = items.filter(
    ({ kind, tool }) => kind === "tool_result" && tool && (owed.has(tool.execution) || asked.has(tool.execution)),
  );
  const own = items.filter((item) => !results.includes(item));
  const at = own.at(-1)?.position ?? 0;
  const without = toRanges(results.flatMap(({ position }) => (position < at ? [position] : [])));
  const answered = results.filter(({ tool }) => tool && owed.has(tool.execution)).length;
  const isAnswered = isFollowed || (answered === calls.length && approvals.every(({ approval }) => approval?.answer));
  return { at, cut: { without }, calls, isAnswered };
}
