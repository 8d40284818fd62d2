/** The settings for running a column. */
import type { ModelLimits } from "../../../src/context/budget";
import type { Prices } from "../../../src/context/economy";
import { toPolicy } from "../../../src/context/policy-choice";
import type { SizedModel } from "../../../src/context/sizing";
import { PRICES } from "../../../src/evaluate/costs";
import type { RoomSetup } from "../../../src/evaluate/room-maker";
import type { Summariser } from "../../../src/evaluate/summariser";

export const LAB_MODEL: SizedModel = { id: "lab-model", provider: "unknown" };
const MAX_OUTPUT = 4_096;

export interface Setup extends RoomSetup {
  readonly name: string;
  /** The policy, in the form in which a session's settings store it. */
  readonly policyText: string;
  /**
   * True: the length of a merged summary depends on the earlier summaries and the new messages, as docs/policy.md
   * defines a source. False: on the new messages alone.
   */
  readonly countsChain: boolean;
  /** `memory_query` is offered and weighs; docs/policy-figures.md's figures know none. */
  readonly recall: boolean;
  readonly prices: Prices;
  /** The provider's cache has expired before every nth turn. Null: never. */
  readonly cold: number | null;
  /** The step, in tokens, in which the cache stores prefixes. Null: the providers' step. */
  readonly cacheStep: number | null;
  /** What sessions of the same system prompt and tools sent before, the provider's cache still holds. Absent: it holds nothing of others. */
  readonly sharedPrefix?: true;
  /** Creates the summariser of a run. Null: no summary fails, and each has the expected length. */
  readonly summariser: (() => Summariser) | null;
}

/** Conditions of the client and the provider that are the same for every policy. */
export type Conditions = Pick<Setup, "prices" | "cold" | "cacheStep" | "summariser">;
export const USUAL: Conditions = { prices: PRICES, cold: null, cacheStep: null, summariser: null };
export type Options = Pick<Setup, "eachCall" | "countsChain" | "recall" | "sharedPrefix"> & Partial<Conditions>;

export function toSetup(policyText: string, by: { readonly guard: boolean } & Options): Setup {
  return { ...USUAL, ...by, name: policyText, policyText, policy: toPolicy(policyText) };
}

export const toLimits = (window: number, prices: Prices = PRICES): ModelLimits => ({
  model: LAB_MODEL,
  window,
  maxOutput: MAX_OUTPUT,
  prices,
});
