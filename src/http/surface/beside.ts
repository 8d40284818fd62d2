/**
 * Requests that name a session and are no part of its conversation. One process of an agent holds several conversations, and sends the same
 * header with all of them: its main one, those of its subagents, and requests for titles. Such a request is answered beside the session, as one
 * without a session is. docs/clients/what-continues.md has the rules.
 */
import type { Context } from "hono";
import type { ConversationEnd, EndItem } from "../../app/respond-api";
import type { ImportedCall } from "../../app/written-message";
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
  readonly calls: readonly CopiedCall[];
}
type CopiedCall = Pick<ImportedCall, "call_id" | "name" | "arguments">;

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
 * Whether the copy and the session's end have a call in common, or a message of the user where one of them has no calls. The same words of two
 * models say nothing.
 */
function hasCommon(asking: Asking, items: readonly EndItem[]): boolean {
  const { messages } = asking;
  const known = items.flatMap(({ tool_calls = [] }) => tool_calls);
  const calls = messages.flatMap((message) => message.calls);
  const own = new Set(calls.map(({ call_id }) => call_id));
  /** Results of calls that the copy does not have. */
  const answered = new Set(messages.flatMap(({ answers }) => (answers === undefined || own.has(answers) ? [] : [answers])));
  if (known.length > 0 && calls.length + answered.size > 0) return known.some((call) => isIn(call, { calls, answered, asking }));
  const asked = new Set(messages.flatMap(({ role, text }) => (role === "user" ? [toPlain(text)] : [])));
  return items.some(({ role, content }) => role === "user" && asked.has(toPlain(toComparedText(content))));
}

interface CopiedCalls {
  readonly calls: readonly CopiedCall[];
  readonly answered: ReadonlySet<string>;
  readonly asking: Asking;
}

/** A provider's own ids may repeat, so that a call of such an id has the same name and arguments, too. */
function isIn(known: NonNullable<EndItem["tool_calls"]>[number], { calls, answered, asking }: CopiedCalls): boolean {
  const name = asking.toCallName(known.execution_id);
  if (answered.has(known.call_id) || (name !== "" && answered.has(name))) return true;
  const isSame = (call: CopiedCall): boolean =>
    call.call_id === known.call_id && call.name === known.name && call.arguments === known.arguments;
  return calls.some((call) => (name !== "" && call.call_id === name) || isSame(call));
}
