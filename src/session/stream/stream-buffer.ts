/**
 * The stored buffer of the live stream. Readers are cursors over it; a disconnect stops nothing. The first delta is
 * stored before it is shown, later ones at most one flush later. Deltas are joined before they are shown.
 *
 * Offsets are reserved in blocks before they are used. After a crash the next incarnation starts at its own block, so
 * an offset that was shown and not stored is never given twice, and a client that holds one can be told to rewind.
 */

import type { Log } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import type { Frame } from "../../contract/frame";
import { toErrorName } from "../../lib/error-name";
import type { Sql } from "../log/sql";
import type { FrameLine } from "./frames";
import { splitDelta, toFrameLine, toGapLine, toPacks } from "./frames";
import { RecentFrames } from "./recent-frames";
import { StoredFrames } from "./stored-frames";

/** Writes to clients are joined over this time: most of a stream's cost is the hop, not the JSON (docs/platform-facts.md). */
export const SHOW_EVERY_MS = 25;
/** A delta never waits less than this: the timer would cost more than joining it with the next one saves. */
const LEAST_WAIT_MS = 10;
/** A shown delta is stored at most this much later. */
const FLUSH_EVERY_MS = 1_000;
const FLUSH_AT_UNITS = 16_384;
const RESERVED_BLOCK = 10_000;
const STORED_PACKS = 400;
/** The share of the kept packs that is stored between two prunings. Finding the oldest pack to keep reads all of them. */
const PRUNE_EVERY = 1 / 8;

interface StreamBufferDeps {
  readonly sql: Sql;
  /** The number of packs to keep. Absent: the production number. */
  readonly keptPacks?: number;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly log: Log;
}

export class StreamBuffer {
  #offset: number | null = null;
  /** The offset at which this life began. All later offsets are its own. */
  #start = 0;
  #reserved = 0;
  readonly #recent = new RecentFrames();
  #unstored: FrameLine[] = [];
  /** A frame was left out, and the gap that reports it has no offset yet. */
  #hasUntold = false;
  #units = 0;
  #delta: { readonly frame: Extract<Frame, { type: "text.delta" | "reasoning.delta" }>; text: string } | null = null;
  #showTimer: (() => void) | null = null;
  #flushTimer: (() => void) | null = null;
  #deltasShown = 0;
  #shownAt = Number.NEGATIVE_INFINITY;
  readonly #waiting = new Set<() => void>();
  /** Packs stored since the last pruning. The number from an earlier life is unknown. */
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

  /** The newest offset in use. */
  get offset(): number {
    if (this.#offset === null) {
      const { reserved } = this.stored;
      this.#offset = reserved;
      this.#start = reserved;
      this.#reserved = reserved;
    }
    return this.#offset;
  }

  /** Shows and stores frames now, after any pending delta. */
  publish(...frames: readonly Frame[]): void {
    this.#showDelta();
    for (const frame of frames) this.#add(frame);
    if (frames.length > 0) this.#deltasShown = 0;
    this.flush();
    this.nudge();
  }

  /** Shows and stores a delta soon, joined with its neighbours. */
  publishDelta(delta: Extract<Frame, { type: "text.delta" | "reasoning.delta" }>): void {
    if (this.#delta?.frame.type === delta.type && this.#delta.frame.message_id === delta.message_id) {
      this.#delta.text += delta.text;
    } else {
      this.#showDelta();
      this.#delta = { frame: delta, text: delta.text };
    }
    if (this.#deltasShown === 0 || this.#units + this.#delta.text.length >= FLUSH_AT_UNITS) return this.#showAndStore();
    this.#flushTimer ??= this.schedule(FLUSH_EVERY_MS, () => this.#showAndStore());
    if (this.waiting > 0) this.#showSoon();
  }

  #showAndStore(): void {
    this.#showDelta();
    this.flush();
    this.nudge();
  }

