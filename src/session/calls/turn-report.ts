/** Reports a turn: from the state while it is open, from the record afterwards. */
import type * as api from "../../app/session-api";
import { describeFailure } from "../../app/turn/describe-failure";
import type { DisplayItem } from "../../contract/item";
import type { Page } from "../../contract/page";
import type { ToolCallView } from "../../contract/tool";
import type { TurnReport } from "../../contract/turn";
import type { TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { isRunning } from "../../domain/state";
import { err, ok } from "../../lib/result";
import { toCallViews } from "../content";
import { groupMessages } from "../display";
import { readTurnItems } from "../log/log-tables";
import { readTurn, readTurns, type TurnRow, toSpent } from "../log/turn-rows";
import type { Progress } from "../progress";
import type { Session } from "../session";
import { TRIMMED_NOTICE } from "../stream/frames";
import { MAX_ANSWER_BYTES, takeWithin, weighMessage } from "./answer-size";

export function reportTurn(session: Session, id: TurnId): api.Outcome<TurnReport> {
  const row = readTurn(session.deps.sql, id);
  return row ? ok(showTurn(session, row, takeItems(session, row))) : err({ code: "turn_not_found", turn: id });
}

/** A page holds as many turns as one answer carries, and at least one. */
export function listTurns(session: Session, { after, limit, order }: Parameters<api.SessionApi["turns"]>[1]): Page<TurnReport> {
  const rows = readTurns(session.deps.sql, { after, limit: limit + 1, order });
  const data: TurnReport[] = [];
  let weight = 0;
  for (const row of rows.slice(0, limit)) {
    const taken = takeItems(session, row);
    weight += weighMessage(taken.items);
    if (data.length > 0 && weight > MAX_ANSWER_BYTES) break;
    data.push(showTurn(session, row, taken));
  }
  return { data, has_more: rows.length > data.length };
}

function showTurn(session: Session, row: TurnRow, { items, isWhole }: TakenItems): TurnReport {
  const { id } = row;
  const shown = session.content.display(items);
  return {
    id,
    status: findStatus(session, row),
    finish: row.finish,
    failure: row.failure && describeFailure(row.failure, row.excerpt),
    attempt: row.attempt,
    created_at: row.created_at,
    ended_at: row.ended_at ?? null,
    message_id: row.message_id,
    items: shown,
    items_truncated: !isWhole,
    output_text: readOutput(shown),
    open_calls: session.state.turn?.id === id ? listOpenCalls(session) : [],
    model: row.model ?? null,
    ...toSpent(row),
    ...session.knownModel.countContext(session.state),
    notices: row.trimmed ? [TRIMMED_NOTICE] : [],
  };
}

/** A report holds the newest items of a turn, as many as one answer carries. Its reply is among them. */
const ITEMS_PER_REPORT = 1_000;

interface TakenItems {
  readonly items: readonly ItemMeta[];
  readonly isWhole: boolean;
}

function readOutput(items: readonly DisplayItem[]): string {
  const reply = items.findLast(({ role }) => role === "assistant");
  return (reply?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The turn's newest messages in order. A message whose first item is left out is left out as a whole. */
function takeItems(session: Session, row: TurnRow): TakenItems {
  const { items: newest, truncated } = readTurnItems(session.deps.sql, row, ITEMS_PER_REPORT);
  const messages = groupMessages(newest.toReversed(), (item) => item);
  const known = truncated ? messages.slice(1) : messages;
  const fitting = takeWithin(known.toReversed(), { weigh: weighMessage, limit: MAX_ANSWER_BYTES });
  return { items: fitting.toReversed().flat(), isWhole: !truncated && fitting.length === messages.length };
}

function findStatus(session: Session, row: TurnRow): TurnReport["status"] {
  if (row.status !== "open") return row.status;
  return session.state.turn?.id === row.id ? session.state.turn.phase : "generating";
}

/** All open calls of the running turn, including those that its report leaves out: they are in the view until they have results. */
export function listOpenCalls({ state, content }: Session): ToolCallView[] {
  return toCallViews(state.turn?.open_calls ?? [], { items: state.view.items, readShown: content.readShown });
}

/** True while the turn may still produce output by itself. */
export function isUnderWay(session: Session, id: string): boolean {
  const { turn, queue } = session.state;
  return (turn?.id === id && isRunning(turn)) || queue.some((entry) => entry.turn === id);
}

interface AwaitedSession extends Session {
  readonly progress: Progress;
}

/** Reports the turn when it is no longer under way, or as it is after `within` milliseconds. Absent: however long it takes. */
export async function awaitTurn(session: AwaitedSession, id: TurnId, within?: number): Promise<api.Outcome<TurnReport>> {
  const { clock } = session.deps;
  const end = within === undefined ? null : clock() + within;
  while (isUnderWay(session, id) && (end === null || clock() < end)) {
    if (session.progress.isHalted) return err({ code: "storage_full" });
    await session.progress.next(end === null ? undefined : end - clock());
  }
  return reportTurn(session, id);
}
