/** What happened in a tenant and concerns no single session: without content, each once and in order. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";
import type { Page } from "./page";

const TENANT_EVENT_TYPES = ["budget.threshold", "budget.reached"] as const;

const budgetEventData = z
  .object({
    budget: z.string(),
    of: z.enum(["tenant", "end_user", "session"]),
    subject: z
      .string()
      .nullable()
      .openapi({ description: "The session's id, or the digest of the end user's name (`docs/erasing-people.md`). Null: the tenant" }),
    period_starts_at: time,
    unit: z.enum(["usd", "tokens"]),
    amount: z.number(),
    spent: z.number(),
    reserved: z.number(),
    threshold: z.int().nullable().openapi({ description: "50, 80 or 100 percent of the amount. Null: `budget.reached`" }),
  })
  .openapi("BudgetEventData");

export const tenantEvent = z
  .object({
    seq: z.int(),
    at: time,
    type: z.enum(TENANT_EVENT_TYPES).openapi({
      description:
        "`budget.threshold`: so much was spent. `budget.reached`: all was spent, or a call was refused, for the first time in the period",
    }),
    data: budgetEventData,
  })
  .openapi("TenantEvent");
export type TenantEvent = z.infer<typeof tenantEvent>;

export type TenantEventPage = Page<TenantEvent>;
