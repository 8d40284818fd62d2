/** The invariants of the stored live stream (docs/invariants.md). */
import type { Frame } from "../../src/contract/frame";
import { type FrameLine, parseLine } from "../../src/session/stream/frames";
import { findFrameFault } from "../support/known-frames";
import type { World } from "./world";

/** I12: a pack contains as many frames as its offsets say, no two packs overlap, and the streamed text is the recorded text. */
export function checkStoredFrames({ sql, violations, unstored }: World): void {
  const rows = sql.all<{ first: number; last: number; lines: string }>("SELECT first, last, lines FROM frames ORDER BY first");
  const frames: FrameLine[] = [];
  let before = 0;
  for (const { first, last, lines } of rows) {
    violations.check(first > before, "I12", () => `a pack begins at ${first}, and one before it ends at ${before}`);
    const parsed = lines.split("\n").map((text, index) => parseLine(text, first + index));
    violations.check(parsed.length === last - first + 1, "I12", () => `the pack ${first} to ${last} holds ${parsed.length} frames`);
    frames.push(...parsed);
    before = last;
  }
  for (const { offset, json } of frames) {
    const fault = findFrameFault(JSON.parse(json));
    violations.check(fault === null, "I12", () => `frame ${offset} is not as its schema says: ${fault}`);
  }
  const heard = frames.map((line) => ({ offset: line.offset, frame: JSON.parse(line.json) as Frame | Gap }));
  const complaint = findMisheard(heard, unstored);
  if (complaint) violations.report("I12", complaint);
}

interface Gap {
  readonly type: "stream.gap";
}

interface HeardFrame {
  readonly offset: number;
  readonly frame: Frame | Gap;
}

/**
 * Follows the turns' frames: each reply consists of all deltas since its call began, and a turn has no frame after its end.
 * `unstored`: frames that the database refused. A life that ends at once does not store the gap that would replace them.
 */
function findMisheard(frames: readonly HeardFrame[], unstored: readonly number[]): string | null {
  const said = new Map<string, string>();
  let before = 0;
  // The rule does not apply to frames that were pruned or redacted.
  let isWhole = (frames[0]?.offset ?? 1) === 1;
  for (const { offset, frame } of frames) {
    const isMissing = unstored.some((first) => first > before && first < offset);
    before = offset;
    if (frame.type === "stream.gap" || isMissing) {
      // Earlier frames of the turn are unknown.
      isWhole = false;
      said.clear();
    }
    if (!("turn_id" in frame) || frame.turn_id === null || frame.type === "reasoning.delta") continue;
    const complaint = hear(said, frame.turn_id, frame);
    if (complaint && (isWhole || said.has(frame.turn_id))) return `frame ${offset}: ${complaint}`;
  }
  return null;
}

function hear(said: Map<string, string>, turn: string, frame: Frame): string | null {
  const soFar = said.get(turn);
  switch (frame.type) {
    case "text.delta":
      if (soFar === undefined) return `turn ${turn} speaks, and is not running`;
      said.set(turn, soFar + frame.text);
      return null;
    case "item.completed": {
      if (frame.item.role !== "assistant") return null;
      const text = frame.item.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      if (soFar !== undefined) said.set(turn, "");
      return text === soFar ? null : `the reply has ${text.length} characters, its deltas ${soFar?.length}`;
    }
    case "turn.started":
    case "turn.resumed":
      said.set(turn, "");
      return soFar ? `turn ${turn} begins to speak anew, and ${soFar.length} characters are not in the record` : null;
    case "turn.completed":
    case "turn.failed":
    case "turn.stopped":
    case "turn.interrupted":
    case "turn.awaiting_tools":
      said.delete(turn);
      return soFar ? `turn ${turn} ends, and ${soFar.length} characters are not in the record` : null;
    default:
      return null;
  }
}
