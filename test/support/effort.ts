/**
 * How much a test tries. `npm test` tries a tenth of the whole budget, `.ci/run` all of it, and `TEST_EFFORT=10` ten times as many random
 * cases (`read-seed`). A test states its whole budget; what it asserts of many cases together, it asserts of the whole only.
 */
import { inject } from "vitest";

/** True when all sizes and combinations are tried. */
export const isWhole = (): boolean => inject("effort") >= 1;

/** How many random cases of a budget of `whole` are drawn: at least `least`, or one. */
export const drawn = (whole: number, least = 1): number => Math.max(Math.min(least, whole), Math.ceil(whole * inject("effort")));

/** `whole`: what the whole budget asks, for example all sizes. `small`: the part that `npm test` tries. */
export const sized = <T>({ whole, small }: { readonly whole: T; readonly small: T }): T => (isWhole() ? whole : small);
