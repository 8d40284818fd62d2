/** One client's cursor over the live stream, as server-sent events. It reads at its own pace and stops nothing by leaving. */
import type { Schedule } from "../../app/session-ports";
import { formatComment, formatSse } from "../../lib/sse";
import { endsTurn, type FrameLine, type FrameType, toGapLine } from "./frames";
import type { StreamBuffer } from "./stream-buffer";

/** After this much silence, or at most twice as much, a comment keeps proxies from closing the stream. */
const HEARTBEAT_MS = 15_000;
const FRAMES_PER_READ = 256;

interface ReaderInput {
  readonly after: number;
  /** Only this turn's frames, and the end with it; null: everything, for ever. */
  readonly turn: string | null;
  /** Frames that stand in for what was pruned, before the live ones. */
  readonly replay: readonly FrameLine[];
  /** Whether the turn is over: nothing more will come. */
  readonly isOver: () => boolean;
  /** Whether what is under way stands still, since there is no room to record it. */
  readonly isHalted: () => boolean;
}

export function openReader(buffer: StreamBuffer, input: ReaderInput, schedule: Schedule): ReadableStream<Uint8Array> {
  return openSse(new Cursor(buffer, input), buffer, schedule);
}

/** Something that is read in steps and may end. */
export interface SseSource {
  /** Everything new as event text; empty: nothing yet, unless it has ended. */
  take(): string;
  ended: boolean;
}

/** A source as a byte stream: read when the client wants more, looked at again whenever the buffer says so. */
export function openSse(source: SseSource, buffer: StreamBuffer, schedule: Schedule): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const silence = new Silence(schedule);
  let opened = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = source.take();
      // The headers travel with the first bytes: without any, a client of an idle session would not know that it is heard.
      if (text === "" && !source.ended && !opened) text = formatComment("open");
      opened = true;
      while (text === "" && !source.ended) {
        const beat = await Promise.race([buffer.next(), silence.broken()]);
        text = beat ?? source.take();
      }
      silence.spoken();
      if (text) controller.enqueue(utf8.encode(text));
      if (!source.ended) return;
      silence.end();
      controller.close();
    },
    cancel() {
      source.ended = true;
      silence.end();
    },
  });
}

/** One timer after the other, however much is said: setting one for each wait costs more than what is said. */
class Silence {
  readonly #schedule: Schedule;
  #cancel: (() => void) | null = null;
  #spoke = false;
  #onBeat: (beat: string) => void = () => undefined;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** Resolves with a heartbeat once there was nothing to say for long enough. */
  broken(): Promise<string> {
    if (!this.#cancel) {
      this.#spoke = false;
      this.#cancel = this.#schedule(HEARTBEAT_MS, () => this.#ring());
    }
    return new Promise((resolve) => {
      this.#onBeat = resolve;
    });
  }

  spoken(): void {
    this.#spoke = true;
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #ring(): void {
    this.#cancel = this.#spoke ? this.#schedule(HEARTBEAT_MS, () => this.#ring()) : null;
    if (!this.#spoke) this.#onBeat(formatComment("heartbeat"));
    this.#spoke = false;
  }
}

/** What readers of any one turn hear too: while they listen, it befalls their conversation. */
const concernsAll: ReadonlySet<string> = new Set([
  "session.erased",
  "stream.gap",
  "notice",
  "compaction.started",
  "compaction.completed",
] satisfies (FrameType | "stream.gap")[]);

class Cursor implements SseSource {
  ended = false;
  #at: number;
  #opening: string;
  #toldHalt = false;

  readonly buffer: StreamBuffer;
  readonly input: ReaderInput;

  constructor(buffer: StreamBuffer, input: ReaderInput) {
    this.buffer = buffer;
    this.input = input;
    const start = buffer.locate(input.after);
    this.#at = start.offset;
    this.#opening = openingText(start, input);
    this.ended = input.replay.length > 0; // all of it was told
  }

  /** Everything that may be shown since the last time; empty: nothing yet, unless it has `ended`. */
  take(): string {
    let text = this.#opening;
    this.#opening = "";
    if (this.ended) return text;
    // Whatever is shown of them: behind frames of other turns may lie some of this one's, and nothing new would wake the reader.
    for (let lines = this.#read(); lines.length > 0; lines = this.#read()) {
      text += this.#format(lines);
      if (this.ended) return text;
      if (text !== "" && this.#at < this.buffer.offset) return text;
    }
    // All was told: a turn that waits for its tools says nothing more here, and the request that brings their results is told the rest.
    if (this.input.turn !== null) this.ended ||= this.input.isOver();
    return this.ended ? text : text + this.#halt();
  }

  /** Told once, behind everything that was said. For a reader of one turn it is the end: there is nothing to wait for. */
  #halt(): string {
    const isHalted = this.input.isHalted();
    const isNews = isHalted && !this.#toldHalt;
    this.#toldHalt = isHalted;
    if (!isNews) return "";
    this.ended = this.input.turn !== null;
    const json = JSON.stringify({ type: "stream.halted", reason: "storage_full" });
    return formatSse({ offset: this.#at, type: "stream.halted", json });
  }

  /** What follows. What was pruned or redacted before it was read is told as a gap; that a new life begins at an offset of its own is none. */
  #read(): FrameLine[] {
    const lines = this.buffer.read(this.#at, FRAMES_PER_READ);
    const [first] = lines;
    if (!first || first.offset === this.#at + 1) return lines;
    const place = this.buffer.locate(this.#at);
    return place.kind === "pruned" ? [toGapLine(place.offset), ...lines] : lines;
  }

  #format(lines: readonly FrameLine[]): string {
    let text = "";
    for (const line of lines) {
      this.#at = line.offset;
      if (this.input.turn !== null && line.turn !== this.input.turn && !concernsAll.has(line.type)) continue;
      text += formatSse(line);
      this.ended = line.type === "session.erased" || (this.input.turn !== null && endsTurn(line.type));
      if (this.ended) break;
    }
    return text;
  }
}

/**
 * A client ahead of the log is told to go back to what is stored: what it heard beyond that was lost in a crash. One
 * that is too far behind is told from where on there is still something to hear.
 */
function openingText(start: ReturnType<StreamBuffer["locate"]>, input: ReaderInput): string {
  const replay = input.replay.map(formatSse).join("");
  if (start.kind === "known" || replay) return replay;
  const type = start.kind === "rewind" ? "stream.rewind" : "stream.gap";
  return formatSse({ offset: start.offset, type, json: JSON.stringify({ type, to: start.offset }) });
}
