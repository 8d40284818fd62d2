/**
 * The maximum size in bytes of every request to a model, whatever the window and the policy. A request is held in
 * memory as a whole, several times while it is built and sent, and an isolate's 128 MB are shared. Requests are planned
 * to stay below the maximum: a turn's by the guard, a summary's by the size of its parts. The adapters send no larger
 * request (`model/call-failure`).
 */
import type { ItemMeta } from "../domain/message";
import { type SessionState, weighFixed } from "../domain/state";
import { jsonBytes } from "../lib/text-bytes";
import { isReduced, itemTokens } from "./budget";
import { inlineBytes } from "./media";
import { MAX_REQUEST_BYTES } from "./model-quirks";
import { estimateTokens } from "./tokens";

/** The share of those bytes that content may take. The rest is for what frames it. */
const CONTENT_SHARE = 7 / 8;

/** The most bytes of content of a request to one model: its endpoint may take less than any request may have. */
export const toContentBytes = ({ bytes = MAX_REQUEST_BYTES }: { readonly bytes?: number }): number => Math.floor(bytes * CONTENT_SHARE);
export const MAX_CONTENT_BYTES = toContentBytes({});

/** Maximum total weight of texts by `weighText` that keeps a request within the bound in bytes as well. */
export const toMaxWeight = (limits: { readonly bytes?: number }): number => toContentBytes(limits) / BYTES_PER_TOKEN;

/** Upper bound of a token's bytes, with rare exceptions. */
export const BYTES_PER_TOKEN = 8;
/** Maximum bytes that a wire format adds around an item. */
const FRAME_BYTES = 128;

/** Raw tokens of a text, but at least one for every `BYTES_PER_TOKEN` bytes: a long run of one character is few tokens and many bytes. */
export const weighText = (text: string): number => Math.max(estimateTokens(text), jsonBytes(text) / BYTES_PER_TOKEN);

/** Bytes of an item as the view shows it. */
export const itemBytes = (state: SessionState, item: ItemMeta): number =>
  isReduced(state, item) ? reducedBytes(item, itemTokens(state, item)) : wholeBytes(item) + inlineBytes(item, state.reader) + FRAME_BYTES;

/** Bytes of an item of which only `tokens` tokens are shown. */
export const reducedBytes = (item: ItemMeta, tokens: number): number =>
  Math.min(wholeBytes(item) + inlineBytes(item), tokens * BYTES_PER_TOKEN) + FRAME_BYTES;

/** Arguments that are not JSON are quoted twice by wire formats that accept only objects. */
const wholeBytes = ({ kind, bytes }: ItemMeta): number => (kind === "tool_call" ? 2 * bytes : bytes);

/** Bytes of the system prompt, the tools, the pins and the generation settings. */
export const fixedBytes = (state: SessionState): number => weighFixed(state).bytes;

/** Bytes of content of the next request, or of one that ends with position `to`. */
export function contentBytes(state: SessionState, to: number = Number.POSITIVE_INFINITY): number {
  const { items, overlays } = state.view;
  const summaries = overlays.reduce((sum, { tokens }) => sum + tokens * BYTES_PER_TOKEN, 0);
  return items.reduce((sum, item) => sum + (item.position > to ? 0 : itemBytes(state, item)), fixedBytes(state) + summaries);
}
