/** The row of a session as lists and searches show it. */
import type { SessionSummary } from "../contract/session";
import type { SessionId } from "../domain/ids";

/** The columns, with sessions as `s`. */
export const SUMMARY_COLUMNS = `s.id, s.title, s.external_id, s.end_user, s.metadata, s.model, s.message_count,
  s.last_message_preview, s.created_at, s.updated_at, s.archived_at, s.overlay_count`;

export interface SummaryRow extends Omit<SessionSummary, "metadata" | "compacted"> {
  readonly id: SessionId;
  /** JSON. */
  readonly metadata: string;
  readonly overlay_count: number;
}

export const toSummary = ({ metadata, overlay_count: overlays, ...row }: SummaryRow): SessionSummary => ({
  id: row.id,
  title: row.title,
  external_id: row.external_id,
  end_user: row.end_user,
  metadata: JSON.parse(metadata) as Readonly<Record<string, string>>,
  model: row.model,
  message_count: row.message_count,
  last_message_preview: row.last_message_preview,
  created_at: row.created_at,
  updated_at: row.updated_at,
  archived_at: row.archived_at,
  compacted: overlays > 0,
});
