/**
 * Archived sessions: put away by a person or by the tenant's retention, with all that they hold. What people do in one brings it back, in the
 * decision that does it. What the service does by itself does not: a late summary, a late title, the removal of old results.
 */
import { err, ok } from "../lib/result";
import type { Command, CommandType } from "./commands";
import { busyWith, type Deciders } from "./decision";
import type { Event } from "./events";
import type { SessionState } from "./state";

/** Whether the command is a use of the session, so that it brings the session back when it changes something. */
const REVIVES: Readonly<Record<CommandType, boolean>> = {
  ChangeSettings: true,
  SetPins: true,
  SubmitMessage: true,
  ImportMessages: true,
  CancelQueued: true,
  StartTurn: true,
  RecordToolResults: true,
  ResolveApprovals: true,
  RetryTurn: true,
  AnswerResults: true,
  RequestCompaction: true,
  RevertCompaction: true,
  ResetSummary: true,
  EditDraft: true,
  CommitDraft: true,
  DiscardDraft: true,
  RewindHistory: true,
  SwitchBranch: true,
  SetSchedule: true,
  RemoveSchedule: true,
  // The message that a schedule submits brings the session back. A run that is skipped does not.
  RecordScheduleRun: false,
  // Who takes a word out of an archived session does not want the session back.
  RedactMessage: false,
  ExpireResults: false,
  // A question about a summary changes nothing.
  RecordAnswer: false,
  OpenSession: false,
  RecordTitle: false,
  ArchiveSession: false,
  UnarchiveSession: false,
  EraseSession: false,
  // Archived sessions have no turn.
  RecordAssistant: false,
  RecordCall: false,
  StartTool: false,
  RequestApproval: false,
  RecordToolRun: false,
  FailTurn: false,
  StopTurn: false,
  RecoverTurn: false,
  LeaseCompaction: false,
  ProgressCompaction: false,
  RecordCompaction: false,
  FailCompaction: false,
  RecordSpentCall: false,
  ChangeEpoch: false,
  RecordDraft: false,
  // A fork that is not complete cannot be archived.
  BeginFork: false,
  CopyMessages: false,
  CompleteFork: false,
};

/** The session may still ask for a compaction by itself when its last turn has ended. */
const isUsed = (command: Command): boolean =>
  REVIVES[command.type] && !(command.type === "RequestCompaction" && command.trigger !== "manual");

/** The events of a decision, behind the one that brings an archived session back. */
export const withRevival = (events: readonly Event[], command: Command, { archived_at }: SessionState): readonly Event[] =>
  archived_at !== null && events.length > 0 && isUsed(command) ? [{ type: "SessionUnarchived" }, ...events] : events;

export const archiveDeciders: Deciders<"ArchiveSession" | "UnarchiveSession"> = {
  ArchiveSession: ({ cause }, state) => {
    if (state.archived_at !== null) return ok([]);
    const busy = busyWith(state) ?? (state.turn && { code: "turn_running" as const, turn: state.turn.id });
    return busy ? err(busy) : ok([{ type: "SessionArchived", ...(cause && { cause }) }]);
  },
  UnarchiveSession: (_, { archived_at }) => ok(archived_at === null ? [] : [{ type: "SessionUnarchived" }]),
};
