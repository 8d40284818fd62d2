/** The content of items, for the view, for people and for transcripts. What the view shows stays parsed in memory. */
import type { DisplayItem } from "../app/session-api";
import type { BodyText, SessionContent } from "../app/session-ports";
import type { ViewEntry, ViewInput } from "../context/view";
import type { TextRef } from "../domain/events";
import type { BodyId, ItemId } from "../domain/ids";
import type { ItemMeta, Part, ToolDefinition } from "../domain/message";
import type { SessionState } from "../domain/state";
import { readBodies } from "./bodies";
import { ALL_POSITIONS, readItems } from "./log-tables";
import type { Sql } from "./sql";

/** Items whose content stays parsed: several views of an ordinary size. */
const CACHED_ITEMS = 2_000;

export const REDACTED: readonly Part[] = [{ type: "text", text: "[redacted]" }];

export interface ContentReader extends SessionContent {
  /** Content that was just written, so that it need not be read back. */
  learn(bodies: readonly BodyText[]): void;
  display(items: readonly ItemMeta[]): DisplayItem[];
  readText(id: BodyId): string | null;
  textOf(ref: TextRef | null): string | null;
  toolsOf(ref: TextRef | null): readonly ToolDefinition[];
  forget(): void;
}

export function createContent(sql: Sql, state: () => SessionState): ContentReader {
  const parsed = new Map<ItemId, readonly Part[]>();
  const texts = new Map<BodyId, string>();

  const partsOf = (items: readonly ItemMeta[]): Map<ItemId, readonly Part[]> => {
    const missing = items.filter((item) => !parsed.has(item.id));
    if (parsed.size + missing.length > CACHED_ITEMS) parsed.clear();
    const unknown = items.filter((item) => !parsed.has(item.id)).map((item) => item.id);
    for (const [id, text] of readBodies(sql, unknown)) parsed.set(id as ItemId, JSON.parse(text) as Part[]);
    const hidden = new Set(state().redacted);
    return new Map(items.map((item) => [item.id, hidden.has(item.id) ? REDACTED : (parsed.get(item.id) ?? [])]));
  };
  const withParts = (items: readonly ItemMeta[]): ViewEntry[] => {
    const parts = partsOf(items);
    return items.map((meta) => ({ meta, parts: parts.get(meta.id) ?? [] }));
  };
  const readText = (id: BodyId): string | null => {
    const known = texts.get(id);
    if (known !== undefined) return known;
    const text = readBodies(sql, [id]).get(id) ?? null;
    if (text !== null && texts.size < CACHED_ITEMS) texts.set(id, text);
    return text;
  };
  const textOf = (ref: TextRef | null): string | null => (ref ? readText(ref.body) : null);
  const toolsOf = (ref: TextRef | null): readonly ToolDefinition[] => {
    const text = textOf(ref);
    return text === null ? [] : (JSON.parse(text) as ToolDefinition[]);
  };

  return {
    learn(bodies) {
      for (const body of bodies) if (body.id.startsWith("msg_")) parsed.set(body.id as ItemId, JSON.parse(body.text) as Part[]);
    },
    display: (items) => withParts(items).map(toDisplay),
    readText,
    textOf,
    toolsOf,
    readItems: ({ from, to }) => withParts(readItems(sql, { from, to, limit: ALL_POSITIONS, order: "asc" })),
    readTools: () => toolsOf(state().turn?.tools ?? state().settings.tools),
    readView: () => readView(state(), withParts, textOf, readText),
    forget() {
      parsed.clear();
      texts.clear();
    },
  };
}

function readView(
  state: SessionState,
  withParts: (items: readonly ItemMeta[]) => ViewEntry[],
  textOf: (ref: TextRef | null) => string | null,
  readText: (id: BodyId) => string | null,
): ViewInput {
  const { overlays, items, shortened } = state.view;
  return {
    system: textOf(state.settings.system),
    summaries: overlays.flatMap((overlay) => (overlay.kind === "summary" ? [readText(overlay.id) ?? ""] : [])),
    dropped: overlays.reduce((sum, overlay) => sum + (overlay.kind === "dropped" ? overlay.items : 0), 0),
    entries: withParts(items),
    shortened: new Set(shortened),
  };
}

function toDisplay({ meta, parts }: ViewEntry): DisplayItem {
  return {
    id: meta.id,
    position: meta.position,
    kind: meta.kind,
    turn_id: meta.turn,
    created_at: meta.at,
    parts,
    execution_id: meta.tool?.execution ?? null,
    incomplete: meta.incomplete ?? false,
    tokens: meta.tokens,
  };
}
