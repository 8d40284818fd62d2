/**
 * Tells a leg from the native stream's frames, in a vendor's events. What the stream leaves out is read from the record: pieces that are not
 * kept any more, replies that are too large for a frame, and the rest of a stream that broke.
 */
import type { StreamFrame } from "../../contract/frame";
import type { DisplayItem } from "../../contract/item";
import type { TurnFailureView } from "../../contract/model-call";
import { type CallUsage, plusUsage } from "../../domain/model-call";
import type { Result } from "../../lib/result";
import type { AppliedEdits } from "./applied-edits";
import type { LegEnding, RecordedLeg } from "./leg";
import type { Translator } from "./translate-stream";

export type SpokenKind = "text" | "reasoning";

/** A vendor's events. Each function returns the text to send: whole events, or nothing. */
export interface LegTeller {
  /** More of the present reply. Never empty. */
  say(kind: SpokenKind, text: string): string;
  /** The present reply is complete. Another may follow. */
  endReply(): string;
  finish(ending: LegEnding, usage: CallUsage | null, edits: AppliedEdits): string;
  /** Null: the turn ended with its process. */
  fail(failure: TurnFailureView | null): string;
  /** What the client has cannot be made complete. The turn itself goes on. */
  lose(): string;
}

interface TellInput {
  readonly teller: LegTeller;
  /** Reads the leg when it is over. */
  readonly readRecord: () => Promise<Result<RecordedLeg, unknown>>;
  /** The frames are of more than this leg, or of less: all of it is told from the record. They only say when it is over. */
  readonly isPast: boolean;
  /** The leg's end says what only the record knows. */
  readonly readsEnd?: boolean;
}

/** Adjacent pieces of one kind. */
interface Run {
  readonly kind: SpokenKind;
  text: string;
}

function addRun(runs: Run[], kind: SpokenKind, text: string): void {
  const last = runs.at(-1);
  if (last?.kind === kind) last.text += text;
  else if (text !== "") runs.push({ kind, text });
}

/** What a reply says, in order. Adjacent parts of one kind are one. */
export function listRuns({ content }: DisplayItem): readonly Readonly<Run>[] {
  const runs: Run[] = [];
  for (const part of content) if (part.type === "text" || part.type === "reasoning") addRun(runs, part.type, part.text);
  return runs;
}

/** What follows in `all` behind `told`. Null: they differ. */
function findRest(all: readonly Readonly<Run>[], told: readonly Readonly<Run>[]): readonly Readonly<Run>[] | null {
  const last = told.length - 1;
  const isSame = told.every(({ kind, text }, index) => {
    const run = all[index];
    return run?.kind === kind && (index === last ? run.text.startsWith(text) : run.text === text);
  });
  if (!isSame) return null;
  return all
    .slice(Math.max(0, last))
    .map(({ kind, text }, index) => ({ kind, text: last >= 0 && index === 0 ? text.slice(told[last]?.text.length ?? 0) : text }));
}

class LegWriter implements Translator {
  readonly #teller: LegTeller;
  readonly #readRecord: TellInput["readRecord"];
  #isDone = false;
  /** What was told of the present reply. */
  #told: Run[] = [];
  /** Replies that were told, by position. */
  readonly #complete = new Set<number>();
  /** The stream cannot tell the rest: it is read when the leg is over. */
  #isBehind: boolean;
  readonly #readsEnd: boolean;
  #isOver = false;
  /** Why the turn failed, as its frame said it. The record says more. */
  #failure: TurnFailureView | null = null;
  #usage: CallUsage | null = null;

  constructor({ teller, readRecord, isPast, readsEnd = false }: TellInput) {
    this.#teller = teller;
    this.#readRecord = readRecord;
    this.#isBehind = isPast;
    this.#readsEnd = readsEnd;
  }

  frame(frame: StreamFrame): string {
    return this.#isDone || this.#isOver ? "" : this.#tell(frame);
  }

  isOver(): boolean {
    return this.#isOver || this.#isDone;
  }

