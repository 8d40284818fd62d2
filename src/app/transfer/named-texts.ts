/** The texts that an event names, each with what it is to be. An import holds every text to that before the session is there. */
import type { Overlay } from "../../domain/compaction-events";
import type { Event, LastTurn, SessionSettings, TurnChoices } from "../../domain/events";
import type { BodyId } from "../../domain/ids";
import type { ItemKind, NewItem, TextRef, ToolRef } from "../../domain/message";
import { assertNever } from "../../lib/assert-never";

export type TextRole =
  | ItemKind
  | "system_prompt"
  | "tools"
  | "title"
  | "metadata"
  | "external_id"
  | "end_user"
  | "generation"
  | "turn_generation"
  | "instructions"
  | "note"
  | "artifact"
  | "scheduled"
  /** A text of any form: a summary, or a pin. */
  | "text";

export interface NamedText {
  readonly id: BodyId;
  readonly role: TextRole;
  /** The call that the item says to be of. */
  readonly tool?: ToolRef;
}

type Named = TextRef | null | undefined;

const toNamed = (role: TextRole, ...refs: readonly Named[]): NamedText[] => refs.flatMap((ref) => (ref ? [{ id: ref.body, role }] : []));
const ofItems = (items: readonly NewItem[]): NamedText[] => items.map(({ id, kind, tool }) => ({ id, role: kind, ...(tool && { tool }) }));
const ofOverlays = (overlays: readonly Overlay[]): NamedText[] =>
  overlays.flatMap(({ id, kind }) => (kind === "summary" ? [{ id, role: "text" as const }] : []));

const ofSettings = (settings: Partial<SessionSettings>): NamedText[] => [
  ...toNamed("system_prompt", settings.system),
  ...toNamed("tools", settings.tools),
  ...toNamed("title", settings.title),
  ...toNamed("metadata", settings.metadata),
  ...toNamed("external_id", settings.external_id),
  ...toNamed("end_user", settings.end_user),
  ...toNamed("generation", settings.generation),
  ...toNamed("instructions", settings.summary_instructions, settings.policy_instructions),
];

const ofTurn = ({ tools, generation, system, note }: TurnChoices & { readonly tools: TextRef | null }): NamedText[] => [
  ...toNamed("tools", tools),
  ...toNamed("turn_generation", generation),
  ...toNamed("system_prompt", system),
  ...toNamed("note", note),
];

const ofLine = ({ last_turn, overlays }: { readonly last_turn: LastTurn | null; readonly overlays: readonly Overlay[] }): NamedText[] => [
  ...(last_turn ? ofTurn(last_turn) : []),
  ...ofOverlays(overlays),
];

export function listNamedTexts(event: Event): NamedText[] {
  switch (event.type) {
    case "SessionOpened":
      return ofSettings(event.settings);
    case "SettingsChanged":
      return ofSettings(event.changes);
    case "PinsSet":
      return toNamed("text", ...event.pins);
    case "SessionForked":
      return ofOverlays(event.view?.overlays ?? []);
    case "MessagesAppended":
      return ofItems(event.items);
    case "MessageQueued":
      return [...ofItems([event.message.item, ...event.message.rest]), ...ofTurn(event.message)];
    case "TurnStarted":
      return [...ofItems(event.item ? [event.item] : []), ...ofTurn(event)];
    case "AssistantReplied":
    case "ToolCalled":
      return ofItems([event.item]);
    case "ToolResultRecorded":
      return [...ofItems([event.item]), ...(event.ran?.artifacts ?? []).map(({ body: id }) => ({ id, role: "artifact" as const }))];
    case "HistoryRewound":
    case "BranchSwitched":
      return [...ofItems(event.items), ...ofLine(event.line)];
    case "ModelCallFinished":
      return event.end_user === undefined ? [] : [{ id: event.end_user, role: "end_user" }];
    case "CompactionRequested":
      return toNamed("instructions", event.options?.instructions, event.options?.policy_instructions);
    case "CompactionProgressed":
      return toNamed("text", event.part.summary, event.part.history);
    case "CompactionStarted":
      return toNamed("instructions", event.instructions);
    case "CompactionDrafted":
    case "DraftEdited":
      return toNamed("text", event.summary);
    case "EpochChanged":
      return event.ops.flatMap((op) => {
        if (op.op === "summarize") return [{ id: op.overlay, role: "text" as const }];
        return op.op === "revert" || op.op === "reset" ? [...ofItems(op.items), ...ofOverlays(op.overlays)] : [];
      });
    case "ScheduleSet":
      return toNamed("scheduled", event.message);
    case "ForkCompleted":
    case "SessionArchived":
    case "SessionUnarchived":
    case "SessionErased":
    case "QueuedMessageCancelled":
    case "MessageRedacted":
    case "ToolStarted":
    case "ApprovalRequested":
    case "ApprovalResolved":
    case "TurnCompleted":
    case "TurnFailed":
    case "TurnStopped":
    case "TurnInterrupted":
    case "CompactionFailed":
    case "ScheduleRan":
    case "ScheduleRemoved":
      return [];
    default:
      return assertNever(event);
  }
}
