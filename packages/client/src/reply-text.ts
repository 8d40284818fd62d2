/** The text of a turn's newest reply as its stream tells it, right after any break. */
import type { StreamEvent } from "./stream-types.ts";

/** What the record says of a turn. */
export interface RecordedReply {
  readonly attempt: number;
  /** Null: no reply is recorded yet. */
  readonly text: string | null;
}

/**
 * - `open`: deltas are appended.
 * - `closed`: the reply is complete, and the next delta begins another.
 * - `torn`: pieces of the reply are missing, so that deltas are of no use until it is complete.
 */
type State = "open" | "closed" | "torn";

/** The text up to an offset: the first `length` units of an answer. */
interface Mark {
  readonly offset: number;
  readonly answer: number;
  readonly length: number;
  readonly state: State;
  readonly attempt: number;
}

const START: Mark = { offset: -1, answer: 0, length: 0, state: "closed", attempt: 0 };

export class ReplyText {
  /** Each answer's text, in order. The last one is shown. */
  #answers: string[] = [""];
  /** One for each event that changed the text, so that a rewind can go back to any of them. */
  #marks: Mark[] = [START];

  get text(): string {
    return this.#answers.at(-1) ?? "";
  }

  /** False: the text of a reply that arrives without its content is not known. */
  get isWhole(): boolean {
    return this.#last.state === "open";
  }

  get #last(): Mark {
    return this.#marks.at(-1) ?? START;
  }

  /** Takes note of an event of the turn. A reply without its content (`content_omitted`) consists of the deltas before it. */
  note(event: StreamEvent): void {
    switch (event.type) {
      case "text.delta":
        return this.#append(event.offset, event.text);
      case "turn.started":
        // The answer begins anew. A repeated start of the same attempt changes nothing.
        if (event.attempt > this.#last.attempt) this.#show(event.offset, { text: "", state: "closed", attempt: event.attempt });
        return;
      case "turn.resumed":
        return this.#show(event.offset, { text: this.text, state: "closed" });
      case "item.completed":
        if (event.item.role !== "assistant") return;
        return this.#show(event.offset, { text: event.content_omitted ? this.text : readText(event.item.content), state: "closed" });
      case "stream.rewind":
        return this.#rewind(event.to);
      case "stream.gap":
        return this.#show(event.offset, { text: this.text, state: "torn" });
      default:
        return;
    }
  }

  /** Replaces what a gap may have made wrong by what is recorded. */
  mend(offset: number, { attempt, text }: RecordedReply): void {
    const isLater = attempt > this.#last.attempt;
    this.#show(offset, { text: text ?? (isLater ? "" : this.text), state: "torn", attempt });
  }

  #append(offset: number, more: string): void {
    const { state, attempt } = this.#last;
    if (state === "torn") return;
    if (state === "closed") this.#answers.push("");
    const text = this.text + more;
    this.#answers[this.#answers.length - 1] = text;
    this.#marks.push({ offset, answer: this.#answers.length - 1, length: text.length, state: "open", attempt });
  }

  #show(offset: number, { text, state, attempt = this.#last.attempt }: { text: string; state: State; attempt?: number }): void {
    this.#answers.push(text);
    this.#marks.push({ offset, answer: this.#answers.length - 1, length: text.length, state, attempt });
  }

  #rewind(to: number): void {
    while (this.#marks.length > 1 && this.#last.offset > to) this.#marks.pop();
    const { answer, length } = this.#last;
    this.#answers = this.#answers.slice(0, answer + 1);
    this.#answers[answer] = (this.#answers[answer] ?? "").slice(0, length);
  }
}

/** The text parts of a reply as one text. */
export function readText(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}
