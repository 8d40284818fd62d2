import { z } from "@hono/zod-openapi";
import { budgetList, type LimitSet, type LimitSetInput, limitSetInput } from "../../contract/limits";

export const planName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits and . _ -, a letter or digit first")
  .openapi({ example: "starter" });

export const tenantPlanInput = z
  .strictObject({
    limits: limitSetInput.optional().openapi({ description: "Default: no limits" }),
    budgets: budgetList.optional().openapi({ description: "Default: none" }),
  })
  .openapi("PutTenantPlan");

export const assignPlanInput = z
  .strictObject({
    plan: z.string().nullable().optional().openapi({ description: "The name of a tenant plan. Null: none" }),
    limits: limitSetInput.nullable().optional(),
    budgets: budgetList.nullable().optional(),
  })
  .openapi("AssignPlan");

export const toLimitSet = ({ tenant = {}, key = {}, end_user = {} }: LimitSetInput): LimitSet => ({ tenant, key, end_user });
