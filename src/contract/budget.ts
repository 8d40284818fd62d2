/** A budget with what was spent of it. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";
import { budgetSchema } from "./limits";

const amount = (description: string) => z.number().openapi({ description: `${description}, in US dollars or tokens` });

export const budgetView = z
  .object({
    ...budgetSchema.shape,
    spent: amount("By calls that have ended"),
    reserved: amount("For calls under way, and granted to sessions for their next ones"),
    remaining: amount("Of the amount, after both. Not below 0"),
    resets_at: time.openapi({ description: "When the period ends" }),
  })
  .openapi("BudgetUse");
export type BudgetView = z.infer<typeof budgetView>;

export const budgetUseList = z.object({ data: z.array(budgetView).readonly() }).openapi("BudgetUseList");
