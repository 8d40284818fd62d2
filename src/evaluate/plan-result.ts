/** The result of carrying out a plan. */
import type { TokenCounts } from "../contract/evaluation";
import { NO_TOKENS } from "./costs";

export interface PlanResult {
  readonly spent: TokenCounts;
  /** Number of calls of a summariser. */
  readonly calls: number;
  /** Number of failed attempts. */
  readonly failures: number;
  /** How the view changed. `drop`: messages left it without a summary. */
  readonly change: "summary" | "drop" | "other" | "none";
}

export const WITHOUT_MODEL = { spent: NO_TOKENS, calls: 0, failures: 0 } as const;
