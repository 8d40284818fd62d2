/**
 * What may be asked of a session (`SessionApi`), over its runtime. Every call first compares the caller's tenant with
 * the session's own: a foreign session does not exist.
 */

import type { BranchApi } from "../app/branch-api";
import type { ControlApi, WholeSessionApi } from "../app/control-api";
import type { CompactionView } from "../app/control-views";
import type { DraftApi } from "../app/draft-api";
import type { ForkPage, ForkPlace } from "../app/fork-parts";
import type { PastApi } from "../app/past-api";
import type { RecallInput, RecallReport } from "../app/recall-views";
import type * as api from "../app/session-api";
import type * as views from "../app/session-views";
import type { CompactionId, ItemId, TurnId } from "../domain/ids";
import { err, ok } from "../lib/result";
import { resolveApprovals } from "./calls/approval-calls";
import { compareBranches, editMessage, listBranches, listItems, regenerate, rewindFor, switchFor } from "./calls/branch-calls";
import { leaseFor, recordFor } from "./calls/compaction-calls";
import { compareFor } from "./calls/compare-call";
import { showContext } from "./calls/context-call";
import { diffContexts } from "./calls/context-diff";
import { compactSession, resetFor, revertFor, setPins } from "./calls/control-calls";
import { commitFor, discardFor, editFor, showWithPreview } from "./calls/draft-calls";
import { listExecutions } from "./calls/execution-calls";
import { beginFork, completeFork, copyIntoFork, findFork, forkHead, forkPage } from "./calls/fork-calls";
import { eraseSession, exportLog, openSession, patchSession } from "./calls/lifecycle-calls";
import { cancelQueued, retryTurn, stopTurn, submitMessage, submitToolResults } from "./calls/message-calls";
import { showPast } from "./calls/past-context";
import { describeSession, listCompactions, listEvents } from "./calls/read-calls";
import { recallFromRecord } from "./calls/recall-call";
import { redactMessage } from "./calls/redact-call";
import { openEventStream, openFrameStream } from "./calls/stream-calls";
import { awaitTurn, reportTurn } from "./calls/turn-report";
import { listCalls } from "./calls/usage-calls";
import { isStorageFull } from "./log/sql";
import type { SessionRuntime } from "./runtime";

type InputOf<M extends keyof BranchApi> = Parameters<BranchApi[M]>[1];

/** A full disk is an expected failure: what could not be written is not there. */
async function unlessFull<T>(work: () => api.Outcome<T> | Promise<api.Outcome<T>>): Promise<api.Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (isStorageFull(error)) return err({ code: "storage_full" });
    throw error;
  }
}

export class SessionService implements WholeSessionApi {
  readonly runtime: SessionRuntime;

  constructor(runtime: SessionRuntime) {
    this.runtime = runtime;
  }

