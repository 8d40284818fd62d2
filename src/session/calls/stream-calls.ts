/** The two streams of a session: its live frames and its log. */
import type { CopiedPlace, FollowedTurn, RespondApi, Responded, RespondInput } from "../../app/respond-api";
import type { Outcome, StreamInput } from "../../app/session-api";
import { describeFailure } from "../../app/turn/describe-failure";
import type { Frame } from "../../contract/frame";
import type { TurnReport } from "../../contract/turn";
import type { StoredEvent } from "../../domain/events";
import type { TurnId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { assertNever } from "../../lib/assert-never";
import { ok } from "../../lib/result";
import { formatSse } from "../../lib/sse";
import { ROLES, toShownContent } from "../display";
import { readBranchItems } from "../log/branch-items";
import { readEvents } from "../log/event-log";
import { findItemAnywhere } from "../log/session-past";
import type { Sql } from "../log/sql";
import { readTurn, type TurnRow } from "../log/turn-rows";
import type { Progress } from "../progress";
import type { Session } from "../session";
import { type FrameLine, toFrameLine, toGapLine, toJson } from "../stream/frames";
import { openReader, openSse, type SseSource } from "../stream/stream-reader";
import { MAX_ANSWER_BYTES, takeWithin } from "./answer-size";
import { listCompactions } from "./read-calls";
import { isUnderWay, reportTurn } from "./turn-report";

/** A stream shows that work is halted, and so needs the progress beside the session. */
type StreamedSession = Session & { readonly progress: Progress };

export function openSessionStream(session: StreamedSession, input: StreamInput): Outcome<ReadableStream<Uint8Array>> {
  return ok(input.of === "events" ? openEventStream(session, input) : openFrameStream(session, input));
}

/** Adds the live stream of its turn to what was accepted. Of a repeated request only its caller knows where to begin. */
export function addStream<T extends Responded | CopiedPlace>(
  session: StreamedSession,
  { listens }: Pick<RespondInput, "listens">,
  responded: Outcome<T>,
): Outcome<T> {
  if (!responded.ok || !listens || "copy" in responded.value) return responded;
  const { turn_id: turn, cursor: after, replayed } = responded.value;
  return turn === null || replayed ? responded : ok({ ...responded.value, stream: openFrameStream(session, { after, turn }) });
}

export function followTurn(session: StreamedSession, input: Parameters<RespondApi["follow"]>[1]): Outcome<FollowedTurn> {
  const [newest] = listCompactions(session, { after: null, limit: 1, order: "desc" }).data;
  return ok({ stream: openFrameStream(session, input), compacting: newest?.status === "running" ? newest.id : null });
}

function openFrameStream(session: StreamedSession, input: StreamInput): ReadableStream<Uint8Array> {
  const { turn } = input;
  // A client without an offset has nothing to rewind. The offset before an earlier life's first frame was never given
  // out: `locate` maps it to the last stored offset.
  const after = input.after ?? startOfTurn(session, turn);
  const isOver = (): boolean => turn === null || !isUnderWay(session, turn);
  const lost = turn !== null && isOver() && session.buffer.locate(after).kind === "pruned";
  const replay = lost ? replayTurn(session, { turn, after }) : [];
  // Who reads one turn has sent its message.
  const fill = (line: FrameLine): FrameLine => (turn === null && line.type === "message.accepted" ? withContent(session, line) : line);
  const isHalted = (): boolean => session.progress.isHalted;
  return openReader(session.buffer, { after, turn, replay, fill, isOver, isHalted }, session.deps.schedule);
}

/** Where a frame was sent while its message waited, its turn says the position. A message without a turn is looked for. */
function findSaid(sql: Sql, { message_id, turn_id, position }: Extract<Frame, { type: "message.accepted" }>): ItemMeta | null {
  const row = position === null && turn_id !== null ? readTurn(sql, turn_id) : null;
  const place = position ?? (row && positionAsked(row));
  const [found] = place === null ? [] : readBranchItems(sql, [], { from: place, to: place, limit: 1, order: "asc" });
  return found?.id === message_id ? found : findItemAnywhere(sql, message_id);
}

/** What was said stands in the record alone, so that a redaction reaches it: the frame gets it when it is sent. */
function withContent({ deps, state, content }: Session, line: FrameLine): FrameLine {
  const frame = JSON.parse(line.json) as Extract<Frame, { type: "message.accepted" }>;
  const { message_id } = frame;
  const waiting = state.queue.find(({ item }) => item.id === message_id);
  const item = waiting ? { ...waiting.item, position: 0 } : findSaid(deps.sql, frame);
  const [entry] = item ? content.readStored([item]) : [];
  if (!item || !entry) return line;
  const said: Frame = { ...frame, role: ROLES[item.kind], content: toShownContent(entry.parts) };
  return { ...line, json: toJson(said) };
}

/**
 * The start for a client without a cursor: the beginning of the asked turn or of the running one, else now. An asked turn whose beginning is
 * not kept is read from before everything that is.
 */
function startOfTurn({ state, buffer }: Session, asked: TurnId | null): number {
  const turn = asked ?? state.turn?.id;
  const start = turn === undefined ? null : buffer.findStart(turn);
  return start === null && asked !== null ? 0 : buffer.locate(start ?? buffer.offset).offset;
}

interface ReplayInput {
  readonly turn: TurnId;
  /** The client's offset. All rebuilt frames have it, so that a client that is cut off among them gets all of them again. */
  readonly after: number;
}

/** Rebuilds the frames of a turn from the record when they are no longer kept: what it produced, and how it ended. */
function replayTurn(session: Session, { turn, after }: ReplayInput): FrameLine[] {
  const report = reportTurn(session, turn);
  const row = readTurn(session.deps.sql, turn);
  if (!report.ok || !row) return [];
  const { items, items_truncated, message_id, attempt, notices } = report.value;
  const lines = (...frames: Frame[]): FrameLine[] => frames.map((frame) => toFrameLine(frame, after));
  const position = positionAsked(row);
  return [
    ...(message_id ? lines({ type: "message.accepted", message_id, turn_id: turn, position, queued: false }) : []),
    ...(row.attempt > 0 ? lines({ type: "turn.started", turn_id: turn, attempt, message_id, position }) : []),
    ...lines(...notices.map((notice): Frame => ({ type: "notice", ...notice }))),
    ...(items_truncated ? [{ ...toGapLine(session.buffer.offset), offset: after }] : []),
    ...lines(...items.map((item): Frame => ({ type: "item.completed", turn_id: turn, item }))),
    ...lines(...endFrames(report.value, row)),
  ];
}

function endFrames(report: TurnReport, { attempt, stop_reason, failure }: TurnRow): Frame[] {
  const {
    id: turn_id,
    status,
    finish,
    usage,
    cost,
    message_id,
    context_window,
    assumed_window,
    current_context_tokens,
    open_calls,
  } = report;
  const figures = { usage, cost, context_window, assumed_window, current_context_tokens };
  switch (status) {
    case "completed":
      return [{ type: "turn.completed", turn_id, finish: finish ?? "other", ...figures }];
    case "failed":
      return [{ type: "turn.failed", turn_id, failure: describeFailure(failure ?? { kind: "internal", status: null }), ...figures }];
    case "stopped":
      // The turn never started: its message was cancelled in the queue.
      if (attempt === 0 && message_id) return [{ type: "message.cancelled", message_id, turn_id }];
      return [{ type: "turn.stopped", turn_id, reason: stop_reason ?? "requested", ...figures }];
    case "interrupted":
      return [{ type: "turn.interrupted", turn_id, ...figures }];
    case "awaiting_tools":
      return [{ type: "turn.awaiting_tools", turn_id, tool_calls: open_calls }];
    case "queued":
    case "generating":
    case "running_tools":
      return [];
    default:
      return assertNever(status);
  }
}

/** The position right before the turn's first item. Null when the turn has not begun. */
const positionAsked = ({ from }: TurnRow): number | null => (from > 1 ? from - 1 : null);

const EVENTS_PER_READ = 200;

const toLine = (event: StoredEvent) => ({ offset: event.seq, type: event.type, json: JSON.stringify(event) });

/** The log as server-sent events: from a seq on, then live, until the session is erased. */
function openEventStream(session: Session, input: StreamInput): ReadableStream<Uint8Array> {
  let seq = input.after ?? session.state.seq;
  const source: SseSource = {
    ended: false,
    take() {
      if (session.state.lifecycle !== "open") {
        this.ended = true;
        return "";
      }
      const lines = readEvents(session.deps.sql, seq, EVENTS_PER_READ).map(toLine);
      const told = takeWithin(lines, { weigh: ({ json }) => json.length, limit: MAX_ANSWER_BYTES });
      seq = told.at(-1)?.offset ?? seq;
      return told.map(formatSse).join("");
    },
  };
  return openSse(source, session.buffer, session.deps.schedule);
}
