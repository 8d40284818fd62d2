/**
 * Remembers where a conversation mentions its identifiers, and finds those that it comes back to and a view does not show.
 * Results hold positions, never text.
 */

import type { MissedIdentifier } from "../contract/evaluation";
import { isAmong } from "../domain/branch";
import type { Part } from "../domain/message";
import type { SessionState, View } from "../domain/state";
import { identifiersIn } from "./identifiers";
import { messageText } from "./segments";

/** Maximum number of positions that are kept for one identifier: the newest. */
const MENTIONS_KEPT = 16;
/** Bounds the memory. An identifier that is not remembered cannot be missed. */
const MAX_IDENTIFIERS = 200_000;

export class Mentions {
  readonly #known = new Map<string, number[]>();

  learn(position: number, words: ReadonlySet<string>): void {
    for (const word of words) {
      const positions = this.#known.get(word);
      if (positions) {
        positions.push(position);
        if (positions.length > MENTIONS_KEPT) positions.shift();
      } else if (this.#known.size < MAX_IDENTIFIERS) this.#known.set(word, [position]);
    }
  }

  /** Counts those of the words that were mentioned before, and finds those that the view shows nowhere. */
  recall(words: ReadonlySet<string>, at: { readonly position: number; readonly state: Pick<SessionState, "view" | "branch"> }): Recalled {
    const { view, branch } = at.state;
    const hidden = new Set(view.reduced.map(({ position }) => position));
    let needed = 0;
    const missed: MissedIdentifier[] = [];
    for (const word of words) {
      const positions = (this.#known.get(word) ?? []).filter((position) => !isAmong(branch.elsewhere, position));
      const last = positions.at(-1);
      if (last === undefined) continue;
      needed += 1;
      if (!positions.some((position) => !hidden.has(position) && isShown(view, position)))
        missed.push({ position: at.position, said_at: last });
    }
    return { needed, missed };
  }
}

interface Recalled {
  readonly needed: number;
  readonly missed: readonly MissedIdentifier[];
}

export const findIdentifiers = (parts: readonly Part[]): ReadonlySet<string> => identifiersIn(messageText(parts));

/** A binary search, because items are in order of position. */
export function isShown({ items }: Pick<View, "items">, position: number): boolean {
  let low = 0;
  let high = items.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = items[middle]?.position ?? 0;
    if (found === position) return true;
    if (found < position) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
