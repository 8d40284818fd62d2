/** `decide(command, state) → events | rejection`: pure and clockless. Nothing happened is `ok([])`. */
import { assertNever } from "../lib/assert-never";
import { err, ok } from "../lib/result";
import type { Command, SessionCommand } from "./commands";
import { decideBranch } from "./decide-branch";
import { decideCompaction } from "./decide-compaction";
import { decideDraft } from "./decide-draft";
import { decideMessage } from "./decide-message";
import { decideTurn } from "./decide-turn";
import { type Decision, voidCompaction } from "./decision";
import type { Event, SessionSettings } from "./events";
import { changesRequest } from "./evolve";
import type { SessionState } from "./state";

/** What is said in a session while it is being copied from another one. */
const MAY_WHILE_FORKING: ReadonlySet<Command["type"]> = new Set(["OpenSession", "EraseSession", "CopyMessages", "CompleteFork"]);

export function decide(command: Command, state: SessionState): Decision {
  if (state.lifecycle === "erased") return command.type === "EraseSession" ? ok([]) : err({ code: "session_erased" });
  if (state.lifecycle === "new" && command.type !== "OpenSession") return err({ code: "session_not_found" });
  const { fork } = state;
  if (fork && !fork.done && !MAY_WHILE_FORKING.has(command.type)) return err({ code: "fork_unfinished", from: fork.from });
  switch (command.type) {
    case "OpenSession":
    case "ChangeSettings":
    case "SetPins":
    case "RecordTitle":
    case "EraseSession":
      return decideSession(command, state);
    case "SubmitMessage":
    case "CancelQueued":
      return decideMessage(command, state);
    case "StartTurn":
    case "RecordAssistant":
    case "RecordCall":
    case "RecordToolResults":
    case "FailTurn":
    case "StopTurn":
    case "StartTool":
    case "RequestApproval":
    case "RecordToolRun":
    case "ResolveApprovals":
    case "RetryTurn":
    case "RecoverTurn":
      return decideTurn(command, state);
    case "RequestCompaction":
    case "LeaseCompaction":
    case "ProgressCompaction":
    case "RecordCompaction":
    case "FailCompaction":
    case "ChangeEpoch":
    case "RevertCompaction":
    case "ResetSummary":
    case "RecordSpentCall":
      return decideCompaction(command, state);
    case "RewindHistory":
    case "SwitchBranch":
    case "RedactMessage":
    case "BeginFork":
    case "CopyMessages":
    case "CompleteFork":
      return decideBranch(command, state);
    case "RecordDraft":
    case "EditDraft":
    case "CommitDraft":
    case "DiscardDraft":
    case "RecordAnswer":
      return decideDraft(command, state);
    default:
      return assertNever(command);
  }
}

function decideSession(command: SessionCommand, state: SessionState): Decision {
  switch (command.type) {
    case "OpenSession": {
      const { tenant, session, settings } = command;
      return state.lifecycle === "new" ? ok([{ type: "SessionOpened", tenant, session, settings }]) : err({ code: "session_exists" });
    }
    case "ChangeSettings":
      return ok(Object.keys(command.changes).length === 0 ? [] : changeSettings(command.changes, state));
    case "SetPins":
      return ok([...voidCompaction(state), { type: "PinsSet", pins: command.pins }]);
    case "RecordTitle":
      return decideTitle(command, state);
    case "EraseSession":
      return ok([{ type: "SessionErased" }]);
    default:
      return assertNever(command);
  }
}

/** The ledger has the call once; a title that somebody set meanwhile stands. */
function decideTitle(command: Extract<SessionCommand, { type: "RecordTitle" }>, { settings, title_tries }: SessionState): Decision {
  const { call, title, tries } = command;
  if (tries !== title_tries) return err({ code: "stale", reason: "title_recorded" });
  const called: Event = { type: "ModelCallFinished", ...call };
  return ok(title && settings.title === null ? [called, { type: "SettingsChanged", changes: { title } }] : [called]);
}

/** What changes the request moves the epoch: a compaction under way was planned on another one. */
function changeSettings(changes: Partial<SessionSettings>, state: SessionState): Event[] {
  const changed: Event = { type: "SettingsChanged", changes };
  return changesRequest(changes) ? [...voidCompaction(state), changed] : [changed];
}
