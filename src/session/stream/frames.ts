/** The frames of the live stream as they are stored and sent, each at its own offset. Their shapes are in `contract/frame`. */

import type { Frame } from "../../contract/frame";
import type { Notice } from "../../contract/turn";

export type FrameType = Frame["type"];

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
export function toJson(frame: Frame): string {
  const json = JSON.stringify(frame);
  if (weigh(json) <= MAX_PACK_BYTES) return json;
  if (frame.type === "item.completed") {
    const { tool_calls: _, ...item } = frame.item;
    return JSON.stringify({ ...frame, item: { ...item, content: [] }, content_omitted: true });
  }
  if (frame.type === "turn.awaiting_tools") return JSON.stringify({ ...frame, tool_calls: [], content_omitted: true });
  if (frame.type === "message.accepted") return JSON.stringify({ ...frame, content: [], content_omitted: true });
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
