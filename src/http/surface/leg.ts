/**
 * One leg of a turn as the record has it: from a request to the turn's end, or to its wait for the client. A leg that is asked for again is
 * what it was, however far its turn has gone since.
 */

import type { DisplayItem } from "../../contract/item";
import type { TurnFailureView } from "../../contract/model-call";
import type { ToolCallView } from "../../contract/tool";
import type { TurnReport } from "../../contract/turn";
import type { ExecutionId, TurnId } from "../../domain/ids";
import type { CallUsage, FinishReason } from "../../domain/model-call";
import { err, ok, type Result } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";
import { type AppliedEdits, readAppliedEdits } from "./applied-edits";
import { readLegUsage } from "./leg-usage";
import { readRuns, sortRuns } from "./read-runs";

export type LegEnding =
  | { readonly type: "finished"; readonly finish: FinishReason | null }
  /** The turn was stopped: what it said is not all that it would have said. */
  | { readonly type: "stopped" }
  /** `calls`: the client's own, and those that a person has to approve. */
  | { readonly type: "waiting"; readonly calls: readonly ToolCallView[] }
  | { readonly type: "refused"; readonly detail: string };

/** Why a turn has no answer. Null: it ended with its process. */
type LegFailure = TurnFailureView | null;

export interface RecordedLeg {
  /** In order. */
  readonly replies: readonly DisplayItem[];
  readonly ending: Result<LegEnding, LegFailure>;
  readonly usage: CallUsage | null;
  readonly edits: AppliedEdits;
}

interface LegPlace {
  readonly turn: TurnId;
  /** Items up to this position were there before. */
  readonly after: number;
  /** The edit of its context that the request asks for. Absent: none. */
  readonly edit?: string;
}

type Read<T> = Promise<Result<T, HttpError>>;

/** Waits until the turn is over, or waits itself. */
export async function readRecordedLeg(calls: SessionCalls, { turn, after, edit }: LegPlace): Read<RecordedLeg> {
  const waited = await calls.repeatable((api, caller) => api.waitForTurn(caller, turn));
  if (!waited.ok) return waited;
  const report = waited.value;
  const items = await readItems(calls, report, after);
  if (!items.ok) return items;
  const ranHere = await readRanHere(calls, report, items.value);
  if (!ranHere.ok) return ranHere;
  const { own, next } = cutLeg(items.value, ranHere.value);
  const replies = own.filter(({ role }) => role === "assistant");
  const place = { after, until: next?.recorded_at ?? null };
  const usage = await readLegUsage(calls, report, place);
  const edits = await readAppliedEdits(calls, edit);
  const ending = findEnding(report, { replies, isOver: next !== undefined, ranHere: ranHere.value });
  return ok({ replies, ending, usage, edits });
}

const PAGE = 200;

/** What the turn produced behind `after`. A report leaves out what is too large for it, and the list of messages does not. */
async function readItems(calls: SessionCalls, report: TurnReport, after: number): Read<readonly DisplayItem[]> {
  const told = report.items.filter(({ position }) => position > after);
  if (!report.items_truncated || told.length < report.items.length) return ok(told);
  const found: DisplayItem[] = [];
  for (let from = after; ; ) {
    const page = await calls.repeatable((api, caller) => api.items(caller, { after: from, limit: PAGE, order: "asc" }));
    if (!page.ok) return page;
    const { data, has_more } = page.value;
    found.push(...data.filter(({ turn_id }) => turn_id === report.id));
    const last = data.at(-1);
    if (!has_more || !last || (last.turn_id !== null && last.turn_id !== report.id)) break;
    from = last.position;
    await giveWay();
  }
  // The turn may have been left behind by another branch, which the list does not show.
  return ok(found.length > told.length ? found : told);
}

/** Asks only where something depends on the answer: results that may be the client's, or calls that were never answered. */
async function readRanHere(calls: SessionCalls, { status }: TurnReport, items: readonly DisplayItem[]): Read<ReadonlySet<ExecutionId>> {
  const hasResults = items.some(({ role }) => role === "tool");
  const wasLeft = status === "stopped" && (items.findLast(({ role }) => role === "assistant")?.tool_calls ?? []).length > 0;
  if (!hasResults && !wasLeft) return ok(new Set());
  const runs = await readRuns(calls, items);
  return runs.ok ? ok(sortRuns(runs.value).ranHere) : runs;
}

interface CutLeg {
  readonly own: readonly DisplayItem[];
  /** The client's result that begins the next leg. */
  readonly next: DisplayItem | undefined;
}

/** The results that the leg itself answers come before its first reply. */
function cutLeg(items: readonly DisplayItem[], ranHere: ReadonlySet<ExecutionId>): CutLeg {
  const first = items.findIndex(({ role }) => role === "assistant");
  const isClients = ({ role, execution_id }: DisplayItem): boolean => role === "tool" && !(execution_id && ranHere.has(execution_id));
  const index = items.findIndex((item, nth) => first >= 0 && nth > first && isClients(item));
  return index < 0 ? { own: items, next: undefined } : { own: items.slice(0, index), next: items[index] };
}

interface Ended {
  readonly replies: readonly DisplayItem[];
  /** A later leg follows. */
  readonly isOver: boolean;
  readonly ranHere: ReadonlySet<ExecutionId>;
}

function findEnding({ status, finish, failure, open_calls }: TurnReport, { replies, isOver, ranHere }: Ended): RecordedLeg["ending"] {
  const left = (replies.at(-1)?.tool_calls ?? []).filter(({ execution_id }) => !ranHere.has(execution_id));
  if ((isOver || status === "stopped") && left.length > 0) return ok({ type: "waiting", calls: left.map(toClientCall) });
  if (status === "awaiting_tools") return ok({ type: "waiting", calls: open_calls });
  if (status === "completed") return ok({ type: "finished", finish });
  if (status === "stopped") return ok({ type: "stopped" });
  return failure?.kind === "refused" ? ok({ type: "refused", detail: failure.detail }) : err(failure);
}

type MessageCall = NonNullable<DisplayItem["tool_calls"]>[number];
const toClientCall = ({ execution_id, call_id, name, arguments: given }: MessageCall): ToolCallView => ({
  id: execution_id,
  call_id,
  name,
  arguments: given,
  runs: "client",
  approval: null,
});
