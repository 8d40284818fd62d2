/** A draft does not change the view until it is committed. Then the change is the one that was leased, read and last edited (I4, I28). */
import { isDeepStrictEqual } from "node:util";
import type { CoveredRange } from "../../src/domain/compaction-events";
import type { StoredEvent } from "../../src/domain/events";
import type { CompactionId, KeyId, OverlayId } from "../../src/domain/ids";
import type { SessionState } from "../../src/domain/state";
import { readBodies } from "../../src/session/log/bodies";
import { findLease } from "./summary-book";
import type { World } from "./world";

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

interface Noted {
  readonly id: CompactionId;
  readonly token: number;
  readonly epoch: number;
  readonly range: CoveredRange;
  readonly replaces: readonly OverlayId[];
  readonly text: string;
  readonly editor: KeyId | null;
}

export class DraftRules {
  /** The open draft, according to the events alone. */
  #draft: Noted | null = null;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  afterEvent(event: StoredEvent, before: SessionState, after: SessionState): void {
    switch (event.type) {
      case "CompactionDrafted":
        return this.#drafted(event, before, after);
      case "DraftEdited":
        return this.#edited(event, before, after);
      case "CompactionFailed":
        if (event.compaction === this.#draft?.id) this.#draft = null;
        return;
      case "EpochChanged":
        if (event.compaction === this.#draft?.id) this.#committed(event, this.#draft);
        else this.#check(this.#draft === null, () => `epoch ${event.epoch} began over draft ${this.#draft?.id}`);
        this.#draft = null;
        return;
      default:
        // Appended messages keep the draft. Every other event that changes the epoch must have ended it first.
        this.#check(
          this.#draft === null || after.view.epoch === this.#draft.epoch,
          () => `${event.type} left draft ${this.#draft?.id} of epoch ${this.#draft?.epoch} standing`,
        );
    }
  }

  #check(holds: boolean, what: () => string): void {
    this.world.violations.check(holds, "I28", what);
  }

  #readText(body: Of<"CompactionDrafted">["summary"]["body"]): string {
    return readBodies(this.world.sql, [body]).get(body) ?? "";
  }

  #drafted(event: Of<"CompactionDrafted">, before: SessionState, after: SessionState): void {
    const { lease } = before.compaction;
    this.#check(this.#draft === null, () => `${event.compaction} was drafted beside ${this.#draft?.id}`);
    this.#check(isDeepStrictEqual(before.view, after.view), () => `draft ${event.compaction} changed the view`);
    const text = this.#readText(event.summary.body);
    const same = findLease(text) === String(event.token) && lease?.token === event.token;
    this.#check(same, () => `a draft made under lease ${findLease(text)} was kept under ${lease?.token}`);
    if (!lease) return;
    const { range, replaces } = lease;
    this.#draft = { id: event.compaction, token: event.token, epoch: before.view.epoch, range, replaces, text, editor: null };
  }

  #edited(event: Of<"DraftEdited">, before: SessionState, after: SessionState): void {
    this.#check(this.#draft?.id === event.compaction, () => `${event.compaction} was edited and does not wait`);
    this.#check(isDeepStrictEqual(before.view, after.view), () => `an edit of ${event.compaction} changed the view`);
    if (this.#draft) this.#draft = { ...this.#draft, text: this.#readText(event.summary.body), editor: event.by };
    this.world.stats.count("drafts edited");
  }

  /** The committed change covers the leased range, with the last text, in the name of its editor. */
  #committed({ base_epoch, ops, receipt }: Of<"EpochChanged">, draft: Noted): void {
    const summaries = ops.filter((op) => op.op === "summarize");
    const [made] = summaries;
    const covers =
      made !== undefined &&
      summaries.length === 1 &&
      made.from === draft.range.from &&
      made.to === draft.range.to &&
      made.replaces.join() === draft.replaces.join();
    this.#check(covers && base_epoch === draft.epoch, () => `draft ${draft.id} was committed as ${JSON.stringify(ops)}`);
    const text = made ? (readBodies(this.world.sql, [made.overlay]).get(made.overlay) ?? "") : "";
    this.#check(text === draft.text, () => `draft ${draft.id} was committed in other words than it had`);
    const signed = (receipt.edited?.by ?? null) === draft.editor;
    this.#check(signed, () => `draft ${draft.id} was edited by ${draft.editor}, and its receipt says ${receipt.edited?.by}`);
    this.world.stats.count("drafts committed");
  }
}
