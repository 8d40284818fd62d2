/**
 * A session that plays its log again under another policy, with the real commands, events and state. Only the weight of its
 * content is known, so the provider's tokens are the recorded estimates times the ratio that the calls reported.
 */
import type { SummaryText } from "../context/epoch-change";
import { type SizedModel, Sizing } from "../context/sizing";
import { isAmong, listUnread } from "../domain/branch";
import type { Command } from "../domain/commands";
import type { CoveredRange } from "../domain/compaction-events";
import { decide } from "../domain/decide";
import type { Event, StoredEvent } from "../domain/events";
import { evolve } from "../domain/evolve";
import type { IdKinds, IdPrefix, OverlayId } from "../domain/ids";
import type { ItemMeta, Part } from "../domain/message";
import { fixedTokens, type SessionState } from "../domain/state";
import { askedSystem } from "../domain/turn-choices";
import { overlayTokens } from "../domain/view";
import type { LogRecord } from "./log-record";
import type { Block } from "./prompt-cache";
import type { RecordedSummaries } from "./recorded-summaries";
import type { KeptSummary, ReplayedSession } from "./replayed-session";

type EpochChanged = Extract<Event, { type: "EpochChanged" }>;

interface Opening {
  readonly state: SessionState;
  readonly model: SizedModel;
  readonly record: LogRecord;
  readonly summaries: RecordedSummaries;
}

export class LogSession implements ReplayedSession {
  state: SessionState;
  now = 0;
  /** The newest change of the view. */
  changed: EpochChanged | null = null;
  readonly #model: SizedModel;
  readonly #record: LogRecord;
  readonly #summaries: RecordedSummaries;
  readonly #blocks = new Map<string, Block>();
  readonly #items = new Map<number, Block>();
  #ids = 0;

  constructor({ state, model, record, summaries }: Opening) {
    this.state = state;
    this.#model = model;
    this.#record = record;
    this.#summaries = summaries;
  }

  readonly newId = <P extends IdPrefix>(prefix: P): IdKinds[P] => {
    this.#ids += 1;
    return `${prefix}_01HZZZZZZZ${String(this.#ids).padStart(16, "0")}` as IdKinds[P];
  };

  execute(command: Command): void {
    const decided = decide(command, this.state);
    if (!decided.ok) throw new Error(`${command.type} was refused: ${decided.error.code}`);
    for (const event of decided.value) {
      if (event.type === "EpochChanged") this.changed = event;
      this.apply({ ...event, seq: 0, at: this.now });
    }
  }

  apply(event: StoredEvent): void {
    this.now = event.at;
    this.state = evolve(this.state, { ...event, seq: this.state.seq + 1 });
  }

  /** The provider's tokens per estimated token, as the session has learned it. */
  get perToken(): number {
    return new Sizing(this.state, this.#model).ratio;
  }

  read(item: ItemMeta): readonly Part[] {
    return this.#record.read(item);
  }

  transcript(range: CoveredRange): readonly number[] {
    const { perToken } = this;
    const unread = listUnread(this.state.branch);
    const said = this.#record.slice(range).filter(({ meta }) => !isAmong(unread, meta.position));
    return said.map(({ transcript }) => Math.round(transcript * perToken));
  }

  get summaryShare(): number | null {
    return this.#summaries.share;
  }

  chainTokens(): number {
    return Math.round(overlayTokens(this.state.view.overlays) * this.perToken);
  }

  recordedLength(range: CoveredRange): number | null {
    const raw = this.#summaries.findLength(range);
    return raw === null ? null : Math.round(raw * this.perToken);
  }

  keepSummary(_overlay: OverlayId, { tokens, range }: KeptSummary): SummaryText {
    const raw = this.#summaries.findLength(range) ?? Math.max(1, Math.round(tokens / this.perToken));
    return { text: "", tokens: raw };
  }

  /** The next request in blocks, weighed by the estimator, without items after position `upTo`. */
  request(upTo: number = Number.POSITIVE_INFINITY): Block[] {
    const { view, settings, pins } = this.state;
    const head = [askedSystem(this.state), settings.tools, this.state.turn?.tools, ...pins].map((text) => text?.body ?? "").join(" ");
    const fixed = fixedTokens(this.state);
    const blocks = [this.#block(`head ${head} ${fixed}`, fixed)];
    for (const overlay of view.overlays) blocks.push(this.#block(overlay.id, overlay.tokens));
    const sizing = new Sizing(this.state, this.#model);
    for (const item of view.items) {
      if (item.position > upTo) break;
      blocks.push(this.#itemBlock(item.position, sizing.item(item)));
    }
    return blocks;
  }

  /** Returns another block as soon as the view shows the item with another weight. */
  #itemBlock(position: number, tokens: number): Block {
    const found = this.#items.get(position);
    if (found?.tokens === tokens) return found;
    const made = { tokens };
    this.#items.set(position, made);
    return made;
  }

  #block(key: string, tokens: number): Block {
    const found = this.#blocks.get(key);
    if (found) return found;
    const made = { tokens };
    this.#blocks.set(key, made);
    return made;
  }
}
