/**
 * The invariants of the view: nothing is hidden without an overlay or shown twice, and a revert restores it exactly
 * (I11, I19, I22, I24).
 */
import { isDeepStrictEqual } from "node:util";
import { isAmong } from "../../src/domain/branch";
import type { Overlay } from "../../src/domain/compaction-events";
import type { StoredEvent } from "../../src/domain/events";
import type { CompactionId, ItemId, OverlayId } from "../../src/domain/ids";
import { parseBody } from "../../src/domain/item-content";
import type { SessionState, View } from "../../src/domain/state";
import { NO_RESULT_TOKENS } from "../../src/domain/view";
import { readBodies } from "../../src/session/log/bodies";
import { findMark } from "./summary-book";
import type { World } from "./world";

type EpochChanged = Extract<StoredEvent, { type: "EpochChanged" }>;

/** The view up to a position. Later items do not matter. */
const upTo = ({ overlays, items, reduced }: View, to: number, isGone: (position: number) => boolean) => ({
  overlays,
  items: items.filter((item) => item.position <= to && !isGone(item.position)).map((item) => item.position),
  reduced: reduced.filter((entry) => entry.position <= to && !isGone(entry.position)),
});

/** The events that may change which positions are in the view. */
const CHECKED_AFTER: ReadonlySet<string> = new Set(["EpochChanged", "TurnStarted", "HistoryRewound", "BranchSwitched", "MessageRedacted"]);

/** Ordered by end. An overlay within another comes first. */
const mayFollow = (next: Overlay, before: Overlay | undefined): boolean =>
  before === undefined || next.to > before.to || (next.to === before.to && next.from <= before.from);

export class ViewRules {
  /** Positions that an overlay stands for. */
  readonly #stands = new Map<OverlayId, ReadonlySet<number>>();
  /** Positions that no summary has read, because the policy replaced them by a note. */
  readonly #noted = new Set<number>();
  /** Interrupted replies that a retry removed from the view. */
  readonly #retracted = new Set<number>();
  readonly #before = new Map<CompactionId, { readonly view: View; readonly to: number }>();
  /** The item at each position, from 1. */
  readonly #items: ItemId[] = [];
  readonly #marks = new Map<number, string | null>();

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  afterEvent(event: StoredEvent, before: SessionState, after: SessionState): void {
    for (const item of after.view.items) this.#items[item.position] = item.id;
    if (event.type === "TurnStarted" && event.retry_of) this.#noteRetracted(before, after);
    // Nothing reads it any more.
    if (event.type === "MessageRedacted") this.#marks.set(event.position, null);
    if (event.type === "EpochChanged") this.#noteEpoch(event, before, after);
    if (CHECKED_AFTER.has(event.type)) this.#checkCover(after);
    this.#checkSum(after);
  }

