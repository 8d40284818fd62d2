/**
 * The kind of each field of each event, checked when an event is read back from storage. The table's type is derived
 * from the union, so a field that is added or changes its kind does not compile until it is listed here. The check is
 * shallow on purpose, because it runs on every wake, and nested values were written by this code in one transaction
 * that the database guards. It catches rows of another build and rows that were damaged by hand.
 */
import type { Event, EventType } from "./events";

type BaseKind<V> = V extends string
  ? "string"
  : V extends number
    ? "number"
    : V extends boolean
      ? "boolean"
      : V extends readonly unknown[]
        ? "array"
        : "object";
/** `?`: the field may be null. `~`: the field may be absent. */
type Kind<V> = undefined extends V ? `${BaseKind<NonNullable<V>>}~` : null extends V ? `${BaseKind<NonNullable<V>>}?` : BaseKind<V>;
type FieldsOf<T extends EventType> = Omit<Extract<Event, { type: T }>, "type">;
type Shapes = { readonly [T in EventType]: { readonly [F in keyof FieldsOf<T>]-?: Kind<FieldsOf<T>[F]> } };

const shapes: Shapes = {
  SessionOpened: { tenant_id: "string", session: "string", settings: "object" },
  SettingsChanged: { changes: "object" },
  PinsSet: { pins: "array" },
  SessionForked: { from: "string", position: "number", view: "object~", line: "object~" },
  ForkCompleted: {},
  SessionArchived: { cause: "string~" },
  SessionUnarchived: {},
  SessionErased: { cause: "string~" },
  MessagesAppended: { items: "array", dequeued: "array", aside: "boolean~" },
  MessageQueued: { message: "object", front: "boolean" },
  QueuedMessageCancelled: { message: "string", turn: "string?" },
  MessageRedacted: { item: "string", position: "number", texts: "array", tokens: "number", cause: "string~" },
  HistoryRewound: { to: "number", items: "array", line: "object" },
  BranchSwitched: { items: "array", line: "object" },
  TurnStarted: {
    turn: "string",
    incarnation: "string",
    attempt: "number",
    item: "object?",
    tools: "object?",
    retry_of: "string?",
    generation: "object~",
    model: "string~",
    system: "object~",
    note: "object~",
    key: "string~",
    whole: "boolean~",
  },
  ModelCallFinished: {
    turn: "string?",
    purpose: "string",
    model: "string",
    epoch: "number",
    up_to: "number",
    usage: "object?",
    estimate: "number",
    request_digest: "string?",
    outcome: "string",
    ms: "number",
    lease: "number?",
    rent: "number~",
    ratio: "number~",
    cost: "number~",
    asked: "object~",
    key: "string~",
    end_user: "string~",
    reservation: "object~",
  },
  AssistantReplied: { turn: "string", item: "object" },
  ToolCalled: { turn: "string", item: "object", server: "boolean~", cut: "boolean~" },
  ToolStarted: { turn: "string", execution: "string", incarnation: "string" },
  ToolResultRecorded: { turn: "string", item: "object", incarnation: "string", ran: "object~" },
  ApprovalRequested: { turn: "string", execution: "string" },
  ApprovalResolved: { turn: "string", execution: "string", approved: "boolean", incarnation: "string" },
  TurnCompleted: { turn: "string", finish: "string" },
  TurnFailed: { turn: "string", failure: "object" },
  TurnStopped: { turn: "string", reason: "string" },
  TurnInterrupted: { turn: "string" },
  CompactionRequested: { compaction: "string", trigger: "string", base_epoch: "number", options: "object~", key: "string~" },
  CompactionProgressed: { compaction: "string", token: "number", expires_at: "number", part: "object" },
  CompactionStarted: {
    compaction: "string",
    token: "number",
    attempt: "number",
    expires_at: "number",
    base_epoch: "number",
    range: "object",
    source: "object",
    reread_from: "number~",
    replaces: "array",
    keeps: "array",
    merge: "boolean",
    generation: "number",
    split: "number?",
    mode: "string",
    instructions: "object~",
    instructions_left_out: "boolean~",
    inline: "object~",
  },
  CompactionFailed: { compaction: "string", token: "number?", attempt: "number", failure: "string", final: "boolean" },
  CompactionDrafted: { compaction: "string", token: "number", overlay: "string", summary: "object" },
  ScheduleSet: { name: "string", message: "object", next_at: "number", time: "object", key: "string~" },
  ScheduleRan: { name: "string", due_at: "number", turn: "string?", skipped: "string?", next_at: "number?" },
  ScheduleRemoved: { name: "string" },
  DraftEdited: { compaction: "string", summary: "object", by: "string" },
  EpochChanged: {
    base_epoch: "number",
    epoch: "number",
    trigger: "string",
    compaction: "string?",
    ops: "array",
    receipt: "object",
  },
};

/** A field of an event, at the kind that JSON gives it. */
export interface EventField {
  readonly name: string;
  readonly base: string;
  readonly nullable: boolean;
  readonly optional: boolean;
}

const toField = ([name, kind]: readonly [string, string]): EventField => ({
  name,
  base: kind.replace(/[?~]$/, ""),
  nullable: kind.endsWith("?"),
  optional: kind.endsWith("~"),
});

/** The shapes as lists, because every event that is read iterates over them. */
export const eventFields: ReadonlyMap<string, readonly EventField[]> = new Map(
  Object.entries(shapes).map(([type, shape]) => [type, Object.entries(shape).map(toField)]),
);

/** Every event type that this build knows. */
export const knownEventTypes: ReadonlySet<string> = new Set(eventFields.keys());
export const isEventType = (type: string): type is EventType => knownEventTypes.has(type);

/** The first field that is missing or of another kind. Null when the event matches its type, as far as this check looks. */
export function findMalformedField(type: EventType, data: Readonly<Record<string, unknown>>): string | null {
  for (const field of eventFields.get(type) ?? []) if (!isField(field, data[field.name])) return field.name;
  return null;
}

function isField({ base, nullable, optional }: EventField, value: unknown): boolean {
  if (value === undefined) return optional;
  if (value === null) return nullable;
  return base === "array" ? Array.isArray(value) : typeof value === base && !Array.isArray(value);
}
