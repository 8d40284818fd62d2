/** How a column is run. */
import type { ModelLimits } from "../context/budget";
import type { Policy } from "../context/policy";
import { policyOf } from "../context/policy-choice";
import { PRICES } from "./costs";

export const LAB_MODEL = "lab-model";
const MAX_OUTPUT = 4_096;

export interface Setup {
  readonly name: string;
  /** As a session's settings store it. */
  readonly policyText: string;
  readonly policy: Policy;
  /** Off in the lab only. */
  readonly guard: boolean;
  /** The soft trigger is looked at before each call, as POLICY.md's simulator does, whatever the policy says. */
  readonly eachCall: boolean;
  /** A folded summary is as long as its share of the chain and of what is new; else of what is new alone (POLICY.md's `source`). */
  readonly countsChain: boolean;
  /** `memory_query` is offered and weighs; docs/policy.md's figures know none. */
  readonly recall: boolean;
}

export type Options = Pick<Setup, "eachCall" | "countsChain" | "recall">;

export function toSetup(policyText: string, by: { readonly guard: boolean } & Options): Setup {
  const { guard, eachCall, countsChain, recall } = by;
  return { name: policyText, policyText, policy: policyOf(policyText), guard, eachCall, countsChain, recall };
}

export const limitsOf = (window: number): ModelLimits => ({ model: LAB_MODEL, window, maxOutput: MAX_OUTPUT, prices: PRICES });
