/**
 * The calls that a session's object answers: one table, from which the object takes its methods. Every call first
 * compares the caller's tenant with the session's own. A foreign session is answered as if it did not exist.
 */
import { isCurrentLease } from "../app/compaction/apply-result";
import { refuseUnmet } from "../app/conditions";
import type { WholeSessionApi } from "../app/control-api";
import type { RespondFromInput, RespondInput } from "../app/respond-api";
import type { Caller, SubmitInput } from "../app/session-api";
import { mayUseModel } from "../domain/key-restriction";
import { err, ok } from "../lib/result";
import { noteAct } from "./acts";
import { resolveApprovals } from "./calls/approval-calls";
import { compareBranches, editMessage, listBranches, listItems, regenerate, rewindFor, switchFor } from "./calls/branch-calls";
import { leaseFor, recordFor } from "./calls/compaction-calls";
import { compareFor } from "./calls/compare-call";
import { showContext } from "./calls/context-call";
import { diffContexts } from "./calls/context-diff";
import { compactSession, resetFor, revertFor } from "./calls/control-calls";
import { commitFor, discardFor, editFor, showWithPreview } from "./calls/draft-calls";
import { readEnd } from "./calls/end-call";
import { listExecutions } from "./calls/execution-calls";
import { exportLines } from "./calls/export-calls";
import { beginFork, completeFork, copyIntoFork, findFork, forkHead, forkPage } from "./calls/fork-calls";
import { importMessages } from "./calls/import-calls";
import { archiveSession, exportLog, openSession, patchSession } from "./calls/lifecycle-calls";
import { cancelQueued, retryTurn, stopTurn, submitMessage } from "./calls/message-calls";
import { showMessage } from "./calls/message-pages";
import { readNamed } from "./calls/named-calls";
import { forgetFormer, listFormer } from "./calls/owner-calls";
import { showPast } from "./calls/past-context";
import { setPins } from "./calls/pin-calls";
import { showPins } from "./calls/pin-views";
import { describeSession, listCalls, listCompactions, listEvents, settingsEtag } from "./calls/read-calls";
import { recallFromRecord } from "./calls/recall-call";
import { redactMessage } from "./calls/redact-call";
import { readRegenerated, readRetried } from "./calls/repeated-turn";
import { respond, respondFrom } from "./calls/respond-call";
import { dropRestore, finishRestore, forgetStaged, stageRestore } from "./calls/restore-calls";
import { retainSession } from "./calls/retention-calls";
import { listSchedules, removeSchedule, setSchedule } from "./calls/schedule-calls";
import { addStream, followTurn, openSessionStream } from "./calls/stream-calls";
import { submitToolResults } from "./calls/tool-result-calls";
import { awaitTurn, listTurns, reportTurn } from "./calls/turn-report";
import { askedWith } from "./calls/turn-settings";
import { readNotes, showStart } from "./calls/turn-start";
import { discard, eraseObject } from "./erasure";
import { keepOwnChat, type OwnChat } from "./log/chat-mark";
import type { SessionRuntime } from "./runtime";
import {
  acting,
  ask,
  begin,
  bring,
  goOn,
  isCallers,
  isReached,
  keyed,
  read,
  refuseModel,
  type ServedCalls,
  unlessFull,
  write,
} from "./serve";

/** Opens the session. A client that lost the first answer opens it again, and as for every call the alarm is then set again. */
async function open(...[runtime, caller, input]: Parameters<ServedCalls<WholeSessionApi>["open"]>): ReturnType<WholeSessionApi["open"]> {
  if (!mayUseModel(caller.restriction, input.model)) return err({ code: "unknown_model", model: input.model });
  if (caller.isFull) return err({ code: "storage_full" });
  if (runtime.exists) runtime.syncAlarm();
  // A restoration that was cut off behind its entry in the directory gives way to the session that the entry now names.
  else await forgetStaged(runtime);
  const opened = await openSession(runtime, caller, input);
  if (input.chat) joinChat(runtime, caller, input.chat);
  return opened;
}

/** Also where the session was open before. A life that ends before this leaves a chat that knows no session yet, and opens it again. */
function joinChat(runtime: SessionRuntime, caller: Caller, chat: OwnChat): void {
  if (runtime.state.lifecycle === "open" && isCallers(runtime, caller)) keepOwnChat(runtime.deps.sql, chat);
}

const respondHere = begin(async (runtime, input: RespondInput) => addStream(runtime, input, await respond(runtime, input)));

async function openAndRespond(...[runtime, caller, input]: Parameters<ServedCalls<WholeSessionApi>["openAndRespond"]>) {
  const opened = await open(runtime, caller, input.open);
  if (!opened.ok) return opened;
  const responded = await respondHere(runtime, caller, input.respond);
  if (!responded.ok && runtime.state.settings.throwaway) discard(runtime, caller);
  return responded;
}

/**
 * Erases the session. A repeated erasure returns the receipt with present figures: a condition is for a session that still has settings.
 * An erasure that was cut off may have left no owner in the object: then the tenant's note of it is enough.
 */
