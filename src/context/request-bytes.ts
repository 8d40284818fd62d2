/**
 * The bound in bytes that every request to a model obeys, whatever the window and the policy: a request is held in memory whole, several times
 * over while it is built and sent, and 128 MB of an isolate are shared. Requests are planned to stay below it: a turn's by the guard, a
 * summary's by the size of its parts. The adapters send none that is larger all the same (`model/call-failure`).
 */
import type { ItemMeta } from "../domain/message";
import { offeredTools, type SessionState } from "../domain/state";
import { jsonBytes } from "../lib/text-bytes";
import { isReduced, itemTokens } from "./budget";
import { estimateTokens } from "./tokens";

/** Bytes of a request's body, at most. */
export const MAX_REQUEST_BYTES = 8_000_000;
/** Of that, what content may take: the rest is for what frames it. */
const CONTENT_SHARE = 7 / 8;
export const MAX_CONTENT_BYTES = MAX_REQUEST_BYTES * CONTENT_SHARE;
/** A token is seldom more. */
export const BYTES_PER_TOKEN = 8;
/** What a wire puts around an item at most, beside what the record has of it. */
const FRAME_BYTES = 128;

/** The most that texts may weigh together by `weighText`: so they are within the bound in bytes as well. */
export const MAX_WEIGHT = MAX_CONTENT_BYTES / BYTES_PER_TOKEN;

/** Raw tokens of a text, and at least one for so many bytes as a token seldom has: long runs of one sign are few tokens and many bytes. */
export const weighText = (text: string): number => Math.max(estimateTokens(text), jsonBytes(text) / BYTES_PER_TOKEN);

/** Bytes of an item as the view shows it. */
export const itemBytes = (state: SessionState, item: ItemMeta): number =>
  isReduced(state, item) ? reducedBytes(item, itemTokens(state, item)) : wholeBytes(item) + FRAME_BYTES;

/** Bytes of an item of which only so many tokens are shown. */
export const reducedBytes = (item: ItemMeta, tokens: number): number => Math.min(wholeBytes(item), tokens * BYTES_PER_TOKEN) + FRAME_BYTES;

/** Arguments that are no JSON are quoted twice, by the wires that take objects alone. */
const wholeBytes = ({ kind, bytes }: ItemMeta): number => (kind === "tool_call" ? 2 * bytes : bytes);

/** Bytes of the system prompt, the tools and the pins. */
export const fixedBytes = (state: SessionState): number =>
  [state.settings.system, offeredTools(state), ...state.pins].reduce((sum, text) => sum + (text?.bytes ?? 0), 0);

/** Bytes of content of the next request; of one that ends with position `to`. */
export function contentBytes(state: SessionState, to: number = Number.POSITIVE_INFINITY): number {
  const { items, overlays } = state.view;
  const summaries = overlays.reduce((sum, { tokens }) => sum + tokens * BYTES_PER_TOKEN, 0);
  return items.reduce((sum, item) => sum + (item.position > to ? 0 : itemBytes(state, item)), fixedBytes(state) + summaries);
}
