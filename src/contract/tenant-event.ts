/** What happened in a tenant and concerns no single session's log: without content, each once and in order. */
import { z } from "@hono/zod-openapi";
import { ERASURE_KINDS } from "../domain/erasure-kinds";
import { DISABLED_REASONS } from "../domain/webhook-events";
import { id, time } from "./ids";
import type { Page } from "./page";

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

const base = { seq: z.int(), at: time };

export const tenantEvent = z
  .discriminatedUnion("type", [
    z.object({ ...base, type: z.literal("budget.threshold"), data: budgetEventData }).openapi("BudgetThresholdEvent"),
    z.object({ ...base, type: z.literal("budget.reached"), data: budgetEventData }).openapi("BudgetReachedEvent"),
    z.object({ ...base, type: z.literal("session.erased"), data: z.object({ id: id("ses") }) }).openapi("TenantSessionErasedEvent"),
    z
      .object({
        ...base,
        type: z.literal("erasure.completed"),
        data: z.object({
          id: id("era"),
          of: z.enum(ERASURE_KINDS),
          session_id: id("ses").nullable().openapi({ description: "The session that was to be erased. Null: an end user" }),
        }),
      })
      .openapi("ErasureCompletedEvent"),
    z.object({ ...base, type: z.literal("export.completed"), data: z.object({ id: id("exp") }) }).openapi("ExportCompletedEvent"),
    z.object({ ...base, type: z.literal("export.failed"), data: z.object({ id: id("exp") }) }).openapi("ExportFailedEvent"),
    z.object({ ...base, type: z.literal("import.completed"), data: z.object({ id: id("imp") }) }).openapi("ImportCompletedEvent"),
    z.object({ ...base, type: z.literal("import.failed"), data: z.object({ id: id("imp") }) }).openapi("ImportFailedEvent"),
    z
      .object({
        ...base,
        type: z.literal("webhook_endpoint.disabled"),
        data: z.object({ id: id("whk"), reason: z.enum(DISABLED_REASONS) }),
      })
      .openapi("WebhookEndpointDisabledEvent"),
  ])
  .openapi("TenantEvent", {
    description:
      "`budget.threshold`: so much was spent. `budget.reached`: all was spent, or a call was refused, for the first time in the period",
  });
export type TenantEvent = z.infer<typeof tenantEvent>;
type WithoutSeq<E> = E extends unknown ? Omit<E, "seq"> : never;
export type NewTenantEvent = WithoutSeq<TenantEvent>;

export type TenantEventPage = Page<TenantEvent>;
