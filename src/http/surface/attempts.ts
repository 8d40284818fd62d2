/**
 * A request that is sent again, because its answer was lost. A client that names an idempotency key says so by the key. The SDKs of several
 * vendors name none, repeat a request by themselves, and count their tries in a header: then the request itself is the key, and the count tells
 * its repetition from another request with the same words. What the session had accepted is answered again, and nothing is added.
 */
import type { Context } from "hono";
import type { Idempotency, Outcome } from "../../app/session-api";
import type { Accepted } from "../../contract/item";
import type { TurnReport } from "../../contract/turn";
import type { TurnId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { sha256 } from "../../lib/sha256";
import type { HttpDeps, HttpEnv } from "../deps";
import { readIdempotency, readIdempotencyKey } from "../idempotency";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";

/** The generator that makes these SDKs writes it: 0 in the first try. */
const TRIES_HEADER = "x-stainless-retry-count";
const COUNT = /^\d{1,4}$/;

/** How often the client has sent the request before. Null: it does not count. */
function readTries(c: Context<HttpEnv>): number | null {
  const given = c.req.header(TRIES_HEADER) ?? "";
  return COUNT.test(given) ? Number(given) : null;
}

/** For a request to a session that the client names. Null: a repetition cannot be told from another request. */
export async function readAttempt(c: Context<HttpEnv>, { now }: Pick<HttpDeps, "now">): Promise<Result<Idempotency | null, HttpError>> {
  const key = readIdempotencyKey(c);
  if (!key.ok) return key;
  if (key.value !== undefined) return ok(await readIdempotency(c, key.value));
  const tries = readTries(c);
  return ok(tries === null ? null : await makeAttempt(c, { tries, arrived_at: now() }));
}

/** A client's key has no space, so that none is like these. */
async function makeAttempt(c: Context<HttpEnv>, counted: { readonly tries: number; readonly arrived_at: number }): Promise<Idempotency> {
  const digest = await sha256(`${c.req.method} ${c.req.path}\n${c.get("rawBody") ?? ""}`);
  return { key: `request ${digest}`, digest, attempt: { ...counted, id: crypto.randomUUID() } };
}

/** The turn that answers a request which the session had accepted before. */
interface Answering {
  readonly turn: TurnId;
  /** Where its stream begins. Null: the turn does not go on now, or began for another try. It is read from the record. */
  readonly cursor: number | null;
  /** The turn failed, and another one answers the same message from its beginning. */
  readonly isAnew: boolean;
}

/** When several requests retry a failed turn at once, one of them succeeds, and the others find its turn. This bounds how often they look. */
const MOST_TRIES = 8;

/**
 * What a repeated request is answered with: the turn that it began. A turn that failed is asked again, once for each try of the client, unless
 * the conversation has gone on.
 */
export async function findAnswering(calls: SessionCalls, accepted: Pick<Accepted, "turn_id" | "cursor">): Promise<Outcome<Answering>> {
  const { turn_id, cursor } = accepted;
  if (turn_id === null) throw new TypeError("a request that runs has a turn");
  const began = await calls.repeatable((api, caller) => api.turn(caller, turn_id));
  if (!began.ok) return began;
  const kept = { turn: turn_id, cursor: isUnderWay(began.value) ? cursor : null, isAnew: false };
  return hasFailed(began.value) ? replaceFailed(calls, began.value, kept) : ok(kept);
}

/** `kept`: the failed turn, which is the answer where the conversation has gone on. */
async function replaceFailed(calls: SessionCalls, failed: TurnReport, kept: Answering, tries = 1): Promise<Outcome<Answering>> {
  const newest = await calls.repeatable((api, caller) => api.turns(caller, { after: null, limit: 1, order: "desc" }));
  if (!newest.ok) return newest;
  const [last] = newest.value.data;
  if (!last || !isSameQuestion(last, failed)) return ok(kept);
  if (!hasFailed(last)) return ok({ turn: last.id, cursor: null, isAnew: true });
  const again = await askAgain(calls, last.id);
  const isTaken = !again.ok && again.error.code === "turn_running" && tries < MOST_TRIES;
  return isTaken ? replaceFailed(calls, failed, kept, tries + 1) : again;
}

const isUnderWay = ({ status }: TurnReport): boolean => status === "queued" || status === "generating" || status === "running_tools";
/** A client that left may have stopped its turn by that. */
const hasFailed = ({ status }: TurnReport): boolean => status === "failed" || status === "interrupted" || status === "stopped";

const isSameQuestion = (one: TurnReport, other: TurnReport): boolean =>
  one.id === other.id || (one.message_id !== null && one.message_id === other.message_id);

async function askAgain(calls: SessionCalls, turn: TurnId): Promise<Outcome<Answering>> {
  const idempotency = { key: `again ${turn}`, digest: turn };
  const accepted = await calls.repeatable((api, caller) => api.retry(caller, { idempotency }));
  if (!accepted.ok) return accepted;
  const { turn_id, cursor, replayed } = accepted.value;
  if (turn_id === null) return err({ code: "turn_not_found", turn });
  return ok({ turn: turn_id, cursor: replayed ? null : cursor, isAnew: true });
}
