/** Lengths of spans of a tape, and the share of its newest words that a view shows. */
import type { Tape } from "./tape.ts";

/** Sums over the groups before each one, so that the length of a span is a difference. */
export class Spans {
  readonly wire: Float64Array;
  readonly transcript: Float64Array;
  readonly text: Float64Array;
  readonly tape: Tape;

  constructor(tape: Tape) {
    this.tape = tape;
    const sums = (weigh: (group: Tape["groups"][number]) => number): Float64Array => {
      const made = new Float64Array(tape.groups.length + 1);
      tape.groups.forEach((group, at) => {
        made[at + 1] = (made[at] ?? 0) + weigh(group);
      });
      return made;
    };
    this.wire = sums(({ wire }) => wire);
    this.transcript = sums(({ transcript }) => transcript);
    this.text = sums(({ text }) => text);
  }

  between(sums: Float64Array, from: number, to: number): number {
    return (sums[to] ?? 0) - (sums[from] ?? 0);
  }

  /** Share of the newest `last` tokens that a view beginning at `cut` shows. */
  verbatim(call: number, cut: number, last: number): number {
    const groups = this.tape.calls[call]?.groups ?? 0;
    const all = Math.min(last, this.between(this.text, 0, groups));
    return all === 0 ? 1 : Math.min(last, this.between(this.text, cut, groups)) / all;
  }
}
