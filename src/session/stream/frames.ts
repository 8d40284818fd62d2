/** The frames of the live stream: what a client receives about a session, in order, each at its own offset. */

import type { DisplayItem } from "../../contract/item";
import type { TurnFailureView } from "../../contract/model-call";
import type { TokenFigure } from "../../contract/tokens";
import type { ToolCallView } from "../../contract/tool";
import type { Notice } from "../../contract/turn";
import type { CompactionFailure } from "../../domain/compaction-events";
import type { StopReason, TurnFailureKind } from "../../domain/events";
import type { CompactionId, ExecutionId, ItemId, TurnId } from "../../domain/ids";
import type { CallUsage, FinishReason, UsageSource } from "../../domain/model-call";

interface InTurn {
  readonly turn_id: TurnId;
}

/** The figures that every usage frame carries, so that a client can draw how full the window is. */
export interface ContextNumbers {
  readonly context_window: number | null;
  /** The size that the policy assumes for an unknown window. Null when the window is known, or none is assumed. */
  readonly assumed_window: number | null;
  readonly current_context_tokens: TokenFigure;
}

/** Every end of a turn reports what its calls used. `cost` is in US dollars; null when the cost of a call is unknown. */
export interface TurnFigures extends ContextNumbers {
  readonly usage: CallUsage | null;
  readonly cost: number | null;
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
  /** The model could not answer and is asked again in `wait_ms`. No output has been sent so far. */
  | ({ readonly type: "turn.waiting"; readonly model: string; readonly reason: TurnFailureKind; readonly wait_ms: number } & InTurn)
  | ({ readonly type: "text.delta"; readonly text: string } & InTurn)
  | ({ readonly type: "reasoning.delta"; readonly text: string } & InTurn)
  | ({ readonly type: "item.completed"; readonly item: DisplayItem } & InTurn)
  /** The turn waits: the client owes the results of these calls, or a person their approval. */
  | ({ readonly type: "turn.awaiting_tools"; readonly tool_calls: readonly ToolCallView[] } & InTurn)
  | ({ readonly type: "tool.started"; readonly execution_id: ExecutionId } & InTurn)
  | ({ readonly type: "approval.requested"; readonly tool_call: ToolCallView } & InTurn)
  | ({ readonly type: "approval.resolved"; readonly execution_id: ExecutionId; readonly approved: boolean } & InTurn)
  | ({ readonly type: "turn.completed"; readonly finish: FinishReason } & TurnFigures & InTurn)
  | ({ readonly type: "turn.failed"; readonly failure: TurnFailureView } & TurnFigures & InTurn)
  | ({ readonly type: "turn.stopped"; readonly reason: StopReason } & TurnFigures & InTurn)
  | ({ readonly type: "turn.interrupted" } & TurnFigures & InTurn)
  /** One model call is in the ledger, whatever its purpose. `turn_id` is null when it belongs to no turn. */
  | ({
      readonly type: "usage.updated";
      readonly turn_id: TurnId | null;
      readonly source: UsageSource;
      readonly model: string;
      readonly usage: CallUsage | null;
      /** In US dollars. Null: unknown. */
      readonly cost: number | null;
    } & ContextNumbers)
  | { readonly type: "message.cancelled"; readonly message_id: ItemId; readonly turn_id: TurnId | null }
  | { readonly type: "compaction.started"; readonly compaction_id: CompactionId; readonly status: string }
  /** The draft's summary can be read, edited, and committed or discarded. */
  | { readonly type: "compaction.drafted"; readonly compaction_id: CompactionId }
  | {
      readonly type: "compaction.completed";
      readonly compaction_id: CompactionId;
      readonly did_compact: boolean;
      readonly failure: CompactionFailure | null;
      /** Messages in the next request before and after. A summary counts as one, a reply with its calls as one, each result as one. */
      readonly messages_before: number;
      readonly messages_after: number;
    }
  | ({ readonly type: "notice" } & Notice)
  /** Another branch is current now, and `last_position` is its last. Clients must read the conversation again. */
  | { readonly type: "branch.changed"; readonly branch: number; readonly last_position: number }
  | { readonly type: "message.redacted"; readonly message_id: ItemId; readonly position: number }
  | { readonly type: "session.erased" };

export type FrameType = Frame["type"];

/** The status that clients show while a compaction runs. */
export const COMPACTING_STATUS = "Optimizing conversation context…";
/** Reports that the oldest messages left the view without a summary. */
export const TRIMMED_NOTICE: Notice = { code: "history_trimmed", text: "Conversation history has been automatically trimmed" };

/** The frames that end a turn's output. A turn that waits for tools is not among them: it may have gone on since. */
const turnEnds: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.stopped",
  "turn.interrupted",
  "message.cancelled",
] satisfies FrameType[]);
export const endsTurn = (type: string): boolean => turnEnds.has(type);

