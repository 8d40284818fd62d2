/** A column in the oracle's form: the tokens of each exchange group, and the number of groups that each call sends. */

import { type Group, groupItems } from "../../../src/context/groups";
import { buildView } from "../../../src/context/view";
import type { Segments } from "../../../src/evaluate/segments";
import { sumTokens } from "../../../src/evaluate/segments";
import { filler } from "../engine/filler";
import { Ledger } from "../engine/ledger";
import { ModelCalls } from "../engine/model-calls";
import { LabSession } from "../engine/session";
import { LAB_MODEL, toLimits, toSetup } from "../engine/setup";
import { type Caller, type Spoken, StepPlayer } from "../engine/step-player";
import type { Column } from "../engine/steps";

/** One exchange group, between which a view may be cut. All figures in true tokens. */
export interface TapeGroup {
  /** Position of its first item. */
  readonly from: number;
  /** Tokens as messages of a request. */
  readonly wire: number;
  /** Tokens as a transcript for the summariser. */
  readonly transcript: number;
  /** Tokens of the text alone, for the verbatim share. */
  readonly text: number;
}

export interface TapeCall {
  /** The number of groups before the call. */
  readonly groups: number;
  /** Whether it is the first call of its turn. */
  readonly isFirst: boolean;
  /** Tokens of the reply. */
  readonly reply: number;
  /** Whether the provider's cache had expired completely. */
  readonly cold: boolean;
}

export interface Tape {
  /** Tokens before the first message. */
  readonly head: number;
  /** Tokens of a summary's message without the summary, and the part of them with which every such message begins. */
  readonly frame: number;
  readonly opening: number;
  readonly groups: readonly TapeGroup[];
  readonly calls: readonly TapeCall[];
}

const UNLIMITED = 100_000_000;

export function toTape(column: Column, segments: Segments, cold: number | null = null): Tape {
  const setup = toSetup("oneclaw", { guard: false, eachCall: false, countsChain: false, recall: false });
  const { policyText, policy, recall } = setup;
  const session = new LabSession({ model: LAB_MODEL.id, system: column.system, policyText, policy, recall, segments });
  const ledger = new Ledger({ window: UNLIMITED, segments });
  const calls = new Recorder(new ModelCalls({ session, setup, limits: toLimits(UNLIMITED), ledger }), { session, cold });
  const player = new StepPlayer({ session, calls, tally: ledger });
  for (const step of column.steps) player.play(step);
  const groups = groupItems(
    session.record.map(({ meta }) => meta),
    new Set(),
  );
  const starts = groups.map(({ from }) => from);
  return {
    head: column.system === null ? 0 : segments.of("system", column.system).tokens,
    ...toFrame(segments),
    groups: groups.map(({ from, to }) => toGroup(session, { from, to })),
    calls: calls.seen.map(({ items, ...call }) => ({ ...call, groups: countUpTo(starts, items) })),
  };
}

const countUpTo = (starts: readonly number[], items: number): number => starts.filter((from) => from <= items).length;

function toGroup(session: LabSession, { from, to }: Pick<Group, "from" | "to">): TapeGroup {
  const items = session.record.slice(from - 1, to);
  const view = buildView({ ...EMPTY, entries: items.map(({ meta, parts }) => ({ meta, parts })), summaries: [] });
  return {
    from,
    wire: sumTokens(session.segments.ofView(view)),
    transcript: session.transcript({ from, to }).reduce((sum, tokens) => sum + tokens, 0),
    text: items.reduce((sum, item) => sum + item.tokens, 0),
  };
}

const EMPTY = {
  system: null,
  pins: [],
  dropped: 0,
  placement: "user-message",
  entries: [],
  reduced: [],
  namesRecall: false,
  signedFrom: 0,
  model: LAB_MODEL.id,
} as const;

const SAMPLE = 1_000;

function toFrame(segments: Segments): Pick<Tape, "frame" | "opening"> {
  const [one, other] = ["1", "2"].map((name) => segments.ofView(buildView({ ...EMPTY, summaries: [filler(SAMPLE, name)] }))[0]);
  if (!one || !other) throw new Error("a summary is a message");
  return { frame: one.tokens - SAMPLE, opening: segments.common(one, other) };
}

/** Records the state before each call, and lets the call be made. */
class Recorder implements Caller {
  readonly seen: { items: number; reply: number; isFirst: boolean; cold: boolean }[] = [];
  readonly #inner: ModelCalls;
  readonly #session: LabSession;
  readonly #every: number | null;
  #isCold = false;

  constructor(inner: ModelCalls, by: { readonly session: LabSession; readonly cold: number | null }) {
    this.#inner = inner;
    this.#session = by.session;
    this.#every = by.cold;
  }

  beforeTurn(turn: number): void {
    this.#isCold = this.#every !== null && turn % this.#every === 0;
  }

  prepare(): boolean {
    return this.#inner.prepare();
  }

  call(spoken: Spoken): boolean {
    const { record, segments, state } = this.#session;
    this.seen.push({ items: record.length, reply: segments.count(spoken.text), isFirst: state.turn?.rounds === 0, cold: this.#isCold });
    this.#isCold = false;
    return this.#inner.call(spoken);
  }

  fail(...failure: Parameters<Caller["fail"]>): void {
    this.#inner.fail(...failure);
  }

  afterTurn(): void {}
}
