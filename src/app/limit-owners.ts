/** Whom limits count for. */
import type { LimitSet } from "../contract/limits";
import { findTurnKey } from "../domain/call-owner";
import type { KeyId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import type { CountedFor } from "./ports";
import { requestSubject } from "./rate-grants";
import type { RateRule } from "./rate-meter";
import type { SessionContent } from "./session-ports";

/** Null or undefined: none, or none that limits count for. */
export interface LimitedUser {
  readonly key?: string | null | undefined;
  readonly end_user?: string | null | undefined;
}

/** `id`: of the key or the end user; empty for the tenant itself. */
interface AppliedLimit {
  readonly of: keyof LimitSet;
  readonly id: string;
  readonly limit: number;
}

/** The limits of this name that apply. */
export function listLimits(name: keyof LimitSet["key"], { key, end_user }: LimitedUser, limits: LimitSet): readonly AppliedLimit[] {
  const owners: readonly (readonly [keyof LimitSet, string | null | undefined])[] = [
    ["tenant", ""],
    ["key", key],
    ["end_user", end_user],
  ];
  return owners.flatMap(([of, id]) => {
    const limit = limits[of][name];
    return id == null || limit == null ? [] : [{ of, id, limit }];
  });
}

/** The limits of requests a minute that apply. */
export const listRequestRules = (user: LimitedUser, limits: LimitSet): readonly RateRule<keyof LimitSet>[] =>
  listLimits("requests_per_minute", user, limits).map(({ of, id, limit }) => ({ of, subject: requestSubject(of, id), limit }));

/** `key`: that asked for the call. Undefined: the key of the newest turn. */
export function countFor(key: KeyId | undefined, state: SessionState, { readText }: Pick<SessionContent, "readText">): CountedFor {
  const { end_user = null } = state.settings;
  return { key: key ?? findTurnKey(state) ?? null, end_user: end_user && readText(end_user.body) };
}
