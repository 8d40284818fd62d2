/**
 * What an access token may say and see inside a session that it reaches. Its holder is a person at a browser, not the tenant:
 * the tenant chooses models, tools and settings, because they decide what a turn costs and may do.
 */
import type { Context } from "hono";
import type { SessionDescription } from "../contract/session";
import { readPrincipal } from "./auth";
import type { HttpEnv } from "./deps";
import type { RequestError } from "./problem";

const any = (): boolean => true;

/** The fields of a message that a token may send, and which of their values. A field that is missing here needs a key. */
const SAYABLE: Readonly<Record<string, (value: unknown) => boolean>> = {
  content: any,
  role: (role) => role === "user",
  run: (run) => run === true,
  on_busy: any,
};

/** The first field of the body that needs a key. Null when the caller has one, or the body names none. */
export function findBeyondToken(c: Context<HttpEnv>, body: object): RequestError | null {
  if (readPrincipal(c).access_token === undefined) return null;
  const given = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  const field = given.find(([name, value]) => !SAYABLE[name]?.(value))?.[0];
  return field === undefined ? null : { code: "beyond_access_token", field, detail: "needs an API key" };
}

/** What the tenant wrote into a session for the model or for itself. */
const WITHHELD = { system: null, pins: [], tools: [], metadata: {} } as const satisfies Partial<SessionDescription>;

export function toCallersView(c: Context<HttpEnv>, session: SessionDescription): SessionDescription {
  return readPrincipal(c).access_token === undefined ? session : { ...session, ...WITHHELD };
}
