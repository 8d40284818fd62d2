/** The live stream's frames: what a client hears of a session, in order, each at an offset of its own. */
import type { DisplayItem, ToolCallView } from "../../app/session-views";
import type { CompactionFailure } from "../../domain/compaction-events";
import type { StopReason, TurnFailure } from "../../domain/events";
import type { CompactionId, ItemId, TurnId } from "../../domain/ids";
import type { CallUsage, FinishReason } from "../../domain/model-call";

interface InTurn {
  readonly turn_id: TurnId;
}

/** What every usage frame carries, so that a client can draw how full the window is (Opal compaction). */
export interface ContextNumbers {
  readonly context_window: number | null;
  readonly current_context_tokens: number;
}

export type Frame =
  | {
      readonly type: "message.accepted";
      readonly message_id: ItemId;
      readonly turn_id: TurnId | null;
      readonly position: number | null;
      readonly queued: boolean;
    }
  | ({
      readonly type: "turn.started";
      readonly attempt: number;
      readonly message_id: ItemId | null;
      readonly position: number | null;
    } & InTurn)
  | ({ readonly type: "turn.resumed" } & InTurn)
  | ({ readonly type: "text.delta"; readonly text: string } & InTurn)
  | ({ readonly type: "reasoning.delta"; readonly text: string } & InTurn)
  | ({ readonly type: "item.completed"; readonly item: DisplayItem } & InTurn)
  | ({ readonly type: "turn.awaiting_tools"; readonly tool_calls: readonly ToolCallView[] } & InTurn)
  | ({ readonly type: "turn.completed"; readonly finish: FinishReason; readonly usage: CallUsage | null } & ContextNumbers & InTurn)
  | ({ readonly type: "turn.failed"; readonly failure: TurnFailure } & InTurn)
  | ({ readonly type: "turn.stopped"; readonly reason: StopReason } & InTurn)
  | ({ readonly type: "turn.interrupted" } & InTurn)
  | { readonly type: "message.cancelled"; readonly message_id: ItemId; readonly turn_id: TurnId | null }
  | { readonly type: "compaction.started"; readonly compaction_id: CompactionId; readonly status: string }
  | {
      readonly type: "compaction.completed";
      readonly compaction_id: CompactionId;
      readonly did_compact: boolean;
      readonly failure: CompactionFailure | null;
    }
  | { readonly type: "notice"; readonly code: "history_trimmed"; readonly text: string }
  | { readonly type: "session.erased" };

export type FrameType = Frame["type"];

/** FEAT-011, auto compact indicator. */
export const COMPACTING_STATUS = "Optimizing conversation context…";
/** FEAT-011, compact fallback notification. */
export const TRIMMED_NOTICE = "Conversation history has been automatically trimmed";

/** Frames after which a turn has nothing more to say until somebody acts. */
const turnEnds: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.stopped",
  "turn.interrupted",
  "turn.awaiting_tools",
  "message.cancelled",
] satisfies FrameType[]);
export const endsTurn = (type: string): boolean => turnEnds.has(type);

/** Frames at which one model call's text begins. */
const callStarts: ReadonlySet<string> = new Set(["turn.started", "turn.resumed"] satisfies FrameType[]);
export const startsCall = (type: string): boolean => callStarts.has(type);

/** A frame in its place. `json` is what clients read as data. */
export interface FrameLine {
  readonly offset: number;
  readonly type: string;
  /** The turn it belongs to; empty: the session. */
  readonly turn: string;
  readonly json: string;
}

/** A frame's JSON at most, in UTF-16 units: a stored pack must stay well under the platform's 2 MB a row. */
const MAX_FRAME_UNITS = 400_000;

/** An item too large for one frame is announced without its content, which the list of messages has. */
function toJson(frame: Frame): string {
  const json = JSON.stringify(frame);
  if (json.length <= MAX_FRAME_UNITS || frame.type !== "item.completed") return json;
  return JSON.stringify({ ...frame, item: { ...frame.item, parts: [] }, content_omitted: true });
}

export function toFrameLine(frame: Frame, offset: number): FrameLine {
  const turn = "turn_id" in frame && frame.turn_id !== null ? frame.turn_id : "";
  return { offset, type: frame.type, turn, json: toJson(frame) };
}

/** One line of a stored pack. JSON has no raw tab or line break, so both may separate. */
export const formatLine = (line: FrameLine): string => `${line.type}\t${line.turn}\t${line.json}`;

export function parseLine(text: string, offset: number): FrameLine {
  const first = text.indexOf("\t");
  const second = text.indexOf("\t", first + 1);
  return { offset, type: text.slice(0, first), turn: text.slice(first + 1, second), json: text.slice(second + 1) };
}
