/**
 * Compares two requests of a session by what they show, not by their bytes: items that left, came, or are shown
 * differently; summaries; settings; and the common beginning. Pure. Lists are bounded, their counts are not.
 */
import type { EpochOp, Overlay } from "../domain/compaction-events";
import type { CompactionId, ItemId, OverlayId } from "../domain/ids";
import type { ItemKind, ItemMeta } from "../domain/message";
import type { SessionState } from "../domain/state";
import { estimateParts, estimateThinking } from "./item-tokens";
import { type SizedModel, Sizing } from "./sizing";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "./tokens";
import type { BuiltView, ViewMessage } from "./view";

/** Maximum number of entries of one list. The newest are kept. */
export const MAX_LISTED = 200;

/** One of the two requests. */
export interface ShownRequest {
  readonly state: SessionState;
  readonly model: SizedModel;
  readonly built: BuiltView;
  /** Offered tools as JSON text. */
  readonly tools: string;
  readonly system: string | null;
  readonly pins: readonly string[];
}

/** A change of the view between the two requests. */
export interface ViewChange {
  readonly compaction: CompactionId | null;
  readonly ops: readonly EpochOp[];
}

/** `unsigned`: metadata that its provider signed, including reasoning, is not sent back. */
type ShownAs = "whole" | "shortened" | "cleared" | "evicted" | "unsigned";

export interface DiffItem {
  readonly id: ItemId;
  readonly position: number;
  readonly kind: ItemKind;
  readonly tokens: number;
}

/** An item that the second request shows differently from the first. */
export interface ChangedItem extends DiffItem {
  readonly shown: ShownAs;
  readonly was: { readonly shown: ShownAs; readonly tokens: number };
}

export interface DiffOverlay {
  readonly id: OverlayId;
  readonly kind: Overlay["kind"];
  readonly from: number;
  readonly to: number;
  readonly items: number;
  readonly tokens: number;
  /** The change that added or removed the overlay. Null when no recorded change between the two did. */
  readonly by: CompactionId | null;
}

/** `count` and `tokens` cover all entries; `data` may hold only the newest. */
export interface Listed<T> {
  readonly count: number;
  readonly tokens: number;
  readonly data: readonly T[];
}

export interface ViewDiff {
  readonly changed: {
    readonly model: boolean;
    readonly policy: boolean;
    readonly system: boolean;
    readonly tools: boolean;
    readonly pins: boolean;
  };
  /**
   * The common beginning of both requests, system prompt and tools first: what a provider's cache of the first could
   * serve for the second, if the model is the same.
   */
  readonly prefix: { readonly messages: number; readonly tokens: number };
  /** Items that both requests show alike. */
  readonly both: { readonly count: number; readonly tokens: number };
  readonly left: Listed<DiffItem>;
  readonly came: Listed<DiffItem>;
  readonly less: Listed<ChangedItem>;
  readonly more: Listed<ChangedItem>;
  readonly summaries: { readonly left: Listed<DiffOverlay>; readonly came: Listed<DiffOverlay> };
}

/** Compares two requests. Tokens are estimates, scaled by the ratio that `to` has learned for its model, so that both have one measure. */
export function diffViews(from: ShownRequest, to: ShownRequest, changes: readonly ViewChange[]): ViewDiff {
  const { ratio } = new Sizing(to.state, to.model);
  const weigh = (raw: number): number => Math.ceil(raw * ratio);
  const texts = (request: ShownRequest): string => JSON.stringify(request.pins);
  const overlays = (one: ShownRequest, other: ShownRequest): Listed<DiffOverlay> => overlaysOnlyIn(one, other, { changes, weigh });
  return {
    changed: {
      model: from.model.id !== to.model.id,
      policy: from.state.settings.policy !== to.state.settings.policy,
      system: from.system !== to.system,
      tools: from.tools !== to.tools,
      pins: texts(from) !== texts(to),
    },
    prefix: commonPrefix(from, to, weigh),
    ...diffItems(from, to, weigh),
    summaries: { left: overlays(from, to), came: overlays(to, from) },
  };
}

type Weigh = (raw: number) => number;

/** Scaled tokens of a whole request, summed over its parts. */
export const requestTokens = ({ built, tools }: ShownRequest, weigh: Weigh): number =>
  weigh(headTokens({ built, tools }) + built.messages.reduce((sum, message) => sum + messageTokens(message), 0));

