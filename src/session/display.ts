/** Shows stored items as the messages that clients read. A reply and the calls that belong to it are stored apart, and shown as one. */

import { startsGroup } from "../context/groups";
import { toEstimate } from "../context/sizing";
import type { DisplayItem } from "../contract/item";
import type { ItemContent } from "../domain/item-content";
import { type ItemKind, type ItemMeta, type Part, toTimeSaid } from "../domain/message";

/** An item with its content as it was written. */
export type StoredEntry = ItemContent & {
  readonly meta: ItemMeta;
  /** A redaction has removed the content, and its placeholder stands for it. */
  readonly isRedacted: boolean;
};

/** Whether the item begins a message. `previous`: the item before it on the branch; undefined when there is none. */
export const startsMessage = (item: ItemMeta, previous: ItemMeta | undefined): boolean =>
  item.kind !== "tool_call" || startsGroup(item, previous);

/** Items in order as messages: a reply is one list with its calls. */
export function groupMessages<T>(rows: readonly T[], toMeta: (row: T) => ItemMeta): (readonly [T, ...T[]])[] {
  const messages: [T, ...T[]][] = [];
  let previous: ItemMeta | undefined;
  for (const row of rows) {
    const meta = toMeta(row);
    const last = messages.at(-1);
    if (!last || startsMessage(meta, previous)) messages.push([row]);
    else last.push(row);
    previous = meta;
  }
  return messages;
}

export const ROLES = {
  system: "system",
  user: "user",
  assistant: "assistant",
  tool_call: "assistant",
  tool_result: "tool",
} as const satisfies Record<ItemKind, DisplayItem["role"]>;

type MessageCall = NonNullable<DisplayItem["tool_calls"]>[number];
type ContentPart = DisplayItem["content"][number];

export function toMessage(entries: readonly [StoredEntry, ...StoredEntry[]]): DisplayItem {
  const [{ meta, name, metadata, isRedacted }] = entries;
  const calls = entries.flatMap(toCall);
  return {
    id: meta.id,
    position: meta.position,
    role: ROLES[meta.kind],
    // Thinking is stored with the call that it led to.
    content: entries.flatMap(({ parts }) => toShownContent(parts)),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...toResult(meta),
    name,
    client_id: meta.client_id ?? null,
    metadata: { ...metadata },
    turn_id: meta.turn,
    created_at: toTimeSaid(meta),
    recorded_at: meta.at,
    incomplete: entries.some((entry) => entry.meta.incomplete),
    // A reply without text is redacted when all its calls are.
    ...(isRedacted && (meta.kind !== "tool_call" || entries.every((entry) => entry.isRedacted)) && { redacted: true as const }),
    tokens: toEstimate(entries.reduce((sum, entry) => sum + entry.meta.tokens, 0)),
  };
}

/** A result is shown as its output. A call is no content of its message. */
export const toShownContent = (parts: readonly Part[]): ContentPart[] =>
  parts.flatMap((part): ContentPart[] => {
    if (part.type === "tool_call") return [];
    return [part.type === "tool_result" ? { type: "text", text: part.output } : part];
  });

function toCall({ meta: { id, position, kind, tool }, parts, isRedacted }: StoredEntry): MessageCall[] {
  if (kind !== "tool_call" || !tool) return [];
  const { execution, call_id, name } = tool;
  const part = parts.find((each) => each.type === "tool_call");
  const call = { id, position, execution_id: execution, call_id, name, arguments: part?.arguments ?? "" };
  return [{ ...call, ...(isRedacted && { redacted: true as const }) }];
}

const toResult = ({ kind, tool }: ItemMeta) =>
  kind === "tool_result" && tool
    ? { call_id: tool.call_id, tool_name: tool.name, is_error: tool.is_error ?? false, execution_id: tool.execution }
    : {};
