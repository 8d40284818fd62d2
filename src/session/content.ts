/** Reads the content of items for the view, for people and for transcripts. The content that the view shows stays parsed in memory. */

import type { BodyText, SessionContent } from "../app/session-ports";
import { type Generation, type GenerationChoice, mergeGeneration } from "../context/generation";
import { estimateParts } from "../context/item-tokens";
import { toPolicy } from "../context/policy-choice";
import { RECALL_TOOL } from "../context/recall-tool";
import type { ViewEntry, ViewInput } from "../context/view";
import type { DisplayItem } from "../contract/item";
import type { ToolCallView } from "../contract/tool";
import { listUnread } from "../domain/branch";
import type { CoveredRange } from "../domain/compaction-events";
import type { BodyId, ItemId } from "../domain/ids";
import { type ItemContent, parseBody, toPlainContent, toSpokenParts } from "../domain/item-content";
import type { ItemMeta, Part, TextRef, ToolDefinition } from "../domain/message";
import { toShownParts } from "../domain/shown-parts";
import { isRecallOffered, type OpenCall, offeredTools, type SessionState } from "../domain/state";
import { askedSystem } from "../domain/turn-choices";
import { createBoundedCache } from "./bounded-cache";
import { groupMessages, type StoredEntry, toMessage } from "./display";
import { readBodies } from "./log/bodies";
import { readBranchItems } from "./log/branch-items";
import type { Sql } from "./log/sql";

/** UTF-16 units of content that stay in memory, for items and for texts each. This holds several views of an ordinary size. */
const CACHED_UNITS = 4_000_000;
const PAGE = 64;

const REDACTED = "[redacted]";
const EXPIRED = "[removed: older than the retention of tool results]";

/** Raw weight of the placeholder of a redacted item. */
export const redactedTokens = (item: ItemMeta): number => estimateParts(redactedParts(item));

/** The placeholder of a redacted item. Calls and results keep their place, because a request without them would not be well-formed. */
function redactedParts({ kind, tool, expired }: ItemMeta): readonly Part[] {
  if (!tool || (kind !== "tool_call" && kind !== "tool_result")) return [{ type: "text", text: REDACTED }];
  const { call_id, name, is_error = false } = tool;
  return kind === "tool_call"
    ? [{ type: "tool_call", call_id, name, arguments: "{}" }]
    : [{ type: "tool_result", call_id, name, output: expired ? EXPIRED : REDACTED, is_error }];
}

export interface ContentReader extends SessionContent {
  /** Takes content that was just written into memory, so that it need not be read back. */
  learn(bodies: readonly BodyText[]): void;
  /** Items in order, as the messages that clients read. */
  display(items: readonly ItemMeta[]): DisplayItem[];
  /** Items one by one as models read them, without what only their provider can read. */
  readShown(items: readonly ItemMeta[]): ViewEntry[];
  /** Items one by one as they were written, without what only their provider can read. */
  readStored(items: readonly ItemMeta[]): StoredEntry[];
  readText(id: BodyId): string | null;
  readRefText(ref: TextRef | null): string | null;
  readRefTools(ref: TextRef | null): readonly ToolDefinition[];
  /** Items `from..to` of all branches, oldest first. */
  readRecord(range: CoveredRange): Iterable<ViewEntry>;
  forget(): void;
}

