/** Reads the items of a conversation, page by page. Pages are cut between items, wherever messages of ours begin and end. */
import type { PageInput } from "../../../app/session-api";
import type { ExecutionView } from "../../../contract/execution";
import type { DisplayItem } from "../../../contract/item";
import type { ItemId, TurnId } from "../../../domain/ids";
import { MAX_REPLY_CALLS } from "../../../domain/message";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import { readRuns, sortRuns, type WhoRuns } from "../../surface/read-runs";
import { COMPACTED, isCompacted } from "../responses/asked";
import { toReferenceItem } from "./compaction-item";
import { parseCompactionName, parseItemName, toNameIn } from "./item-names";
import type { CompactionItem, OpenAiItem } from "./item-types";
import { type PlacedItem, toEveryItem } from "./items";

type Read<T> = Promise<Result<T, HttpError>>;

interface AskedItems {
  /** The last item of the page before. Null: from the beginning, or with `desc` from the end. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

interface ItemPage {
  readonly data: readonly OpenAiItem[];
  readonly has_more: boolean;
}

export async function readItemPage(calls: SessionCalls, { after, limit, order }: AskedItems): Read<ItemPage> {
  const start = after === null ? ok(null) : await findMessage(calls, after);
  if (!start.ok) return err({ code: "invalid_request", errors: [{ field: "after", detail: "no such item" }] });
  // The message of that item is read again, because some of its items may be on this page.
  let place = start.value && (order === "asc" ? start.value.position - 1 : start.value.position + 1);
  let isLast = false;
  const found: OpenAiItem[] = [];
  for (let skips = after && toOwnName(calls, after); found.length <= limit && !isLast; skips = null) {
    const batch = await readBatch(calls, { after: place, limit: limit + 1, order });
    if (!batch.ok) return batch;
    found.push(...listLeft(dropUntil(batch.value.items, skips)));
    ({ isLast, place } = batch.value);
  }
  return ok({ data: found.slice(0, limit), has_more: found.length > limit });
}

/** A page may begin behind an item that was deleted. Of all that a reply said one placeholder is left. */
function dropUntil(items: readonly PlacedItem[], name: string | null): readonly PlacedItem[] {
  if (name === null) return items;
  const exact = items.findIndex(({ item }) => item.id === name);
  const stored = parseItemName(name)?.id;
  const index = exact >= 0 ? exact : items.findIndex(({ item, isDeleted }) => isDeleted && parseItemName(item.id)?.id === stored);
  return items.slice(index + 1);
}

const listLeft = (items: readonly PlacedItem[]): readonly OpenAiItem[] => items.flatMap(({ item, isDeleted }) => (isDeleted ? [] : [item]));

interface Batch {
  readonly items: readonly PlacedItem[];
  /** The position to go on from. */
  readonly place: number | null;
  readonly isLast: boolean;
}

async function readBatch(calls: SessionCalls, asked: PageInput): Read<Batch> {
  const page = await calls.repeatable((api, caller) => api.items(caller, asked));
  if (!page.ok) return page;
  const { data, has_more } = page.value;
  const shown = await showEveryItem(calls, asked.order === "asc" ? data : data.toReversed());
  if (!shown.ok) return shown;
  const place = data.at(-1)?.position ?? null;
  return ok({ items: asked.order === "asc" ? shown.value : shown.value.toReversed(), place, isLast: !has_more || place === null });
}

/** The item's name as this build makes it. */
const toOwnName = ({ session }: SessionCalls, name: string): string | null =>
  parseCompactionName(name)?.session === session ? name : toNameIn(session, name);

/** An item that was deleted is unknown. */
export async function readItem(calls: SessionCalls, name: string): Read<OpenAiItem> {
  const message = await findMessage(calls, name);
  if (!message.ok) return message;
  const shown = await showItems(calls, [message.value]);
  if (!shown.ok) return shown;
  const item = shown.value.find(({ id }) => id === toOwnName(calls, name));
  return item ? ok(item) : err({ code: "message_not_found", message: name });
}

/** What is stored of an item: a call of the server has a result, too. */
export async function findStored(calls: SessionCalls, name: string): Read<readonly ItemId[]> {
  const [message, item, named] = [await findMessage(calls, name), await readItem(calls, name), parseItemName(name)];
  if (!message.ok) return message;
  if (!item.ok) return item;
  if (item.value.type === "compaction") return refuseDeletion();
  // An answer to a request for approval has no content of its own.
  if (named === null || item.value.type === "mcp_approval_response") return ok([]);
  const { id } = named;
  const call = item.value.type === "mcp_call" ? message.value.tool_calls?.find((each) => each.id === id) : undefined;
  const results = await readLater(calls, [message.value], { ranHere: new Set(call ? [call.execution_id] : []), approvals: new Map() });
  // The item itself is the last: what is cut off before is done again with it.
  return results.ok ? ok([...results.value.map((result) => result.id), id]) : results;
}

/** The summary is the model's memory of items that are still there. */
const refuseDeletion = () =>
  err({
    code: "invalid_request" as const,
    errors: [{ field: "item_id", detail: "A compaction cannot be deleted: delete items before it." }],
  });

/** The message that holds the item. A compaction is shown before the first of its response. */
async function findMessage(calls: SessionCalls, name: string): Read<DisplayItem> {
  const compaction = parseCompactionName(name);
  if (compaction?.session === calls.session) return findFirst(calls, { name, turn: compaction.turn });
  const named = parseItemName(name);
  if (!named || (named.session ?? calls.session) !== calls.session) return err({ code: "message_not_found", message: name });
  return calls.repeatable((api, caller) => api.message(caller, named.id));
}

async function findFirst(calls: SessionCalls, { name, turn }: { readonly name: string; readonly turn: TurnId }): Read<DisplayItem> {
  const found = await findFirsts(calls, [turn]);
  if (!found.ok) return found;
  const first = found.value[0]?.first;
  return first ? calls.repeatable((api, caller) => api.message(caller, first)) : err({ code: "message_not_found", message: name });
}

/** The items that were not deleted. */
export async function showItems(calls: SessionCalls, messages: readonly DisplayItem[]): Read<readonly OpenAiItem[]> {
  const shown = await showEveryItem(calls, messages);
  return shown.ok ? ok(listLeft(shown.value)) : shown;
}

/** `messages`: neighbours, in order of position. What belongs to them and lies before or behind them is read. */
async function showEveryItem(calls: SessionCalls, messages: readonly DisplayItem[]): Read<readonly PlacedItem[]> {
  const [own, earlier] = [await readRuns(calls, messages), await readEarlier(calls, messages)];
  if (!own.ok) return own;
  if (!earlier.ok) return earlier;
  const who = sortRuns([...own.value, ...earlier.value]);
  const [later, compactions] = [await readLater(calls, messages, who), await readCompactions(calls, messages)];
  if (!later.ok) return later;
  if (!compactions.ok) return compactions;
  return ok(toEveryItem([...messages, ...later.value], { session: calls.session, compactions: compactions.value, ...who }));
}

/** The compactions before the responses of these messages, by the first message of each. */
async function readCompactions(calls: SessionCalls, messages: readonly DisplayItem[]): Read<ReadonlyMap<ItemId, CompactionItem>> {
  const said = messages.flatMap(({ role, turn_id }) => (role === "assistant" && turn_id !== null ? [turn_id] : []));
  const found = said.length === 0 ? ok([]) : await findFirsts(calls, [...new Set(said)]);
  if (!found.ok) return found;
  return ok(new Map(await Promise.all(found.value.map(async ({ turn, first }) => [first, await toReferenceItem(calls, turn)] as const))));
}

/** The first messages of those turns that a compaction came before. */
async function findFirsts(
  calls: SessionCalls,
  turns: readonly TurnId[],
): Read<readonly { readonly turn: TurnId; readonly first: ItemId }[]> {
  const notes = await calls.repeatable((api, caller) => api.notes(caller, { turns, having: COMPACTED }));
  if (!notes.ok) return notes;
  return ok(notes.value.flatMap(({ turn, note, first }) => (first && isCompacted(note) ? [{ turn, first }] : [])));
}

/** The executions of results whose reply lies before the first message. */
async function readEarlier(calls: SessionCalls, messages: readonly DisplayItem[]): Read<readonly ExecutionView[]> {
  const [first] = messages;
  if (first?.role !== "tool") return ok([]);
  const page = await calls.repeatable((api, caller) =>
    api.executions(caller, { after: first.position, limit: MAX_REPLY_CALLS, order: "desc" }),
  );
  return page.ok ? ok(page.value.data) : page;
}

/** The results of the server's calls that lie behind the last message. A call that a person approved is an item where its result is. */
async function readLater(
  calls: SessionCalls,
  messages: readonly DisplayItem[],
  { ranHere, approvals }: WhoRuns,
): Read<readonly DisplayItem[]> {
  const answered = new Set(messages.map(({ execution_id }) => execution_id));
  const asked = messages.findLast(({ role }) => role === "assistant")?.tool_calls ?? [];
  const missing = new Set(
    asked.map(({ execution_id }) => execution_id).filter((id) => ranHere.has(id) && !approvals.has(id) && !answered.has(id)),
  );
  const last = asked.at(-1);
  if (missing.size === 0 || !last) return ok([]);
  const page = await calls.repeatable((api, caller) => api.items(caller, { after: last.position, limit: MAX_REPLY_CALLS, order: "asc" }));
  return page.ok ? ok(page.value.data.filter(({ execution_id }) => execution_id && missing.has(execution_id))) : page;
}
