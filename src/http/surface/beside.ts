/**
 * Requests that name a session and are no part of its conversation. One process of an agent holds several conversations, and sends the same
 * header with all of them: its main one, those of its subagents, and requests for titles. Such a request is answered beside the session, as one
 * without a session is. docs/clients/what-continues.md has the rules.
 */
import type { Context } from "hono";
import type { ConversationEnd, EndItem } from "../../app/respond-api";
import { ok, type Result } from "../../lib/result";
import type { HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";
import { toComparedText, toPlain } from "./new-messages";

/** What a client says of itself with each request. */
export interface ClientWords {
  /** The client says that the request is of a helper, and not of its main conversation. */
  readonly isHelper: boolean;
  /** An agent that brings its whole copy and its tools with each request of its main conversation. */
  readonly isAgent: boolean;
}

const HELPERS = ["x-claude-code-agent-id", "x-openai-subagent"];
const AGENTS = /^(?:claude-cli|codex|opencode|QwenCode)\b/;

export const readClientWords = (c: Context<HttpEnv>): ClientWords => ({
  isHelper: HELPERS.some((name) => c.req.header(name) !== undefined),
  isAgent: AGENTS.test((c.req.header("user-agent") ?? "").replaceAll("_", " ")),
});

/** Whether no conversation of the session has to be read to know it. */
export const isAside = ({ isHelper, isAgent }: ClientWords, tools: readonly unknown[] | null): boolean =>
  isHelper || (isAgent && (tools ?? []).length === 0);

/** The characters of a system prompt that tell one role from another. What follows may change with each request. */
const OPENING = 64;
/** A line that Claude Code puts before its prompts, with a digest of the request. */
const BILLING = /^x-anthropic-billing-header:.*\n?/gm;

const toOpening = (system: string): string => toPlain(system.replace(BILLING, "")).slice(0, OPENING);

/** A message of the client's copy, as far as it is looked for in the session. */
interface Copied {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly answers?: string;
  readonly calls: readonly { readonly call_id: string }[];
}

interface Asking {
  readonly client: ClientWords;
  /** Null: the request has no system prompt, and the session's holds. */
  readonly system: string | null;
  readonly messages: readonly Copied[];
  /** The name by which clients of the surface know a call. */
  toCallName(execution: string): string;
}

/**
 * Another system prompt, and no common history. A lone message goes on with the session, as a client that keeps no copy sends it, unless it would
 * end calls that wait for a client.
 */
export async function findBeside(calls: SessionCalls, asking: Asking, end: ConversationEnd): Promise<Result<boolean, HttpError>> {
  const { client, system, messages } = asking;
  if (system === null || end.items.length === 0 || hasCommon(asking, end.items)) return ok(false);
  const waits = (end.turn?.open_calls ?? []).some(({ runs }) => runs === "client");
  if (!waits && !client.isAgent && !messages.some(({ role }) => role === "assistant")) return ok(false);
  const asked = await calls.repeatable((api, caller) => api.conversationEnd(caller, { limit: 0, toQuestion: false, withSystem: true }));
  if (!asked.ok) return asked;
  const { system: before = null } = asked.value;
  return ok(before !== null && toOpening(before) !== toOpening(system));
}

/**
 * Whether the copy and the session's end have a call in common, or a message of the user where the copy has no calls. The same words of two models
 * say nothing.
 */
function hasCommon({ messages, toCallName }: Asking, items: readonly EndItem[]): boolean {
  const ids = new Set(messages.flatMap(({ answers = [], calls }) => [answers, calls.map(({ call_id }) => call_id)].flat()));
  if (ids.size > 0) return items.some((item) => listNames(item, toCallName).some((name) => ids.has(name)));
  const asked = new Set(messages.flatMap(({ role, text }) => (role === "user" ? [toPlain(text)] : [])));
  return items.some(({ role, content }) => role === "user" && asked.has(toPlain(toComparedText(content))));
}

/** The names that a client may have for the calls of an item. */
function listNames({ call_id, execution_id, tool_calls = [] }: EndItem, toCallName: Asking["toCallName"]): readonly string[] {
  const calls = [{ call_id, execution_id }, ...tool_calls];
  return calls.flatMap((call) => [
    ...(call.call_id === undefined ? [] : [call.call_id]),
    ...(call.execution_id ? [toCallName(call.execution_id)] : []),
  ]);
}
