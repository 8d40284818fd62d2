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

export const NO_RETENTION: RetentionSetting = {
  archive_sessions_after_days: null,
  erase_sessions_after_days: null,
  remove_tool_results_after_days: null,
  remove_usage_after_months: null,
  by_policy: {},
};

/** What a session says of itself. */
export interface SessionAge {
  /** The preset on which its policy builds. */
  readonly policy: PolicyName;
  /** When it last changed, in epoch milliseconds. */
  readonly used_at: number;
  /** A turn is open, or messages wait. */
  readonly is_busy: boolean;
  readonly is_archived: boolean;
  /** When each tool result was recorded whose content is still there, in epoch milliseconds. */
  readonly result_times: readonly number[];
}

interface DueAct {
  readonly action: RetentionAction;
  readonly due_at: number;
  readonly results?: number;
}

export interface Judgement {
  readonly due: readonly DueAct[];
  /** Nothing more can come to apply before, whatever happens to the session. */
  readonly look_at: number;
  /** Tool results that were recorded until then are due. Null: none is. */
  readonly results_until: number | null;
}

const RULES = [
  "archive_sessions_after_days",
  "erase_sessions_after_days",
  "remove_tool_results_after_days",
] as const satisfies readonly (keyof SessionRules)[];

const toMs = (days: number | null): number => (days === null ? Number.POSITIVE_INFINITY : days * DAY_MS);

/** The tenant's rules with what differs for the policy. */
export function findRules({ by_policy, ...rules }: RetentionSetting, policy: PolicyName): SessionRules {
  const {
    archive_sessions_after_days = rules.archive_sessions_after_days,
    erase_sessions_after_days = rules.erase_sessions_after_days,
    remove_tool_results_after_days = rules.remove_tool_results_after_days,
  } = by_policy[policy] ?? {};
  return { archive_sessions_after_days, erase_sessions_after_days, remove_tool_results_after_days };
}

export const hasRule = (setting: RetentionSetting): boolean => findLeastAge(setting) !== null || setting.remove_usage_after_months !== null;

/** The age in milliseconds before which no rule applies to any session. Null: there is no rule. */
export function findLeastAge({ by_policy, ...rules }: RetentionSetting): number | null {
  const named = [rules, ...Object.values(by_policy)].flatMap((set) => RULES.map((rule) => toMs(set?.[rule] ?? null)));
  const least = Math.min(...named);
  return Number.isFinite(least) ? least : null;
}

/** A session that is to be erased is erased as a whole, whatever else is due. To be archived changes no age. */
export function judgeSession(setting: RetentionSetting, age: SessionAge, now: number): Judgement {
  if (age.is_busy) return { due: [], look_at: now + BUSY_MS, results_until: null };
  const rules = findRules(setting, age.policy);
  const eraseAt = age.used_at + toMs(rules.erase_sessions_after_days);
  const archiveAt = age.is_archived ? Number.POSITIVE_INFINITY : age.used_at + toMs(rules.archive_sessions_after_days);
  const kept = toMs(rules.remove_tool_results_after_days);
  // A session that is used begins anew, and a change of its policy is a use.
  const anew = now + (findLeastAge(setting) ?? BUSY_MS);
  if (eraseAt <= now) return { due: [{ action: "erase_session", due_at: eraseAt }], look_at: anew, results_until: null };
  const isArchiveDue = archiveAt <= now;
  const old = age.result_times.filter((at) => at + kept <= now);
  const young = age.result_times.filter((at) => at + kept > now);
  const archived: DueAct = { action: "archive_session", due_at: archiveAt };
  const results: DueAct = { action: "remove_tool_results", due_at: toLeast(old) + kept, results: old.length };
  const look_at = Math.min(eraseAt, isArchiveDue ? anew : archiveAt, toLeast(young) + kept, anew);
  const due = [...(isArchiveDue ? [archived] : []), ...(old.length > 0 ? [results] : [])];
  return { due, look_at, results_until: old.length > 0 ? now - kept : null };
}

const toLeast = (times: readonly number[]): number => times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
