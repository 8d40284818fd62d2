/** Shared helpers for the tests of the tenant's modules: ids by number, and a clock that the test sets. */
import { type IdKinds, type IdPrefix, parseId } from "../../src/domain/ids";

/** The `n`th id of its kind. Ids sort like their numbers. */
export function makeId<P extends IdPrefix>(prefix: P, n: number): IdKinds[P] {
  const id = parseId(prefix, `${prefix}_01K${String(n).padStart(23, "0")}`);
  if (!id) throw new Error(`No id ${prefix} ${n}`);
  return id;
}

export function createTestClock(start = 1_000_000): { readonly now: () => number; advance(ms: number): void } {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

/** Stands for the tenant in the store of erased usage. */
export const NAMES = { digest: (endUser: string): string => `digest of ${endUser}`, areKept: (): boolean => true };

/** For tests of erasures in which no usage names an end user. */
export const NOTHING_TO_FORGET = {
  usage: { forget: (): void => {}, isForgetting: (): boolean => false, drain: async (): Promise<void> => {} },
  forgetInSession: async (): Promise<boolean> => true,
};