  /** I24: the running sum equals a newly computed one. */
  #checkSum({ view, seq }: SessionState): void {
    const shown = new Map(view.reduced.map((entry) => [entry.position, entry.tokens]));
    let tokens = 0;
    for (const overlay of view.overlays) tokens += overlay.tokens;
    for (const item of view.items) {
      tokens += shown.get(item.position) ?? item.tokens;
      if (item.position >= view.signed_from) tokens += item.signed?.tokens ?? 0;
    }
    const answered = new Set(view.items.filter((item) => item.kind === "tool_result").map((item) => item.tool?.execution));
    for (const item of view.items) if (item.kind === "tool_call" && !answered.has(item.tool?.execution)) tokens += NO_RESULT_TOKENS;
    const system = view.items.reduce((sum, item) => sum + (item.kind === "system" ? (shown.get(item.position) ?? item.tokens) : 0), 0);
    this.world.violations.check(system === view.system, "I24", () => `system messages weigh ${view.system} at seq ${seq}, truly ${system}`);
    this.world.violations.check(tokens === view.tokens, "I24", () => `the view says ${view.tokens} tokens at seq ${seq}, it has ${tokens}`);
  }

  #noteRetracted(before: SessionState, after: SessionState): void {
    const left = new Set(after.view.items.map((item) => item.position));
    for (const { position } of before.view.items) if (!left.has(position)) this.#retracted.add(position);
  }

  #noteEpoch(event: EpochChanged, before: SessionState, after: SessionState): void {
    const { violations } = this.world;
    const back = event.ops.find((op) => op.op === "revert");
    const reset = event.ops.some((op) => op.op === "reset");
    if (event.compaction && !back && !reset) this.#before.set(event.compaction, { view: before.view, to: before.next_position - 1 });
    if (back) {
      const was = this.#before.get(back.compaction);
      const gone = (position: number): boolean => this.#retracted.has(position);
      const same = was && isDeepStrictEqual(upTo(was.view, was.to, gone), upTo(after.view, was.to, gone));
      violations.check(same ?? false, "I22", () => `reverting ${back.compaction} did not bring back the view that it found`);
      this.world.stats.count("reverted");
    }
    this.#noteOverlays(event, before, after);
  }

  #noteOverlays(event: EpochChanged, before: SessionState, after: SessionState): void {
    const shown = new Set(after.view.items.map((item) => item.position));
    const left = before.view.items.map((item) => item.position).filter((position) => !shown.has(position));
    const within = ({ from, to }: Overlay, position: number): boolean => from <= position && position <= to;
    for (const overlay of after.view.overlays) {
      if (this.#stands.has(overlay.id)) continue;
      const op = event.ops.find((known) => "overlay" in known && known.overlay === overlay.id);
      const replaced = op && "replaces" in op ? op.replaces.flatMap((id) => [...(this.#stands.get(id) ?? [])]) : this.#hidden(after, shown);
      const stands = new Set([...left, ...replaced].filter((position) => within(overlay, position)));
      this.#stands.set(overlay.id, stands);
      if (op?.op !== "summarize") continue;
      // A range with a note instead of a summary is reported as left out, not as read.
      if (event.trigger === "fallback" || op.mode === null) for (const position of stands) this.#noted.add(position);
      this.#checkRead(event, overlay, stands);
    }
  }

  /** The range that a reset leaves out: everything that is neither shown nor covered by an earlier overlay. */
  #hidden({ view, branch, next_position }: SessionState, shown: ReadonlySet<number>): number[] {
    const known = new Set(view.overlays.flatMap((overlay) => [...(this.#stands.get(overlay.id) ?? [])]));
    const positions = Array.from({ length: next_position - 1 }, (_, index) => index + 1);
    const isGone = (position: number): boolean => this.#retracted.has(position) || isAmong(branch.elsewhere, position);
    return positions.filter((position) => !shown.has(position) && !known.has(position) && !isGone(position));
  }

  /** I19: a summariser has read everything that a summary stands for, in this summary or in one that it continues. */
  #checkRead(event: EpochChanged, overlay: Overlay, stands: ReadonlySet<number>): void {
    const { sql, book, violations } = this.world;
    const marks = book.marksIn(readBodies(sql, [overlay.id]).get(overlay.id) ?? "");
    const unread = [...stands].filter((position) => {
      const mark = this.#markAt(position);
      return mark !== null && !marks.has(mark) && !this.#noted.has(position);
    });
    violations.check(
      unread.length === 0,
      "I19",
      () => `the summary of ${overlay.from}..${overlay.to} never read ${unread}: ${JSON.stringify(event.ops)}`,
    );
  }

  #markAt(position: number): string | null {
    const known = this.#marks.get(position);
    if (known !== undefined) return known;
    const id = this.#items[position];
    const text = id === undefined ? undefined : readBodies(this.world.sql, [id]).get(id);
    const [part] = text === undefined ? [] : parseBody(text).parts;
    const mark = part?.type === "text" ? findMark(part.text) : null;
    this.#marks.set(position, mark);
    return mark;
  }

  /** I11: every position of the branch is shown, covered by exactly one overlay, or removed by a retry. */
  #checkCover({ view, branch, next_position, lifecycle }: SessionState): void {
    const { violations } = this.world;
    if (lifecycle !== "open") return;
    const times = new Uint8Array(next_position);
    const count = (position: number): void => {
      times[position] = (times[position] ?? 0) + 1;
    };
    for (const item of view.items) count(item.position);
    for (const overlay of view.overlays) for (const position of this.#stands.get(overlay.id) ?? []) count(position);
    const sorted = view.items.every((item, index) => index === 0 || item.position > (view.items[index - 1]?.position ?? 0));
    violations.check(sorted, "I11", () => "the items of the view are out of order");
    const misplaced = view.overlays.findIndex((overlay, index) => index > 0 && !mayFollow(overlay, view.overlays[index - 1]));
    violations.check(misplaced < 0, "I11", () => `overlay ${misplaced} is out of order: ${JSON.stringify(view.overlays)}`);
    const ends = view.overlays.flatMap(({ kind, to }) => (kind === "summary" ? [to] : []));
    violations.check(new Set(ends).size === ends.length, "I11", () => `two summaries end at one position: ${ends}`);
    for (let position = 1; position < next_position; position++) {
      const isGone = this.#retracted.has(position) || isAmong(branch.elsewhere, position);
      const fine = isAmong(branch.elsewhere, position) ? times[position] === 0 : times[position] === 1 || (times[position] === 0 && isGone);
      violations.check(
        fine,
        "I11",
        () => `position ${position} is in the view ${times[position]} times at seq ${this.world.scheduler.steps}`,
      );
    }
    const reducedShown = new Set(view.items.map((item) => item.position));
    const strayed = view.reduced.filter((entry) => !reducedShown.has(entry.position));
    violations.check(strayed.length === 0, "I11", () => `positions ${strayed.map((entry) => entry.position)} are reduced and not shown`);
  }
}
