/** How a column is run. */
import type { ModelLimits } from "../../../src/context/budget";
import type { Prices } from "../../../src/context/economy";
import { toPolicy } from "../../../src/context/policy-choice";
import { PRICES } from "../../../src/evaluate/costs";
import type { RoomSetup } from "../../../src/evaluate/room-maker";
import type { Summariser } from "../../../src/evaluate/summariser";

export const LAB_MODEL = "lab-model";
const MAX_OUTPUT = 4_096;

export interface Setup extends RoomSetup {
  readonly name: string;
  /** As a session's settings store it. */
  readonly policyText: string;
  /** A folded summary is as long as its share of the chain and of what is new; else of what is new alone (the `source` of docs/policy.md). */
  readonly countsChain: boolean;
  /** `memory_query` is offered and weighs; docs/policy-figures.md's figures know none. */
  readonly recall: boolean;
  readonly prices: Prices;
  /** The provider's cache has forgotten the session before every so many turns; null: never. */
  readonly cold: number | null;
  /** Tokens by which the cache holds a prefix; null: as providers do. */
  readonly cacheStep: number | null;
  /** Makes the one that a run asks for its summaries; null: none fails, and each is as long as is expected. */
  readonly summariser: (() => Summariser) | null;
}

/** What the client's time and the provider ask of every policy alike. */
export type Conditions = Pick<Setup, "prices" | "cold" | "cacheStep" | "summariser">;
export const USUAL: Conditions = { prices: PRICES, cold: null, cacheStep: null, summariser: null };
export type Options = Pick<Setup, "eachCall" | "countsChain" | "recall"> & Partial<Conditions>;

export function toSetup(policyText: string, by: { readonly guard: boolean } & Options): Setup {
  return { ...USUAL, ...by, name: policyText, policyText, policy: toPolicy(policyText) };
}

export const toLimits = (window: number, prices: Prices = PRICES): ModelLimits => ({
  model: LAB_MODEL,
  window,
  maxOutput: MAX_OUTPUT,
  prices,
});