  /** The caller's own, open session; else why not. */
  #enter(caller: api.Caller): api.Outcome<SessionRuntime> {
    const { runtime } = this;
    const { lifecycle, tenant, session } = runtime.state;
    if (lifecycle === "new" || tenant !== caller.tenant || session !== caller.session) return err({ code: "session_not_found" });
    // Should the platform have dropped the alarm, what is due has one again from here on; also what an erased session still owes.
    runtime.syncAlarm();
    return lifecycle === "erased" ? err({ code: "session_erased" }) : ok(runtime);
  }

  /** What changes the session: an earlier life's turn is recovered first. */
  async #in<T>(caller: api.Caller, call: (runtime: SessionRuntime) => api.Outcome<T> | Promise<api.Outcome<T>>): Promise<api.Outcome<T>> {
    const entered = this.#enter(caller);
    if (!entered.ok) return entered;
    return unlessFull(() => {
      entered.value.wake();
      return this.#unlessErased(call(entered.value));
    });
  }

  /** What only reads goes on over a full disk, on which nothing can be recovered. */
  async #read<T>(caller: api.Caller, call: (runtime: SessionRuntime) => api.Outcome<T> | Promise<api.Outcome<T>>): Promise<api.Outcome<T>> {
    const entered = this.#enter(caller);
    if (!entered.ok) return entered;
    entered.value.wakeIfPossible();
    return unlessFull(() => this.#unlessErased(call(entered.value)));
  }

  /** Erased while the caller waited: what the call found is gone, and what it missed was not the client's mistake. */
  async #unlessErased<T>(called: api.Outcome<T> | Promise<api.Outcome<T>>): Promise<api.Outcome<T>> {
    const outcome = await called;
    return this.runtime.state.lifecycle === "erased" ? err({ code: "session_erased" }) : outcome;
  }

  open = (caller: api.Caller, input: api.OpenInput): Promise<api.Outcome<views.SessionDescription>> =>
    openSession(this.runtime, caller, input);
  describe = (caller: api.Caller): Promise<api.Outcome<views.SessionDescription>> => this.#read(caller, describeSession);
  patch = (caller: api.Caller, input: api.PatchInput): Promise<api.Outcome<views.SessionDescription>> =>
    this.#in(caller, (runtime) => patchSession(runtime, input));
  /** Erasing again gives the same receipt, brought up to date. An erasure that was cut off may have left nothing that says whose session it was. */
  async erase(caller: api.Caller, isNoted = false): Promise<api.Outcome<views.ErasureReceipt>> {
    const { lifecycle, tenant, session } = this.runtime.state;
    if (lifecycle === "new" && isNoted) return eraseSession(this.runtime, caller);
    if (lifecycle === "new" || tenant !== caller.tenant || session !== caller.session) return err({ code: "session_not_found" });
    return unlessFull(() => eraseSession(this.runtime, caller));
  }

  submit = (caller: api.Caller, input: api.SubmitInput): Promise<api.Outcome<views.Accepted>> =>
    this.#in(caller, (runtime) => submitMessage(runtime, input));
  cancelQueued = (caller: api.Caller, message: ItemId): Promise<api.Outcome<null>> =>
    this.#in(caller, (runtime) => cancelQueued(runtime, message));
  toolResults = (caller: api.Caller, input: Parameters<api.SessionApi["toolResults"]>[1]): Promise<api.Outcome<views.Accepted>> =>
    this.#in(caller, (runtime) => submitToolResults(runtime, input));
  approvals = (caller: api.Caller, input: Parameters<api.SessionApi["approvals"]>[1]): Promise<api.Outcome<views.Accepted>> =>
    this.#in(caller, (runtime) => resolveApprovals(runtime, input));
  stop = (caller: api.Caller, input: Parameters<api.SessionApi["stop"]>[1]): ReturnType<api.SessionApi["stop"]> =>
    this.#in(caller, (runtime) => stopTurn(runtime, input));
  retry = (caller: api.Caller, input: Parameters<api.SessionApi["retry"]>[1]): Promise<api.Outcome<views.Accepted>> =>
    this.#in(caller, (runtime) => retryTurn(runtime, input));

  waitForTurn = (caller: api.Caller, turn: TurnId): Promise<api.Outcome<views.TurnReport>> =>
    this.#read(caller, (runtime) => awaitTurn(runtime, turn));
  turn = (caller: api.Caller, turn: TurnId): Promise<api.Outcome<views.TurnReport>> =>
    this.#read(caller, (runtime) => reportTurn(runtime, turn));
  stream = (caller: api.Caller, input: api.StreamInput): Promise<api.Outcome<ReadableStream<Uint8Array>>> =>
    this.#read(caller, (runtime) => ok(input.of === "events" ? openEventStream(runtime, input) : openFrameStream(runtime, input)));

  items = (caller: api.Caller, page: Parameters<api.SessionApi["items"]>[1]): ReturnType<api.SessionApi["items"]> =>
    this.#read(caller, (runtime) => listItems(runtime, page));
  branches = (caller: api.Caller): ReturnType<BranchApi["branches"]> => this.#read(caller, (runtime) => ok(listBranches(runtime)));
  rewind = (caller: api.Caller, input: InputOf<"rewind">): ReturnType<BranchApi["rewind"]> =>
    this.#in(caller, (runtime) => rewindFor(runtime, input));
  switchBranch = (caller: api.Caller, input: InputOf<"switchBranch">): ReturnType<BranchApi["switchBranch"]> =>
    this.#in(caller, (runtime) => switchFor(runtime, input));
  compareBranches = (caller: api.Caller, input: InputOf<"compareBranches">): ReturnType<BranchApi["compareBranches"]> =>
    this.#read(caller, (runtime) => compareBranches(runtime, input));
  editMessage = (caller: api.Caller, input: InputOf<"editMessage">): Promise<api.Outcome<views.Accepted>> =>
    this.#in(caller, (runtime) => editMessage(runtime, input));
  regenerate = (caller: api.Caller, input: InputOf<"regenerate">): Promise<api.Outcome<views.Accepted>> =>
    this.#in(caller, (runtime) => regenerate(runtime, input));
  redact = (caller: api.Caller, message: ItemId): ReturnType<BranchApi["redact"]> =>
    this.#in(caller, (runtime) => redactMessage(runtime, message));

  forkHead = (caller: api.Caller, at: number | null): ReturnType<BranchApi["forkHead"]> =>
    this.#read(caller, (runtime) => forkHead(runtime, at));
  forkPage = (caller: api.Caller, place: ForkPlace): ReturnType<BranchApi["forkPage"]> =>
    this.#read(caller, (runtime) => ok(forkPage(runtime, place)));
  findFork = async (caller: api.Caller, input: InputOf<"findFork">): ReturnType<BranchApi["findFork"]> =>
    findFork(this.runtime, caller, input);
  beginFork = async (caller: api.Caller, input: InputOf<"beginFork">): ReturnType<BranchApi["beginFork"]> =>
    beginFork(this.runtime, caller, input);
  copyIntoFork = (caller: api.Caller, page: ForkPage): ReturnType<BranchApi["copyIntoFork"]> =>
    this.#in(caller, (runtime) => copyIntoFork(runtime, page));
  completeFork = (caller: api.Caller): Promise<api.Outcome<views.SessionDescription>> => this.#in(caller, completeFork);
  executions = (caller: api.Caller, page: api.PageInput): ReturnType<api.SessionApi["executions"]> =>
    this.#read(caller, (runtime) => ok(listExecutions(runtime, page)));
  events = (caller: api.Caller, page: api.PageInput): ReturnType<api.SessionApi["events"]> =>
    this.#read(caller, (runtime) => ok(listEvents(runtime, page)));
  compactions = (caller: api.Caller, page: api.PageInput): Promise<api.Outcome<views.Page<CompactionView>>> =>
    this.#read(caller, (runtime) => ok(listCompactions(runtime, page)));
  usage = (caller: api.Caller, page: api.PageInput): ReturnType<api.SessionApi["usage"]> =>
    this.#read(caller, (runtime) => ok(listCalls(runtime, page)));
  compaction = (caller: api.Caller, id: CompactionId): Promise<api.Outcome<CompactionView>> =>
    this.#read(caller, (runtime) => showWithPreview(runtime, id));
  context = (caller: api.Caller, input: Parameters<api.SessionApi["context"]>[1]): Promise<api.Outcome<views.ContextReport>> =>
    this.#read(caller, (runtime) => showContext(runtime, input.content));

  contextAt = (caller: api.Caller, input: Parameters<PastApi["contextAt"]>[1]): ReturnType<PastApi["contextAt"]> =>
    this.#read(caller, (runtime) => showPast(runtime, input));
  contextDiff = (caller: api.Caller, input: Parameters<PastApi["contextDiff"]>[1]): ReturnType<PastApi["contextDiff"]> =>
    this.#read(caller, (runtime) => diffContexts(runtime, input));

  recall = (caller: api.Caller, input: RecallInput): Promise<api.Outcome<RecallReport>> =>
    this.#read(caller, (runtime) => recallFromRecord(runtime, input));

  compact = (caller: api.Caller, input: Parameters<ControlApi["compact"]>[1]): ReturnType<ControlApi["compact"]> =>
    this.#in(caller, (runtime) => compactSession(runtime, input));
  revertCompaction = (
    caller: api.Caller,
    input: Parameters<ControlApi["revertCompaction"]>[1],
  ): ReturnType<ControlApi["revertCompaction"]> => this.#in(caller, (runtime) => revertFor(runtime, input));
  resetSummary = (caller: api.Caller): ReturnType<ControlApi["resetSummary"]> => this.#in(caller, resetFor);
  setPins = (caller: api.Caller, pins: readonly string[]): ReturnType<ControlApi["setPins"]> =>
    this.#in(caller, (runtime) => setPins(runtime, pins));

  editDraft = (caller: api.Caller, edit: Parameters<DraftApi["editDraft"]>[1]): ReturnType<DraftApi["editDraft"]> =>
    this.#in(caller, (runtime) => editFor(runtime, edit));
  commitDraft = (caller: api.Caller, input: Parameters<DraftApi["commitDraft"]>[1]): ReturnType<DraftApi["commitDraft"]> =>
    this.#in(caller, (runtime) => commitFor(runtime, input));
  discardDraft = (caller: api.Caller, id: CompactionId): ReturnType<DraftApi["discardDraft"]> =>
    this.#in(caller, (runtime) => discardFor(runtime, id));

  compareSummaries = (caller: api.Caller, input: Parameters<DraftApi["compareSummaries"]>[1]): ReturnType<DraftApi["compareSummaries"]> =>
    this.#in(caller, (runtime) => compareFor(runtime, input));

  leaseCompaction = (caller: api.Caller, compaction: CompactionId): Promise<api.Outcome<api.LeaseOutcome>> =>
    this.#in(caller, (runtime) => leaseFor(runtime, compaction));
  recordCompaction = (
    caller: api.Caller,
    input: Parameters<api.SessionApi["recordCompaction"]>[1],
  ): ReturnType<api.SessionApi["recordCompaction"]> => this.#in(caller, (runtime) => recordFor(runtime, input));

  exportLog = (caller: api.Caller, input: Parameters<api.SessionApi["exportLog"]>[1]): Promise<api.Outcome<views.LogPage>> =>
    this.#read(caller, (runtime) => ok(exportLog(runtime, input)));
}
