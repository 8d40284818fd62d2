import type { z } from "@hono/zod-openapi";
import type { budgetView } from "../../contract/budget";
import type { tenantEvent } from "../../contract/tenant-event";
import { AT } from "./shared";

const monthly = { name: "monthly", of: "tenant", period: "month", unit: "usd", amount: 100, purposes: "all" } as const;
/** November 2026. */
const MONTH = { starts_at: 1_793_491_200_000, ends_at: 1_796_083_200_000 };

export const budgetExample: z.input<typeof budgetView> = {
  ...monthly,
  spent: 81.4,
  reserved: 0.6,
  remaining: 18,
  resets_at: MONTH.ends_at,
};

export const tenantEventExample: z.input<typeof tenantEvent> = {
  seq: 1,
  at: AT,
  type: "budget.threshold",
  data: {
    budget: monthly.name,
    of: monthly.of,
    subject: null,
    period_starts_at: MONTH.starts_at,
    unit: monthly.unit,
    amount: monthly.amount,
    spent: 81.4,
    reserved: 0.6,
    threshold: 80,
  },
};
