/**
 * The maximum size in bytes of every request to a model, whatever the window and the policy. A request is held in
 * memory as a whole, several times while it is built and sent, and an isolate's 128 MB are shared. Requests are planned
 * to stay below the maximum: a turn's by the guard, a summary's by the size of its parts. The adapters send no larger
 * request (`model/call-failure`).
 */
import { jsonBytes } from "../lib/text-bytes";
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
export const FRAME_BYTES = 128;

/** Raw tokens of a text, but at least one for every `BYTES_PER_TOKEN` bytes: a long run of one character is few tokens and many bytes. */
export const weighText = (text: string): number => Math.max(estimateTokens(text), jsonBytes(text) / BYTES_PER_TOKEN);
