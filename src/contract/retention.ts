/** What a tenant removes by age, and what that would remove now. */
import { z } from "@hono/zod-openapi";
import { POLICY_NAMES } from "../context/presets";
import { RETENTION_ACTIONS } from "../domain/retention-actions";
import { id, time } from "./ids";
import { listView } from "./page";

const MAX_DAYS = 36_500;
const days = (description: string) => z.int().min(1).max(MAX_DAYS).nullable().openapi({ description, example: 365 });

const sessionRules = z.strictObject({
  archive_sessions_after_days: days(
    "Archive a session that was not used for so many days. It keeps everything, and its age for the other rules. Null: never",
  ),
  erase_sessions_after_days: days("Erase a session that was not used for so many days. Null: never"),
  remove_tool_results_after_days: days(
    "Remove the content of a tool result so many days after it was recorded. Summaries that were made from it stay. Null: never",
  ),
});
export type SessionRules = z.infer<typeof sessionRules>;

const policyRules = sessionRules.partial();

const MAX_MONTHS = 1_200;

export const retentionSetting = sessionRules.extend({
  remove_usage_after_months: z.int().min(1).max(MAX_MONTHS).nullable().openapi({
    description:
      "Remove usage so many months after the end of its month (UTC). It leaves the sums; an existing session goes on to show its own calls. Null: never",
    example: 24,
  }),
  by_policy: z.partialRecord(z.enum(POLICY_NAMES), policyRules).openapi({
    description:
      "What differs for sessions whose policy is this preset, or builds on it. A rule that is not named is the tenant's; null: never",
    example: { verbatim: { erase_sessions_after_days: null } },
  }),
});
export type RetentionSetting = z.infer<typeof retentionSetting>;

export const retentionView = retentionSetting
  .extend({
    starts_at: time.nullable().openapi({
      description: "Nothing is removed before: a day after the last change. Null: there is no rule",
    }),
  })
  .openapi("Retention");
export type RetentionView = z.infer<typeof retentionView>;

const dueAct = z
  .object({
    session_id: id("ses"),
    action: z.enum(RETENTION_ACTIONS),
    used_at: time.openapi({ description: "When the session last changed" }),
    due_at: time.openapi({ description: "When the rule came to apply; for results, to the oldest one" }),
    results: z.int().optional().openapi({ description: "How many tool results. Absent for other actions" }),
  })
  .openapi("RetentionAct");
export type DueActView = z.infer<typeof dueAct>;

const usageRemoval = z
  .object({
    complete_from: time.openapi({ description: "Usage would be complete from this month on" }),
    months: z
      .array(z.object({ month: z.string().openapi({ example: "2025-10" }), rows: z.int() }))
      .readonly()
      .openapi({ description: "The months (UTC) whose rows would go: one for each call, and of erased sessions one for each sum" }),
  })
  .openapi("UsageRemoval");

export const retentionPreview = listView(dueAct)
  .extend({
    usage: usageRemoval.nullable().openapi({ description: "The usage that would go. Null: none is due, or this is a later page" }),
    at: time.openapi({ description: "The time for which this holds, if no session is used meanwhile" }),
    candidates: z.int().openapi({
      description: "How many sessions of the tenant are old enough to be looked at. Those that were used since stay",
    }),
    looked_at: z.int().openapi({ description: "How many of them this page has looked at" }),
  })
  .openapi("RetentionPreview");