const headTokens = ({ built, tools }: Pick<ShownRequest, "built" | "tools">): number =>
  (built.system === null ? 0 : estimateTokens(built.system) + MESSAGE_OVERHEAD_TOKENS) + (tools === "[]" ? 0 : estimateTokens(tools));

const messageTokens = ({ parts }: ViewMessage): number => estimateParts(parts) + estimateThinking(parts);

/** Tools stand at the head of a request, at some providers before the system prompt. Where either differs, nothing is in common. */
function commonPrefix(from: ShownRequest, to: ShownRequest, weigh: Weigh): ViewDiff["prefix"] {
  if (from.tools !== to.tools || from.built.system !== to.built.system) return { messages: 0, tokens: 0 };
  let messages = 0;
  let tokens = headTokens(to);
  for (const [index, message] of to.built.messages.entries()) {
    if (JSON.stringify(message) !== JSON.stringify(from.built.messages[index])) break;
    messages += 1;
    tokens += messageTokens(message);
  }
  return { messages, tokens: weigh(tokens) };
}

function diffItems(from: ShownRequest, to: ShownRequest, weigh: Weigh): Pick<ViewDiff, "both" | "left" | "came" | "less" | "more"> {
  const [old, now] = [new Sizing(from.state, from.model), new Sizing(to.state, to.model)];
  const before = new Map(from.state.view.items.map((item) => [item.id, item]));
  const after = new Set(to.state.view.items.map(({ id }) => id));
  const [came, less, more]: [DiffItem[], ChangedItem[], ChangedItem[]] = [[], [], []];
  const both = { count: 0, tokens: 0 };
  const [shownBefore, shownAfter] = [shownIn(from), shownIn(to)];
  for (const item of to.state.view.items) {
    const entry = toEntry(item, weigh(now.item(item)));
    const known = before.get(item.id);
    if (!known) {
      came.push(entry);
      continue;
    }
    const was = { shown: shownBefore(known), tokens: weigh(old.item(known)) };
    const shown = shownAfter(item);
    if (was.shown !== shown || was.tokens !== entry.tokens) (entry.tokens > was.tokens ? more : less).push({ ...entry, shown, was });
    else {
      both.count += 1;
      both.tokens += entry.tokens;
    }
  }
  const left = from.state.view.items.filter(({ id }) => !after.has(id)).map((item) => toEntry(item, weigh(old.item(item))));
  return { both, left: list(left), came: list(came), less: list(less), more: list(more) };
}

const toEntry = ({ id, position, kind }: ItemMeta, tokens: number): DiffItem => ({ id, position, kind, tokens });

function list<T extends { readonly tokens: number }>(entries: readonly T[]): Listed<T> {
  return { count: entries.length, tokens: entries.reduce((sum, { tokens }) => sum + tokens, 0), data: entries.slice(-MAX_LISTED) };
}

function shownIn({ state: { view }, model }: ShownRequest): (item: ItemMeta) => ShownAs {
  const reduced = new Map(view.reduced.map(({ position, how }) => [position, how]));
  const goesBack = ({ position, signed }: ItemMeta): boolean => !signed || (position >= view.signed_from && signed.model === model.id);
  return (item) => reduced.get(item.position) ?? (goesBack(item) ? "whole" : "unsigned");
}

interface Naming {
  readonly changes: readonly ViewChange[];
  readonly weigh: Weigh;
}

function overlaysOnlyIn(one: ShownRequest, other: ShownRequest, { changes, weigh }: Naming): Listed<DiffOverlay> {
  const known = new Set(other.state.view.overlays.map(({ id }) => id));
  const isOlder = one.state.seq <= other.state.seq;
  const own = one.state.view.overlays.filter(({ id }) => !known.has(id));
  return list(
    own.map(({ id, kind, from, to, items, tokens }) => {
      const by = changes.findLast(({ ops }) => ops.some((op) => (isOlder ? ends(op, id) : begins(op, id))))?.compaction ?? null;
      return { id, kind, from, to, items, tokens: weigh(tokens), by };
    }),
  );
}

const begins = (op: EpochOp, id: OverlayId): boolean => {
  if (op.op === "summarize" || op.op === "drop") return op.overlay === id;
  return (op.op === "revert" || op.op === "reset") && op.overlays.some((overlay) => overlay.id === id);
};

const ends = (op: EpochOp, id: OverlayId): boolean => {
  if (op.op === "summarize" || op.op === "drop") return op.replaces.includes(id);
  return (op.op === "revert" || op.op === "reset") && !op.overlays.some((overlay) => overlay.id === id);
};
