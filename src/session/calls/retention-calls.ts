/** The session under its tenant's retention: it judges itself, and does what is due with nothing in between. */
import { judgeSession, type SessionAge } from "../../app/retention";
import type { RetainedSession, RetentionApi } from "../../app/retention-api";
import type { Outcome } from "../../app/session-api";
import { parsePolicyText, toPreset } from "../../context/policy-choice";
import { readRestoredAt } from "../log/log-schema";
import type { Session } from "../session";

const readAge = ({ state, deps }: Session): SessionAge => ({
  policy: toPreset(parsePolicyText(state.settings.policy)),
  used_at: Math.max(state.updated_at, readRestoredAt(deps.sql)),
  is_busy: state.turn !== null || state.queue.length > 0,
});

/** `erase`: writes the tombstone before it awaits anything. */
export async function retainSession(
  session: Session,
  { setting, isDryRun }: Parameters<RetentionApi["retain"]>[1],
  erase: () => Promise<Outcome<unknown>>,
): Promise<Outcome<RetainedSession>> {
  const age = readAge(session);
  const judged = judgeSession(setting, age, session.deps.clock());
  if (!isDryRun && judged.due.some(({ action }) => action === "erase_session")) {
    const erased = await erase();
    if (!erased.ok) return erased;
  }
  return { ok: true, value: { ...judged, used_at: age.used_at } };
}
