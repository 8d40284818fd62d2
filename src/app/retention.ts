/**
 * The rules of retention: what is due of a session at a time. The session's object judges itself by them, both for a dry run and for the
 * removal, so that the two never differ.
 */
import type { PolicyName } from "../context/presets";
import type { RetentionSetting, SessionRules } from "../contract/retention";
import type { RetentionAction } from "../domain/retention-actions";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Time to notice a mistake: a changed setting removes nothing before. */
export const RETENTION_STARTS_AFTER_MS = DAY_MS;
/** A session in use is looked at again after this time. */
const BUSY_MS = DAY_MS;

export const NO_RETENTION: RetentionSetting = { erase_sessions_after_days: null, by_policy: {} };

/** What a session says of itself. */
export interface SessionAge {
  /** The preset on which its policy builds. */
  readonly policy: PolicyName;
  /** When it last changed, in epoch milliseconds. */
  readonly used_at: number;
  /** A turn is open, or messages wait. */
  readonly is_busy: boolean;
}

interface DueAct {
  readonly action: RetentionAction;
  readonly due_at: number;
}

export interface Judgement {
  readonly due: readonly DueAct[];
  /** Nothing more can come to apply before, whatever happens to the session. */
  readonly look_at: number;
}

const RULES = ["erase_sessions_after_days"] as const satisfies readonly (keyof SessionRules)[];

const toMs = (days: number | null): number => (days === null ? Number.POSITIVE_INFINITY : days * DAY_MS);

/** The tenant's rules with what differs for the policy. */
export function findRules({ by_policy, ...rules }: RetentionSetting, policy: PolicyName): SessionRules {
  const { erase_sessions_after_days: erase = rules.erase_sessions_after_days } = by_policy[policy] ?? {};
  return { erase_sessions_after_days: erase };
}

/** The age in milliseconds before which no rule applies to any session. Null: there is no rule. */
export function findLeastAge({ by_policy, ...rules }: RetentionSetting): number | null {
  const named = [rules, ...Object.values(by_policy)].flatMap((set) => RULES.map((rule) => toMs(set?.[rule] ?? null)));
  const least = Math.min(...named);
  return Number.isFinite(least) ? least : null;
}

export function judgeSession(setting: RetentionSetting, { policy, used_at, is_busy }: SessionAge, now: number): Judgement {
  if (is_busy) return { due: [], look_at: now + BUSY_MS };
  const eraseAt = used_at + toMs(findRules(setting, policy).erase_sessions_after_days);
  const due: readonly DueAct[] = eraseAt <= now ? [{ action: "erase_session", due_at: eraseAt }] : [];
  // A session that is used begins anew, and a change of its policy is a use.
  const anew = now + (findLeastAge(setting) ?? BUSY_MS);
  return { due, look_at: eraseAt > now ? Math.min(eraseAt, anew) : anew };
}