  async end(): Promise<string> {
    return this.#isDone ? "" : await this.#catchUp();
  }

  broken(): Promise<string> {
    return this.end();
  }

  #tell(frame: StreamFrame): string {
    switch (frame.type) {
      case "text.delta":
        return this.#hear("text", frame.text);
      case "reasoning.delta":
        return this.#hear("reasoning", frame.text);
      case "item.completed":
        return frame.item.role === "assistant" ? this.#endReply(frame.item, frame.content_omitted === true) : "";
      case "usage.updated":
        if (frame.source === "turn") this.#usage = plusUsage(this.#usage, frame.usage);
        return "";
      case "turn.awaiting_tools":
        if (frame.content_omitted) this.#isBehind = true;
        return this.#finish({ type: "waiting", calls: frame.tool_calls });
      case "turn.completed":
        return this.#finish({ type: "finished", finish: frame.finish });
      case "turn.stopped":
        return this.#finish({ type: "stopped" });
      case "turn.interrupted":
        return this.#fail(null);
      case "turn.failed":
        if (frame.failure.kind !== "refused") return this.#endFailed(frame.failure);
        return this.#finish({ type: "refused", detail: frame.failure.detail });
      case "stream.gap":
        this.#isBehind = true;
        return "";
      case "turn.resumed":
      case "stream.rewind":
        return this.#beginAnew();
      case "stream.halted":
      case "session.erased":
        return this.#lose();
      default:
        return "";
    }
  }

  #hear(kind: SpokenKind, text: string): string {
    return this.#isBehind ? "" : this.#say(kind, text);
  }

  #say(kind: SpokenKind, text: string): string {
    if (text === "") return "";
    addRun(this.#told, kind, text);
    return this.#teller.say(kind, text);
  }

  /** What clients have of a reply cannot be taken back. */
  #beginAnew(): string {
    return this.#told.length > 0 ? this.#lose() : "";
  }

  #endReply(item: DisplayItem, isOmitted: boolean): string {
    const isTold = this.#told.length > 0;
    if (!isTold && isOmitted) this.#isBehind = true;
    return this.#isBehind ? "" : this.#completeReply(item, isTold ? [] : listRuns(item));
  }

  #completeReply(item: DisplayItem, rest: readonly Readonly<Run>[]): string {
    const said = rest.map(({ kind, text }) => this.#say(kind, text)).join("");
    this.#told = [];
    this.#complete.add(item.position);
    return said + this.#teller.endReply();
  }

  #finish(ending: LegEnding): string {
    return this.#endWith(() => this.#teller.finish(ending, this.#usage, {}));
  }

  #endFailed(failure: TurnFailureView): string {
    this.#failure = failure;
    this.#isOver = true;
    return "";
  }

  #fail(failure: TurnFailureView | null): string {
    return this.#endWith(() => this.#teller.fail(failure));
  }

  /** The frame ends the leg. What was not told of it is read first. */
  #endWith(tell: () => string): string {
    if (!this.#isBehind && !this.#readsEnd) return this.#done(tell());
    this.#isOver = true;
    return "";
  }

  #lose(): string {
    return this.#done(this.#teller.lose());
  }

  #done(text: string): string {
    this.#isDone = true;
    return text;
  }

  async #catchUp(): Promise<string> {
    const read = await this.#readRecord().catch(() => null);
    if (!read?.ok) return this.#failure && !this.#isBehind ? this.#done(this.#teller.fail(this.#failure)) : this.#lose();
    const { replies, ending, usage, edits } = read.value;
    let told = "";
    for (const reply of replies) {
      if (this.#complete.has(reply.position)) continue;
      const rest = findRest(listRuns(reply), this.#told);
      if (!rest) return told + this.#lose();
      told += this.#completeReply(reply, rest);
    }
    return told + this.#done(ending.ok ? this.#teller.finish(ending.value, usage, edits) : this.#teller.fail(ending.error));
  }
}

export const createLegTranslator = (input: TellInput): Translator => new LegWriter(input);
