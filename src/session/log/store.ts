/**
 * Read → decide → append → evolve, in one synchronous transaction (docs/events.md). The state is cached after the
 * append, never before, so a refused or failed step leaves it unchanged.
 */
import type { Command } from "../../domain/commands";
import { decide } from "../../domain/decide";
import type { StoredEvent } from "../../domain/events";
import { evolve } from "../../domain/evolve";
import type { Rejection } from "../../domain/rejection";
import type { SessionState } from "../../domain/state";
import { err, ok, type Result } from "../../lib/result";
import { type NewBody, writeBody } from "./bodies";
import { isCheckpointDue, writeCheckpoint } from "./checkpoints";
import { appendEvents } from "./event-log";
import { hasSchema, migrateSession } from "./log-schema";
import { applyToTables } from "./log-tables";
import { isSnapshotDue, loadPart, loadState, NO_SNAPSHOT, writeSnapshot } from "./snapshots";
import type { Sql } from "./sql";

interface StoreHooks {
  /** Runs in the transaction of the append, and arms the jobs that follow from the events. */
  readonly onAppend: (events: readonly StoredEvent[], states: States) => void;
  /** Runs right after the commit, before anything else can run. */
  readonly onCommit: (events: readonly StoredEvent[], states: States) => void;
}

/** The states before and after a transaction. */
interface States {
  readonly before: SessionState;
  readonly after: SessionState;
}

export type NoteEvents = (events: readonly StoredEvent[]) => void;

/** The store within one transaction: later steps see the state of earlier ones. */
export interface Step {
  readonly state: SessionState;
  execute(command: Command, bodies?: readonly NewBody[]): Result<readonly StoredEvent[], Rejection>;
}

export class SessionStore {
  #state: SessionState | null = null;
  #snapshot = NO_SNAPSHOT;
  #migrated = false;

  readonly sql: Sql;
  readonly hooks: StoreHooks;

  constructor(sql: Sql, hooks: StoreHooks) {
    this.sql = sql;
    this.hooks = hooks;
  }

  get state(): SessionState {
    return this.#state ?? this.#take(loadState(this.#migratedSql()));
  }

  /**
   * Loads the state in parts, each of which is durable before the next begins: a wake that takes longer than the platform allows is
   * continued by the next one.
   */
  async load(): Promise<void> {
    while (!this.#state) {
      const loaded = loadPart(this.#migratedSql());
      if (loaded) this.#take(loaded);
      else await this.sql.sync();
    }
  }

  /** A build with fewer steps may have written the tables. */
  #migratedSql(): Sql {
    if (hasSchema(this.sql)) migrateSession(this.sql);
    return this.sql;
  }

  #take({ state, snapshot }: ReturnType<typeof loadState>): SessionState {
    this.#state = state;
    this.#snapshot = snapshot;
    return state;
  }

  /** Runs `work` in one transaction. An exception in `work` undoes everything that it did. `note`: called in it, if events were appended. */
  transact<T>(work: (step: Step) => T, note?: NoteEvents): T {
    const before = this.state;
    const unit = new Unit(this.sql, before, this.#migrated);
    let snapshot = this.#snapshot;
    const result = this.sql.transaction(() => {
      const value = work(unit);
      if (unit.appended.length === 0) return value;
      if (movesEpoch(unit) || isSnapshotDue(unit.state, snapshot)) snapshot = writeSnapshot(this.sql, unit.state);
      if (isCheckpointDue(before, unit.state)) writeCheckpoint(this.sql, unit.state);
      this.hooks.onAppend(unit.appended, { before, after: unit.state });
      note?.(unit.appended);
      return value;
    });
    this.#state = unit.state;
    this.#snapshot = snapshot;
    this.#migrated = unit.migrated;
    if (unit.appended.length > 0) this.hooks.onCommit(unit.appended, { before, after: unit.state });
    return result;
  }

  /** Runs one command in its own transaction. */
  execute(command: Command, bodies: readonly NewBody[] = [], note?: NoteEvents): Result<readonly StoredEvent[], Rejection> {
    return this.transact((step) => step.execute(command, bodies), note);
  }

  /** Forgets the cached state after the database was emptied. */
  forget(): void {
    this.#state = null;
    this.#snapshot = NO_SNAPSHOT;
    this.#migrated = false;
  }
}

/** An epoch change removes most of a large view. A snapshot after it spares the next wake from reading that. */
const movesEpoch = ({ appended }: Unit): boolean => appended.some((event) => event.type === "EpochChanged");

/**
 * The commands that begin something, or bring content of a client. They are refused when the room left is reserved for
 * the end of what is under way.
 */
const BEGINS: ReadonlySet<Command["type"]> = new Set([
  "ChangeSettings",
  "SetPins",
  "SubmitMessage",
  "ImportMessages",
  "SetSchedule",
  "RetryTurn",
  "AnswerResults",
  "RecordToolResults",
  "ResolveApprovals",
  "RequestCompaction",
  "RevertCompaction",
  "ResetSummary",
  "EditDraft",
  "RewindHistory",
  "SwitchBranch",
  "CopyMessages",
]);

class Unit implements Step {
  readonly appended: StoredEvent[] = [];

  readonly sql: Sql;
  state: SessionState;
  migrated: boolean;

  constructor(sql: Sql, state: SessionState, migrated: boolean) {
    this.sql = sql;
    this.state = state;
    this.migrated = migrated;
  }

  execute(command: Command, bodies: readonly NewBody[] = []): Result<readonly StoredEvent[], Rejection> {
    const decision = decide(command, this.state);
    if (!decision.ok) return err(decision.error);
    if (decision.value.length === 0) return ok([]);
    if (BEGINS.has(command.type) && this.sql.isFull()) return err({ code: "storage_full" });
    if (!this.migrated) migrateSession(this.sql);
    this.migrated = true;
    const stored = appendEvents(this.sql, decision.value, { seq: this.state.seq, at: command.at });
    for (const body of bodies) writeBody(this.sql, body);
    for (const event of stored) {
      const before = this.state;
      this.state = evolve(before, event);
      applyToTables(this.sql, event, before);
    }
    this.appended.push(...stored);
    return ok(stored);
  }
}
