/**
 * One session in memory: the store, its live stream, its jobs and the running turn. It uses nothing of Cloudflare: the
 * object brings the world as ports, and so do tests.
 */

import { releaseDeadLease } from "../app/compaction/release-lease";
import { withNames } from "../app/named-log";
import type { ModelDirectory, ModelSpec } from "../app/ports";
import { buildItem } from "../app/request/build-items";
import type { CompactionResult } from "../app/session-api";
import type { BodyText, ReplyCaps } from "../app/session-ports";
import { buildLostRuns } from "../app/tools/run-tools";
import { type AfterTurnPorts, afterTurn } from "../app/turn/after-turn";
import { measuredFor } from "../context/start-ratio";
import type { StoredEvent } from "../domain/events";
import { isRunning, type SessionState } from "../domain/state";
import { type ContentReader, createContent } from "./content";
import { createDrain, type Drain } from "./drain";
import { noteCall, readCallNote } from "./log/call-note";
import { deferResult, takeDeferredResults } from "./log/deferred-results";
import { createJobs, type Jobs } from "./log/jobs";
import { readTurn, toSpent } from "./log/log-tables";
import { isStorageFull } from "./log/sql";
import { SessionStore } from "./log/store";
import { type RecallPorts, recallFor } from "./recall/recall";
import type { RuntimeDeps } from "./runtime-deps";
import { createSignal, type Signal } from "./signal";
import type { ContextNumbers } from "./stream/frames";
import { readPartial } from "./stream/partial";
import { createStreamBuffer, type StreamBuffer } from "./stream/stream-buffer";
import { toFrames } from "./stream/to-frames";
import { tenantTools } from "./tenant-tools";
import { Titler } from "./titler";
import { TurnRunner } from "./turn-runner";
import { armJobs, asksForWorker, isOfTools, sendWakeUp } from "./watch";
import { WindowNote } from "./window-note";

/** The number of times that a turn is tried when it crashes its object. */
const TURN_ATTEMPTS = 3;

export class SessionRuntime {
  readonly store: SessionStore;
  readonly buffer: StreamBuffer;
  readonly jobs: Jobs;
  readonly content: ContentReader;
  readonly drain: Drain;
  readonly titler: Titler;
  readonly window: WindowNote;
  readonly runner: TurnRunner;
  /** The model as last resolved, for figures that need no fresh look-up. */
  spec: ModelSpec | null = null;
  readonly replyCaps: ReplyCaps = new Map();
  #awake = false;
  #advancing = false;
  #between: Promise<void> | null = null;
  #alarmAt: number | null = null;
  #halted = false;
  /** Given after each commit, for callers that wait for an outcome and not for its text. */
  readonly commits: Signal;
  /** Given when a worker's outcome is held, or the worker failed. */
  readonly #settled: Signal;

  readonly deps: RuntimeDeps;

