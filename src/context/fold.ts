/**
 * Input that is larger than the summariser's window is read in parts, each folded into the summary of those before it
 * (docs/design.md §5, summary). A part ends at an exchange group; a group that is larger than a part ends at an item, and
 * an item that is larger is itself split. Nothing is left out.
 */
import type { ItemMeta } from "../domain/message";
import { startsGroup } from "./groups";
import { renderEntry, type TranscriptEntry } from "./prompts";
import { estimateTokens } from "./tokens";
import { headOf } from "./tool-results";

/** Everything before `position` was read, and `chars` characters of the entry at it. */
export interface FoldPoint {
  readonly position: number;
  readonly chars: number;
}

export interface FoldChunk {
  readonly lines: readonly string[];
  /** Where the next part begins; null: this is the last. */
  readonly next: FoldPoint | null;
}

/** Reads one part of at most `room` raw tokens, from `start` on. `entries` begin at `start.position`, in order. */
export function takeChunk(entries: Iterable<TranscriptEntry>, start: FoldPoint, room: number): FoldChunk {
  const taken: { readonly line: string; readonly meta: ItemMeta; readonly tokens: number }[] = [];
  let used = 0;
  for (const entry of entries) {
    const { meta } = entry;
    const skipped = meta.position === start.position ? start.chars : 0;
    const line = renderEntry(entry).slice(skipped);
    const { tokens, beginning } = weigh(line, room);
    if (used + tokens <= room) {
      taken.push({ line, meta, tokens });
      used += tokens;
      continue;
    }
    if (taken.length > 0) return endAtGroup(taken, meta);
    const head = headWithin(beginning, room);
    return { lines: [head], next: { position: meta.position, chars: skipped + head.length } };
  }
  return { lines: taken.map((entry) => entry.line), next: null };
}

/** More characters than nearly any text packs into a token. */
const MANY_CHARS_PER_TOKEN = 8;

/** `beginning`: as much of `line` as it took to know that it is larger than `room`, or all of it. A giant is not read whole for each of its parts. */
function weigh(line: string, room: number): { readonly tokens: number; readonly beginning: string } {
  const beginning = headOf(line, room * MANY_CHARS_PER_TOKEN);
  const tokens = estimateTokens(beginning);
  return tokens > room || beginning === line ? { tokens, beginning } : { tokens: estimateTokens(line), beginning: line };
}

/** Back to where the group of the entry that did not fit begins, if anything is left then. */
function endAtGroup(taken: readonly { readonly line: string; readonly meta: ItemMeta }[], next: ItemMeta): FoldChunk {
  let count = taken.length;
  let following = next;
  while (count > 0 && !startsGroup(following, taken[count - 1]?.meta)) {
    following = taken[count - 1]?.meta ?? following;
    count -= 1;
  }
  const whole = count > 0 ? taken.slice(0, count) : taken;
  const position = count > 0 ? following.position : next.position;
  return { lines: whole.map((entry) => entry.line), next: { position, chars: 0 } };
}

/** Fewest characters of a part, so that every part goes on. */
const LEAST_CHARS = 200;

/** The longest start of `text` that weighs at most `room`, found by halving the error: density varies within a text. */
function headWithin(text: string, room: number): string {
  let head = text;
  for (let tokens = estimateTokens(head); tokens > room && head.length > LEAST_CHARS; tokens = estimateTokens(head)) {
    head = headOf(head, Math.max(LEAST_CHARS, Math.floor((head.length * room * 0.95) / tokens)));
  }
  return head;
}

/** Parts of one compaction at most: what is older than they hold is named by its number, not read. */
export const MAX_PARTS = 32;
