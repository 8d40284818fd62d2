/**
 * Input that is larger than the summariser's window is read in parts, each folded into the summary of those before it
 * (docs/design.md §5, summary). A part ends at an exchange group, where that fills it well; else at an item; else inside one. Nothing is left
 * out: a fold has as many parts as its source takes, each of them reads on from where the one before it ended, and each but the last reads
 * three quarters of its room or more.
 */
import type { ItemMeta } from "../domain/message";
import { startsGroup } from "./groups";
import { renderEntry, type TranscriptEntry } from "./prompts";
import { BYTES_PER_TOKEN, weighText } from "./request-bytes";
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

/** The share of its room that a part fills at least while there is more to read: a part ends at a group, or an item, only where that leaves little unused. */
const LEAST_FILL = 3 / 4;

interface Taken {
  readonly line: string;
  readonly meta: ItemMeta;
  readonly tokens: number;
}

/** Reads one part of at most `room` raw tokens by `weighText`, from `start` on. `entries` begin at `start.position`, in order. */
export function takeChunk(entries: Iterable<TranscriptEntry>, start: FoldPoint, room: number): FoldChunk {
  const taken: Taken[] = [];
  let used = 0;
  for (const entry of entries) {
    const { meta } = entry;
    const skipped = meta.position === start.position ? start.chars : 0;
    const line = renderEntry(entry).slice(skipped);
    const { tokens, beginning } = weigh(line, room);
    if (used + tokens > room) return endBefore({ meta, beginning, skipped }, taken, room);
    taken.push({ line, meta, tokens });
    used += tokens;
  }
  return { lines: linesOf(taken), next: null };
}

interface Following {
  readonly meta: ItemMeta;
  readonly beginning: string;
  readonly skipped: number;
}

/** `following` did not fit any more. */
function endBefore({ meta, beginning, skipped }: Following, taken: readonly Taken[], room: number): FoldChunk {
  const groups = wholeGroups(taken, meta);
  if (groups.length > 0 && weightOf(groups) >= room * LEAST_FILL) return endAfter(groups, taken[groups.length]?.meta ?? meta);
  const left = room - weightOf(taken);
  if (taken.length > 0 && left <= room * (1 - LEAST_FILL)) return endAfter(taken, meta);
  const head = headWithin(beginning, left);
  if (taken.length > 0 && weighText(head) > left) return endAfter(taken, meta);
  return { lines: [...linesOf(taken), head], next: { position: meta.position, chars: skipped + head.length } };
}

const endAfter = (taken: readonly Taken[], { position }: ItemMeta): FoldChunk => ({ lines: linesOf(taken), next: { position, chars: 0 } });

const linesOf = (taken: readonly Taken[]): readonly string[] => taken.map(({ line }) => line);

const weightOf = (taken: readonly Taken[]): number => taken.reduce((sum, { tokens }) => sum + tokens, 0);

/** UTF-16 units of one character, at most. */
const CHARACTER = 2;

/** `beginning`: as much of `line` as it took to know that it is larger than `room`, or all of it. A giant is not read whole for each of its parts. */
function weigh(line: string, room: number): { readonly tokens: number; readonly beginning: string } {
  const beginning = headOf(line, Math.ceil(room * BYTES_PER_TOKEN) + CHARACTER);
  const tokens = weighText(beginning);
  return tokens > room || beginning === line ? { tokens, beginning } : { tokens: weighText(line), beginning: line };
}

/** Without the group that the entry that did not fit belongs to. */
function wholeGroups(taken: readonly Taken[], next: ItemMeta): readonly Taken[] {
  let count = taken.length;
  let following = next;
  while (count > 0 && !startsGroup(following, taken[count - 1]?.meta)) {
    following = taken[count - 1]?.meta ?? following;
    count -= 1;
  }
  return taken.slice(0, count);
}

/** Fewest characters of a part, so that every part goes on. */
const LEAST_CHARS = 200;

/** The longest start of `text` that weighs at most `room`, found by halving the error: density varies within a text. */
function headWithin(text: string, room: number): string {
  let head = text;
  for (let tokens = weighText(head); tokens > room && head.length > LEAST_CHARS; tokens = weighText(head)) {
    head = headOf(head, Math.max(LEAST_CHARS, Math.floor((head.length * room * 0.95) / tokens)));
  }
  return head;
}
