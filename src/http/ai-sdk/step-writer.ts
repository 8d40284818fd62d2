/** Writes the text and the reasoning of a turn's replies: each reply is one step of the message. */
import { type Chunk, joinRuns, nameReasoning, type TextRun } from "./ui-message";

export class StepWriter {
  readonly #write: (chunk: Chunk) => void;
  /** Replies before the one that is being written. */
  #steps: number;
  /** `start-step` was sent, and `finish-step` was not. */
  #isOpen = false;
  /** The reply of the open step is recorded. */
  #isComplete = true;
  /** What was sent of the reply. */
  #runs: TextRun[] = [];
  /** The last run's part is open. */
  #isWriting = false;
  /** Text is missing, so that deltas are of no use until the reply is recorded. */
  #isLost = false;

  constructor(write: (chunk: Chunk) => void, steps: number) {
    this.#write = write;
    this.#steps = steps;
  }

  append(type: TextRun["type"], text: string): void {
    if (this.#isLost || text === "") return;
    this.#open();
    const last = this.#runs.at(-1);
    if (last?.type === type && this.#isWriting) last.text += text;
    else {
      this.#closeRun();
      this.#runs.push({ type, text });
      this.#isWriting = true;
      this.#write({ type: `${type}-start`, id: this.#name() });
    }
    this.#write({ type: `${type}-delta`, id: this.#name(), delta: text });
  }

  /**
   * The reply is recorded. Sends what is missing of it. `content` null: it is too large for a frame, and its deltas are all of it. A reply
   * of nothing is no step.
   */
  complete(content: Parameters<typeof joinRuns>[0] | null, hasCalls: boolean): void {
    this.#isLost = false;
    const whole = content === null ? this.#runs : joinRuns(content);
    if (this.#isComplete && whole.length === 0 && !hasCalls) return;
    this.#open();
    if (!this.#isPrefixOf(whole)) this.#reset();
    const [sent, inLast] = [this.#runs.length, this.#runs.at(-1)?.text.length ?? 0];
    for (const [index, { type, text }] of [...whole.entries()].slice(Math.max(sent - 1, 0)))
      this.append(type, index === sent - 1 ? text.slice(inLast) : text);
    this.#closeRun();
    this.#isComplete = true;
    this.#steps += 1;
  }

  /** The model is asked anew: what it said before its reply was complete does not count. */
  restart(): void {
    this.#isLost = false;
    if (this.#isOpen && !this.#isComplete) this.#reset();
  }

  lose(): void {
    this.#isLost = true;
  }

  end(): void {
    this.#closeRun();
    if (this.#isOpen) this.#write({ type: "finish-step" });
    this.#isOpen = false;
  }

  /** Whether the runs that were sent are a beginning of `whole`. */
  #isPrefixOf(whole: readonly TextRun[]): boolean {
    return this.#runs.every(({ type, text }, index) => {
      const other = whole[index];
      if (other?.type !== type) return false;
      return index === this.#runs.length - 1 ? other.text.startsWith(text) : other.text === text;
    });
  }

  #open(): void {
    if (!this.#isComplete) return;
    this.end();
    this.#runs = [];
    this.#isComplete = false;
    this.#isOpen = true;
    this.#write({ type: "start-step" });
  }

  #reset(): void {
    this.#closeRun();
    if (this.#runs.length > 0) this.#write({ type: "reset-step" });
    this.#runs = [];
  }

  #closeRun(): void {
    if (this.#isWriting) this.#write({ type: `${this.#runs.at(-1)?.type}-end`, id: this.#name() });
    this.#isWriting = false;
  }

  #name(): string {
    const nth = this.#runs.length - 1;
    return this.#runs[nth]?.type === "reasoning" ? nameReasoning(this.#steps, nth) : `text-${this.#steps}-${nth}`;
  }
}