export function createContent(sql: Sql, state: () => SessionState): ContentReader {
  const parsed = createBoundedCache<ItemId, ItemContent>(CACHED_UNITS);
  const texts = createBoundedCache<BodyId, string>(CACHED_UNITS);

  /** Adds the content of items as it is stored. `keep` caches it: for the view, not for a single read of the record. */
  const withContent = (items: readonly ItemMeta[], keep: boolean): StoredEntry[] => {
    const missing: BodyId[] = [];
    const known = items.map((item) => {
      const content = parsed.get(item.id);
      if (!content) missing.push(item.id);
      return content;
    });
    const read = readBodies(sql, missing);
    return items.map((meta, index) => {
      const text = read.get(meta.id);
      const content = known[index] ?? (text === undefined ? toPlainContent([]) : parseBody(text));
      if (keep && text !== undefined) parsed.set(meta.id, content, text.length);
      // A past state has the item as it was before its content was removed.
      const isRedacted = meta.redacted === true || (text === undefined && known[index] === undefined);
      return { meta, isRedacted, ...(isRedacted ? toPlainContent(redactedParts(meta)) : content) };
    });
  };
  const withParts = (items: readonly ItemMeta[], keep: boolean): ViewEntry[] =>
    withContent(items, keep).map((entry) => ({ meta: entry.meta, parts: toSpokenParts(entry) }));
  const readShown = (items: readonly ItemMeta[]): ViewEntry[] =>
    withParts(items, false).map(({ meta, parts }) => ({ meta, parts: toShownParts(parts) }));
  const readStored = (items: readonly ItemMeta[]): StoredEntry[] =>
    withContent(items, false).map((entry) => ({ ...entry, parts: toShownParts(entry.parts) }));
  const readText = (id: BodyId): string | null => {
    const text = texts.get(id) ?? readBodies(sql, [id]).get(id) ?? null;
    if (text !== null) texts.set(id, text, text.length);
    return text;
  };
  const readRefText = (ref: TextRef | null): string | null => (ref ? readText(ref.body) : null);
  const readRefTools = (ref: TextRef | null): readonly ToolDefinition[] => {
    const text = readRefText(ref);
    return text === null ? [] : (JSON.parse(text) as ToolDefinition[]);
  };

  function* forwards({ from, to }: CoveredRange, elsewhere: readonly CoveredRange[]): Generator<ViewEntry> {
    for (let first = from; first <= to; ) {
      const page = readBranchItems(sql, elsewhere, { from: first, to, limit: PAGE, order: "asc" });
      if (page.length === 0) return;
      yield* withParts(page, false);
      first = (page.at(-1)?.position ?? to) + 1;
    }
  }

  return {
    learn(bodies) {
      for (const { id, text } of bodies) {
        if (id.startsWith("msg_")) parsed.set(id as ItemId, parseBody(text), text.length);
        else texts.set(id, text, text.length);
      }
    },
    display: (items) => groupMessages(readStored(items), ({ meta }) => meta).map(toMessage),
    readStored,
    readShown,
    readText,
    readRefText,
    readRefTools,
    readForwards: (range) => forwards(range, listUnread(state().branch)),
    readRecord: (range) => forwards(range, []),
    *readBackwards({ from, to }, isWanted = () => true) {
      for (let last = to; last >= from; ) {
        const page = readBranchItems(sql, listUnread(state().branch), { from, to: last, limit: PAGE, order: "desc" });
        yield* withParts(page.filter(isWanted), false);
        last = (page.at(-1)?.position ?? from) - 1;
      }
    },
    readCacheKey: () => state().session,
    readParts: (item) => withParts([item], true)[0]?.parts ?? [],
    readTools: () => withRecall(readRefTools(offeredTools(state())), state()),
    readGeneration: () => readGeneration(state(), readRefText),
    readSummaries: () => readSummaryTexts(state(), readText),
    readView: (upTo) => readView(state(), { entries: (items) => withParts(items, true), readRefText, readText }, upTo),
    forget() {
      parsed.clear();
      texts.clear();
    },
  };
}

function readGeneration({ settings, turn }: SessionState, readRefText: Readers["readRefText"]): Generation {
  const [ofSession, ofTurn] = [readRefText(settings.generation ?? null), readRefText(turn?.generation ?? null)];
  const base = ofSession === null ? {} : (JSON.parse(ofSession) as Generation);
  return ofTurn === null ? base : mergeGeneration(base, JSON.parse(ofTurn) as GenerationChoice);
}

/** Adds `memory_query` to the tools. A tool of the same name that the session defines takes precedence. */
const withRecall = (tools: readonly ToolDefinition[], state: SessionState): readonly ToolDefinition[] =>
  isRecallOffered(state) && !tools.some(({ name }) => name === RECALL_TOOL.name) ? [...tools, RECALL_TOOL] : tools;

const readSummaryTexts = ({ view }: SessionState, readText: (id: BodyId) => string | null): string[] =>
  view.overlays.flatMap((overlay) => (overlay.kind === "summary" ? [readText(overlay.id) ?? ""] : []));

interface Readers {
  entries(items: readonly ItemMeta[]): ViewEntry[];
  readRefText(ref: TextRef | null): string | null;
  readText(id: BodyId): string | null;
}

function readView(state: SessionState, read: Readers, upTo = Number.MAX_SAFE_INTEGER): Omit<ViewInput, "model"> {
  const { overlays, items, reduced } = state.view;
  const policy = toPolicy(state.settings.policy);
  return {
    system: read.readRefText(askedSystem(state)),
    pins: state.pins.map((pin) => read.readText(pin.body) ?? ""),
    summaries: readSummaryTexts(state, read.readText),
    dropped: overlays.reduce((sum, overlay) => sum + (overlay.kind === "dropped" ? overlay.items : 0), 0),
    placement: policy.summary.placement,
    entries: read.entries(upTo === Number.MAX_SAFE_INTEGER ? items : items.filter((item) => item.position <= upTo)),
    reduced,
    namesRecall: isRecallOffered(state),
    signedFrom: state.view.signed_from,
  };
}

interface Shown {
  readonly items: readonly ItemMeta[];
  readShown(items: readonly ItemMeta[]): readonly ViewEntry[];
}

/** Open calls as clients see them. Their items are in the view until they have results. */
export function toCallViews(open: readonly OpenCall[], { items, readShown }: Shown): ToolCallView[] {
  const calls = new Map(open.map((call) => [call.execution, call]));
  const asked = items.filter((item) => item.kind === "tool_call" && item.tool && calls.has(item.tool.execution));
  return readShown(asked).flatMap(({ meta, parts }) => {
    const call = meta.tool && calls.get(meta.tool.execution);
    const part = parts.find((each) => each.type === "tool_call");
    if (!call || !part) return [];
    const { call_id, name, arguments: written } = part;
    const runs = call.server ? "server" : "client";
    return [{ id: call.execution, call_id, name, arguments: written, runs, approval: call.approval ?? null }];
  });
}
