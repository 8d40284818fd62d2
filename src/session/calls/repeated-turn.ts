/** The turn that a request repeats: which it is, and what it was asked with. */
import type * as api from "../../app/session-api";
import type { LastTurn, TurnChoices } from "../../domain/events";
import type { ItemId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { findNewest } from "../log/branch-items";
import { createSessionPast, findItem } from "../log/session-past";
import type { Session } from "../session";

/** The user's message that the client means: the named one, or the newest before the named reply. */
export function askedBy(session: Session, id: ItemId): api.Outcome<ItemMeta> {
  const { deps, state } = session;
  const { elsewhere } = state.branch;
  const named = findItem(deps.sql, id, elsewhere);
  if (!named) return err({ code: "message_not_found", message: id });
  if (named.kind === "user") return ok(named);
  const asked = findNewest({ sql: deps.sql, elsewhere, from: named.position }, ({ kind }) => kind === "user");
  return asked ? ok(asked) : err({ code: "invalid", field: "message_id", detail: "there is no user message before it" });
}

/** The turn that answered a message before; null when none did, or it has not ended. */
export function findAnswer(session: Session, { turn }: ItemMeta): LastTurn | null {
  return turn ? createSessionPast(session.deps.sql, session.state).turn(turn) : null;
}

/** The choices of the turn that a regeneration repeats. */
export function readRegenerated(session: Session, { message }: { readonly message: ItemId }): TurnChoices {
  const asked = askedBy(session, message);
  return (asked.ok && findAnswer(session, asked.value)) || {};
}

/** The choices of the turn that a retry repeats. */
export const readRetried = ({ state }: Session): TurnChoices => state.last_turn ?? {};
