/** Redacts a message: removes its body, the summaries made from it, its words in the index and its frames in the stream. */

import { goBack } from "../../app/branch/go-back";
import type { BranchApi } from "../../app/branch-api";
import type * as api from "../../app/session-api";
import { RECALL_TOOL } from "../../context/recall-tool";
import type { Redaction } from "../../contract/branch";
import type { RedactMessage } from "../../domain/commands";
import type { ItemId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { findQuotations } from "../../domain/summary-sources";
import { err, ok } from "../../lib/result";
import { redactedTokens } from "../content";
import { findNewest } from "../log/branch-items";
import { findReadingSummaries, isTitleMadeFrom, readQuotations } from "../log/purge-content";
import { createSessionPast, findItemAnywhere } from "../log/session-past";
import type { Step } from "../log/store";
import { dropExcerpts } from "../log/turn-rows";
import { readItemsAt } from "../recall/recall-reader";
import { noteScrub, type ScrubHost, scrubDeleted } from "../scrub";
import type { Session } from "../session";

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
    const made = findMadeFrom(session, { item: message, position });
    const done = step.execute({ type: "RedactMessage", at: clock(), item: message, position, tokens: redactedTokens(item), ...made });
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
  const { turn, queue, branch, redacted } = step.state;
  if (turn || queue.length > 0) return;
  const gone = new Set(redacted);
  const line = { sql, elsewhere: branch.elsewhere };
  const newest = findNewest(line, () => true);
  if (!newest || !gone.has(newest.id)) return;
  const to = findNewest(line, ({ id }) => !gone.has(id))?.position ?? 0;
  goBack(to, { do: "nothing" }, { writer: step, clock, past: createSessionPast(sql, step.state) });
}

/** Finds every text that contains the message's content, directly or through other texts: answers of look-ups, summaries and the title. */
function findMadeFrom(
  { deps: { sql }, state }: Session,
  { item, position }: Pick<RedactMessage, "item" | "position">,
): Pick<RedactMessage, "quotes" | "texts" | "isTitleMadeFrom"> {
  const answers = readQuotations(sql, RECALL_TOOL.name).filter((answer) => answer.item !== item);
  const quoting = new Set(findQuotations([position], answers));
  const { title } = state.settings;
  return {
    quotes: readItemsAt(sql, [...quoting]).map((quote) => ({ item: quote.id, position: quote.position, tokens: redactedTokens(quote) })),
    texts: findReadingSummaries(sql, [position, ...quoting]),
    isTitleMadeFrom: title !== null && isTitleMadeFrom(sql, title.body, position),
  };
}
