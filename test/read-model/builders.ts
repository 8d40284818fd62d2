/** Events and logs as a session would have written them, with the few values that a test needs. */

import type { ProjectionBatch } from "../../src/app/ports";
import type { SessionFilter } from "../../src/app/read-api";
import type { BranchLine, Event, SessionSettings, StoredEvent } from "../../src/domain/events";
import { type BodyId, type IdKinds, type IdPrefix, parseId, type SessionId, type TenantId, type TurnId } from "../../src/domain/ids";
import type { ItemKind, ItemMeta, Part, TextRef } from "../../src/domain/message";
import type { Receipt } from "../../src/domain/receipt";
import { RECEIPT as ordinary } from "../support/builders";

/** The filter of a list or search that leaves no session out. */
export const ALL_SESSIONS: SessionFilter = {
  externalId: null,
  endUser: null,
  metadata: {},
  createdAfter: null,
  createdBefore: null,
  updatedAfter: null,
  updatedBefore: null,
  archived: null,
};

/** Ids in the order of their requests, the same in every run. */
export function makeId<P extends IdPrefix>(prefix: P, number: number): IdKinds[P] {
  const id = parseId(prefix, `${prefix}_${String(number).padStart(26, "0")}`);
  if (!id) throw new Error(`${number} makes no id`);
  return id;
}

/** A branch that leaves out these positions, with a view without overlays. */
export const branchLine = (elsewhere: BranchLine["elsewhere"]): BranchLine => ({
  branch: 2,
  elsewhere,
  taken_back: [],
  messages: 0,
  last_turn: null,
  overlays: [],
  reduced: [],
  keeps: [],
  continues: false,
});

export const TENANT: TenantId = makeId("ten", 1);
export const SESSION: SessionId = makeId("ses", 1);
export const START = 1_700_000_000_000;

export const RECEIPT: Receipt = {
  ...ordinary,
  tokens_before: 900,
  tokens_after: 300,
  items_before: 9,
  items_after: 3,
  model: "gpt-4o",
  ms: 40,
};

/** A successful model call. */
export function modelCall(change: Partial<Extract<Event, { type: "ModelCallFinished" }>> = {}): Event {
  return {
    type: "ModelCallFinished",
    turn: null,
    purpose: "turn",
    model: "gpt-4o",
    epoch: 0,
    up_to: 2,
    usage: { input: 11, output: 7, cached: 3, reasoning: 2 },
    estimate: 12,
    request_digest: null,
    outcome: "stop",
    ms: 250,
    lease: null,
    ...change,
  };
}

/** A call or its result, of execution `n`. */
export function called(
  log: LogBuilder,
  kind: "tool_call" | "tool_result",
  n: number,
  change: { readonly output?: string; readonly is_error?: boolean; readonly arguments?: string; readonly turn?: TurnId | null } = {},
): ItemMeta {
  const { output = "found", is_error = false, arguments: written = "{}", turn = makeId("trn", 1) } = change;
  const of = { call_id: `call_${n}`, name: "look_up" };
  const part: Part = kind === "tool_call" ? { type: kind, ...of, arguments: written } : { type: kind, ...of, output, is_error };
  const tool = { execution: makeId("exe", n), ...of, ...(kind === "tool_result" && { is_error }) };
  return { ...log.item(kind, [part]), turn, tool };
}

interface OpenWith {
  readonly model?: string;
  readonly title?: string;
  readonly external_id?: string;
  readonly end_user?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A log under construction. Each call appends one event, a second after the previous one. */
export class LogBuilder {
  readonly events: StoredEvent[] = [];
  readonly bodies = new Map<BodyId, string>();
  #position = 0;

  readonly session: SessionId;
  readonly tenant: TenantId;

  constructor(session: SessionId = SESSION, tenant: TenantId = TENANT) {
    this.session = session;
    this.tenant = tenant;
  }

  event(event: Event): this {
    const seq = this.events.length + 1;
    this.events.push({ ...event, seq, at: START + seq * 1000 });
    return this;
  }

  open(settings: OpenWith = {}): this {
    const toRef = (text: string | undefined) => (text === undefined ? null : this.text(text));
    const full: SessionSettings = {
      model: settings.model ?? "gpt-4o",
      policy: "oneclaw",
      system: null,
      tools: null,
      title: toRef(settings.title),
      metadata: toRef(settings.metadata && JSON.stringify(settings.metadata)),
      external_id: toRef(settings.external_id),
      end_user: toRef(settings.end_user),
    };
    return this.event({ type: "SessionOpened", tenant_id: this.tenant, session: this.session, settings: full });
  }

  text(text: string): TextRef {
    const body = makeId("bod", this.bodies.size + 1);
    this.bodies.set(body, text);
    return { body, bytes: text.length, tokens: 1 };
  }

  /** An item and its body, not yet in an event. */
  item(kind: ItemKind, parts: readonly Part[]): ItemMeta {
    const position = ++this.#position;
    const id = makeId("msg", position);
    this.bodies.set(id, JSON.stringify(parts));
    return { id, kind, position, turn: null, at: START + position, bytes: 1, tokens: 10 + position };
  }

  says(kind: "system" | "user" | "assistant", text: string): this {
    return this.event({ type: "MessagesAppended", items: [this.item(kind, [{ type: "text", text }])], dequeued: [] });
  }

  /** A summary over positions in place of earlier overlays. `number` identifies it. */
  summary(number: number, text: string, covers: { from: number; to: number; replaces?: readonly number[] }): this {
    const overlay = makeId("ovl", number);
    this.bodies.set(overlay, text);
    const replaces = (covers.replaces ?? []).map((other) => makeId("ovl", other));
    return this.epoch({
      ops: [
        {
          op: "summarize",
          overlay,
          replaces,
          from: covers.from,
          to: covers.to,
          tokens: 5,
          bytes: text.length,
          items: covers.to - covers.from + 1,
          boundary_timestamp: START + covers.to + 1,
          keeps: [],
          generation: 0,
          mode: "transcript",
          read: { ranges: [], overlays: [] },
        },
      ],
    });
  }

  epoch(change: Pick<Extract<Event, { type: "EpochChanged" }>, "ops"> & Partial<Extract<Event, { type: "EpochChanged" }>>): this {
    const epoch = this.events.filter((event) => event.type === "EpochChanged").length + 1;
    return this.event({
      base_epoch: epoch - 1,
      epoch,
      trigger: "threshold",
      compaction: null,
      receipt: RECEIPT,
      ...change,
      type: "EpochChanged",
    });
  }

  /** Events `from..to`, both included, with all bodies. */
  batch(from = 1, to = this.events.length): ProjectionBatch {
    return { tenant: this.tenant, session: this.session, events: this.events.slice(from - 1, to), bodies: this.bodies };
  }
}
