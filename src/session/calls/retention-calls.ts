/** The session under its tenant's retention: it judges itself, and does what is due with nothing in between. */
import { judgeSession, type SessionAge } from "../../app/retention";
import type { RetainedSession, RetentionApi } from "../../app/retention-api";
import type { Outcome } from "../../app/session-api";
import { parsePolicyText, toPreset } from "../../context/policy-choice";
import { ok } from "../../lib/result";
import { redactedTokens } from "../content";
import { readRestoredAt } from "../log/log-schema";
import { readStoredResults, type StoredResult } from "../log/purge-content";
import { beginDeletion, remakeIndex } from "../log/recall-tables";
import { dropExcerpts } from "../log/turn-rows";
import { readItemsAt } from "../recall/recall-reader";
import { noteScrub, type ScrubHost, scrubDeleted } from "../scrub";
import type { Session } from "../session";

/** The most results that one call removes: each is an event, and some rows of the read model. */
const RESULTS_AT_ONCE = 50;

const readAge = ({ state, deps }: Session, results: readonly StoredResult[]): SessionAge => ({
  policy: toPreset(parsePolicyText(state.settings.policy)),
  used_at: Math.max(state.updated_at, readRestoredAt(deps.sql)),
  is_archived: state.archived_at !== null,
  is_busy: state.turn !== null || state.queue.length > 0,
  result_times: results.map(({ at }) => at),
});

/** `erase`: writes the tombstone before it awaits anything. */
export async function retainSession(
  session: Session & ScrubHost,
  { setting, isDryRun }: Parameters<RetentionApi["retain"]>[1],
  erase: () => Promise<Outcome<unknown>>,
): Promise<Outcome<RetainedSession>> {
  const results = readStoredResults(session.deps.sql);
  const age = readAge(session, results);
  const now = session.deps.clock();
  const judged = judgeSession(setting, age, now);
  const retained = { ...judged, used_at: age.used_at };
  if (isDryRun) return ok(retained);
  if (judged.due.some(({ action }) => action === "erase_session")) {
    const erased = await erase();
    return erased.ok ? ok(retained) : erased;
  }
  if (judged.due.some(({ action }) => action === "archive_session")) {
    const archived = session.execute({ type: "ArchiveSession", at: now, cause: "retention" });
    if (!archived.ok) return archived;
  }
  const { results_until: until } = judged;
  const old = until === null ? [] : results.filter(({ at }) => at <= until);
  const removed = await expireResults(session, old.slice(0, RESULTS_AT_ONCE));
  if (!removed.ok) return removed;
  return ok(old.length > RESULTS_AT_ONCE ? { ...retained, look_at: now } : retained);
}

/** As a redaction does it, except that what was made from the results stays. */
async function expireResults(session: Session & ScrubHost, old: readonly StoredResult[]): Promise<Outcome<null>> {
  if (old.length === 0) return ok(null);
  const { sql, clock } = session.deps;
  // Pending frames are stored first, outside the transaction: a rollback restores rows, but not the stream's memory.
  session.buffer.publish();
  let purgedTo = 0;
  const expired = session.transact((step) => {
    const items = readItemsAt(
      sql,
      old.map(({ position }) => position),
    ).map((item) => ({
      item: item.id,
      position: item.position,
      tokens: redactedTokens({ ...item, expired: true }),
    }));
    const used = beginDeletion(sql);
    const done = step.execute({ type: "ExpireResults", at: clock(), items });
    if (!done.ok) return done;
    remakeIndex(sql, used);
    purgedTo = session.buffer.purgeStored(null);
    dropExcerpts(sql);
    noteScrub(session);
    return done;
  });
  if (!expired.ok) return expired;
  session.buffer.purgeHeld(purgedTo);
  session.content.forget();
  await scrubDeleted(session);
  return ok(null);
}
