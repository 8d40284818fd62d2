/** What carrying a plan out came to. */
import { NO_TOKENS, type TokenCounts } from "./costs";

export interface Carried {
  readonly spent: TokenCounts;
  /** Calls of a summariser. */
  readonly calls: number;
  /** Attempts that came to nothing. */
  readonly failures: number;
  /** How the view changed. `drop`: messages left it without a summary. */
  readonly change: "summary" | "drop" | "other" | "none";
}

export const WITHOUT_MODEL = { spent: NO_TOKENS, calls: 0, failures: 0 } as const;
