/** What a restricted key reaches and may use (docs/key-restrictions.md). */
import { ACCESS_TOKEN_SCOPES, type Scope } from "./scopes";

/** A null field restricts nothing. */
export interface Restriction {
  readonly models: readonly string[] | null;
  readonly end_users: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** What a session says of whose it is. */
interface Labels {
  readonly end_user: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The scopes of a key that is held to some models. The others change models or what they may do, or reach what such a key must not use. */
const SCOPES_WITH_MODELS = [...ACCESS_TOKEN_SCOPES, "sessions:erase", "files:read", "files:write", "tools:read", "usage:read"] as const;

/** True when the key reaches some sessions only. Undefined: the key has no restriction. */
export const isHeldToSessions = (restriction: Restriction | undefined): restriction is Restriction =>
  restriction !== undefined && (restriction.end_users !== null || restriction.metadata !== null);

/** The scopes that a key with this restriction may have. */
export const scopesWithin = (restriction: Restriction): readonly Scope[] =>
  isHeldToSessions(restriction) ? ACCESS_TOKEN_SCOPES : SCOPES_WITH_MODELS;

export function reachesSession({ end_users, metadata }: Restriction, session: Labels): boolean {
  if (end_users !== null && (session.end_user === null || !end_users.includes(session.end_user))) return false;
  return Object.entries(metadata ?? {}).every(([name, value]) => Object.hasOwn(session.metadata, name) && session.metadata[name] === value);
}

export const mayUseModel = (restriction: Restriction | undefined, model: string): boolean => restriction?.models?.includes(model) ?? true;
