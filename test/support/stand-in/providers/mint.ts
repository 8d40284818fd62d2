/**
 * Opaque values that a provider hands out and wants back: signatures, encrypted reasoning, thought signatures. They
 * hold a seal over what they belong to, so that a changed one is noticed without keeping a list.
 */
import { createHmac } from "node:crypto";

const KEY = "a provider's own key";

export const makeSeal = (kind: string, content: unknown): string =>
  createHmac("sha512", KEY)
    .update(JSON.stringify([kind, content]))
    .digest("base64");

/** Ids in a row, as `toolu_01`: another one for every call. */
export class Ids {
  #next = 1;

  next(prefix: string): string {
    return `${prefix}${String(this.#next++).padStart(12, "0")}`;
  }
}
