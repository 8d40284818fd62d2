/** A tenant without budgets, as a session reaches it. */
import type { BudgetSource } from "../../src/app/budget-ports";

const NONE = { revision: 0, budgets: [] } as const;

export const NO_BUDGETS: BudgetSource = {
  peek: () => NONE,
  lookUp: async () => NONE,
  learn: () => {},
  renew: async () => {
    throw new Error("A tenant without budgets is asked for nothing");
  },
};
