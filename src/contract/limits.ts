/** What a tenant may use at most: limits, and the tenant plans that name sets of them. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";
import { plainLine } from "./label";

const limit = (description: string) => z.int().min(0).nullable().optional().openapi({ description });

const all = {
  requests_per_minute: limit("Requests in any minute"),
  concurrent_turns: limit("Turns that run at one time"),
  concurrent_streams: limit("Streams that are open at one time"),
  sessions: limit("Sessions that exist"),
  stored_bytes: limit("Bytes of stored files"),
  files: limit("Stored files"),
  messages_per_session: limit("Messages of one session"),
  model_calls_per_minute: limit("Calls of models in any minute, for answers and for compactions"),
};
const { requests_per_minute, concurrent_turns, concurrent_streams, sessions, model_calls_per_minute } = all;

/** Every kind of limit. An absent one and null: no limit. */
const limitsSchema = z.strictObject(all).openapi("Limits", {
  description: "Null, and a limit that is not named: no limit. 0 allows nothing",
});
export type Limits = z.infer<typeof limitsSchema>;

const keyLimits = z
  .strictObject({ requests_per_minute, concurrent_turns, concurrent_streams, model_calls_per_minute })
  .openapi("KeyLimits", { description: "Of each API key alone. Sessions and files belong to the tenant, not to a key" });

const endUserLimits = z
  .strictObject({ requests_per_minute, concurrent_turns, concurrent_streams, sessions, model_calls_per_minute })
  .openapi("EndUserLimits", {
    description: "Of each end user alone. Files belong to the tenant, and messages are limited in each session",
  });

/** Which limits count what. A request must keep within all of them. */
export const limitSet = z.strictObject({ tenant: limitsSchema, key: keyLimits, end_user: endUserLimits }).openapi("LimitSet");
export type LimitSet = z.infer<typeof limitSet>;

/** A set that names some limits only, as clients send it. */
export const limitSetInput = limitSet.partial();
export type LimitSetInput = z.infer<typeof limitSetInput>;

export const NO_LIMITS: LimitSet = { tenant: {}, key: {}, end_user: {} };

const MAX_BUDGETS = 20;

export const budgetSchema = z
  .strictObject({
    name: plainLine(64),
    of: z.enum(["tenant", "end_user", "session"]).openapi({ description: "The tenant as a whole, or each of its end users or sessions" }),
    period: z.enum(["day", "month"]).openapi({ description: "In UTC" }),
    unit: z.enum(["usd", "tokens"]),
    amount: z.number().min(0),
    purposes: z.enum(["all", "compaction"]).openapi({ description: "Which model calls count" }),
  })
  .openapi("Budget");
export type Budget = z.infer<typeof budgetSchema>;

export const budgetList = z
  .array(budgetSchema)
  .max(MAX_BUDGETS)
  .refine((budgets) => new Set(budgets.map(({ name }) => name)).size === budgets.length, "each budget has a name of its own")
  .readonly();

export const tenantPlanView = z
  .object({
    name: z.string(),
    limits: limitSet,
    budgets: budgetList,
    version: z.int().openapi({ description: "Grows with each change" }),
    created_at: time,
    updated_at: time,
  })
  .openapi("TenantPlan");
/** A named set of limits and budgets that an admin assigns to tenants. */
export type TenantPlan = z.infer<typeof tenantPlanView>;

export const tenantAssignment = z
  .object({
    plan: z.string().nullable().openapi({ description: "Null: none" }),
    limits: limitSet,
    effective_limits: limitSet,
    budgets: budgetList,
    effective_budgets: z.array(budgetSchema).readonly(),
    version: z.int().openapi({ description: "Grows with each change of the plan and of the assignment" }),
    confirmed: z
      .boolean()
      .openapi({ description: "The tenant's object has confirmed what is in effect. Until then the change is sent again" }),
  })
  .openapi("TenantAssignment", {
    description:
      "`limits` and `budgets` are the tenant's own, `effective_limits` and `effective_budgets` those over what its plan has. A budget of its own replaces the plan's of that name",
  });
/** What an admin assigned to a tenant. */
export type TenantAssignment = z.infer<typeof tenantAssignment>;
