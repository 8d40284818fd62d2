/** A leg of a turn as a whole chat completion, from the turn's report. */
import type { ToolCallView } from "../../../contract/tool";
import type { TurnReport } from "../../../contract/turn";
import type { CallUsage } from "../../../domain/model-call";
import { err, ok, type Result } from "../../../lib/result";
import {
  BETWEEN_REPLIES,
  type ChatFinish,
  type CompletionHead,
  listOwnCalls,
  readTexts,
  toChatCall,
  toChatFinish,
  toChatUsage,
} from "./shape";
import { type OpenAiFault, toOpenAiFault } from "./turn-fault";

/** What a leg said, and how it ended. */
export interface SaidLeg {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string | null;
  readonly calls: readonly ToolCallView[];
  readonly finish: ChatFinish;
  readonly usage: CallUsage | null;
}

interface LegPlace {
  /** Items up to this position were there before. */
  readonly after: number;
  readonly usage: CallUsage | null;
}

export function readLeg(turn: TurnReport, { after, usage }: LegPlace): Result<SaidLeg, OpenAiFault> {
  const replies = turn.items.filter(({ role, position }) => role === "assistant" && position > after);
  const join = (type: "text" | "reasoning", between: string): string =>
    replies
      .map((item) => readTexts(item, type))
      .filter((text) => text !== "")
      .join(between);
  const said = { text: join("text", BETWEEN_REPLIES), reasoning: join("reasoning", ""), refusal: null, calls: [], usage };
  const { status, failure, finish } = turn;
  if (status === "completed" || status === "stopped") return ok({ ...said, finish: toChatFinish(finish) });
  if (status === "awaiting_tools") {
    const calls = listOwnCalls(turn.open_calls);
    return ok({ ...said, calls, finish: calls.length > 0 ? "tool_calls" : "stop" });
  }
  return failure?.kind === "refused" ? ok({ ...said, refusal: failure.detail, finish: "content_filter" }) : err(toOpenAiFault(failure));
}

export function toCompletion(head: CompletionHead, { text, reasoning, refusal, calls, finish, usage }: SaidLeg) {
  const message = {
    role: "assistant",
    content: text === "" && (calls.length > 0 || refusal !== null) ? null : text,
    refusal,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toChatCall) }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return { ...head, object: "chat.completion", choices, usage: toChatUsage(usage) };
}

/** The same as one piece of text for a stream. */
export function toChunks(head: CompletionHead, said: SaidLeg, { includeUsage }: { readonly includeUsage: boolean }): string {
  const usage = toChatUsage(said.usage);
  const chunk = (choices: readonly object[], counted: object | null = null): string =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...(includeUsage && { usage: counted }) })}\n\n`;
  const tell = (delta: object, finish_reason: string | null = null): string => chunk([{ index: 0, delta, logprobs: null, finish_reason }]);
  const told = [
    tell({ role: "assistant", content: "", refusal: null }),
    ...(said.reasoning === "" ? [] : [tell({ reasoning_content: said.reasoning })]),
    ...(said.text === "" ? [] : [tell({ content: said.text })]),
    ...(said.refusal === null ? [] : [tell({ refusal: said.refusal })]),
    ...said.calls.map((call, index) => tell({ tool_calls: [{ index, ...toChatCall(call) }] })),
    tell({}, said.finish),
    ...(includeUsage ? [chunk([], usage)] : []),
  ];
  return `${told.join("")}data: [DONE]\n\n`;
}
