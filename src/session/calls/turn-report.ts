/** A turn as it stands, from the state while it is open and from the record afterwards. */
import type * as api from "../../app/session-api";
import type * as views from "../../app/session-views";
import type { TurnId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { toCallView } from "../content";
import { readTurn, readTurnItems, type TurnRow } from "../log/log-tables";
import type { SessionRuntime } from "../runtime";
import { TRIMMED_NOTICE } from "../stream/frames";

export function reportTurn(runtime: SessionRuntime, id: TurnId): api.Outcome<views.TurnReport> {
  const row = readTurn(runtime.deps.sql, id);
  if (!row) return err({ code: "turn_not_found", turn: id });
  const { items: newest, truncated } = readTurnItems(runtime.deps.sql, row, ITEMS_PER_REPORT);
  const items = runtime.content.display(newest);
  return ok({
    id,
    status: statusOf(runtime, row),
    finish: row.finish,
    failure: row.failure,
    attempt: row.attempt,
    message_id: row.message_id,
    items,
    items_truncated: truncated,
    open_calls: openCalls(runtime, id, items),
    usage: row.usage,
    context_window: runtime.spec?.context_window ?? null,
    current_context_tokens: runtime.contextTokens(),
    notices: row.trimmed ? [TRIMMED_NOTICE] : [],
  });
}

/** The newest of a turn: its reply, and with at most 128 calls a reply, every call that is open. */
const ITEMS_PER_REPORT = 1_000;

function statusOf(runtime: SessionRuntime, row: TurnRow): views.TurnReport["status"] {
  if (row.status !== "open") return row.status;
  return runtime.state.turn?.id === row.id ? runtime.state.turn.phase : "generating";
}

function openCalls(runtime: SessionRuntime, id: TurnId, items: readonly views.DisplayItem[]): views.ToolCallView[] {
  const { turn } = runtime.state;
  if (turn?.id !== id) return [];
  const open = new Set(turn.open_calls.map((call) => call.execution));
  return items.filter((item) => item.execution_id && item.kind === "tool_call" && open.has(item.execution_id)).flatMap(toCallView);
}

/** Whether the turn still has something to say by itself. */
export function isUnderWay(runtime: SessionRuntime, id: string): boolean {
  const { turn, queue } = runtime.state;
  return (turn?.id === id && turn.phase === "generating") || queue.some((entry) => entry.turn === id);
}

export async function awaitTurn(runtime: SessionRuntime, id: TurnId): Promise<api.Outcome<views.TurnReport>> {
  while (isUnderWay(runtime, id)) await runtime.commits.next();
  return reportTurn(runtime, id);
}
