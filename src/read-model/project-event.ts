/**
 * Maps one event to operations on the rows of its session. Pure: no SQL, no I/O, no clock. `finishSession` moves the
 * session's `updated_at` and `last_seq` once a batch, whatever the event. A new event type is a type error here.
 */

import { toSessionTerms } from "../context/recall/session-terms";
import type { CompactionEvent } from "../domain/compaction-events";
import type { Event, MessageEvent, SessionEvent, StoredEvent } from "../domain/events";
import type { BodyId } from "../domain/ids";
import type { ItemMeta, TextRef } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { callOps, importedOps, resultOps } from "./execution-row";
import { toMessageRow, toMessageTerms } from "./message-row";
import { projectEpochChange, toOverlayRow } from "./project-epoch";
import type { RowOp, SessionChanges } from "./row-ops";

export type Bodies = ReadonlyMap<BodyId, string>;

export function projectEvent(event: StoredEvent, bodies: Bodies): readonly RowOp[] {
  const stamp = { seq: event.seq, at: event.at };
  const insert = (item: ItemMeta): readonly RowOp[] => insertItem(item, { stamp, body: bodies.get(item.id) });
  switch (event.type) {
    case "SessionOpened":
    case "SettingsChanged":
    case "SessionErased":
      return projectSession(event, bodies);
    case "SessionArchived":
    case "SessionUnarchived":
      return [{ ...stamp, op: "change_session", changes: { archived_at: event.type === "SessionArchived" ? event.at : null } }];
    case "MessagesAppended":
      return [...event.items.flatMap(insert), ...importedOps(event.items, { stamp, bodies })];
    case "TurnStarted":
      return event.item ? insert(event.item) : [];
    case "AssistantReplied":
      return insert(event.item);
    case "ToolCalled":
      return [...insert(event.item), ...callOps(event.item, event.server ? "server" : "client", { stamp, bodies })];
    case "ToolResultRecorded":
      return [...insert(event.item), ...resultOps(event.item, event.ran ?? null, { stamp, bodies })];
    case "ToolStarted":
      return [{ ...stamp, op: "change_execution", id: event.execution, changes: { status: "running", started_at: event.at } }];
    case "ApprovalRequested":
      return [{ ...stamp, op: "change_execution", id: event.execution, changes: { status: "awaiting_approval" } }];
    case "ApprovalResolved":
      return [{ ...stamp, op: "change_execution", id: event.execution, changes: { status: "open" } }];
    case "TurnCompleted":
    case "TurnFailed":
    case "TurnStopped":
    case "TurnInterrupted":
      return [{ ...stamp, op: "cancel_executions", turn: event.turn }];
    case "MessageRedacted":
    case "HistoryRewound":
    case "BranchSwitched":
      return projectHistory(event);
    case "ModelCallFinished":
      return [{ ...stamp, op: "insert_usage", call: event, endUser: event.end_user ? (bodies.get(event.end_user) ?? null) : null }];
    case "CompactionRequested":
    case "CompactionStarted":
    case "CompactionFailed":
      return [projectAttempt(event)];
    case "CompactionDrafted":
      return [{ seq: event.seq, at: event.at, op: "draft_compaction", id: event.compaction }];
    case "EpochChanged":
      return projectEpochChange(event, bodies);
    case "SessionForked":
      return projectFork(event, bodies);
    // No list shows these events: they move the session's row and no other.
    case "PinsSet":
    case "ScheduleSet":
    case "ScheduleRan":
    case "ScheduleRemoved":
    case "ForkCompleted":
    case "MessageQueued":
    case "QueuedMessageCancelled":
    case "CompactionProgressed":
    // The receipt says who edited a draft, once the draft is committed.
    case "DraftEdited":
      return [];
    default:
      return assertNever(event);
  }
}

function insertItem(
  item: ItemMeta,
  { stamp, body }: { readonly stamp: Pick<RowOp, "seq" | "at">; readonly body: string | undefined },
): readonly RowOp[] {
  const terms = toMessageTerms(item, body);
  const indexed: RowOp[] = terms === null || terms === "" ? [] : [{ ...stamp, op: "index_text", position: item.position, terms }];
  return [{ ...stamp, op: "insert_message", row: toMessageRow(item, body) }, ...indexed];
}

/** The title's place in the index of sessions. Messages begin at 1. */
const TITLE = 0;

const indexTitle = (title: string | null, stamp: Pick<RowOp, "seq" | "at">): RowOp => ({
  ...stamp,
  op: "index_text",
  position: TITLE,
  terms: title === null ? "" : toSessionTerms(title, stamp.at),
});

type Of<U extends Event, T extends U["type"]> = StoredEvent & Extract<U, { type: T }>;

