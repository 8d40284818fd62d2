/** A leg of a turn as a response: which messages are its own, how it ended, and what it used. */
import type { ForkCut } from "../../../app/fork-parts";
import type { DisplayItem } from "../../../contract/item";
import type { TurnReport } from "../../../contract/turn";
import { toRanges } from "../../../domain/branch";
import type { ExecutionId } from "../../../domain/ids";
import type { WhoRuns } from "../../surface/read-runs";
import type { LegEnd } from "./resource";

/** A reply with a call of the client, or one that a person has to approve, ends its leg. */
export const endsLeg = ({ tool_calls = [] }: DisplayItem, { ranHere, approvals }: WhoRuns): boolean =>
  tool_calls.some(({ execution_id }) => !ranHere.has(execution_id) || approvals.has(execution_id));

/**
 * The turn's messages by leg, without the client's results. A call that was approved belongs to the leg after its wait. The last leg is
 * empty if everything is answered and nothing has followed.
 */
export function splitLegs(items: readonly DisplayItem[], who: WhoRuns): readonly (readonly DisplayItem[])[] {
  const answered = new Set(items.map(({ execution_id }) => execution_id));
  const legs: DisplayItem[][] = [[]];
  /** The reply that the turn has waited with. Null once something has followed the wait. */
  let waited: DisplayItem | null = null;
  for (const item of items) {
    const { role, execution_id } = item;
    if (waited && (role === "assistant" || (execution_id !== undefined && who.approvals.has(execution_id)))) {
      legs.push([]);
      waited = null;
    }
    if (role === "assistant" && endsLeg(item, who)) waited = item;
    if (role === "assistant" || (execution_id !== undefined && who.ranHere.has(execution_id))) legs.at(-1)?.push(item);
  }
  const isAnswered = waited?.tool_calls?.every(({ execution_id: id }) => answered.has(id) || who.approvals.get(id)?.approved === true);
  return isAnswered ? [...legs, []] : legs;
}

/** Where a leg of the turn ends in its session: the last position, and what lies before it and came later. */
interface LegPlace {
  readonly at: number;
  readonly cut: ForkCut;
}

/**
 * The place of a leg that waited for its client or for a person: behind its last call and what the server ran. The answers that ended the
 * wait are not of it. Null: the leg ends with its turn. `undefined`: the turn has no such leg.
 */
export function findLegPlace({ items, status }: TurnReport, leg: number, who: WhoRuns): LegPlace | null | undefined {
  const legs = splitLegs(items, who);
  const own = legs[leg - 1];
  if (!own) return undefined;
  if (leg === legs.length && status !== "awaiting_tools") return null;
  const asked = own.findLast(({ role }) => role === "assistant")?.tool_calls ?? [];
  const at = Math.max(...own.map(({ position }) => position), ...asked.map(({ position }) => position));
  const isOwed = (id: ExecutionId): boolean => !who.ranHere.has(id) || who.approvals.has(id);
  const owed = new Set(asked.flatMap(({ execution_id }) => (isOwed(execution_id) ? [execution_id] : [])));
  const isAnswer = ({ role, execution_id, position }: DisplayItem): boolean =>
    role === "tool" && execution_id !== undefined && owed.has(execution_id) && position < at;
  return { at, cut: { without: toRanges(items.filter(isAnswer).map(({ position }) => position)) } };
}

/** How the leg `leg` of `count` legs ended. `messages`: its own. */
export function findEnd(
  turn: Pick<TurnReport, "status" | "finish" | "failure">,
  { isLast, messages }: { readonly isLast: boolean; readonly messages: readonly DisplayItem[] },
  who: WhoRuns,
): LegEnd {
  const reply = messages.findLast(({ role }) => role === "assistant");
  const waits = reply !== undefined && !reply.incomplete && endsLeg(reply, who);
  if (!isLast || (waits && (turn.status === "awaiting_tools" || turn.status === "stopped"))) return { status: "completed" };
  return endTurn(turn);
}

/** How a response ends with its turn. */
export function endTurn({ status, finish, failure }: Pick<TurnReport, "status" | "finish" | "failure">): LegEnd {
  switch (status) {
    case "completed":
      if (finish === "length") return { status: "incomplete", reason: "max_output_tokens" };
      if (finish === "content_filter") return { status: "incomplete", reason: "content_filter" };
      return { status: "completed" };
    case "failed":
      return { status: "failed", error: toError(failure) };
    case "interrupted":
      return { status: "failed", error: { code: "server_error", message: "The response was interrupted. What it said is kept." } };
    case "stopped":
      return { status: "cancelled" };
    case "queued":
      return { status: "queued" };
    default:
      return { status: "in_progress" };
  }
}

function toError(failure: TurnReport["failure"]) {
  const { kind = "internal", detail: message = "The response failed." } = failure ?? {};
  if (kind === "overflow" || kind === "cannot_fit") return { code: "context_length_exceeded", message };
  if (kind === "rate_limit") return { code: "rate_limit_exceeded", message };
  if (kind === "quota" || kind === "budget") return { code: "insufficient_quota", message };
  return { code: "server_error", message };
}

/** Epoch seconds at which the leg was complete: when its last message was recorded. */
export const findCompletion = (messages: readonly DisplayItem[], otherwise: number): number => {
  const last = messages.at(-1);
  return last ? Math.floor(last.recorded_at / 1_000) : otherwise;
};
