/**
 * Splits input that exceeds the summariser's window into chunks. The summariser reads each chunk together with the summary of
 * the earlier chunks (docs/summaries.md). A chunk ends at an exchange group if that fills it well, else at an item, else inside an
 * item. Nothing is left out: each chunk continues where the previous one ended, and each but the last fills at least three
 * quarters of its room.
 */
import type { ItemMeta } from "../domain/message";
import { startsGroup } from "./groups";
import { renderEntry, type TranscriptEntry } from "./prompts";
import { BYTES_PER_TOKEN, weighText } from "./request-bytes";
import { takeHead } from "./tool-results";

/** How far the source is read: everything before `position`, and `chars` characters of the entry at `position`. */
export interface ChunkCursor {
  readonly position: number;
  readonly chars: number;
}

export interface TranscriptChunk {
  readonly lines: readonly string[];
  /** Where the next part begins. Null after the last part. */
  readonly next: ChunkCursor | null;
}

/**
 * Minimum share of its room that a part fills while there is more to read. A part ends at a group or an item only if at
 * most a quarter is left unused.
 */
const LEAST_FILL = 3 / 4;

interface Taken {
  readonly line: string;
  readonly meta: ItemMeta;
  readonly tokens: number;
}

/** Reads one part of at most `room` raw tokens by `weighText`, from `start` on. `entries` are in order and begin at `start.position`. */
export function takeChunk(entries: Iterable<TranscriptEntry>, start: ChunkCursor, room: number): TranscriptChunk {
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
  return { lines: toLines(taken), next: null };
}

interface Following {
  readonly meta: ItemMeta;
  readonly beginning: string;
  readonly skipped: number;
}

/** Ends the part before `following`, which did not fit, or inside it. */
function endBefore({ meta, beginning, skipped }: Following, taken: readonly Taken[], room: number): TranscriptChunk {
  const groups = wholeGroups(taken, meta);
  if (groups.length > 0 && sumTokens(groups) >= room * LEAST_FILL) return endAfter(groups, taken[groups.length]?.meta ?? meta);
  const left = room - sumTokens(taken);
  if (taken.length > 0 && left <= room * (1 - LEAST_FILL)) return endAfter(taken, meta);
  const head = headWithin(beginning, left);
  if (taken.length > 0 && weighText(head) > left) return endAfter(taken, meta);
  return { lines: [...toLines(taken), head], next: { position: meta.position, chars: skipped + head.length } };
}

const endAfter = (taken: readonly Taken[], { position }: ItemMeta): TranscriptChunk => ({
  lines: toLines(taken),
  next: { position, chars: 0 },
});

const toLines = (taken: readonly Taken[]): readonly string[] => taken.map(({ line }) => line);

const sumTokens = (taken: readonly Taken[]): number => taken.reduce((sum, { tokens }) => sum + tokens, 0);

/** Maximum UTF-16 units of one character. */
const CHARACTER = 2;

/**
 * The weight of `line`. `beginning`: as much of it as was read to find that it exceeds `room`, or all of it. So a very
 * long entry is not read whole for each of its parts.
 */
function weigh(line: string, room: number): { readonly tokens: number; readonly beginning: string } {
  const beginning = takeHead(line, Math.ceil(room * BYTES_PER_TOKEN) + CHARACTER);
  const tokens = weighText(beginning);
  return tokens > room || beginning === line ? { tokens, beginning } : { tokens: weighText(line), beginning: line };
}

/** The entries before the group that `next`, which did not fit, belongs to. */
function wholeGroups(taken: readonly Taken[], next: ItemMeta): readonly Taken[] {
  let count = taken.length;
  let following = next;
  while (count > 0 && !startsGroup(following, taken[count - 1]?.meta)) {
    following = taken[count - 1]?.meta ?? following;
    count -= 1;
  }
  return taken.slice(0, count);
}

/** Minimum characters of a part, so that every part makes progress. */
const LEAST_CHARS = 200;

/** The longest start of `text` that weighs at most `room`, found by shrinking step by step, because the density of a text varies. */
function headWithin(text: string, room: number): string {
  let head = text;
  for (let tokens = weighText(head); tokens > room && head.length > LEAST_CHARS; tokens = weighText(head)) {
    head = takeHead(head, Math.max(LEAST_CHARS, Math.floor((head.length * room * 0.95) / tokens)));
  }
  return head;
}
