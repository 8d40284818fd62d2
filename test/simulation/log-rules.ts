/** What must hold of the log after every step, and of the state that it folds to (docs/invariants.md). */
import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "../../src/domain/events";
import { evolve } from "../../src/domain/evolve";
import type { CompactionId, OverlayId } from "../../src/domain/ids";
import type { ItemMeta } from "../../src/domain/message";
import { initialState, type SessionState } from "../../src/domain/state";
import { readBodies } from "../../src/session/log/bodies";
import { readEvents } from "../../src/session/log/event-log";
import { hasSchema, readMeta } from "../../src/session/log/log-schema";
import type { World } from "./world";

export class LogRules {
  /** The fold of everything that is stored, from zero. */
  replayed: SessionState = initialState;
  readonly events: StoredEvent[] = [];
  readonly #compacted = new Set<CompactionId>();
  readonly #overlays = new Set<OverlayId>();
  /** Cut-off replies that a retry took out of the view. */
  readonly #retracted = new Set<number>();

  constructor(readonly world: World) {}

  afterStep(): void {
    const { sql, life, model, violations } = this.world;
    if (!hasSchema(sql)) return;
    const fresh = readEvents(sql, this.replayed.seq, Number.MAX_SAFE_INTEGER);
    for (const event of fresh) this.#take(event);
    if (life && fresh.length > 0) {
      const same = isDeepStrictEqual(life.runtime.state, this.replayed);
      violations.check(same, "I9", () => `the live state differs from the fold of the log at seq ${this.replayed.seq}`);
    }
    if (fresh.length > 0) this.#checkView();
    violations.check(model.running <= 1, "I2", () => `${model.running} model calls of turns run at once`);
    this.#checkAlarm();
  }

  #take(event: StoredEvent): void {
    const before = this.replayed;
    const { violations } = this.world;
    this.events.push(event);
    this.#count(event);
    violations.check(event.seq === before.seq + 1, "I10", () => `seq ${event.seq} follows ${before.seq}`);
    for (const item of itemsOf(event)) {
      const expected = this.replayed.next_position;
      violations.check(
        item.position === expected || event.type === "MessagesAppended",
        "I10",
        () => `position ${item.position} follows ${expected - 1}`,
      );
    }
    this.#checkTurn(event, before);
    if (event.type === "EpochChanged") this.#checkEpoch(event, before);
    this.replayed = evolve(before, event);
    for (const item of before.view.items.filter((known) => known.incomplete))
      if (event.type === "TurnStarted" && !this.replayed.view.items.includes(item)) this.#retracted.add(item.position);
  }

  #count(event: StoredEvent): void {
    const { stats } = this.world;
    stats.count(`event ${event.type}`);
    if (event.type === "CompactionFailed") stats.count(`compaction failed: ${event.failure}`);
    if (event.type === "EpochChanged") for (const { op } of event.ops) stats.count(`${event.trigger}: ${op}`);
    if (event.type === "ModelCallFinished") stats.count(`${event.purpose} call: ${event.outcome}`);
    if (event.type === "TurnFailed") stats.count(`turn failed: ${event.failure.kind}`);
    if (event.type === "TurnStopped") stats.count(`turn stopped: ${event.reason}`);
    if (event.type === "TurnStarted" && event.retry_of) stats.count("turns retried");
    if (event.type === "TurnStarted" && event.attempt > 1) stats.count("turns run again");
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

  #checkEpoch(event: Extract<StoredEvent, { type: "EpochChanged" }>, { view, compaction: { lease } }: SessionState): void {
    const { violations, sql } = this.world;
    const { compaction, base_epoch, epoch } = event;
    violations.check(
      base_epoch === view.epoch && epoch === base_epoch + 1,
      "I4",
      () => `epoch ${epoch} on ${base_epoch} came at ${view.epoch}`,
    );
    if (compaction) {
      violations.check(!this.#compacted.has(compaction), "I4", () => `compaction ${compaction} took effect twice`);
      this.#compacted.add(compaction);
    }
    for (const op of event.ops) {
      if (op.op !== "summarize" && op.op !== "drop") continue;
      if (op.op === "summarize") {
        const token = /as of lease (\d+)/.exec(readBodies(sql, [op.overlay]).get(op.overlay) ?? "")?.[1];
        const same = token === String(lease?.token) && op.from === lease?.range.from && op.to === lease.range.to;
        violations.check(same, "I4", () => `a summary made under lease ${token} was committed under ${JSON.stringify(lease)}`);
      }
      violations.check(!this.#overlays.has(op.overlay), "I4", () => `overlay ${op.overlay} was made twice`);
      this.#overlays.add(op.overlay);
      const known = new Set(view.overlays.map((overlay) => overlay.id));
      violations.check(
        op.replaces.every((id) => known.has(id)),
        "I4",
        () => `an overlay replaces one that is not in the view`,
      );
    }
  }

  /** I11: every position is shown, stood in for by exactly one overlay, or was taken back by a retry. */
  #checkView(): void {
    const { violations } = this.world;
    const { view, next_position, lifecycle } = this.replayed;
    if (lifecycle !== "open") return;
    const shown = new Set(view.items.map((item) => item.position));
    violations.check(shown.size === view.items.length, "I11", () => "an item is in the view twice");
    const sorted = view.items.every((item, index) => index === 0 || item.position > (view.items[index - 1]?.position ?? 0));
    violations.check(sorted, "I11", () => "the items of the view are out of order");
    for (let position = 1; position < next_position; position++) {
      const covering = view.overlays.filter((overlay) => overlay.from <= position && position <= overlay.to).length;
      const times = covering + (shown.has(position) ? 1 : 0);
      const fine = times === 1 || (times === 0 && this.#retracted.has(position));
      violations.check(fine, "I11", () => `position ${position} is in the view ${times} times`);
    }
  }

  /** I13: whatever is left to do has a job, and an alarm that will come for it, should the object die now. */
  #checkAlarm(): void {
    const { sql, alarmAt, violations, scheduler } = this.world;
    const { turn, queue, compaction, seq, lifecycle } = this.replayed;
    const jobs = sql.all<{ kind: string; due_at: number }>("SELECT kind, due_at FROM jobs");
    const due = Math.min(...jobs.map((job) => job.due_at));
    const rings = jobs.length === 0 || (alarmAt !== null && alarmAt <= Math.max(due, scheduler.now));
    violations.check(rings, "I13", () => `a job is due at ${due}, the alarm is at ${alarmAt}`);
    if (lifecycle !== "open") return;
    const owed: Readonly<Record<string, boolean>> = {
      project: Number(readMeta(sql, "projected_seq") ?? 0) < seq,
      recover_turn: turn?.phase === "generating" || (turn === null && queue.length > 0),
      expire_tools: turn?.phase === "awaiting_tools",
      wake_compaction: compaction.requested !== null,
    };
    const armed = new Set(jobs.map((job) => job.kind));
    const stranded = Object.keys(owed).filter((kind) => owed[kind] && !armed.has(kind));
    violations.check(stranded.length === 0, "I13", () => `${stranded} would be stranded: no job is armed`);
  }
}

export function itemsOf(event: StoredEvent): readonly ItemMeta[] {
  switch (event.type) {
    case "MessagesAppended":
      return event.items;
    case "TurnStarted":
      return event.item ? [event.item] : [];
    case "AssistantReplied":
    case "ToolCalled":
    case "ToolResultRecorded":
      return [event.item];
    default:
      return [];
  }
}
