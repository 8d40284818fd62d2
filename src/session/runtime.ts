/**
 * One session in memory: the store, its live stream, its jobs and the running turn. It uses nothing of Cloudflare: the
 * object brings the world as ports, and so do tests.
 */

import { releaseDeadLease } from "../app/compaction/release-lease";
import { withNames } from "../app/named-log";
import { buildItem } from "../app/request/build-items";
import type { ReplyCaps } from "../app/session-ports";
import { buildLostRuns } from "../app/tools/run-tools";
import { type AfterTurnPorts, afterTurn } from "../app/turn/after-turn";
import type { StoredEvent } from "../domain/events";
import { isRunning, type SessionState } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { isStorageFull } from "../lib/sync-sql";
import { Announcer } from "./announcer";
import { boundPorts } from "./bounded-ports";
import { type ContentReader, createContent } from "./content";
import { createDrain, type Drain } from "./drain";
import { noteRuns } from "./follow-in-chat";
import { KnownModel } from "./known-model";
import { SessionLimits } from "./limits";
import { noteCall, readCallNote } from "./log/call-note";
import { DeferredResultTable } from "./log/deferred-results";
import { createJobs, type Jobs } from "./log/jobs";
import { type NoteEvents, SessionStore, type Step } from "./log/store";
import { changeTurn, readTurn, toSpent } from "./log/turn-rows";
import { Progress } from "./progress";
import { recallFor, toRecallPorts } from "./recall/recall";
import type { RuntimeDeps } from "./runtime-deps";
import type { Session } from "./session";
import { createSignal, type Signal } from "./signal";
import { readPartial } from "./stream/partial";
import { StreamBuffer } from "./stream/stream-buffer";
import { toFrames } from "./stream/to-frames";
import { tenantTools } from "./tenant-tools";
import { Titler } from "./titler";
import { createTurnRequests, type TurnRequests } from "./turn-requests";
import { TurnRunner } from "./turn-runner";
import { Wallet } from "./wallet/wallet";
import { armJobs, asksForWorker, isOfTools, sendWakeUp } from "./watch";

/** A turn fails when so many lives of the object in a row ended without progress: then it is likely the turn that ends them. */
const STALL_LIMIT = 3;

export class SessionRuntime implements Session {
  readonly buffer: StreamBuffer;
  readonly jobs: Jobs;
  readonly content: ContentReader;
  readonly knownModel: KnownModel;
  readonly progress: Progress;
  readonly drain: Drain;
  readonly titler: Titler;
  readonly runner: TurnRunner;
  readonly wallet: Wallet;
  readonly announcer: Announcer;
  readonly deferred: DeferredResultTable;
  readonly requests: TurnRequests = createTurnRequests();
  readonly limits: SessionLimits;
  readonly #store: SessionStore;
  readonly #replyCaps: ReplyCaps = new Map();
  /** Given when a worker's result is deferred, or the worker failed. */
  readonly #settled: Signal;
  #awake = false;
  #advancing = false;
  #between: Promise<void> | null = null;
  #alarmAt: number | null = null;

  readonly deps: RuntimeDeps;

