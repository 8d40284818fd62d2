/** The executions of the calls in a list of messages, which say who ran each call. */
import type { ExecutionView } from "../../contract/execution";
import type { DisplayItem } from "../../contract/item";
import type { ExecutionId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";

const PAGE = 1_000;

/** The calls that the server ran. */
export const listRanHere = (executions: readonly Pick<ExecutionView, "id" | "runs">[]): ReadonlySet<ExecutionId> =>
  new Set(executions.flatMap(({ id, runs }) => (runs === "server" ? [id] : [])));

/** `items`: in order of position. Without calls nothing is asked. */
export async function readRuns(calls: SessionCalls, items: readonly DisplayItem[]): Promise<Result<readonly ExecutionView[], HttpError>> {
  const positions = items.flatMap(({ tool_calls = [] }) => tool_calls.map(({ position }) => position));
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || last === undefined) return ok([]);
  const found: ExecutionView[] = [];
  for (let after = first - 1; after < last; ) {
    const page = await calls.repeatable((api, caller) => api.executions(caller, { after, limit: PAGE, order: "asc" }));
    if (!page.ok) return page;
    found.push(...page.value.data);
    after = page.value.has_more ? (page.value.data.at(-1)?.position ?? last) : last;
  }
  return ok(found);
}
