/**
 * Calls that wait for results: which call a result answers, and which imported calls a result may still answer. An
 * imported call is open until its result is imported. Anything else that enters the conversation, or a turn that
 * starts, leaves it unanswered for good, as a new message does to a turn that waits for tools (docs/tool-calls.md).
 */
import type { QueuedMessage } from "./events";
import type { ExecutionId } from "./ids";
import type { NewItem } from "./message";
import type { OpenCall, SessionState } from "./state";

/** Names a call by our execution id or by the provider's call id. A call id may repeat; it then means the first open call with it. */
export interface CallRef {
  readonly execution: ExecutionId | null;
  readonly call_id: string | null;
}

/** A message of an import, before it has a position. `answers`: as in `SubmitMessage`. */
export interface ImportedMessage {
  readonly item: NewItem;
  readonly rest: readonly NewItem[];
  readonly answers?: { readonly call_id: string; readonly is_error: boolean };
}

export const findOpenCall = (open: readonly OpenCall[], ref: CallRef): OpenCall | null =>
  open.find((call) => (ref.execution ? ref.execution === call.execution : ref.call_id === call.call_id)) ?? null;

/** One message's items in order. The first begins the message. */
export const itemsOfMessage = ({ item, rest }: Pick<QueuedMessage, "item" | "rest">): readonly NewItem[] => [
  item,
  ...rest.map((next) => ({ ...next, continues: true as const })),
];

/** The imported calls that are open after `items` entered the conversation without a turn. */
export function openAfter(open: readonly OpenCall[], items: readonly NewItem[]): readonly OpenCall[] {
  let left = [...open];
  for (const { kind, tool, continues } of items) {
    if (kind === "tool_result") {
      left = left.filter((call) => call.execution !== tool?.execution);
      continue;
    }
    if (!continues) left = [];
    if (kind === "tool_call" && tool) left.push({ execution: tool.execution, call_id: tool.call_id, name: tool.name });
  }
  return left;
}

/** How many waiting messages an interruption goes behind: the earlier interruptions, with the results of their calls. */
export function countInterruptions(queue: readonly QueuedMessage[]): number {
  const first = queue.findIndex(({ interrupts, item }) => !interrupts && item.kind !== "tool_result");
  return first < 0 ? queue.length : first;
}

/** The imported calls that will be open where a message enters: an interruption behind earlier ones, any other behind all that wait. */
export function openAtEntry({ imported_calls, queue }: SessionState, interrupts: boolean): readonly OpenCall[] {
  const before = interrupts ? queue.slice(0, countInterruptions(queue)) : queue;
  return before.reduce((open, waiting) => openAfter(open, itemsOfMessage(waiting)), imported_calls);
}
