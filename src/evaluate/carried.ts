/** What carrying a plan out came to. */
import { NOTHING, type Spent } from "./costs";

export interface Carried {
  readonly spent: Spent;
  /** Calls of a summariser. */
  readonly calls: number;
  /** Attempts that came to nothing. */
  readonly failures: number;
  /** How the view changed. `drop`: messages left it without a summary. */
  readonly change: "summary" | "drop" | "other" | "none";
}

export const WITHOUT_MODEL = { spent: NOTHING, calls: 0, failures: 0 } as const;
