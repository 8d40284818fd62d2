/**
 * What a request has to know of its session before it is recorded: the session's model and end, and what its open turn was asked with. It
 * only helps to understand the request. What is true when the request is recorded is decided by the session, which refuses answers to calls that
 * are not open any more.
 */
import type { ConversationEnd } from "../../../app/respond-api";
import type { Outcome } from "../../../app/session-api";
import type { TurnId } from "../../../domain/ids";
import { ok } from "../../../lib/result";
import type { SessionCalls } from "../../session-calls";
import type { ReadInput } from "../items/transcript";
import { type ResponseAsked, readNote, shortenAsked } from "./asked";

/** More than the results and messages of one turn of a client's loop, as a rule. What began before them is not found. */
const READ_BACK = 200;

type ReadEnd = () => Promise<Outcome<ConversationEnd>>;

export interface Reading {
  readonly calls: SessionCalls;
  /** Reads the session's end when it is first called, and once. */
  readonly readEnd: ReadEnd;
}

/** Whether the input may say what its conversation has. */
export function mayRepeat({ messages, results, approvals }: ReadInput): boolean {
  const answers = results.length + approvals.length;
  return answers > 0 && messages.length + answers > 1;
}

export function createEndReader(calls: SessionCalls, input: ReadInput): ReadEnd {
  const asked = { limit: mayRepeat(input) ? READ_BACK : 0, toQuestion: false };
  let read: ReturnType<ReadEnd> | null = null;
  return () => (read ??= calls.repeatable((api, caller) => api.conversationEnd(caller, asked)));
}

export async function findModel(readEnd: ReadEnd): Promise<Outcome<string>> {
  const end = await readEnd();
  return end.ok ? ok(end.value.model) : end;
}

/** Whether a request that only answers calls has another echo than their turn. `after`: that turn; null: the one that is open. */
export async function asksAnew({ calls, readEnd }: Reading, after: TurnId | null, echo: ResponseAsked): Promise<boolean> {
  const turn = after ?? (await findOpenTurn(readEnd));
  const settings = turn === null ? null : await calls.repeatable((api, caller) => api.askedWith(caller, turn));
  const toText = (asked: ResponseAsked): string =>
    JSON.stringify(shortenAsked({ ...asked, previous_response_id: null, added: null, compaction: null }));
  return !settings?.ok || toText(readNote(settings.value)) !== toText(echo);
}

async function findOpenTurn(readEnd: ReadEnd): Promise<TurnId | null> {
  const end = await readEnd();
  return end.ok ? (end.value.turn?.id ?? null) : null;
}
