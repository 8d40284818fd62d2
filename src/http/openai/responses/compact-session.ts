/** Compacts a session for its client, and reads what the model would read of it afterwards. */

import type { Outcome } from "../../../app/session-api";
import { isConversationSummary } from "../../../context/placement";
import { estimateTokens } from "../../../context/tokens";
import type { CompactionView } from "../../../contract/compaction";
import type { StreamFrame } from "../../../contract/frame";
import type { DisplayItem } from "../../../contract/item";
import type { CompactionFailure } from "../../../domain/compaction-events";
import type { CompactionId, ItemId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { giveWay } from "../../../lib/timer";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import { translateStream } from "../../surface/translate-stream";
import type { Compacted } from "../items/compaction-item";
import { parseItemName } from "../items/item-names";
import { showItems } from "../items/item-pages";
import type { OpenAiItem } from "../items/item-types";

/** The models gave no summary that could be used. */
export interface NoSummary {
  readonly code: "no_summary";
  readonly failure: CompactionFailure;
}

/** How often a broken stream of the session is opened again. */
const MOST_STREAMS = 20;
const PAGE = 200;

/** Null: nothing could be made shorter. `keepRecent`: tokens that stay verbatim. Null: the policy decides. */
export async function compactNow(
  calls: SessionCalls,
  keepRecent: number | null = null,
): Promise<Result<CompactionView | null, HttpError | NoSummary>> {
  const asked = { dryRun: false, instructions: null, keepRecent, upTo: null, idempotency: null };
  const begun = await calls.once((api, caller) => api.compact(caller, asked));
  if (!begun.ok) return begun;
  if (begun.value.kind === "plan") return ok(null);
  const { kind, compaction } = begun.value;
  const ended = kind === "done" ? ok(compaction) : await awaitEnd(calls, compaction.id);
  if (!ended.ok) return ended;
  const { failure } = ended.value;
  return failure === null ? ended : err({ code: "no_summary", failure });
}

const isUnderWay = ({ status }: CompactionView): boolean => status === "requested" || status === "running";

/** The stream is opened before the compaction is read, so that no end is missed. */
async function awaitEnd(calls: SessionCalls, id: CompactionId): Promise<Outcome<CompactionView>> {
  for (let streams = 1; ; streams++) {
    const stream = await calls.repeatable((api, caller) => api.stream(caller, { after: null, turn: null }));
    if (!stream.ok) return stream;
    const now = await calls.repeatable((api, caller) => api.compaction(caller, id));
    if (!now.ok || !isUnderWay(now.value) || streams === MOST_STREAMS) {
      await stream.value.cancel();
      return now;
    }
    await passUntil(stream.value, (frame) => frame.type === "compaction.completed" && frame.compaction_id === id);
  }
}

/** Ends at that frame, or with the stream. */
async function passUntil(stream: ReadableStream<Uint8Array>, isLast: (frame: StreamFrame) => boolean): Promise<void> {
  let isOver = false;
  const frame = (each: StreamFrame): string => {
    isOver ||= isLast(each);
    return isOver ? "over" : "";
  };
  const nothing = (): string => "";
  const reader = translateStream(stream, { frame, end: nothing, broken: nothing }).getReader();
  while (!isOver) if ((await reader.read()).done) return;
  await reader.cancel();
}

interface CompactedSession {
  /** The newest messages of users, as far as they are few. */
  readonly users: readonly object[];
  readonly compacted: Compacted;
}

/** Tokens of users' messages that go with a summary of them. The model reads these too. */
const MOST_USER_TOKENS = 20_000;
const USER_SHARE = 1 / 8;

/** `given`: messages as the client wrote them. */
export async function readCompacted(
  calls: SessionCalls,
  given: ReadonlyMap<ItemId, unknown>,
): Promise<Result<CompactedSession, HttpError>> {
  const [session, context] = await Promise.all([
    calls.repeatable((api, caller) => api.describe(caller)),
    calls.repeatable((api, caller) => api.context(caller, { content: null })),
  ]);
  if (!session.ok) return session;
  if (!context.ok) return context;
  const shown = new Set(context.value.parts.flatMap(({ part, position }) => (part === "message" && position !== null ? [position] : [])));
  const room = Math.min(MOST_USER_TOKENS, Math.floor((session.value.context_window ?? Number.POSITIVE_INFINITY) * USER_SHARE));
  const messages = await readMessages(calls, { from: Math.min(...shown), room });
  if (!messages.ok) return messages;
  const items = await showItems(calls, messages.value);
  if (!items.ok) return items;
  const places = new Map(
    messages.value.flatMap((message) => [message, ...(message.tool_calls ?? [])]).map((each) => [each.id, each.position]),
  );
  const isShown = (item: OpenAiItem): boolean => shown.has(findPlace(item, places));
  const written = items.value.map((item) => ({ item, text: toWritten(item, given), isKept: isShown(item) }));
  const users = written.filter(({ item }) => item.type === "message" && item.role === "user" && !isSummary(item));
  const kept = written.flatMap(({ text, isKept }) => (isKept ? [text] : []));
  return ok({ users: takeNewest(users, room), compacted: { summary: session.value.compacted_summary, items: kept } });
}

/** An earlier compaction's, which the new one has taken in. */
const isSummary = ({ content }: Extract<OpenAiItem, { type: "message" }>): boolean =>
  content.some((part) => "text" in part && isConversationSummary(part.text));

function findPlace(item: OpenAiItem, places: ReadonlyMap<ItemId, number>): number {
  const id = parseItemName(item.id)?.id ?? null;
  return (id && places.get(id)) ?? 0;
}

/** The files of a request end with it, so that what holds one is given back as it came. */
function toWritten(item: OpenAiItem, given: ReadonlyMap<ItemId, unknown>): Record<string, unknown> {
  const id = parseItemName(item.id)?.id ?? null;
  const own = id === null ? undefined : given.get(id);
  const content = typeof own === "object" && own !== null && "content" in own ? own.content : null;
  return Array.isArray(content) ? { ...item, content } : { ...item };
}

interface Written {
  readonly text: Record<string, unknown>;
  /** It stays verbatim beside the summary. */
  readonly isKept: boolean;
}

/** What stays verbatim does not count: it is in the compaction, too. */
function takeNewest(users: readonly Written[], room: number): readonly object[] {
  const taken: object[] = [];
  let left = room;
  for (const { text, isKept } of users.toReversed()) {
    left -= isKept ? 0 : estimateTokens(JSON.stringify(text));
    if (left < 0) break;
    taken.push(text);
  }
  return taken.toReversed();
}

/** The messages from position `from` on, and those before it that the room may hold. In order. */
async function readMessages(
  calls: SessionCalls,
  { from, room }: { readonly from: number; readonly room: number },
): Promise<Result<readonly DisplayItem[], HttpError>> {
  const found: DisplayItem[] = [];
  let left = room;
  for (let after: number | null = null; ; ) {
    const place: number | null = after;
    const page = await calls.repeatable((api, caller) => api.items(caller, { after: place, limit: PAGE, order: "desc" }));
    if (!page.ok) return page;
    for (const message of page.value.data) {
      found.push(message);
      if (message.role === "user" && message.position < from) left -= estimateTokens(JSON.stringify(message.content));
    }
    after = found.at(-1)?.position ?? null;
    if (!page.value.has_more || after === null || (after <= from && left < 0)) return ok(found.toReversed());
    await giveWay();
  }
}
