/** A session without a Durable Object: the real commands, events and state, with bodies in memory. */
import { CACHE_TTL_MS } from "../../../src/context/economy";
import type { SummaryText } from "../../../src/context/epoch-change";
import { estimateParts, estimateRough } from "../../../src/context/item-tokens";
import { SUMMARY_JOIN } from "../../../src/context/placement";
import type { Policy } from "../../../src/context/policy";
import { RECALL_TOOL } from "../../../src/context/recall-tool";
import { estimateTokens } from "../../../src/context/tokens";
import { shortenToolResult } from "../../../src/context/tool-results";
import { type BuiltView, buildView, type ViewEntry } from "../../../src/context/view";
import type { Command, TurnRun } from "../../../src/domain/commands";
import type { CoveredRange } from "../../../src/domain/compaction-events";
import { decide } from "../../../src/domain/decide";
import type { Event } from "../../../src/domain/events";
import { evolve } from "../../../src/domain/evolve";
import type { IdKinds, IdPrefix, OverlayId, TurnId } from "../../../src/domain/ids";
import { listEventItems } from "../../../src/domain/items-of";
import type { ItemKind, ItemMeta, NewItem, Part, ToolRef } from "../../../src/domain/message";
import { initialState, isRecallOffered, type SessionState } from "../../../src/domain/state";
import type { KeptSummary, ReplayedSession } from "../../../src/evaluate/replayed-session";
import { messageText, type Segment, type Segments } from "../../../src/evaluate/segments";
import { filler } from "./filler";

/** The duration of a model call. A cache that expires after minutes stays warm. */
const CALL_MS = 5_000;
/** Characters of a result in a transcript, both ends together (`context/prompts`). */
export const TRANSCRIPT_RESULT_CHARS = 2_000;

export interface RecordedItem {
  readonly meta: ItemMeta;
  readonly parts: readonly Part[];
  /** The text that the model reads. */
  readonly text: string;
  /** Tokens of the text. */
  readonly tokens: number;
  readonly chars: number;
}

interface LabSettings {
  readonly model: string;
  readonly system: string | null;
  readonly policyText: string;
  readonly policy: Policy;
  /** Whether `memory_query` is offered when something is out of the view, and counted. The lab's models never call it. */
  readonly recall: boolean;
  readonly segments: Segments;
}

export class LabSession implements ReplayedSession {
  readonly incarnation = "lab";
  readonly summaryShare = null;
  state: SessionState = initialState;
  now = 0;
  /** The complete conversation, oldest first. An item's position is its index + 1. */
  readonly record: RecordedItem[] = [];
  readonly segments: Segments;
  readonly #system: string | null;
  readonly #placement: Policy["summary"]["placement"];
  readonly #contents = new Map<string, readonly Part[]>();
  readonly #summaries = new Map<string, string>();
  #ids = 0;

  constructor(by: LabSettings) {
    this.segments = by.segments;
    this.#system = by.system;
    this.#placement = by.policy.summary.placement;
    const system = by.system === null ? null : { body: this.newId("bod"), bytes: utf8Length(by.system), tokens: estimateTokens(by.system) };
    const { recall } = by;
    const settings = { model: by.model, policy: by.policyText, system, tools: null, title: null, metadata: null, recall };
    this.execute({ at: this.now, type: "OpenSession", tenant: this.newId("ten"), session: this.newId("ses"), settings });
  }

  readonly newId = <P extends IdPrefix>(prefix: P): IdKinds[P] => {
    this.#ids += 1;
    return `${prefix}_01HZZZZZZZ${String(this.#ids).padStart(16, "0")}` as IdKinds[P];
  };

  /** Throws when the session refuses the command, because the lab sends only commands that a session accepts. */
  execute(command: Command): void {
    const decided = decide(command, this.state);
    if (!decided.ok) throw new Error(`${command.type} was refused: ${JSON.stringify(decided.error)}`);
    for (const event of decided.value) this.apply(event);
  }

