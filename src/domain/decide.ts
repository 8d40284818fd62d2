/** `decide(command, state) → events | rejection`: pure, without a clock. `ok([])` means that the command changes nothing. */
import { err, ok } from "../lib/result";
import { archiveDeciders, withRevival } from "./archive";
import { withOwners } from "./call-owner";
import type { Command, CommandOf, CommandType, SessionCommand } from "./commands";
import { branchDeciders } from "./decide-branch";
import { compactionDeciders } from "./decide-compaction";
import { draftDeciders } from "./decide-draft";
import { messageDeciders } from "./decide-message";
import { turnDeciders } from "./decide-turn";
import { type Deciders, type Decision, voidCompaction } from "./decision";
import type { Event, SessionSettings } from "./events";
import { changesHead } from "./evolve";
import { scheduleDeciders } from "./schedules";
import type { SessionState } from "./state";

/** The commands that a session accepts while it is being copied from another one. */
const MAY_WHILE_FORKING: ReadonlySet<Command["type"]> = new Set(["OpenSession", "EraseSession", "CopyMessages", "CompleteFork"]);

export function decide(command: Command, state: SessionState): Decision {
  if (state.lifecycle === "erased") return command.type === "EraseSession" ? ok([]) : err({ code: "session_erased" });
  if (state.lifecycle === "new" && command.type !== "OpenSession") return err({ code: "session_not_found" });
  const { fork } = state;
  if (fork && !fork.done && !MAY_WHILE_FORKING.has(command.type)) return err({ code: "fork_unfinished", from: fork.from });
  const decided = dispatch(command.type, command, state);
  return decided.ok ? ok(withRevival(withOwners(decided.value, state), command, state)) : decided;
}

const sessionDeciders: Deciders<SessionCommand["type"]> = {
  OpenSession: ({ tenant, session, settings }, { lifecycle }) =>
    lifecycle === "new" ? ok([{ type: "SessionOpened", tenant_id: tenant, session, settings }]) : err({ code: "session_exists" }),
  ChangeSettings: ({ changes }, state) => ok(Object.keys(changes).length === 0 ? [] : changeSettings(changes, state)),
  SetPins: ({ pins }, state) => ok([...voidCompaction(state), { type: "PinsSet", pins }]),
  RecordTitle: decideTitle,
  ...archiveDeciders,
  EraseSession: ({ cause }) => ok([{ type: "SessionErased", ...(cause && { cause }) }]),
};

const deciders: Deciders<CommandType> = {
  ...sessionDeciders,
  ...messageDeciders,
  ...turnDeciders,
  ...compactionDeciders,
  ...branchDeciders,
  ...draftDeciders,
  ...scheduleDeciders,
};

/** The generic ties the command's type to its function, so that the compiler checks the pair. */
const dispatch = <T extends CommandType>(type: T, command: CommandOf<T>, state: SessionState): Decision => deciders[type](command, state);

/** The ledger records the call once. A title that was set meanwhile stays. */
function decideTitle(command: CommandOf<"RecordTitle">, { settings, title_tries }: SessionState): Decision {
  const { call, title, tries } = command;
  if (tries !== title_tries) return err({ code: "stale", reason: "title_recorded" });
  const called: Event = { type: "ModelCallFinished", ...call };
  return ok(title && settings.title === null ? [called, { type: "SettingsChanged", changes: { title } }] : [called]);
}

/** A change that affects the next request moves the epoch, so it ends a compaction under way, which was planned on the old one. */
function changeSettings(changes: Partial<SessionSettings>, state: SessionState): Event[] {
  const changed: Event = { type: "SettingsChanged", changes };
  return changesHead(state, changes) ? [...voidCompaction(state), changed] : [changed];
}
