/** What the tools answer: smaller shapes than those of the native API, because a model reads them. Each has bounds. */
import { z } from "zod";
import { takeHead } from "../../context/tool-results";
import type { DisplayItem } from "../../contract/item";
import type { TurnReport } from "../../contract/turn";

/** UTF-16 units of one message, and of the arguments of one call. `memory_query` reads on by positions. */
const MAX_TEXT = 8_000;
const MAX_ARGUMENTS = 2_000;
/** UTF-16 units of all texts of one answer: about 10,000 tokens of English. */
const MAX_PAGE = 40_000;
/** The calls of one reply that are shown. */
const MAX_CALLS = 64;

export const utcMoment = z.string().describe("UTC, ISO 8601");
export const toMoment = (at: number): string => new Date(at).toISOString();

const call = z.object({
  execution_id: z.string().describe("memory_query reads the call and its result by this id"),
  name: z.string(),
  arguments: z.string().describe("JSON text as the model wrote it, cut if it is long"),
});

export const message = z.object({
  message_id: z.string(),
  position: z.int().describe("Its place in the conversation, from 1"),
  role: z.enum(["user", "assistant", "system", "tool"]),
  name: z.string().nullable().describe("Who speaks"),
  text: z.string().describe("What was said, or the output of a tool"),
  truncated: z.boolean().describe("The text is cut. memory_query with from and to set to the position reads all of it"),
  media: z.array(z.object({ type: z.string(), media_type: z.string(), name: z.string().nullable() })),
  tool_calls: z.array(call),
  tool_name: z.string().nullable().describe("Role tool: the tool that ran"),
  is_error: z.boolean(),
  incomplete: z.boolean().describe("The reply was cut off before its end"),
  turn_id: z.string().nullable(),
  created_at: utcMoment,
});
export type Message = z.infer<typeof message>;

type Media = Extract<DisplayItem["content"][number], { readonly media_type: string }>;

const toMedia = ({ type, media_type, name }: Media) => ({ type, media_type, name: name ?? null });

function toMessage(item: DisplayItem): Message {
  const text = readText(item);
  const shown = takeHead(text, MAX_TEXT);
  const calls = item.tool_calls ?? [];
  return {
    message_id: item.id,
    position: item.position,
    role: item.role,
    name: item.name,
    text: shown,
    truncated: shown.length < text.length || calls.length > MAX_CALLS,
    media: item.content.flatMap((part) => ("media_type" in part ? [toMedia(part)] : [])),
    tool_calls: calls.slice(0, MAX_CALLS).map((each) => ({
      execution_id: each.execution_id,
      name: each.name,
      arguments: takeHead(each.arguments, MAX_ARGUMENTS),
    })),
    tool_name: item.tool_name ?? null,
    is_error: item.is_error ?? false,
    incomplete: item.incomplete,
    turn_id: item.turn_id,
    created_at: toMoment(item.created_at),
  };
}

/** The text of a message without the model's reasoning. */
const readText = ({ content }: Pick<DisplayItem, "content">): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

const weigh = ({ text, tool_calls }: Message): number => tool_calls.reduce((sum, each) => sum + each.arguments.length, text.length);

/** The first of the messages that one answer has room for, and at least one. */
export function fillPage(items: readonly DisplayItem[]): readonly Message[] {
  const shown: Message[] = [];
  let room = MAX_PAGE;
  for (const item of items) {
    const next = toMessage(item);
    room -= weigh(next);
    if (room < 0 && shown.length > 0) break;
    shown.push(next);
  }
  return shown;
}

export const turnState = z.object({
  session_id: z.string(),
  turn_id: z.string(),
  status: z
    .string()
    .describe("completed, failed, stopped, interrupted; while it is open: queued, generating, running_tools, awaiting_tools; or unknown"),
  is_finished: z.boolean(),
  reply: z.string().describe("The text of the turn's newest reply. Empty if it has none"),
  reply_truncated: z.boolean().describe("The reply is cut. read_messages and memory_query read all of it"),
  finish: z.string().nullable(),
  model: z.string().nullable(),
  failure: z.object({ kind: z.string(), detail: z.string(), remedy: z.string() }).nullable(),
  waiting_for: z
    .array(call.extend({ needs: z.enum(["result", "approval"]) }))
    .describe("Calls that keep the turn waiting: for the application that runs the tool, or for a person's approval"),
  notices: z.array(z.string()),
  hint: z.string().nullable().describe("What to do next, if the turn is not finished or failed"),
});
export type TurnState = z.infer<typeof turnState>;

const HINTS = {
  open: "The turn goes on without you. Call get_turn with wait_seconds to wait for its end; do not send the message again.",
  waits:
    "The turn waits for the application that runs these tools, or for a person who approves them there. Neither can be done through this server. Another message cancels the calls.",
  failed: "The message is recorded and the turn has failed. Do not send the message again: ask the model to go on with another one.",
} as const;

/** The turn cannot be read at present. */
export const toUnknownTurn = (session_id: string, turn_id: string): TurnState => ({
  ...{ session_id, turn_id, status: "unknown", is_finished: false, reply: "", reply_truncated: false, finish: null },
  ...{ model: null, failure: null, waiting_for: [], notices: [], hint: HINTS.open },
});

export function toTurnState(session_id: string, turn: TurnReport): TurnState {
  const reply = takeHead(turn.output_text, MAX_PAGE);
  const waits = turn.status === "awaiting_tools";
  const hint = waits ? HINTS.waits : turn.status === "failed" ? HINTS.failed : turn.ended_at === null ? HINTS.open : null;
  return {
    session_id,
    turn_id: turn.id,
    status: turn.status,
    is_finished: turn.ended_at !== null,
    reply,
    reply_truncated: reply.length < turn.output_text.length,
    finish: turn.finish,
    model: turn.model,
    failure: turn.failure && { kind: turn.failure.kind, detail: turn.failure.detail, remedy: turn.failure.remedy },
    waiting_for: (waits ? turn.open_calls : []).slice(0, MAX_CALLS).map((each) => ({
      execution_id: each.id,
      name: each.name,
      arguments: takeHead(each.arguments, MAX_ARGUMENTS),
      needs: each.approval === "pending" ? "approval" : "result",
    })),
    notices: turn.notices.map(({ text }) => text),
    hint,
  };
}
