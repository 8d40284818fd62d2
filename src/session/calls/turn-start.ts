/** How turns began: the notes of their clients, and what the model could read. */
import type { PastApi, StartContext, TurnNote } from "../../app/past-api";
import type * as api from "../../app/session-api";
import { SUMMARY_JOIN } from "../../context/placement";
import type { ItemId, TurnId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { groupMessages } from "../display";
import { readItems } from "../log/log-tables";
import { stateAtStart } from "../log/turn-calls";
import { readTurn, type TurnRow } from "../log/turn-rows";
import type { Session } from "../session";

export function readNotes(session: Session, { turns, having }: Parameters<PastApi["notes"]>[1]): readonly TurnNote[] {
  return turns.flatMap((turn): TurnNote[] => {
    const row = readTurn(session.deps.sql, turn);
    const note = row?.note ? session.content.readRefText(row.note) : null;
    return row && note?.includes(having) ? [{ turn, note, first: findFirst(session, row) }] : [];
  });
}

/** A turn's items are contiguous. */
function findFirst({ deps }: Session, { id, from }: TurnRow): ItemId | null {
  const [item] = readItems(deps.sql, { from, to: from, limit: 1, order: "asc" });
  return item?.turn === id ? item.id : null;
}

export function showStart({ deps, content }: Session, turn: TurnId): api.Outcome<StartContext> {
  const row = readTurn(deps.sql, turn);
  const then = row && stateAtStart(deps.sql, row);
  if (!then) return err({ code: "turn_not_found", turn });
  const { overlays, items } = then.view;
  // A redaction has removed the texts of summaries that were made from its message.
  const summaries = overlays.flatMap((overlay) => (overlay.kind === "summary" ? (content.readText(overlay.id) ?? []) : []));
  return ok({
    summary: summaries.length > 0 ? summaries.join(SUMMARY_JOIN) : null,
    messages: groupMessages(items, (item) => item).map(([first]) => first.id),
  });
}
