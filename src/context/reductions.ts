/** Shows less of an item: old results as a placeholder, long ones by their ends, media by name. The record keeps everything. */
import type { Reduction } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { SHORTENED_TOKENS } from "./budget";
import { estimateParts } from "./item-tokens";
import { recordedMediaTokens } from "./media";
import type { Policy } from "./policy";
import type { Sizing } from "./sizing";
import { estimateTokens } from "./tokens";
import { clearedToolResult } from "./tool-results";

/** Tokens of an id of about 40 random characters, for which the figures here have room. */
const ORDINARY_ID_TOKENS = 24;
/** Tokens of the name or type that replaces an image or a file. */
const EVICTED_TOKENS = 24;
/**
 * Characters of the notice between the two ends of a shortened text, and the tokens that it weighs more where it says
 * how to retrieve the rest.
 */
const NOTICE_CHARS = 60;
const WAY_TOKENS = 36;
/** The ends of a text may be denser than the whole. */
const DENSITY_MARGIN = 1.2;

/** Tokens of a call's id beyond an ordinary one. The id stays, however little of the output is shown. */
const idTokens = ({ tool }: ItemMeta): number => Math.max(0, estimateTokens(tool?.call_id ?? "") - ORDINARY_ID_TOKENS);
/** Maximum tokens of a shortened item. Images and files beside a shortened text stay. */
const shortenedTokens = (item: ItemMeta): number => SHORTENED_TOKENS + idTokens(item) + recordedMediaTokens(item);

/** Caches the estimate, because items are immutable and each plan of a view asks for all of its results. */
const cleared = new WeakMap<ItemMeta, number>();

/** Raw tokens of a cleared result: its placeholder in the longer form, which says how to retrieve the content. */
export function clearedTokens(item: ItemMeta): number {
  const known = cleared.get(item);
  if (known !== undefined) return known;
  const tokens = estimateCleared(item);
  cleared.set(item, tokens);
  return tokens;
}

function estimateCleared({ tool }: ItemMeta): number {
  const { name = "", call_id = "", is_error = false, execution = null } = tool ?? {};
  const output = clearedToolResult({ name, is_error }, execution, true);
  return estimateParts([{ type: "tool_result", call_id, name, output, is_error }]);
}

type ResultsPolicy = Policy["results"];

/**
 * Positions of the results among `items` that stay in full: for each tool named in `keep_tools`, its own number of
 * newest ones; all of `exclude_tools`; and the newest `most` of the other tools.
 */
function keptResults(items: readonly ItemMeta[], most: number, { keep_tools, exclude_tools }: ResultsPolicy): ReadonlySet<number> {
  const named = new Map(Object.entries(keep_tools));
  const excluded = new Set(exclude_tools);
  const kept = new Set<number>();
  let left = most;
  for (const { kind, tool, position } of items.toReversed()) {
    if (kind !== "tool_result") continue;
    const name = tool?.name ?? "";
    const own = named.get(name);
    if (excluded.has(name) || (own ?? left) > 0) kept.add(position);
    if (excluded.has(name)) continue;
    if (own === undefined) left -= 1;
    else named.set(name, own - 1);
  }
  return kept;
}

const toCleared = (item: ItemMeta): Reduction => ({ position: item.position, tokens: clearedTokens(item) });

/** Results among `items` that are not cleared yet, except those of the view that the policy keeps in full. */
export const olderResults = (state: SessionState, items: readonly ItemMeta[], policy: ResultsPolicy): Reduction[] =>
  findOlder(state, items, policy).map(toCleared);

function findOlder(state: SessionState, items: readonly ItemMeta[], policy: ResultsPolicy): readonly ItemMeta[] {
  const kept = keptResults(state.view.items, policy.keep_full, policy);
  const already = new Set(state.view.reduced.flatMap((entry) => (entry.how === "cleared" ? [entry.position] : [])));
  return items.filter(({ kind, position }) => kind === "tool_result" && !kept.has(position) && !already.has(position));
}

/** The older results that a placeholder makes smaller. */
export function clearable(sizing: Sizing, items: readonly ItemMeta[], policy: ResultsPolicy): Reduction[] {
  return findOlder(sizing.state, items, policy).flatMap((item) => {
    const less = toCleared(item);
    return sizing.item(item) > less.tokens ? [less] : [];
  });
}

/** Results among `items`, the tail, that are shown by both ends: those beyond what the policy keeps in full. */
export function previewable(sizing: Sizing, items: readonly ItemMeta[], policy: ResultsPolicy): Reduction[] {
  if (policy.preview_beyond === null) return [];
  const kept = keptResults(items, policy.preview_beyond, policy);
  const results = items.filter((item) => item.kind === "tool_result" && !kept.has(item.position));
  return results.flatMap((item) => {
    const tokens = previewTokens(sizing.state, item, 2 * policy.preview_chars);
    return !sizing.isReduced(item) && tokens < item.tokens ? [{ position: item.position, tokens }] : [];
  });
}

/**
 * Approximate UTF-16 units of an item's text: `rough` is a quarter of them. If the bytes exceed that by half, the text
 * has multi-byte characters rather than escapes.
 */
const countUnits = ({ bytes, rough }: ItemMeta): number => (rough !== undefined && bytes > 6 * (rough + 1) ? 4 * (rough + 1) : bytes);

function previewTokens({ settings }: SessionState, item: ItemMeta, chars: number): number {
  const shown = (chars + NOTICE_CHARS) / Math.max(1, countUnits(item));
  const way = settings.recall === false ? 0 : WAY_TOKENS;
  return Math.min(item.tokens, idTokens(item) + way + Math.ceil(item.tokens * shown * DENSITY_MARGIN));
}

/** Messages and results with images or files whose names weigh less than what is sent. */
export function evictable(sizing: Sizing, items: readonly ItemMeta[]): Reduction[] {
  const media = items.filter((item) => (item.media ?? 0) > 0 && !sizing.isReduced(item));
  return media.flatMap((item) => {
    const tokens = item.tokens - recordedMediaTokens(item) + (item.media ?? 0) * EVICTED_TOKENS;
    return tokens < sizing.item(item) ? [{ position: item.position, tokens }] : [];
  });
}

/** The longest of `items`, as many as needed to gain `excess` raw tokens. Each then weighs at most `shortenedTokens`. */
export function longest(sizing: Sizing, items: readonly ItemMeta[], excess: number): Reduction[] {
  const found: Reduction[] = [];
  let gain = 0;
  const heavy = items.filter((item) => item.kind !== "tool_call" && sizing.item(item) > shortenedTokens(item));
  for (const item of heavy.sort((a, b) => sizing.item(b) - sizing.item(a))) {
    if (gain >= excess) break;
    const tokens = shortenedTokens(item);
    found.push({ position: item.position, tokens });
    gain += sizing.item(item) - tokens;
  }
  return found;
}