  constructor(deps: RuntimeDeps) {
    this.deps = boundPorts({ ...deps, log: withNames(deps.log, () => this.#names()) });
    const { sql, clock, schedule, log, models, keptPacks } = this.deps;
    this.buffer = new StreamBuffer({ sql, now: clock, schedule, log, ...(keptPacks !== undefined && { keptPacks }) });
    this.progress = new Progress(schedule, this.buffer);
    this.#settled = createSignal(schedule);
    this.deferred = new DeferredResultTable(sql, this.#settled);
    this.jobs = createJobs(sql);
    this.#store = new SessionStore(sql, {
      onAppend: (events, states) => {
        armJobs({ jobs: this.jobs, state: states.after }, events, clock());
        this.wallet.settle(events);
        this.announcer.note(events, states);
        noteRuns(this, events);
      },
      onCommit: (events, states) => this.#committed(events, states),
    });
    this.content = createContent(sql, () => this.state);
    this.knownModel = new KnownModel({ sql, log, models, state: () => this.state });
    this.drain = createDrain(this);
    this.titler = new Titler(this);
    this.runner = new TurnRunner(this);
    this.limits = new SessionLimits(this);
    this.wallet = new Wallet(this);
    this.announcer = new Announcer(this);
  }

  #names(): Readonly<Record<string, string>> {
    const { tenant, session } = this.state;
    return { ...(tenant && { tenant_id: tenant }), ...(session && { session }) };
  }

  get state(): SessionState {
    return this.#store.state;
  }

  /** True when a session was ever opened here. */
  get exists(): boolean {
    return this.state.seq > 0;
  }

  execute(...[command, bodies = [], note]: Parameters<SessionStore["execute"]>): ReturnType<SessionStore["execute"]> {
    // A refused command leaves the memory as it is: a reply that comes too late has the id of the partial one that was recorded.
    return this.#store.execute(command, bodies, (events) => {
      this.content.learn(bodies);
      note?.(events);
    });
  }

  transact<T>(work: (step: Step) => T, note?: NoteEvents): T {
    return this.#store.transact(work, note);
  }

  /** Loads the state of a long log before the first call. A failure is left to that call, which meets it again and reports it. */
  async load(): Promise<void> {
    await this.#store.load().catch(() => {});
  }

  /** Forgets everything in memory after the database was emptied. The alarm is gone with it. */
  forget(): void {
    this.#store.forget();
    this.content.forget();
    this.buffer.forget();
    this.knownModel.forget();
    this.alarmRang();
  }

  /** Recovers what an earlier incarnation left open, before any other work. When it throws, the next call tries again. */
  wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    try {
      releaseDeadLease(this.deps.incarnation, { writer: this, clock: this.deps.clock });
      this.#recover();
      this.titler.recover();
      this.wallet.recover();
    } catch (error) {
      this.#awake = false;
      this.progress.haltIfFull(error);
      throw error;
    }
    this.limits.settle();
    this.advanceSoon();
  }

  /** Recovers if it can. When the disk is full, stored data can still be read. */
  wakeIfPossible(): void {
    try {
      this.wake();
    } catch (error) {
      if (!isStorageFull(error)) throw error;
      this.deps.log.error("not_recovered", { error: toErrorName(error) });
    }
  }

  #recover(): void {
    const { turn } = this.state;
    const { sql, clock, ids, incarnation } = this.deps;
    if (!turn || !isRunning(turn) || turn.incarnation === incarnation) return;
    const at = clock();
    const said = turn.phase === "generating" ? readPartial(sql, turn.id) : null;
    const lost = buildLostRuns(this.ports());
    const partial = said ? buildItem({ ...said, kind: "assistant", turn: turn.id, at }, ids) : null;
    const cut = { partial: partial?.draft ?? null, call: readCallNote(sql, turn), lost: lost.lost };
    const command = { type: "RecoverTurn", at, incarnation, stallLimit: STALL_LIMIT, ...cut } as const;
    this.execute(command, [...(partial ? [partial.body] : []), ...lost.bodies]);
  }

  ports(): AfterTurnPorts {
    const { deps } = this;
    return {
      writer: this,
      content: this.content,
      showDelta: ({ turn, message, kind, text }) =>
        this.buffer.publishDelta({ type: `${kind}.delta`, turn_id: turn, message_id: message, text }),
      showWaiting: (turn, waiting) => this.buffer.publish({ type: "turn.waiting", turn_id: turn, ...waiting }),
      model: deps.model,
      models: this.knownModel,
      tools: tenantTools(this),
      recall: (query) => recallFor(query, toRecallPorts(this)),
      clock: deps.clock,
      ids: deps.ids,
      schedule: deps.schedule,
      deadlines: deps.deadlines,
      random: deps.random,
      replyCaps: this.#replyCaps,
      lessons: this.knownModel.lessons,
      digest: deps.digest,
      log: deps.log,
      storageIsFull: () => deps.sql.isFull(),
      incarnation: deps.incarnation,
      noteCall: (call) => {
        if (this.state.turn) noteCall(deps.sql, this.state.turn, call);
      },
      noteExcerpt: (turn, excerpt) => changeTurn(deps.sql, turn, { excerpt }),
      held: this.deferred,
      budgets: this.wallet,
      wakeCompaction: () => this.wakeCompaction(),
    };
  }

  /** Runs work that the session can do without. A failure is only logged. */
  #attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.deps.log.error(what, { error: toErrorName(error) });
    }
  }

  wakeCompaction(): void {
    sendWakeUp(this, this.deps);
    this.syncAlarm();
  }

  /** Sets the alarm to the earliest job; one that rings early finds nothing due. `notBefore` delays it when a due job has just failed. */
  syncAlarm(notBefore = 0): void {
    const due = this.jobs.nextDue();
    if (due === null || (this.#alarmAt !== null && this.#alarmAt <= due)) return;
    this.#alarmAt = Math.max(due, notBefore);
    this.deps.setAlarm(this.#alarmAt);
  }

  alarmRang(): void {
    this.#alarmAt = null;
  }

  /** Reacts to a commit. The events stay committed: when a reaction fails, the session goes on. */
  #committed(events: readonly StoredEvent[], states: { readonly before: SessionState; readonly after: SessionState }): void {
    this.progress.resume();
    this.requests.note(events);
    this.limits.settle();
    this.#attempt("commit_not_told", () => this.#tell(events, states));
    if (asksForWorker(events, states)) this.#attempt("worker_not_woken", () => this.wakeCompaction());
    if (events.some((event) => event.type === "CompactionFailed")) this.#settled.give();
    if (isOfTools(events)) this.drain.startInTurn();
    this.#attempt("budget_not_returned", () => this.wallet.returnIfTight(events));
    this.#attempt("announcer_not_started", () => this.announcer.committed());
    this.syncAlarm();
    this.advanceSoon();
    this.progress.committed();
  }

  #tell(events: readonly StoredEvent[], states: { readonly before: SessionState; readonly after: SessionState }): void {
    const { display, readShown } = this.content;
    const spent = (turn: Parameters<typeof readTurn>[1]) => toSpent(readTurn(this.deps.sql, turn));
    const context = () => this.knownModel.countContext(this.state);
    const frames = toFrames(events, { ...states, display, readShown, spent, context });
    if (frames.length > 0) this.buffer.publish(...frames);
    else this.buffer.nudge();
  }

  /** Starts what the state needs next, once the present work is done. */
  advanceSoon(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    queueMicrotask(() => {
      this.#advancing = false;
      this.#attempt("advance_threw", () => this.#advance());
    });
  }

  /** Starts what the state needs next: runs the turn, or does the work between turns. */
  #advance(): void {
    const { turn, lifecycle } = this.state;
    if (lifecycle !== "open") return;
    this.titler.startIfWanted();
    if (turn && isRunning(turn) && turn.incarnation === this.deps.incarnation) return this.runner.run(turn);
    if (turn) return this.drain.startSoon();
    if (this.#between) return;
    this.#between = afterTurn(this.ports())
      .catch((error: unknown) => {
        this.deps.log.error("after_turn_threw", { error: toErrorName(error) });
        this.progress.haltIfFull(error);
      })
      .finally(() => {
        this.#between = null;
        if (!this.state.turn) this.drain.startSoon();
        this.#attempt("frames_not_pruned", () => this.buffer.prune());
      });
    this.deps.background(this.#between);
  }
}
