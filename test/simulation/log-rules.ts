/** The invariants of the log after every step, and of the state folded from it (docs/invariants.md). */

import { isDeepStrictEqual } from "node:util";
import { PADDING, Sizing } from "../../src/context/sizing";
import type { EpochOp } from "../../src/domain/compaction-events";
import type { StoredEvent } from "../../src/domain/events";
import { evolve } from "../../src/domain/evolve";
import type { TurnId } from "../../src/domain/ids";
import { listEventItems } from "../../src/domain/items-of";
import type { ItemMeta, TextRef } from "../../src/domain/message";
import { initialState, isRunning, type SessionState } from "../../src/domain/state";
import { askedModel } from "../../src/domain/turn-choices";
import { readBodies } from "../../src/session/log/bodies";
import { findNewest } from "../../src/session/log/branch-items";
import { readEvents } from "../../src/session/log/event-log";
import { hasSchema, readMeta } from "../../src/session/log/log-schema";
import { checkArchive } from "./archivist";
import { CompactionRules } from "./compaction-rules";
import { DraftRules } from "./draft-rules";
import { INSTRUCTION_MARK, MODELS } from "./profile";
import { RedactionRules } from "./redaction-rules";
import { TurnRules } from "./turn-rules";
import { ViewRules } from "./view-rules";
import type { World } from "./world";

const ALARM_PAUSE_MS = 30_000;

