/** Showing less of an item: old results as a placeholder, long ones by their ends, media by name. The record keeps all of it. */
import type { Reduction } from "../domain/compaction-events";
import type { ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { isReduced, itemTokens, SHORTENED_TOKENS } from "./budget";
import { estimateTokens, IMAGE_TOKENS } from "./tokens";

/** The placeholder of a cleared result, with its execution id. Raw, with room. */
export const CLEARED_TOKENS = 64;
/** What an id of some 40 random characters weighs: the figures here have room for it. */
const ORDINARY_ID_TOKENS = 24;
/** What stands for an image or a file: its name or type. */
const EVICTED_TOKENS = 24;
/** The notice between the two ends of what was shortened. */
const NOTICE_CHARS = 60;
/** The ends of a text may be denser than the whole. */
const DENSITY_MARGIN = 1.2;

/** The id of the call that a result answers stays, however little of the output is shown: what it weighs beyond an ordinary one. */
const idTokens = ({ tool }: ItemMeta): number => Math.max(0, estimateTokens(tool?.call_id ?? "") - ORDINARY_ID_TOKENS);
const clearedTokens = (item: ItemMeta): number => CLEARED_TOKENS + idTokens(item);
/** The most that it can weigh: images and files beside a shortened text stay. */
const shortenedTokens = (item: ItemMeta): number => SHORTENED_TOKENS + idTokens(item) + (item.media ?? 0) * IMAGE_TOKENS;

/** Results among `items` that are not cleared yet, but the newest `keep` of the view. */
export function olderResults(state: SessionState, items: readonly ItemMeta[], keep: number): Reduction[] {
  const firstKept = keep === 0 ? Number.POSITIVE_INFINITY : nthNewestResult(state, keep);
  const cleared = new Set(state.view.reduced.flatMap((entry) => (entry.how === "cleared" ? [entry.position] : [])));
  return items
    .filter((item) => item.kind === "tool_result" && item.position < firstKept && !cleared.has(item.position))
    .map((item) => ({ position: item.position, tokens: clearedTokens(item) }));
}

/** Its position; 0: the view has not so many. */
function nthNewestResult({ view }: SessionState, n: number): number {
  let seen = 0;
  return view.items.findLast((item) => item.kind === "tool_result" && ++seen === n)?.position ?? 0;
}

/** Those of them that a placeholder makes smaller. */
export function clearable(state: SessionState, items: readonly ItemMeta[], keep: number): Reduction[] {
  const isLarger = (item: ItemMeta): boolean => itemTokens(state, item) > clearedTokens(item);
  return olderResults(state, items.filter(isLarger), keep);
}

/** Results beyond the newest `beyond` of `items`, shown by `chars` characters at each end. */
export function previewable(
  state: SessionState,
  items: readonly ItemMeta[],
  by: { readonly beyond: number; readonly chars: number },
): Reduction[] {
  const results = items.filter((item) => item.kind === "tool_result");
  return results.slice(0, Math.max(0, results.length - by.beyond)).flatMap((item) => {
    const tokens = previewTokens(item, 2 * by.chars);
    return !isReduced(state, item) && tokens < item.tokens ? [{ position: item.position, tokens }] : [];
  });
}

function previewTokens(item: ItemMeta, chars: number): number {
  const shown = (chars + NOTICE_CHARS) / Math.max(1, item.bytes);
  return Math.min(item.tokens, idTokens(item) + Math.ceil(item.tokens * shown * DENSITY_MARGIN));
}

/** Messages and results that carry images or files. */
export function evictable(state: SessionState, items: readonly ItemMeta[]): Reduction[] {
  return items
    .filter((item) => (item.media ?? 0) > 0 && !isReduced(state, item))
    .map((item) => ({ position: item.position, tokens: item.tokens - (item.media ?? 0) * (IMAGE_TOKENS - EVICTED_TOKENS) }));
}

/** The longest among `items`, as many as it takes to gain `excess` raw tokens; each then weighs at most `shortenedTokens`. */
export function longest(state: SessionState, items: readonly ItemMeta[], excess: number): Reduction[] {
  const found: Reduction[] = [];
  let gain = 0;
  const heavy = items.filter((item) => item.kind !== "tool_call" && itemTokens(state, item) > shortenedTokens(item));
  for (const item of heavy.sort((a, b) => itemTokens(state, b) - itemTokens(state, a))) {
    if (gain >= excess) break;
    const tokens = shortenedTokens(item);
    found.push({ position: item.position, tokens });
    gain += itemTokens(state, item) - tokens;
  }
  return found;
}

/** Raw tokens that the reductions free. */
export function reductionGain(state: SessionState, reductions: readonly Reduction[]): number {
  if (reductions.length === 0) return 0;
  const then = new Map(reductions.map(({ position, tokens }) => [position, tokens]));
  return state.view.items.reduce(
    (sum, item) => sum + Math.max(0, itemTokens(state, item) - (then.get(item.position) ?? Number.POSITIVE_INFINITY)),
    0,
  );
}
