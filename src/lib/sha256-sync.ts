/**
 * SHA-256 without a promise, for hashes that are made inside a transaction of an object, where nothing may be awaited. The platform's
 * `crypto.subtle` is asynchronous, and its synchronous `node:crypto` needs a compatibility flag that changes the whole Worker.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "./hex";

/** Hexadecimal. A text counts as its UTF-8 bytes. */
export const sha256Sync = (text: string): string => toHex(sha256(new TextEncoder().encode(text)));