export class LogRules {
  /** The fold of the complete stored log, from the beginning. */
  replayed: SessionState = initialState;
  readonly events: StoredEvent[] = [];
  /** The latest settings, according to the events and not to the state. */
  pins: readonly TextRef[] = [];
  /** The message that the running turn answers. */
  question: ItemMeta | null = null;
  readonly #compactions: CompactionRules;
  readonly #drafts: DraftRules;
  readonly #view: ViewRules;
  readonly redactions: RedactionRules;
  readonly turns: TurnRules;
  /** The epoch of each lease, by its fencing token. */
  readonly #epochs = new Map<number, number>();
  /** The standing instructions that the plan of each lease names, by its fencing token. */
  readonly #instructed = new Map<number, string | null>();
  /** Turns that answer imported results, and retries of them. */
  readonly #unasked = new Set<TurnId>();
  #begun = false;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
    this.#compactions = new CompactionRules(world);
    this.#drafts = new DraftRules(world);
    this.#view = new ViewRules(world);
    this.redactions = new RedactionRules(world);
    this.turns = new TurnRules(world);
  }

  afterStep(): void {
    const { sql, model, violations } = this.world;
    violations.check(model.running <= 1, "I2", () => `${model.running} model calls of turns run at once`);
    if (!this.world.touched) return;
    this.world.touched = false;
    this.#begun ||= hasSchema(sql);
    if (!this.#begun) return;
    this.catchUp();
    this.#checkAlarm();
  }

  findInstructions(lease: number): string | null | undefined {
    return this.#instructed.get(lease);
  }

  findEpoch(lease: number | null): number | null {
    return lease === null ? null : (this.#epochs.get(lease) ?? null);
  }

  /** Reads the events appended since the last call. Each event is checked against the state before it. */
  catchUp(): void {
    const { sql, life, violations } = this.world;
    const seen = this.replayed.seq;
    // A difference between the log and the state is detected with the next event, and at the end.
    if (life && life.runtime.state.seq === seen) return;
    const events = readEvents(sql, seen, Number.MAX_SAFE_INTEGER);
    for (const event of events) this.#take(event);
    if (events.some(({ type }) => type === "MessageRedacted")) this.redactions.checkTables();
    if (!life || this.replayed.seq === seen) return;
    const same = isDeepStrictEqual(life.runtime.state, this.replayed);
    violations.check(same, "I9", () => `the live state differs from the fold of the log at seq ${this.replayed.seq}`);
  }

  #take(event: StoredEvent): void {
    const before = this.replayed;
    const { violations } = this.world;
    this.events.push(event);
    this.#count(event);
    violations.check(!JSON.stringify(event).includes(INSTRUCTION_MARK), "I19", () => `${event.type} holds instructions for summaries`);
    violations.check(event.seq === before.seq + 1, "I10", () => `seq ${event.seq} follows ${before.seq}`);
    for (const item of listEventItems(event)) {
      const expected = this.replayed.next_position;
      violations.check(
        item.position === expected || event.type === "MessagesAppended",
        "I10",
        () => `position ${item.position} follows ${expected - 1}`,
      );
    }
    if (event.type === "SettingsChanged" && event.changes.summary_instructions !== undefined && before.compaction.lease)
      this.world.stats.count("instructions changed under a summary");
    this.#checkTurn(event, before);
    this.turns.afterEvent(event);
    this.#checkRefusal(event, before);
    this.replayed = evolve(before, event);
    if (event.type === "PinsSet") this.pins = event.pins;
    if (event.type === "CompactionStarted") this.#epochs.set(event.token, event.base_epoch);
    if (event.type === "CompactionStarted") this.#checkInstructions(event, before);
    if (event.type === "TurnStarted" && event.attempt === 1) this.question = event.item ?? this.#askedAgain(event, before);
    this.#compactions.afterEvent(event, before, this.replayed);
    this.#drafts.afterEvent(event, before, this.replayed);
    checkArchive(this.world, event, { before, after: this.replayed });
    this.world.respond.afterEvent(event, before);
    this.#view.afterEvent(event, before, this.replayed);
    this.redactions.afterEvent(event, before, this.replayed);
  }

  /** I19: a summary is begun under the instructions that stand, unless its plan says that they are left out. */
  #checkInstructions(event: Extract<StoredEvent, { type: "CompactionStarted" }>, { settings, compaction }: SessionState): void {
    const named = compaction.requested?.options?.policy_instructions;
    const standing = named === undefined ? (settings.summary_instructions ?? settings.policy_instructions ?? null) : named;
    const body = event.instructions?.body ?? null;
    const stands = body === (standing?.body ?? null) || (body === null && event.instructions_left_out === true);
    this.world.violations.check(stands, "I19", () => `lease ${event.token} has the instructions ${body}, and ${standing?.body} stand`);
    this.#instructed.set(event.token, body === null ? null : (readBodies(this.world.sql, [body]).get(body) ?? null));
  }

  /**
   * I23: the message that is answered again is the newest user message of the continuing branch, and is in the view. A turn that answers
   * what was appended (results, an instruction, the model's words) has no message, and neither has its retry.
   */
  #askedAgain({ turn, retry_of }: Extract<StoredEvent, { type: "TurnStarted" }>, before: SessionState): ItemMeta | null {
    const newest = before.view.items.at(-1);
    const answersAppended = newest?.turn === null && newest.kind !== "user";
    if (retry_of === null ? answersAppended : this.#unasked.has(retry_of)) {
      this.#unasked.add(turn);
      return null;
    }
    const { branch, next_position, view } = this.replayed;
    const asked = findNewest({ sql: this.world.sql, elsewhere: branch.elsewhere, from: next_position - 1 }, ({ kind }) => kind === "user");
    const isShown = view.items.some(({ id }) => id === asked?.id);
    this.world.violations.check(isShown, "I23", () => `a turn answers position ${asked?.position} again, which is not in the view`);
    return asked;
  }

  #count(event: StoredEvent): void {
    const { stats } = this.world;
    stats.count(`event ${event.type}`);
    if (event.type === "CompactionStarted" && event.split !== null) stats.count("plans that split a turn");
    if (event.type === "CompactionFailed") stats.count(`compaction failed: ${event.failure}`);
    if (event.type === "EpochChanged") this.#countChange(event);
    if (event.type === "SettingsChanged") for (const what of Object.keys(event.changes)) stats.count(`changed: ${what}`);
    if (event.type === "ModelCallFinished") stats.count(`${event.purpose} call: ${event.outcome}`);
    if (event.type === "TurnFailed") stats.count(`turn failed: ${event.failure.kind}`);
    if (event.type === "TurnStopped") stats.count(`turn stopped: ${event.reason}`);
    if (event.type === "TurnStarted" && event.retry_of) stats.count("turns retried");
    if (event.type === "TurnStarted" && event.attempt > 1) stats.count("turns run again");
  }

  #countChange({ trigger, ops, receipt }: Extract<StoredEvent, { type: "EpochChanged" }>): void {
    const { stats } = this.world;
    for (const op of ops) {
      stats.count(`${trigger}: ${toName(op)}`);
      if (op.op === "summarize" && trigger !== "fallback") stats.count(`summaries by ${op.mode}`);
    }
    if (receipt.summary_instructions) stats.count(`instructions ${receipt.summary_instructions}`);
  }

  #checkTurn(event: StoredEvent, { turn }: SessionState): void {
    const { violations } = this.world;
    if (event.type === "TurnStarted") {
      const again = turn?.id === event.turn && event.attempt === turn.attempt + 1;
      violations.check(turn === null || again, "I2", () => `turn ${event.turn} started while ${turn?.id} was open`);
      return;
    }
    if (!("turn" in event) || event.turn === null || event.type === "QueuedMessageCancelled") return;
    const late = event.type === "ModelCallFinished" && event.purpose !== "turn";
    violations.check(late || event.turn === turn?.id, "I2", () => `${event.type} of turn ${event.turn} while ${turn?.id} was open`);
  }

  /** I6: no count of a provider makes the session refuse a request that fits by our estimate. */
  #checkRefusal(event: StoredEvent, before: SessionState): void {
    const fit = event.type === "TurnFailed" && event.failure.kind === "cannot_fit" ? event.failure.fit : null;
    if (!fit || fit.bytes) return;
    const asked = MODELS[askedModel(before)];
    if (!asked) return;
    const tokens = new Sizing(before, asked).raw * PADDING * Math.max(asked.ratio ?? 1, ...before.ratios.map(({ value }) => value));
    this.world.violations.check(tokens > fit.limit, "I6", () => `${tokens} tokens by our estimate were refused, the limit is ${fit.limit}`);
  }

  /** I13: remaining work has a job, and an alarm that will fire for it if the object dies now. */
  #checkAlarm(): void {
    const { sql, alarmAt, violations, scheduler } = this.world;
    const { turn, queue, compaction, seq, lifecycle, redactions } = this.replayed;
    const jobs = sql.all<{ kind: string; due_at: number }>("SELECT kind, due_at FROM jobs");
    const due = Math.min(...jobs.map((job) => job.due_at));
    // A failed job is retried after a pause.
    const paused = this.world.failedAt + ALARM_PAUSE_MS;
    const rings = jobs.length === 0 || (alarmAt !== null && alarmAt <= Math.max(due, scheduler.now, paused));
    violations.check(rings, "I13", () => `a job is due at ${due}, the alarm is at ${alarmAt}`);
    if (lifecycle !== "open") return;
    const owed: Readonly<Record<string, boolean>> = {
      project: Number(readMeta(sql, "projected_seq") ?? 0) < seq,
      recover_turn: isRunning(turn) || (turn === null && queue.length > 0),
      expire_tools: turn?.phase === "awaiting_tools",
      // While a turn runs, the turn does the work.
      wake_compaction: compaction.requested !== null && turn === null,
      scrub: redactions > this.world.scrubbed,
    };
    const armed = new Set(jobs.map((job) => job.kind));
    const stranded = Object.keys(owed).filter((kind) => owed[kind] && !armed.has(kind));
    violations.check(stranded.length === 0, "I13", () => `${stranded} would be stranded: no job is armed`);
  }
}

const toName = (op: EpochOp): string => (op.op === "summarize" ? `summarize by ${op.mode}${op.generation > 0 ? ", folded" : ""}` : op.op);
