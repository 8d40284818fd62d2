/** The live stream's frames: what a client hears of a session, in order, each at an offset of its own. */
import type { DisplayItem, Notice, ToolCallView } from "../../app/session-views";
import type { CompactionFailure } from "../../domain/compaction-events";
import type { StopReason, TurnFailure, TurnFailureKind } from "../../domain/events";
import type { CompactionId, ExecutionId, ItemId, TurnId } from "../../domain/ids";
import type { CallUsage, FinishReason, UsageSource } from "../../domain/model-call";

interface InTurn {
  readonly turn_id: TurnId;
}

/** What every usage frame carries, so that a client can draw how full the window is (Opal compaction). */
export interface ContextNumbers {
  readonly context_window: number | null;
  /** What the policy takes an unknown window to be; null: the window is known, or none is assumed. */
  readonly assumed_window: number | null;
  readonly current_context_tokens: number;
}

/** Every end of a turn says what its calls came to. `cost`: US dollars; null: unknown of one of them. */
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
  /** The model could not answer, and is asked again in `wait_ms`; nothing was said so far. */
  | ({ readonly type: "turn.waiting"; readonly model: string; readonly reason: TurnFailureKind; readonly wait_ms: number } & InTurn)
  | ({ readonly type: "text.delta"; readonly text: string } & InTurn)
  | ({ readonly type: "reasoning.delta"; readonly text: string } & InTurn)
  | ({ readonly type: "item.completed"; readonly item: DisplayItem } & InTurn)
  /** Nothing runs here: the client owes results, or a person an approval, of these. */
  | ({ readonly type: "turn.awaiting_tools"; readonly tool_calls: readonly ToolCallView[] } & InTurn)
  | ({ readonly type: "tool.started"; readonly execution_id: ExecutionId } & InTurn)
  | ({ readonly type: "approval.requested"; readonly tool_call: ToolCallView } & InTurn)
  | ({ readonly type: "approval.resolved"; readonly execution_id: ExecutionId; readonly approved: boolean } & InTurn)
  | ({ readonly type: "turn.completed"; readonly finish: FinishReason } & TurnFigures & InTurn)
  | ({ readonly type: "turn.failed"; readonly failure: TurnFailure } & TurnFigures & InTurn)
  | ({ readonly type: "turn.stopped"; readonly reason: StopReason } & TurnFigures & InTurn)
  | ({ readonly type: "turn.interrupted" } & TurnFigures & InTurn)
  /** One model call is in the ledger, whatever it was for; `turn_id` null: it was no turn's. */
  | ({
      readonly type: "usage.updated";
      readonly turn_id: TurnId | null;
      readonly source: UsageSource;
      readonly model: string;
      readonly usage: CallUsage | null;
      /** US dollars; null: unknown. */
      readonly cost: number | null;
    } & ContextNumbers)
  | { readonly type: "message.cancelled"; readonly message_id: ItemId; readonly turn_id: TurnId | null }
  | { readonly type: "compaction.started"; readonly compaction_id: CompactionId; readonly status: string }
  /** Its summary can be read, edited, and committed or discarded. */
  | { readonly type: "compaction.drafted"; readonly compaction_id: CompactionId }
  | {
      readonly type: "compaction.completed";
      readonly compaction_id: CompactionId;
      readonly did_compact: boolean;
      readonly failure: CompactionFailure | null;
      /** Messages that the next request would hold, before and after: a summary is one, a reply and its calls are one, each result is one. */
      readonly messages_before: number;
      readonly messages_after: number;
    }
  | ({ readonly type: "notice" } & Notice)
  /** Another line of the conversation goes on, from `last_position` on: what a client shows of it is to be read again. */
  | { readonly type: "branch.changed"; readonly branch: number; readonly last_position: number }
  | { readonly type: "message.redacted"; readonly message_id: ItemId; readonly position: number }
  | { readonly type: "session.erased" };

export type FrameType = Frame["type"];

/** FEAT-011, auto compact indicator. */
export const COMPACTING_STATUS = "Optimizing conversation context…";
/** FEAT-011, compact fallback notification. */
export const TRIMMED_NOTICE: Notice = { code: "history_trimmed", text: "Conversation history has been automatically trimmed" };

/** Frames after which a turn has nothing more to say. One that waits for its tools may have gone on since. */
const turnEnds: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.stopped",
  "turn.interrupted",
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

/** A stored row of frames at most, in UTF-8 bytes, a single frame's JSON included: half of what the platform takes as one row (2 MB). */
const MAX_PACK_BYTES = 1_000_000;
/** Text of one delta, in UTF-16 units: what JSON makes of it stays below the bound, whatever characters it holds. */
const MAX_DELTA_UNITS = 100_000;

const utf8 = new TextEncoder();
/** The bytes of `text` if they may exceed the bound; else at most as many, without a count. */
const weigh = (text: string): number => (text.length * 3 <= MAX_PACK_BYTES ? text.length * 3 : utf8.encode(text).byteLength);

/** A frame too large for one row is announced without its content, which the list of messages and the turn have. */
function toJson(frame: Frame): string {
  const json = JSON.stringify(frame);
  if (weigh(json) <= MAX_PACK_BYTES) return json;
  if (frame.type === "item.completed") return JSON.stringify({ ...frame, item: { ...frame.item, parts: [] }, content_omitted: true });
  if (frame.type === "turn.awaiting_tools") return JSON.stringify({ ...frame, tool_calls: [], content_omitted: true });
  return json; // the others carry ids and numbers only, and deltas are split
}

/** A delta in pieces of which each is small enough for a frame; a pair of surrogates stays together. */
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

/** What stands in for frames that could not be stored, at the last one's offset: the record has what they told. */
export function toGapLine(offset: number): FrameLine {
  return { offset, type: "stream.gap", turn: "", json: JSON.stringify({ type: "stream.gap", to: offset }) };
}

/** One line of a stored pack. JSON has no raw tab or line break, so both may separate. */
export const formatLine = (line: FrameLine): string => `${line.type}\t${line.turn}\t${line.json}`;

export function parseLine(text: string, offset: number): FrameLine {
  const first = text.indexOf("\t");
  const second = text.indexOf("\t", first + 1);
  return { offset, type: text.slice(0, first), turn: text.slice(first + 1, second), json: text.slice(second + 1) };
}

/** Lines in order, in packs of at most as many bytes as a row may have. */
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