  constructor(deps: RuntimeDeps) {
    this.deps = { ...deps, log: withNames(deps.log, () => this.#names()) };
    const { sql, clock, schedule, log, keptPacks } = this.deps;
    this.buffer = createStreamBuffer({ sql, now: clock, schedule, log, ...(keptPacks !== undefined && { keptPacks }) });
    this.commits = createSignal(schedule);
    this.#settled = createSignal(schedule);
    this.jobs = createJobs(sql);
    this.store = new SessionStore(sql, {
      onAppend: (events, state) => armJobs({ jobs: this.jobs, state }, events, clock()),
      onCommit: (events, states) => this.#committed(events, states),
    });
    this.content = createContent(sql, () => this.store.state);
    this.drain = createDrain(this);
    this.titler = new Titler(this);
    this.window = new WindowNote(sql);
    this.runner = new TurnRunner(this);
  }

  #names(): Readonly<Record<string, string>> {
    const { tenant, session } = this.store.state;
    return { ...(tenant && { tenant }), ...(session && { session }) };
  }

  /** The state as it is measured: with the registry's ratio where the session has learned none. */
  get state(): SessionState {
    return measuredFor(this.store.state, this.spec);
  }

  /** True when a session was ever opened here. */
  get exists(): boolean {
    return this.state.seq > 0;
  }

  /** True while work under way is halted, because there is no room for its next write. */
  get halted(): boolean {
    return this.#halted;
  }

  /** Halts work under way after a write failed on a full disk, and wakes waiting clients. The next commit ends the halt. */
  halt(error: unknown): void {
    if (!isStorageFull(error)) return;
    this.#halted = true;
    this.commits.give();
    this.buffer.nudge();
  }

  /** Recovers what an earlier incarnation left open, before any other work. When it throws, the next call tries again. */
  wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    try {
      releaseDeadLease(this.deps.incarnation, { writer: this.#writer, clock: this.deps.clock });
      this.#recover();
      this.titler.recover();
    } catch (error) {
      this.#awake = false;
      this.halt(error);
      throw error;
    }
    this.advanceSoon();
  }

  /** Recovers if it can. When the disk is full, stored data can still be read. */
  wakeIfPossible(): void {
    try {
      this.wake();
    } catch (error) {
      if (!isStorageFull(error)) throw error;
      this.deps.log.error("not_recovered", { error: error instanceof Error ? error.name : "unknown" });
    }
  }

  #recover(): void {
    const { turn } = this.state;
    const { sql, clock, ids, incarnation } = this.deps;
    if (!turn || !isRunning(turn) || turn.incarnation === incarnation) return;
    const at = clock();
    const said = turn.phase === "generating" ? readPartial(sql, turn.id) : null;
    const lost = buildLostRuns(this.ports());
    const partial = said ? buildItem({ kind: "assistant", parts: said, turn: turn.id, at }, ids) : null;
    const cut = { partial: partial?.draft ?? null, call: readCallNote(sql, turn), lost: lost.lost };
    const command = { type: "RecoverTurn", at, incarnation, attemptLimit: TURN_ATTEMPTS, ...cut } as const;
    this.execute(command, [...(partial ? [partial.body] : []), ...lost.bodies]);
  }

  ports(): AfterTurnPorts {
    const { deps } = this;
    return {
      writer: this.#writer,
      content: this.content,
      output: {
        waiting: (turn, waiting) => this.buffer.publish({ type: "turn.waiting", turn_id: turn, ...waiting }),
        delta: (turn, kind, text) => this.buffer.publishDelta({ type: `${kind}.delta`, turn_id: turn, text }),
      },
      model: deps.model,
      models: this.#models,
      tools: tenantTools(this),
      recall: (query) => recallFor(query, this.recallPorts()),
      clock: deps.clock,
      ids: deps.ids,
      schedule: deps.schedule,
      deadlines: deps.deadlines,
      random: deps.random,
      replyCaps: this.replyCaps,
      digest: deps.digest,
      log: deps.log,
      storageIsFull: () => deps.sql.isFull(),
      incarnation: deps.incarnation,
      noteCall: (call) => {
        if (this.state.turn) noteCall(deps.sql, this.state.turn, call);
      },
      held: { take: (isWanted) => takeDeferredResults(deps.sql, isWanted), arrival: (ms) => this.#settled.next(ms) },
      wakeCompaction: () => this.wakeCompaction(),
    };
  }

  /** The ports of a look-up in the record. */
  recallPorts(): RecallPorts {
    const { sql, schedule } = this.deps;
    return { sql, schedule, content: this.content, state: () => this.state, window: this.window.findWindow(this.state.settings.model) };
  }

  readonly #writer = ((runtime: SessionRuntime) => ({
    get state() {
      return runtime.state;
    },
    execute: (command: Parameters<SessionStore["execute"]>[0], bodies: readonly BodyText[] = []) => runtime.execute(command, bodies),
  }))(this);

  readonly #models: ModelDirectory = {
    resolve: async (id) => {
      const { tenant } = this.state;
      const spec = tenant ? await this.deps.models(tenant).resolve(id) : null;
      if (spec && id === this.state.settings.model) this.#learn(spec);
      return spec;
    },
  };

  #learn(spec: ModelSpec): void {
    this.spec = spec;
    if (this.state.lifecycle === "open") this.#attempt("window_not_noted", () => this.window.learn(spec));
  }

  /** Runs work that the session can do without. A failure is only logged. */
  #attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.deps.log.error(what, { error: error instanceof Error ? error.name : "unknown" });
    }
  }

  execute(command: Parameters<SessionStore["execute"]>[0], bodies: readonly BodyText[] = []): ReturnType<SessionStore["execute"]> {
    this.content.learn(bodies);
    return this.store.execute(command, bodies);
  }

  wakeCompaction(): void {
    sendWakeUp(this, this.deps);
    this.syncAlarm();
  }

  /** Keeps a worker's outcome until it may take effect. */
  hold(outcome: CompactionResult): void {
    deferResult(this.deps.sql, outcome);
    this.#settled.give();
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
    this.#halted = false;
    this.#attempt("commit_not_told", () => this.#tell(events, states));
    if (asksForWorker(events, states)) this.#attempt("worker_not_woken", () => this.wakeCompaction());
    if (events.some((event) => event.type === "CompactionFailed")) this.#settled.give();
    if (isOfTools(events)) this.drain.startInTurn();
    this.syncAlarm();
    this.advanceSoon();
    this.commits.give();
  }

  #tell(events: readonly StoredEvent[], states: { readonly before: SessionState; readonly after: SessionState }): void {
    const display = this.content.displayOne;
    const spent = (turn: Parameters<typeof readTurn>[1]) => toSpent(readTurn(this.deps.sql, turn));
    const frames = events.flatMap((event) => toFrames(event, { ...states, display, spent, context: () => this.contextNumbers() }));
    if (frames.length > 0) this.buffer.publish(...frames);
    else this.buffer.nudge();
  }

  /** How full the window is. Every report of usage has the same figures, from the session's start. */
  contextNumbers = (): ContextNumbers => this.window.readNumbers(this.state);

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
        this.deps.log.error("after_turn_threw", { error: error instanceof Error ? error.name : "unknown" });
        this.halt(error);
      })
      .finally(() => {
        this.#between = null;
        if (!this.state.turn) this.drain.startSoon();
        this.#attempt("frames_not_pruned", () => this.buffer.prune());
      });
    this.deps.background(this.#between);
  }
}