/** The frames at which the text of a model call begins. */
const callStarts: ReadonlySet<string> = new Set(["turn.started", "turn.resumed"] satisfies FrameType[]);
export const startsCall = (type: string): boolean => callStarts.has(type);

/** A frame at its offset. `json` is the data that clients read. */
export interface FrameLine {
  readonly offset: number;
  readonly type: string;
  /** The turn that the frame belongs to. Empty: the session. */
  readonly turn: string;
  readonly json: string;
}

/** The most UTF-8 bytes of a stored row of frames, a single frame's JSON included. It is half of the platform's limit for a row (2 MB). */
const MAX_PACK_BYTES = 1_000_000;
/** The most UTF-16 units of text in one delta. Its JSON stays below the row's limit, whatever characters it holds. */
const MAX_DELTA_UNITS = 100_000;

const utf8 = new TextEncoder();
/** The bytes of `text`: an upper bound when that is within the limit, else the exact number. */
const weigh = (text: string): number => (text.length * 3 <= MAX_PACK_BYTES ? text.length * 3 : utf8.encode(text).byteLength);

/**
 * Serialises a frame. One that is too large for a row is sent without its content, which the list of messages and the
 * turn's report have.
 */
function toJson(frame: Frame): string {
  const json = JSON.stringify(frame);
  if (weigh(json) <= MAX_PACK_BYTES) return json;
  if (frame.type === "item.completed") {
    const { tool_calls: _, ...item } = frame.item;
    return JSON.stringify({ ...frame, item: { ...item, content: [] }, content_omitted: true });
  }
  if (frame.type === "turn.awaiting_tools") return JSON.stringify({ ...frame, tool_calls: [], content_omitted: true });
  return json; // all other frames carry ids and numbers only, and deltas are split
}

/** Splits a delta into pieces that fit into a frame. A surrogate pair stays together. */
export function splitDelta(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const cut = from + MAX_DELTA_UNITS;
    const isPair = cut < text.length && (text.codePointAt(cut - 1) ?? 0) > 0xffff;
    const to = isPair ? cut - 1 : cut;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

export function toFrameLine(frame: Frame, offset: number): FrameLine {
  const turn = "turn_id" in frame && frame.turn_id !== null ? frame.turn_id : "";
  return { offset, type: frame.type, turn, json: toJson(frame) };
}

/** Replaces frames that could not be stored, at the offset of the last. The record has their content. */
export function toGapLine(offset: number): FrameLine {
  return { offset, type: "stream.gap", turn: "", json: JSON.stringify({ type: "stream.gap", to: offset }) };
}

/** One line of a stored pack. JSON holds no raw tab or line break, so both can be separators. */
export const formatLine = (line: FrameLine): string => `${line.type}\t${line.turn}\t${line.json}`;

export function parseLine(text: string, offset: number): FrameLine {
  const first = text.indexOf("\t");
  const second = text.indexOf("\t", first + 1);
  return { offset, type: text.slice(0, first), turn: text.slice(first + 1, second), json: text.slice(second + 1) };
}

/** Groups lines in order into packs that fit into a row. */
export function toPacks(lines: readonly FrameLine[]): FrameLine[][] {
  const packs: FrameLine[][] = [];
  let bytes = 0;
  for (const line of lines) {
    const weight = weigh(line.json);
    const pack = packs.at(-1);
    if (!pack || bytes + weight > MAX_PACK_BYTES) packs.push([line]);
    else pack.push(line);
    bytes = packs.at(-1)?.length === 1 ? weight : bytes + weight;
  }
  return packs;
}
