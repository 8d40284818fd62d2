/** Redacts a message with its calls: removes their bodies, the summaries made from them, their words in the index and their frames in the stream. */

import { goBack } from "../../app/branch/go-back";
import type { BranchApi } from "../../app/branch-api";
import type * as api from "../../app/session-api";
import { RECALL_TOOL } from "../../context/recall-tool";
import type { Redaction } from "../../contract/branch";
import type { RedactedItem, RedactMessage } from "../../domain/commands";
import type { ItemId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { findQuotations } from "../../domain/summary-sources";
import { err, ok } from "../../lib/result";
import { redactedTokens } from "../content";
import { findNewest } from "../log/branch-items";
import { findReadingSummaries, readQuotations, readTitleReach } from "../log/purge-content";
import { createSessionPast, findItemAnywhere } from "../log/session-past";
import type { Sql } from "../log/sql";
import type { Step } from "../log/store";
import { dropExcerpts } from "../log/turn-rows";
import { readItemsAt } from "../recall/recall-reader";
import { noteScrub, type ScrubHost, scrubDeleted } from "../scrub";
import type { Session } from "../session";
import { readAround } from "./message-pages";

/** Works on any branch. A second redaction of the same message changes nothing. */
export async function redactMessage(
  session: Session & ScrubHost,
  message: ItemId,
  { takesBack }: NonNullable<Parameters<BranchApi["redact"]>[2]> = {},
): Promise<api.Outcome<Redaction>> {
  const { sql, clock } = session.deps;
  const item = findItemAnywhere(sql, message);
  if (!item) return err({ code: "message_not_found", message });
  const { position } = item;
  // Pending frames are stored first, outside the transaction: a rollback restores rows, but not the stream's memory.
  session.buffer.publish();
  let purgedTo = 0;
  const redacted = session.transact((step) => {
    if (takesBack) endWaitingTurn(session, step, item);
    const items = takesBack ? [item] : listWhole(sql, item);
    const done = step.execute({ type: "RedactMessage", at: clock(), items: items.map(toRedacted), ...findMadeFrom(session, items) });
    if (done.ok && done.value.length > 0) {
      purgedTo = session.buffer.purgeStored(step.state.turn?.id ?? null);
      dropExcerpts(sql);
      noteScrub(session);
    }
    if (done.ok && takesBack) leaveRedacted(session, step);
    return done;
  });
  if (!redacted.ok) return err(redacted.error);
  // The stream has announced the redaction after that offset, and no reader has run since. To a reader that comes back,
  // the removed frames are a gap.
  session.buffer.purgeHeld(purgedTo);
  session.content.forget();
  await scrubDeleted(session);
  return ok({ id: message, position });
}

/** The message that the item begins, with its calls. The item alone where it is a later call, or a result. */
function listWhole(sql: Sql, item: ItemMeta): readonly ItemMeta[] {
  const message = readAround(sql, item);
  return message[0]?.id === item.id ? message : [item];
}

export const toRedacted = (item: ItemMeta): RedactedItem => ({
  item: item.id,
  position: item.position,
  tokens: redactedTokens(item),
  isRedacted: item.redacted === true,
});

/** No redaction reaches the items of an open turn. */
function endWaitingTurn({ deps }: Session, step: Step, { turn: id }: ItemMeta): void {
  const { turn } = step.state;
  if (turn?.phase !== "awaiting_tools" || turn.id !== id) return;
  step.execute({ type: "StopTurn", at: deps.clock(), turn: turn.id, reason: "superseded", partial: null, call: null });
}

/**
 * Goes back to the newest message that has its content. Where that is inside a response with its calls and results, which is never split, or
 * where the session has no branch left, the redacted messages keep their place.
 */
function leaveRedacted({ deps: { sql, clock } }: Session, step: Step): void {
  const { turn, queue, branch } = step.state;
  if (turn || queue.length > 0) return;
  const line = { sql, elsewhere: branch.elsewhere };
  const newest = findNewest(line, () => true);
  if (!newest?.redacted) return;
  const to = findNewest(line, ({ redacted }) => !redacted)?.position ?? 0;
  goBack(to, { do: "nothing" }, { writer: step, clock, past: createSessionPast(sql, step.state) });
}

/** Finds every text that contains content of these items, directly or through other texts: answers of look-ups, summaries and the title. */
function findMadeFrom(
  { deps: { sql }, state }: Session,
  items: readonly ItemMeta[],
): Pick<RedactMessage, "quotes" | "texts" | "isTitleMadeFrom"> {
  const positions = items.map(({ position }) => position);
  const answers = readQuotations(sql, RECALL_TOOL.name).filter(({ position }) => !positions.includes(position));
  const quoting = new Set(findQuotations(positions, answers));
  const { title } = state.settings;
  return {
    quotes: readItemsAt(sql, [...quoting]).map(toRedacted),
    texts: findReadingSummaries(sql, [...positions, ...quoting]),
    isTitleMadeFrom: title !== null && readTitleReach(sql, title.body) >= Math.min(...positions),
  };
}
