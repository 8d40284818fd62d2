/**
 * The stored buffer of the live stream. Readers are cursors over it; a disconnect stops nothing. The first delta is
 * stored before it is shown, later ones at most one flush behind; deltas are coalesced before they are shown.
 *
 * Offsets are reserved in blocks before they are used: after a crash the next incarnation starts at a block of its own,
 * so that an offset which was shown but not stored is never given twice, and a client that holds one can be told so.
 */

import type { Log } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import type { Sql } from "../log/sql";
import type { Frame, FrameLine } from "./frames";
import { splitDelta, toFrameLine, toGapLine, toPacks } from "./frames";
import { RecentFrames } from "./recent-frames";
import { StoredFrames } from "./stored-frames";

/** Writes to clients are joined over this time: most of a stream's cost is the hop, not the JSON (docs/platform-facts.md). */
export const SHOW_EVERY_MS = 25;
/** A delta is not made to wait for less than this: the timer would cost more than joining it with the next one saves. */
const LEAST_WAIT_MS = 10;
/** What is shown is stored at most this much later. */
const FLUSH_EVERY_MS = 1_000;
const FLUSH_AT_UNITS = 16_384;
const RESERVED_BLOCK = 10_000;
const STORED_PACKS = 400;
/** A share of them is stored between two prunings: finding the oldest to keep walks over all of them. */
const PRUNE_EVERY = 1 / 8;

export interface StreamBuffer {
  /** The newest offset given. */
  readonly offset: number;
  /** UTF-16 units of frames that are in memory. */
  readonly heldUnits: number;
  /** Shows and stores frames now, after what was pending. */
  publish(...frames: readonly Frame[]): void;
  /** Lets readers look again: something that makes no frame has changed. */
  nudge(): void;
  /** Shows and stores soon, joined with neighbours. */
  publishDelta(delta: Extract<Frame, { type: "text.delta" | "reasoning.delta" }>): void;
  /** Stores what is only shown. */
  flush(): void;
  /** Frames after `offset`, at most `limit`, that may be shown. */
  read(after: number, limit: number): FrameLine[];
  /** Where a client that holds `after` really stands: itself, or the newest stored offset before it. */
  locate(after: number): { readonly kind: "known" | "pruned" | "rewind"; readonly offset: number };
  /** Resolves at the next frame that may be shown. */
  next(): Promise<void>;
  /** The offset before the turn's first frame; null: none is stored any more. */
  startOf(turn: string): number | null;
  /** Starts over, after the database was emptied under it. Readers hear what comes next. */
  forget(): void;
  /** Deletes the stored frames from before the running turn, in the transaction of a redaction. Returns the last offset that goes. */
  burnStored(turn: string | null): number;
  /** Forgets the frames up to an offset that are held in memory, once their deletion is committed. */
  burnHeld(offset: number): void;
  /** Drops packs that no client resumes from any more, now and then. */
  prune(): void;
}

interface StreamBufferDeps {
  readonly sql: Sql;
  /** Packs that are kept; absent: as many as in production. */
  readonly keptPacks?: number;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly log: Log;
}

export const createStreamBuffer = (deps: StreamBufferDeps): StreamBuffer => new Buffer(deps);

class Buffer implements StreamBuffer {
  #offset: number | null = null;
  /** Where this life began: every offset from here on is its own. */
  #start = 0;
  #reserved = 0;
  readonly #recent = new RecentFrames();
  #unstored: FrameLine[] = [];
  /** A frame was left out, and the gap that says so has no offset yet. */
  #hasUntold = false;
  #units = 0;
  #delta: { readonly frame: Extract<Frame, { type: "text.delta" | "reasoning.delta" }>; text: string } | null = null;
  #showTimer: (() => void) | null = null;
  #flushTimer: (() => void) | null = null;
  #deltasShown = 0;
  #shownAt = Number.NEGATIVE_INFINITY;
  #waiting: (() => void)[] = [];
  /** Packs stored since the last pruning; of an earlier life it is not known. */
  #unpruned = Number.POSITIVE_INFINITY;

  readonly stored: StoredFrames;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly log: Log;
  readonly keptPacks: number;

  constructor({ sql, now, schedule, log, keptPacks = STORED_PACKS }: StreamBufferDeps) {
    this.stored = new StoredFrames(sql);
    this.keptPacks = keptPacks;
    this.now = now;
    this.schedule = schedule;
    this.log = log;
  }

  get offset(): number {
    if (this.#offset === null) {
      const { reserved } = this.stored;
      this.#offset = reserved;
      this.#start = reserved;
      this.#reserved = reserved;
    }
    return this.#offset;
  }

  publish(...frames: readonly Frame[]): void {
    this.#showDelta();
    for (const frame of frames) this.#add(frame);
    if (frames.length > 0) this.#deltasShown = 0;
    this.flush();
    this.nudge();
  }

