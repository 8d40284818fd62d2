/** The lines of a session in an export. */

import type * as api from "../../app/session-api";
import type { SessionLines, TransferApi } from "../../app/transfer-api";
import { err, ok } from "../../lib/result";
import { readLines } from "../log/transfer-rows";
import type { Session } from "../session";

/**
 * A page of the session's lines. All pages are of one state: where the log has grown since the export began, the caller
 * begins again. No export is made of a throwaway session.
 */
export function exportLines(
  { state, content, deps }: Session,
  { seq, after }: Parameters<TransferApi["exportLines"]>[1],
): api.Outcome<SessionLines | { readonly moved: true }> {
  const { session, settings, opened_at } = state;
  if (settings.throwaway || !session) return err({ code: "session_not_found" });
  if (seq !== null && seq !== state.seq) return ok({ moved: true });
  const end_user = content.readRefText(settings.end_user ?? null);
  const external_id = content.readRefText(settings.external_id ?? null);
  const page = readLines(deps.sql, after ?? { kind: "event", seq: 0 });
  const first = { type: "session", id: session, created_at: opened_at, external_id, end_user, seq: state.seq };
  const head = after ? [] : [{ text: JSON.stringify(first), place: { kind: "event", seq: 0 } as const }];
  return ok({ seq: state.seq, end_user, lines: [...head, ...page.lines], done: page.done });
}
