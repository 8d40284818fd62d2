/** Examples of exports and imports. */
import type { z } from "@hono/zod-openapi";
import type { exportView, importEntry, importReport, importView } from "../../contract/export";
import { AT, EXPORT, SECOND, SESSION } from "./shared";

export const exportExample: z.input<typeof exportView> = {
  id: EXPORT,
  of: "tenant",
  session_id: null,
  end_user: null,
  settings: ["model", "tool", "mcp_server", "tenant"],
  status: "ready",
  sessions_done: 12,
  sessions_total: 12,
  bytes: 182_304,
  created_at: AT,
  finished_at: AT + 4 * SECOND,
  expires_at: AT + 604_800 * SECOND,
  download_url: `https://chat.example.com/v1/exports/${EXPORT}/content?signature=01JD8Z3V6Q4N7R2T5W9X0Y1ABK.01JD8Z3V6Q4N7R2T5W9X0Y1ABS.1795345500000.9f86d0`,
};

export const importReportExample: z.input<typeof importReport> = {
  settings: [
    {
      line: 2,
      kind: "model",
      name: "gpt-5",
      status: "needs_credential",
      detail: "it is there, and is not called before the credential openai is stored",
    },
  ],
  sessions: [{ line: 4, id: SESSION, status: "restored", detail: null }],
  has_more: false,
  next_cursor: null,
};

export const storedImportExample: z.input<typeof importView> = {
  id: "imp_01JD8Z3V6Q4N7R2T5W9X0Y1ABD",
  export_id: EXPORT,
  settings: "keep",
  status: "done",
  bytes_read: 182_304,
  bytes_total: 182_304,
  sessions_done: 12,
  sessions_restored: 11,
  sessions_total: 12,
  error: null,
  created_at: AT,
  finished_at: AT + 6 * SECOND,
  expires_at: AT + 604_800 * SECOND,
};

export const importEntryExample: z.input<typeof importEntry> = {
  line: 4,
  kind: "session",
  name: SESSION,
  status: "restored",
  detail: null,
};