const readText = (ref: TextRef | null, bodies: Bodies): string | null => (ref ? (bodies.get(ref.body) ?? null) : null);

interface ReadMetadata {
  /** JSON. */
  readonly metadata: string;
  readonly entries: readonly (readonly [string, string])[];
}

/** Metadata that was replaced since has no body any more: the event that replaced it follows. */
function readMetadata(ref: TextRef | null, bodies: Bodies): ReadMetadata {
  const metadata = readText(ref, bodies) ?? "{}";
  return { metadata, entries: Object.entries(JSON.parse(metadata) as Readonly<Record<string, string>>) };
}

function projectSession(event: Of<SessionEvent, "SessionOpened" | "SettingsChanged" | "SessionErased">, bodies: Bodies): readonly RowOp[] {
  const stamp = { seq: event.seq, at: event.at };
  switch (event.type) {
    case "SessionOpened":
      return openSession(event, bodies);
    case "SettingsChanged":
      return changeSession(event, bodies);
    case "SessionErased":
      return [{ ...stamp, op: "erase_session" }];
    default:
      return assertNever(event);
  }
}

function openSession({ seq, at, settings }: Of<SessionEvent, "SessionOpened">, bodies: Bodies): readonly RowOp[] {
  const stamp = { seq, at };
  const { model, policy, external_id = null, end_user = null } = settings;
  const title = readText(settings.title, bodies);
  const { metadata, entries } = readMetadata(settings.metadata, bodies);
  const labels = { external_id: readText(external_id, bodies), end_user: readText(end_user, bodies), metadata };
  return [
    { ...stamp, op: "open_session", row: { title, model, policy, ...labels } },
    ...(entries.length > 0 ? [{ ...stamp, op: "set_metadata", entries } as const] : []),
    ...(title === null ? [] : [indexTitle(title, stamp)]),
  ];
}

function changeSession({ seq, at, changes }: Of<SessionEvent, "SettingsChanged">, bodies: Bodies): readonly RowOp[] {
  const stamp = { seq, at };
  const { model, policy } = changes;
  const read = (ref: TextRef | null | undefined) => (ref === undefined ? undefined : readText(ref, bodies));
  const [title, end_user] = [read(changes.title), read(changes.end_user)];
  const said = changes.metadata === undefined ? null : readMetadata(changes.metadata, bodies);
  const columns: SessionChanges = {
    ...(title !== undefined && { title }),
    ...(model !== undefined && { model }),
    ...(policy !== undefined && { policy }),
    ...(end_user !== undefined && { end_user }),
    ...(said && { metadata: said.metadata }),
  };
  return [
    ...(Object.keys(columns).length > 0 ? [{ ...stamp, op: "change_session", changes: columns } as const] : []),
    ...(said ? [{ ...stamp, op: "set_metadata", entries: said.entries } as const] : []),
    ...(title === undefined ? [] : [indexTitle(title, stamp)]),
  ];
}

/** A rewind keeps the rows of the branch that was left. They are marked, and no longer counted or previewed. */
function projectHistory(event: Of<MessageEvent, "MessageRedacted" | "HistoryRewound" | "BranchSwitched">): readonly RowOp[] {
  const stamp = { seq: event.seq, at: event.at };
  if (event.type === "MessageRedacted") return [{ ...stamp, op: "redact_message", position: event.position, texts: event.texts }];
  const { line } = event;
  return [
    { ...stamp, op: "choose_branch", elsewhere: line.elsewhere },
    { ...stamp, op: "hide_overlays", ids: null },
    { ...stamp, op: "show_overlays", ids: line.overlays.map(({ id }) => id) },
  ];
}

/** The overlays that a fork takes over from its source become rows of the fork's own. */
function projectFork({ seq, at, view }: Of<SessionEvent, "SessionForked">, bodies: Bodies): readonly RowOp[] {
  return (view?.overlays ?? []).map((overlay) => ({ seq, at, op: "insert_overlay", row: toOverlayRow(overlay, bodies), replaces: [] }));
}

function projectAttempt(event: Of<CompactionEvent, "CompactionRequested" | "CompactionStarted" | "CompactionFailed">): RowOp {
  const stamp = { seq: event.seq, at: event.at, id: event.compaction };
  switch (event.type) {
    case "CompactionRequested":
      return { ...stamp, op: "request_compaction", trigger: event.trigger };
    case "CompactionStarted":
      return { ...stamp, op: "start_compaction", attempt: event.attempt };
    case "CompactionFailed":
      return { ...stamp, op: "fail_compaction", attempt: event.attempt, failure: event.failure, final: event.final };
    default:
      return assertNever(event);
  }
}
