/** The two streams of a session: its live frames, and its log. */
import type { StreamInput } from "../../app/session-api";
import type { TurnId } from "../../domain/ids";
import { formatSse } from "../../lib/sse";
import { readEvents } from "../log/event-log";
import { readTurn } from "../log/log-tables";
import type { SessionRuntime } from "../runtime";
import { type Frame, type FrameLine, toFrameLine } from "../stream/frames";
import { openReader, openSse, type SseSource } from "../stream/stream-reader";
import { isUnderWay, reportTurn } from "./turn-report";

export function openFrameStream(runtime: SessionRuntime, input: StreamInput): ReadableStream<Uint8Array> {
  const { turn } = input;
  // Whoever holds no offset has nothing to take back: the one before the first frame of an earlier life is nobody's.
  const after = input.after ?? runtime.buffer.locate(startOfTurn(runtime)).offset;
  const isOver = (): boolean => turn === null || !isUnderWay(runtime, turn);
  const lost = turn !== null && isOver() && runtime.buffer.locate(after).kind === "pruned";
  const replay = lost ? replayTurn(runtime, turn) : [];
  return openReader(runtime.buffer, { after, turn, replay, isOver }, runtime.deps.schedule);
}

/** Without a cursor: from the running turn's beginning, or from now on. */
function startOfTurn(runtime: SessionRuntime): number {
  const { turn } = runtime.state;
  if (!turn) return runtime.buffer.offset;
  return runtime.buffer.startOf(turn.id) ?? runtime.buffer.offset;
}

/** A turn whose frames are gone is told from the record: what it produced, and how it ended. */
function replayTurn(runtime: SessionRuntime, turn: TurnId): FrameLine[] {
  const report = reportTurn(runtime, turn);
  if (!report.ok) return [];
  const { status, items, failure, finish, usage, message_id, attempt, context_window, current_context_tokens } = report.value;
  const position = positionAsked(runtime, turn);
  const frames: Frame[] = [
    ...(message_id ? [{ type: "message.accepted", message_id, turn_id: turn, position, queued: false } as const] : []),
    { type: "turn.started", turn_id: turn, attempt, message_id, position },
    ...items.map((item): Frame => ({ type: "item.completed", turn_id: turn, item })),
  ];
  if (status === "completed")
    frames.push({ type: "turn.completed", turn_id: turn, finish: finish ?? "other", usage, context_window, current_context_tokens });
  if (status === "failed") frames.push({ type: "turn.failed", turn_id: turn, failure: failure ?? { kind: "internal", status: null } });
  if (status === "stopped") frames.push({ type: "turn.stopped", turn_id: turn, reason: "requested" });
  if (status === "interrupted") frames.push({ type: "turn.interrupted", turn_id: turn });
  return frames.map((frame) => toFrameLine(frame, runtime.buffer.offset));
}

/** Right before what the turn produced; null: it has not begun. */
function positionAsked(runtime: SessionRuntime, turn: TurnId): number | null {
  const from = readTurn(runtime.deps.sql, turn)?.from ?? 0;
  return from > 1 ? from - 1 : null;
}

const EVENTS_PER_READ = 200;

/** The log as server-sent events, from a seq on and then live, until the session is erased. */
export function openEventStream(runtime: SessionRuntime, input: StreamInput): ReadableStream<Uint8Array> {
  let seq = input.after ?? runtime.state.seq;
  const source: SseSource = {
    ended: false,
    take() {
      if (runtime.state.lifecycle !== "open") {
        this.ended = true;
        return "";
      }
      const events = readEvents(runtime.deps.sql, seq, EVENTS_PER_READ);
      seq = events.at(-1)?.seq ?? seq;
      return events.map((event) => formatSse({ offset: event.seq, type: event.type, json: JSON.stringify(event) })).join("");
    },
  };
  return openSse(source, runtime.buffer, runtime.deps.schedule);
}