async function erase(...[runtime, caller, isNoted, condition]: Parameters<ServedCalls<WholeSessionApi>["erase"]>) {
  if (runtime.state.lifecycle === "new" && isNoted) return eraseObject(runtime, caller);
  if (!isCallers(runtime, caller) || !isReached(runtime, caller)) return err({ code: "session_not_found" } as const);
  // Nothing is awaited from here to the tombstone, so that no change comes in between.
  const unmet = runtime.state.lifecycle === "open" ? refuseUnmet(condition, settingsEtag(runtime.state)) : null;
  const note = caller.act && noteAct(runtime, { ...caller, act: caller.act }, "erasure.requested");
  return unmet ?? unlessFull(() => eraseObject(runtime, caller, { note }));
}

/** Nothing is awaited from the judgement to the tombstone, so that no message comes in between. */
async function retain(...[runtime, caller, input]: Parameters<ServedCalls<WholeSessionApi>["retain"]>) {
  if (!isCallers(runtime, caller)) return err({ code: "session_not_found" } as const);
  runtime.syncAlarm();
  if (runtime.state.lifecycle === "erased") return err({ code: "session_erased" } as const);
  return unlessFull(() => retainSession(runtime, input, () => eraseObject(runtime, caller, { cause: "retention" })));
}

export const sessionCalls = {
  open,
  describe: read(describeSession),
  patch: async (runtime, caller, input, condition) =>
    refuseModel(runtime, caller, { ...input, run: false }) ??
    acting("session.settings_changed", patchSession)(runtime, caller, input, condition),
  archive: acting("session.archived", (session) => archiveSession(session, "ArchiveSession")),
  unarchive: acting("session.unarchived", (session) => archiveSession(session, "UnarchiveSession")),
  erase,
  retain,

  submit: begin((runtime, input: SubmitInput) => submitMessage(runtime, input)),
  respond: respondHere,
  respondFrom: begin(async (runtime, input: RespondFromInput) => addStream(runtime, input, await respondFrom(runtime, input))),
  openAndRespond,
  importMessages: bring(importMessages),
  cancelQueued: write(cancelQueued),
  toolResults: goOn(submitToolResults),
  approvals: goOn(resolveApprovals),
  stop: write(stopTurn),
  retry: begin(retryTurn, readRetried),

  waitForTurn: read(awaitTurn),
  turn: read(reportTurn),
  turns: read((runtime, page) => ok(listTurns(runtime, page))),
  stream: read(openSessionStream),
  follow: read(followTurn),
  items: read(listItems),
  conversationEnd: read(readEnd),
  message: read(showMessage),
  named: read(readNamed),
  executions: read((runtime, page) => ok(listExecutions(runtime, page))),
  events: read((runtime, page) => ok(listEvents(runtime, page))),
  compactions: read((runtime, page) => ok(listCompactions(runtime, page))),
  usage: read((runtime, page) => ok(listCalls(runtime, page))),
  compaction: read(showWithPreview),
  context: read((runtime, { content }) => showContext(runtime, content)),
  contextAt: read(showPast),
  contextDiff: read(diffContexts),
  askedWith: read(askedWith),
  notes: read((runtime, input) => ok(readNotes(runtime, input))),
  contextAtStart: read(showStart),
  recall: read(recallFromRecord),
  exportLog: read(exportLog),
  exportLines: read(exportLines),
  stageRestore: (runtime, caller, input) => unlessFull(() => stageRestore(runtime, caller, input)),
  finishRestore: (runtime, caller, input) => unlessFull(() => finishRestore(runtime, caller, input)),
  dropRestore: async (runtime) => dropRestore(runtime),

  compact: keyed(acting("compaction.requested", compactSession)),
  revertCompaction: acting("compaction.reverted", revertFor),
  resetSummary: acting("summary.reset", resetFor),
  pins: read((runtime) => ok(showPins(runtime))),
  setPins: acting("pins.set", setPins),
  schedules: read((runtime) => ok(listSchedules(runtime))),
  setSchedule: async (runtime, caller, input, condition) =>
    refuseModel(runtime, caller, {}) ??
    acting("schedule.set", setSchedule)(runtime, caller, { ...input, ...(caller.key && { key: caller.key }) }, condition),
  removeSchedule: acting("schedule.removed", removeSchedule),
  editDraft: acting("draft.edited", editFor),
  commitDraft: acting("draft.committed", commitFor),
  discardDraft: acting("draft.discarded", discardFor),
  compareSummaries: ask(compareFor),
  leaseCompaction: write(leaseFor),
  holdsLease: read(async (runtime, lease) => {
    const isPaid = await runtime.wallet.isPaid({ purpose: "compaction", reservation: lease.reservation });
    return ok(isPaid && isCurrentLease(lease, runtime.state));
  }),
  recordCompaction: write(recordFor),

  branches: read((runtime) => ok(listBranches(runtime))),
  rewind: acting("session.rewound", rewindFor),
  switchBranch: write(switchFor),
  compareBranches: read(compareBranches),
  editMessage: begin(editMessage),
  regenerate: begin(regenerate, readRegenerated),
  redact: acting("message.redacted", redactMessage),
  formerEndUsers: read(listFormer),
  forgetEndUsers: read(forgetFormer),

  forkHead: read(forkHead),
  forkPage: read((runtime, place) => ok(forkPage(runtime, place))),
  findFork: async (runtime, caller, input) => findFork(runtime, caller, input),
  beginFork: async (runtime, caller, input) => beginFork(runtime, caller, input),
  copyIntoFork: write(copyIntoFork),
  completeFork: write(completeFork),
} satisfies ServedCalls<WholeSessionApi>;
