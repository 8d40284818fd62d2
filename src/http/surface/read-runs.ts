/** The executions of the calls in a list of messages, which say who ran each call. */

import type { ExecutionView } from "../../contract/execution";
import type { DisplayItem } from "../../contract/item";
import type { ExecutionId, ItemId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";

const PAGE = 1_000;

/** A call of the server that its turn has waited with, until a person would approve it. */
export interface AskedCall {
  /** The call's own id. */
  readonly item: ItemId;
  readonly name: string;
  readonly arguments: string;
  /** Null: no answer yet. */
  readonly approved: boolean | null;
}

export interface WhoRuns {
  /** The calls that the server runs, with and without a person's approval. */
  readonly ranHere: ReadonlySet<ExecutionId>;
  readonly approvals: ReadonlyMap<ExecutionId, AskedCall>;
}

export const sortRuns = (executions: readonly ExecutionView[]): WhoRuns => ({
  ranHere: new Set(executions.flatMap(({ id, runs }) => (runs === "server" ? [id] : []))),
  approvals: new Map(
    executions.flatMap(({ id, item_id: item, tool_name: name, arguments: given, approval }): [ExecutionId, AskedCall][] => {
      const approved = approval?.answer === null || !approval ? null : approval.answer === "approved";
      return approval?.turn_waited ? [[id, { item, name, arguments: given, approved }]] : [];
    }),
  ),
});

/** `items`: in order of position. Without calls nothing is asked. */
export async function readRuns(
  calls: SessionCalls,
  items: readonly Pick<DisplayItem, "tool_calls">[],
): Promise<Result<readonly ExecutionView[], HttpError>> {
  const positions = items.flatMap(({ tool_calls = [] }) => tool_calls.map(({ position }) => position));
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || last === undefined) return ok([]);
  const found: ExecutionView[] = [];
  for (let after = first - 1; after < last; ) {
    const page = await calls.repeatable((api, caller) => api.executions(caller, { after, limit: PAGE, order: "asc" }));
    if (!page.ok) return page;
    found.push(...page.value.data);
    after = page.value.has_more ? (page.value.data.at(-1)?.position ?? last) : last;
    if (after < last) await giveWay();
  }
  return ok(found);
}