  apply(event: Event): void {
    this.state = evolve(this.state, { ...event, seq: this.state.seq + 1, at: this.now });
    for (const meta of listEventItems(event)) {
      const parts = this.read(meta);
      const text = messageText(parts);
      this.record.push({ meta, parts, text, tokens: this.segments.count(text), chars: text.length });
    }
  }

  /** The running turn. */
  run(): TurnRun {
    const { turn } = this.state;
    if (!turn) throw new Error("no turn runs");
    return { turn: turn.id, incarnation: turn.incarnation };
  }

  tick(): void {
    this.now += CALL_MS;
  }

  /** The client is away for so long that the provider's cache of the session has expired. */
  pause(): void {
    this.now += 2 * CACHE_TTL_MS;
  }

  readonly read = ({ id }: ItemMeta): readonly Part[] => this.#contents.get(id) ?? [];

  draft(kind: ItemKind, parts: readonly Part[], by: { readonly turn: TurnId | null; readonly tool?: ToolRef }): NewItem {
    const id = this.newId("msg");
    this.#contents.set(id, parts);
    const bytes = utf8Length(JSON.stringify(parts));
    const [tokens, rough] = [estimateParts(parts), estimateRough(parts)];
    return { id, kind, turn: by.turn, at: this.now, bytes, tokens, rough, ...(by.tool ? { tool: by.tool } : {}) };
  }

  /** The content of a summary that is about to be committed: the text that was written, otherwise filler of its length. */
  keepSummary(overlay: OverlayId, { tokens, text = filler(tokens, this.state.view.epoch) }: Omit<KeptSummary, "range">): SummaryText {
    this.#summaries.set(overlay, text);
    return { text, tokens: estimateTokens(text) };
  }

  /** A recording has no summaries. */
  recordedLength(_range: CoveredRange): number | null {
    return null;
  }

  transcript({ from, to }: CoveredRange): number[] {
    return this.record.slice(from - 1, to).map(({ parts }) => this.segments.count(messageText(parts.map(shorten))) + 2);
  }

  chainTokens(): number {
    return this.segments.count(this.chain().join(SUMMARY_JOIN));
  }

  /** The view of the next request. `upTo`: items after this position are left out. */
  view(upTo: number = Number.POSITIVE_INFINITY): BuiltView {
    const { view } = this.state;
    const entries = view.items.filter(({ position }) => position <= upTo).map((meta): ViewEntry => ({ meta, parts: this.read(meta) }));
    const dropped = view.overlays.reduce((sum, overlay) => sum + (overlay.kind === "dropped" ? overlay.items : 0), 0);
    return buildView({
      system: this.#system,
      pins: [],
      summaries: this.chain(),
      dropped,
      placement: this.#placement,
      entries,
      reduced: view.reduced,
      namesRecall: isRecallOffered(this.state),
      signedFrom: view.signed_from,
      model: this.state.settings.model,
    });
  }

  /** The next request as the provider reads it: the tools, then the view. */
  request(upTo?: number): Segment[] {
    const offered = isRecallOffered(this.state) ? [this.#offer()] : [];
    return [...offered, ...this.segments.ofView(this.view(upTo))];
  }

  #offer(): Segment {
    const { runs: _, ...sent } = RECALL_TOOL;
    return this.segments.of("system", JSON.stringify(sent));
  }

  /** What stands in front of the conversation, before something has left the view and after it. */
  heads(): Segment[][] {
    const system = this.#system === null ? [] : [this.segments.of("system", this.#system)];
    return [system, [this.#offer(), ...system]];
  }

  chain(): string[] {
    return this.state.view.overlays.flatMap((overlay) => (overlay.kind === "summary" ? [this.#summaries.get(overlay.id) ?? ""] : []));
  }
}

const shorten = (part: Part): Part =>
  part.type === "tool_result" ? { ...part, output: shortenToolResult(part.output, TRANSCRIPT_RESULT_CHARS) } : part;

const utf8 = new TextEncoder();
const utf8Length = (text: string): number => utf8.encode(text).byteLength;