  publishDelta(delta: Extract<Frame, { type: "text.delta" | "reasoning.delta" }>): void {
    if (this.#delta?.frame.type === delta.type && this.#delta.frame.turn_id === delta.turn_id) {
      this.#delta.text += delta.text;
    } else {
      this.#showDelta();
      this.#delta = { frame: delta, text: delta.text };
    }
    if (this.#deltasShown === 0 || this.#units + this.#delta.text.length >= FLUSH_AT_UNITS) return this.#showAndStore();
    this.#flushTimer ??= this.schedule(FLUSH_EVERY_MS, () => this.#showAndStore());
    if (this.#waiting.length > 0) this.#showSoon();
  }

  #showAndStore(): void {
    this.#showDelta();
    this.flush();
    this.nudge();
  }

  /**
   * Only while somebody waits: without readers, deltas are joined until they are stored. A stream slower than the pace
   * of showing is shown as it comes: a timer would be one more wake-up a delta.
   */
  #showSoon(): void {
    const left = this.#shownAt + SHOW_EVERY_MS - this.now();
    if (left <= (this.#showTimer ? 0 : LEAST_WAIT_MS)) return this.#show();
    this.#showTimer ??= this.schedule(Math.min(left, SHOW_EVERY_MS), () => {
      this.#showTimer = null;
      this.#show();
    });
  }

  #show(): void {
    this.#showDelta();
    this.nudge();
  }

  /** The joined delta becomes a frame. */
  #showDelta(): void {
    this.#showTimer?.();
    this.#showTimer = null;
    const pending = this.#delta;
    if (!pending) return;
    this.#delta = null;
    this.#deltasShown++;
    this.#shownAt = this.now();
    for (const text of splitDelta(pending.text)) this.#add({ ...pending.frame, text });
  }

  #add(frame: Frame): void {
    if (!this.#reserve(this.offset + 2)) {
      this.#hasUntold = true;
      return;
    }
    if (this.#hasUntold) this.#push(toGapLine(this.offset + 1));
    this.#hasUntold = false;
    this.#push(toFrameLine(frame, this.offset + 1));
  }

  #push(line: FrameLine): void {
    this.#offset = line.offset;
    this.#unstored.push(line);
    this.#recent.push(line);
    this.#units += line.json.length;
  }

  get heldUnits(): number {
    return this.#recent.units + (this.#delta?.text.length ?? 0);
  }

  /** False: it cannot be written down that offsets up to here are taken, so that none of them may be shown. */
  #reserve(offset: number): boolean {
    // Not `<=`: the last offset of a block is the next life's beginning, and would be taken for its own.
    if (offset < this.#reserved) return true;
    const reserved = offset + RESERVED_BLOCK;
    try {
      this.stored.reserve(reserved);
    } catch (error) {
      this.log.error("offsets_not_reserved", { offset, error: error instanceof Error ? error.name : "unknown" });
      return false;
    }
    this.#reserved = reserved;
    return true;
  }

  flush(): void {
    this.#flushTimer?.();
    this.#flushTimer = null;
    if (this.#unstored.length === 0) return;
    let lost: FrameLine[] = [];
    for (const pack of toPacks(this.#unstored)) lost = this.#store([...lost, ...pack]);
    this.#unstored = lost;
    this.#units = 0;
  }

  /**
   * One row. What the database does not take is dropped: the conversation is in the log, and must not stop for want of
   * its live stream. Returns what stands in for it and is still to be stored: the gap.
   */
  #store(lines: readonly FrameLine[]): FrameLine[] {
    const [first, last] = [lines[0], lines.at(-1)];
    if (!first || !last) return [];
    try {
      this.stored.insert(lines, this.now());
    } catch (error) {
      const fields = { first: first.offset, last: last.offset, error: error instanceof Error ? error.name : "unknown" };
      this.log.error("frames_not_stored", fields);
      return [toGapLine(last.offset)];
    }
    this.#unpruned++;
    return [];
  }

  read(after: number, limit: number): FrameLine[] {
    return this.#recent.read(after, limit) ?? this.stored.readAfter(after, limit);
  }

  locate(after: number): { kind: "known" | "pruned" | "rewind"; offset: number } {
    const newest = this.offset;
    const pruned = this.#prunedTo();
    if (after < pruned) return { kind: "pruned", offset: pruned };
    if (after >= this.#start && after <= newest) return { kind: "known", offset: after };
    const last = this.stored.lastBefore(after);
    return last !== null && after > last ? { kind: "rewind", offset: last } : { kind: "known", offset: after };
  }

  startOf(turn: string): number | null {
    return this.stored.find(`\t${turn}\t`);
  }

  forget(): void {
    this.#showTimer?.();
    this.#flushTimer?.();
    this.#showTimer = null;
    this.#flushTimer = null;
    this.#delta = null;
    this.#unstored = [];
    this.#recent.dropTo(Number.POSITIVE_INFINITY);
    this.#reserved = 0;
  }

  /** The offset before the oldest frame there is: what comes before it is gone. Without a stored one, this life's beginning. */
  #prunedTo(): number {
    const { oldest } = this.stored;
    return oldest === null ? this.#start : oldest - 1;
  }

  next(): Promise<void> {
    const shown = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#delta) this.#showSoon();
    return shown;
  }

  nudge(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  burnStored(turn: string | null): number {
    // Not from where the turn's message was taken in: while it waited, the turn before it spoke.
    const to = (turn === null ? null : this.stored.find(`turn.started\t${turn}\t`)) ?? this.offset;
    this.stored.deleteTo(to);
    return to;
  }

  burnHeld(offset: number): void {
    this.#recent.dropTo(offset);
  }

  prune(): void {
    if (this.#unpruned < this.keptPacks * PRUNE_EVERY) return;
    this.#unpruned = 0;
    this.stored.prune(this.keptPacks);
  }
}
