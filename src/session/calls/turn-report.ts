/** Reports a turn: from the state while it is open, from the record afterwards. */
import type * as api from "../../app/session-api";
import type { ToolCallView } from "../../contract/tool";
import type { TurnReport } from "../../contract/turn";
import type { TurnId } from "../../domain/ids";
import { isRunning } from "../../domain/state";
import { err, ok } from "../../lib/result";
import { toCallViews } from "../content";
import { readTurn, readTurnItems, type TurnRow, toSpent } from "../log/log-tables";
import type { SessionRuntime } from "../runtime";
import { TRIMMED_NOTICE } from "../stream/frames";
import { MAX_ANSWER_BYTES, takeWithin } from "./answer-size";

export function reportTurn(runtime: SessionRuntime, id: TurnId): api.Outcome<TurnReport> {
  const row = readTurn(runtime.deps.sql, id);
  if (!row) return err({ code: "turn_not_found", turn: id });
  const { items: newest, truncated } = readTurnItems(runtime.deps.sql, row, ITEMS_PER_REPORT);
  const fitting = takeWithin(newest, { weigh: (item) => item.bytes, limit: MAX_ANSWER_BYTES });
  return ok({
    id,
    status: findStatus(runtime, row),
    finish: row.finish,
    failure: row.failure,
    attempt: row.attempt,
    message_id: row.message_id,
    items: runtime.content.display([...fitting].reverse()),
    items_truncated: truncated || fitting.length < newest.length,
    open_calls: runtime.state.turn?.id === id ? listOpenCalls(runtime) : [],
    model: row.model ?? null,
    ...toSpent(row),
    ...runtime.contextNumbers(),
    notices: row.trimmed ? [TRIMMED_NOTICE] : [],
  });
}

/** A report holds the newest items of a turn, as many as one answer carries. Its reply is among them. */
const ITEMS_PER_REPORT = 1_000;

function findStatus(runtime: SessionRuntime, row: TurnRow): TurnReport["status"] {
  if (row.status !== "open") return row.status;
  return runtime.state.turn?.id === row.id ? runtime.state.turn.phase : "generating";
}

/** All open calls of the running turn, including those that its report leaves out: they are in the view until they have results. */
export function listOpenCalls({ state, content }: SessionRuntime): ToolCallView[] {
  return toCallViews(state.turn?.open_calls ?? [], { items: state.view.items, display: content.displayOne });
}

/** True while the turn may still produce output by itself. */
export function isUnderWay(runtime: SessionRuntime, id: string): boolean {
  const { turn, queue } = runtime.state;
  return (turn?.id === id && isRunning(turn)) || queue.some((entry) => entry.turn === id);
}

export async function awaitTurn(runtime: SessionRuntime, id: TurnId): Promise<api.Outcome<TurnReport>> {
  while (isUnderWay(runtime, id)) {
    if (runtime.halted) return err({ code: "storage_full" });
    await runtime.commits.next();
  }
  return reportTurn(runtime, id);
}
