/**
 * What an access token may say and see inside a session that it reaches. Its holder is a person at a browser, not the tenant:
 * the tenant chooses models, tools and settings, because they decide what a turn costs and may do.
 */
import type { Context } from "hono";
import type { List } from "../contract/page";
import type { SessionDescription, SessionSummary } from "../contract/session";
import type { FoundSession } from "../contract/session-search";
import type { TurnReport } from "../contract/turn";
import { err, ok, type Result } from "../lib/result";
import { readPrincipal } from "./auth";
import type { HttpEnv } from "./deps";
import { labelWithinReach } from "./key-reach";
import type { HttpError, RequestError } from "./problem";

const any = (): boolean => true;

/** The fields of a message that a token may send, and which of their values. A field that is missing here needs a key. */
const SAYABLE = new Map<string, (value: unknown) => boolean>([
  ["content", any],
  ["role", (role) => role === "user"],
  ["run", (run) => run === true],
  ["on_busy", any],
  ["client_id", any],
  ["metadata", any],
  ["after", any],
  ["results", any],
  // Each of them is looked at, too.
  ["messages", any],
]);

/** The first field of the body that needs a key. Null when the caller has one, or the body names none. */
export function findBeyondToken(c: Context<HttpEnv>, body: Body): RequestError | null {
  if (readPrincipal(c).access_token === undefined) return null;
  const ofMessages = (body.messages ?? []).map((message, index) => findUnsayable(message, `messages.${index}.`));
  const field = findUnsayable(body, "") ?? ofMessages.find((found) => found !== null) ?? null;
  return field === null ? null : { code: "beyond_access_token", field, detail: "needs an API key" };
}

/** `messages`: of a request that brings several. */
type Body = object & { readonly messages?: readonly object[] | undefined };

function findUnsayable(said: object, within: string): string | null {
  const given = Object.entries(said).filter(([, value]) => value !== undefined && value !== null);
  const found = given.find(([name, value]) => !SAYABLE.get(name)?.(value));
  return found ? within + found[0] : null;
}

interface Selection {
  readonly end_user?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * The selection of a list: an end user's token lists the sessions of that end user alone, and asks nothing about what it is not shown. A
 * restricted key lists those that it is held to.
 */
export function boundToEndUser<S extends Selection>(c: Context<HttpEnv>, asked: S): Result<S, HttpError> {
  const end_user = readPrincipal(c).access_token?.reach.end_user;
  if (end_user === undefined) return labelWithinReach(c, asked);
  const { end_user: other = end_user, metadata = {} } = asked;
  const field = other !== end_user ? "end_user" : Object.keys(metadata).length > 0 ? "metadata" : null;
  return field === null ? ok({ ...asked, end_user }) : err({ code: "beyond_access_token", field, detail: "needs an API key" });
}

/** What the tenant wrote into a session for the model or for itself. */
const WITHHELD = {
  system: null,
  summary_instructions: null,
  pins: [],
  tools: [],
  metadata: {},
} as const satisfies Partial<SessionDescription>;

export function toCallersView(c: Context<HttpEnv>, session: SessionDescription): SessionDescription {
  return readPrincipal(c).access_token === undefined ? session : { ...session, ...WITHHELD };
}

/** What a provider said may quote the system prompt, and it speaks of the tenant's account. */
export function toCallersTurn(c: Context<HttpEnv>, turn: TurnReport): TurnReport {
  const reported = turn.failure?.reported;
  if (readPrincipal(c).access_token === undefined || !turn.failure || reported?.message === undefined) return turn;
  const { message: _, ...names } = reported;
  return { ...turn, failure: { ...turn.failure, reported: names } };
}

const toCallersRow = (row: SessionSummary): SessionSummary => ({ ...row, metadata: WITHHELD.metadata });

export function toCallersList(c: Context<HttpEnv>, list: List<SessionSummary>): List<SessionSummary> {
  return readPrincipal(c).access_token === undefined ? list : { ...list, data: list.data.map(toCallersRow) };
}

export function toCallersFinds(c: Context<HttpEnv>, list: List<FoundSession>): List<FoundSession> {
  if (readPrincipal(c).access_token === undefined) return list;
  return { ...list, data: list.data.map((found) => ({ ...found, session: toCallersRow(found.session) })) };
}
