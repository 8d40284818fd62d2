/** Collects the changes of a view, as many as an answer holds, and what became of the record at the end. */

import type { EvaluatedChange, RecordShares } from "../contract/evaluation";
import { isAmong } from "../domain/branch";
import type { CoveredRange } from "../domain/compaction-events";
import type { Event } from "../domain/events";
import type { SessionState, View } from "../domain/state";
import { overlayAt } from "../domain/view";
import type { LogRecord } from "./log-record";

type EpochChanged = Extract<Event, { type: "EpochChanged" }>;

/** Maximum number of changes in an answer: a policy that clears before each call makes thousands. */
const MAX_CHANGES = 200;

interface When {
  readonly after_position: number;
  readonly turn: number;
  readonly at: number;
  readonly expected: number | null;
}

export class ViewChanges {
  epochs = 0;
  compactions = 0;
  readonly #changes: EvaluatedChange[] = [];

  add({ ops, trigger, receipt }: EpochChanged, when: When): void {
    this.epochs += 1;
    if (ops.some(({ op }) => op === "summarize")) this.compactions += 1;
    if (this.#changes.length >= MAX_CHANGES) return;
    const covering = ops.flatMap((op) => (op.op === "summarize" || op.op === "drop" ? [op] : []));
    const [first] = covering;
    const from = Math.min(...covering.map((op) => op.from));
    const to = Math.max(...covering.map((op) => op.to));
    const { tokens_before, tokens_after, measured = null } = receipt;
    const rungs = ops.map(({ op }) => op);
    this.#changes.push({ trigger, ...when, range: first ? { from, to } : null, rungs, tokens_before, tokens_after, measured });
  }

  figures(record: LogRecord, { view, branch }: Pick<SessionState, "view" | "branch">) {
    const { epochs, compactions } = this;
    const changes = this.#changes;
    return { compactions, epochs, changes, changes_truncated: epochs > changes.length, record: sumShares(record, view, branch.elsewhere) };
  }
}

function sumShares({ items }: LogRecord, view: View, elsewhere: readonly CoveredRange[]): RecordShares {
  const verbatim = new Set(view.items.map(({ position }) => position));
  const less = new Set(view.reduced.map(({ position }) => position));
  const sums = { verbatim: 0, reduced: 0, summarized: 0, dropped: 0, withdrawn: 0 };
  const findShare = (position: number): keyof RecordShares => {
    if (verbatim.has(position)) return less.has(position) ? "reduced" : "verbatim";
    const covering = overlayAt(view, position);
    if (!covering || isAmong(elsewhere, position)) return "withdrawn";
    return covering.kind === "summary" ? "summarized" : "dropped";
  };
  for (const { meta, tokens } of items) sums[findShare(meta.position)] += tokens;
  return sums;
}
