/**
 * Opaque values that a provider hands out and needs back: signatures, encrypted reasoning, thought signatures. Each
 * contains a seal of its subject, so that a change is detected without a list of issued values.
 */
import { createHmac } from "node:crypto";

const KEY = "a provider's own key";

export const makeSeal = (kind: string, content: unknown): string =>
  createHmac("sha512", KEY)
    .update(JSON.stringify([kind, content]))
    .digest("base64");

/** Consecutive ids such as `toolu_01`, a new one for every call. */
export class Ids {
  #next = 1;

  next(prefix: string): string {
    return `${prefix}${String(this.#next++).padStart(12, "0")}`;
  }
}
