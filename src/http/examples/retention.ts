/** Examples of retention. */
import type { z } from "@hono/zod-openapi";
import type { retentionPreview, retentionView } from "../../contract/retention";
import { AT, onePage, SECOND, SESSION } from "./shared";

const DAY = 86_400 * SECOND;

export const retentionExample: z.input<typeof retentionView> = {
  archive_sessions_after_days: 90,
  erase_sessions_after_days: 365,
  remove_tool_results_after_days: 30,
  remove_usage_after_months: 24,
  by_policy: { verbatim: { erase_sessions_after_days: null } },
  starts_at: AT + DAY,
};

export const retentionPreviewExample: z.input<typeof retentionPreview> = {
  ...onePage({ session_id: SESSION, action: "erase_session" as const, used_at: AT - 400 * DAY, due_at: AT - 35 * DAY }),
  usage: { complete_from: Date.UTC(2024, 10, 1), months: [{ month: "2024-10", rows: 1_204 }] },
  at: AT,
  candidates: 1,
  looked_at: 1,
};
