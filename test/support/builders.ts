/** Builders for the pure core: explicit values where they matter, ordinary ones otherwise. */
import { type SizedModel, Sizing } from "../../src/context/sizing";
import type { Command } from "../../src/domain/commands";
import type { SummaryPlan } from "../../src/domain/compaction-events";
import { decide } from "../../src/domain/decide";
import type { Event, SessionSettings, StoredEvent } from "../../src/domain/events";
import { evolve, fold } from "../../src/domain/evolve";
import type { IdKinds, IdPrefix, ItemId, SessionId, TenantId, TurnId } from "../../src/domain/ids";
import type { ItemKind, ItemMeta, NewItem } from "../../src/domain/message";
import type { Receipt } from "../../src/domain/receipt";
import { initialState, type SessionState } from "../../src/domain/state";
import { toWeighedView } from "../../src/domain/view";

/** The nth id of a kind, always the same. */
export function id<P extends IdPrefix>(prefix: P, n: number): IdKinds[P] {
  return `${prefix}_01HZZZZZZZ${String(n).padStart(16, "0")}` as IdKinds[P];
}

/** Consecutive ids, for code that requests new ones. */
export function countingIds(): <P extends IdPrefix>(prefix: P) => IdKinds[P] {
  let count = 0;
  return (prefix) => id(prefix, ++count);
}

export const TENANT: TenantId = id("ten", 1);
export const SESSION: SessionId = id("ses", 1);
export const turnId = (n: number): TurnId => id("trn", n);
export const itemId = (n: number): ItemId => id("msg", n);

export const settings = (change: Partial<SessionSettings> = {}): SessionSettings => ({
  model: "test-model",
  policy: "oneclaw",
  system: null,
  tools: null,
  title: null,
  metadata: null,
  ...change,
});

export const draft = (n: number, change: Partial<NewItem> = {}): NewItem => ({
  id: itemId(n),
  kind: "user",
  turn: null,
  at: n,
  bytes: 10,
  tokens: 10,
  ...change,
});

export const item = (position: number, kind: ItemKind, change: Partial<ItemMeta> = {}): ItemMeta => ({
  ...draft(position, { kind }),
  position,
  ...change,
});

export const call = (position: number, n: number, change: Partial<ItemMeta> = {}): ItemMeta =>
  item(position, "tool_call", { tool: { execution: id("exe", n), call_id: `call_${n}`, name: "look_up" }, ...change });

export const result = (position: number, n: number, change: Partial<ItemMeta> = {}): ItemMeta =>
  item(position, "tool_result", { tool: { execution: id("exe", n), call_id: `call_${n}`, name: "look_up", is_error: false }, ...change });

/** An ordinary receipt for a change of the view. */
export const RECEIPT: Receipt = {
  tokens_before: 100,
  tokens_after: 40,
  measured: { before: { source: "estimated", error_bound: 33 }, after: { source: "estimated", error_bound: 18 } },
  items_before: 4,
  items_after: 2,
  model: null,
  usage: null,
  ms: 1,
  cost: 0,
  economy: { read_cost_before: 0, read_cost_after: 0, price: 0, cache_kept: 0 },
  rungs: [],
  mode: null,
  attempts: 1,
  breaker_open: false,
  dropped_items: 0,
};

/** A summary over positions `from..to`, as it is leased. */
export const summaryPlan = (from: number, to: number, change: Partial<SummaryPlan> = {}): SummaryPlan => ({
  range: { from, to },
  source: { from, to },
  replaces: [],
  keeps: [],
  merge: false,
  generation: 0,
  split: null,
  mode: "transcript",
  ...change,
});

export const stored = (events: readonly Event[], from = 0): StoredEvent[] =>
  events.map((event, index) => ({ ...event, seq: from + index + 1, at: 1_000 + index }));

export const opened: Event = { type: "SessionOpened", tenant_id: TENANT, session: SESSION, settings: settings() };

/** The state of an open session after these events. */
export const given = (...events: Event[]): SessionState => fold(stored([opened, ...events]));

/** An open session whose view contains exactly these items. */
export function viewing(items: readonly ItemMeta[], change: Partial<SessionState> = {}): SessionState {
  const open = given();
  return { ...open, view: toWeighedView({ ...open.view, items }), next_position: (items.at(-1)?.position ?? 0) + 1, ...change };
}

/** Decides one command after another and folds the events. The first rejection ends it. */
export function play(
  commands: readonly Command[],
  from: SessionState = initialState,
): { state: SessionState; events: Event[]; rejected: string | null } {
  let state = from;
  const events: Event[] = [];
  for (const command of commands) {
    const decision = decide(command, state);
    if (!decision.ok) return { state, events, rejected: decision.error.code };
    for (const event of decision.value) {
      state = evolve(state, { ...event, seq: state.seq + 1, at: command.at });
      events.push(event);
    }
  }
  return { state, events, rejected: null };
}

/** A model of which nothing but its name is known: it is sent all images and files. */
export const plainModel = (id = "test-model"): SizedModel => ({ id, provider: "unknown" });

export const sized = (state: SessionState, model: SizedModel = plainModel()): Sizing => new Sizing(state, model);