  /**
   * Shows a pending delta soon. Called only while a reader waits: without readers, deltas are joined until they are
   * stored. A stream slower than this pace is shown as it comes, because a timer would add a wake-up to each delta.
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

  /** Turns the joined delta into frames. */
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

  /** UTF-16 units of frames in memory. */
  get heldUnits(): number {
    return this.#recent.units + (this.#delta?.text.length ?? 0);
  }

  /** Reserves offsets. Returns false when the reservation could not be stored: then none of them may be shown. */
  #reserve(offset: number): boolean {
    // Not `<=`: the last offset of a block is where the next life begins, and that life would take it for its own.
    if (offset < this.#reserved) return true;
    const reserved = offset + RESERVED_BLOCK;
    try {
      this.stored.reserve(reserved);
    } catch (error) {
      this.log.error("offsets_not_reserved", { offset, error: toErrorName(error) });
      return false;
    }
    this.#reserved = reserved;
    return true;
  }

  /** Stores frames that have only been shown. */
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
   * Stores lines as one row. Lines that the database refuses are dropped: the conversation is in the log, and must not
   * stop because of its live stream. Returns the gap that replaces them.
   */
  #store(lines: readonly FrameLine[]): FrameLine[] {
    const [first, last] = [lines[0], lines.at(-1)];
    if (!first || !last) return [];
    try {
      this.stored.insert(lines, this.now());
    } catch (error) {
      const fields = { first: first.offset, last: last.offset, error: toErrorName(error) };
      this.log.error("frames_not_stored", fields);
      return [toGapLine(last.offset)];
    }
    this.#unpruned++;
    return [];
  }

  /** Frames after `after` that may be shown, at most `limit`. */
  read(after: number, limit: number): FrameLine[] {
    return this.#recent.read(after, limit) ?? this.stored.readAfter(after, limit);
  }

  /**
   * Checks a client's offset: "known" returns it; "rewind" returns the newest stored offset before it, "pruned" the
   * offset before the oldest frame left.
   */
  locate(after: number): { kind: "known" | "pruned" | "rewind"; offset: number } {
    const newest = this.offset;
    const pruned = this.#prunedTo();
    if (after < pruned) return { kind: "pruned", offset: pruned };
    if (after >= this.#start && after <= newest) return { kind: "known", offset: after };
    const last = this.stored.lastBefore(after);
    return last !== null && after > last ? { kind: "rewind", offset: last } : { kind: "known", offset: after };
  }

  /** The offset before the turn's first frame. Null when none is stored any more. */
  findStart(turn: string): number | null {
    return this.stored.find(`\t${turn}\t`);
  }

  /** Starts over after the database was emptied. Readers receive what comes next. */
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

  /** The offset before the oldest frame; all frames before it are gone. With no stored frame it is this life's beginning. */
  #prunedTo(): number {
    const { oldest } = this.stored;
    return oldest === null ? this.#start : oldest - 1;
  }

  /** The number of readers that wait for a frame. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Calls `wake` once, at the next frame that may be shown. The returned function ends the wait. */
  onNext(wake: () => void): () => void {
    this.#waiting.add(wake);
    if (this.#delta) this.#showSoon();
    return () => void this.#waiting.delete(wake);
  }

  /** Wakes readers after a change that makes no frame. */
  nudge(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Deletes the stored frames from before the running turn, in the transaction of a redaction. Returns the last deleted offset. */
  purgeStored(turn: string | null): number {
    // Not from where the turn's message was accepted: while it waited, the previous turn was still sending.
    const to = (turn === null ? null : this.stored.find(`turn.started\t${turn}\t`)) ?? this.offset;
    this.stored.deleteTo(to);
    return to;
  }

  /** Drops frames up to an offset from memory, once their deletion is committed. */
  purgeHeld(offset: number): void {
    this.#recent.dropTo(offset);
  }

  /** Drops old packs from time to time, from which no client resumes any more. */
  prune(): void {
    if (this.#unpruned < this.keptPacks * PRUNE_EVERY) return;
    this.#unpruned = 0;
    this.stored.prune(this.keptPacks);
  }
}
