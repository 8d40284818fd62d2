/** One client's cursor over the live stream, as server-sent events. It reads at its own pace, and its disconnect stops nothing. */
import type { Schedule } from "../../app/session-ports";
import { formatComment, formatSse } from "../../lib/sse";
import { endsTurn, type FrameLine, type FrameType, toGapLine } from "./frames";
import type { StreamBuffer } from "./stream-buffer";

/** After this much silence, or at most twice as much, a comment is sent so that proxies keep the stream open. */
const HEARTBEAT_MS = 15_000;
const FRAMES_PER_READ = 256;
/** UTF-16 units after which a step of reading ends. One frame may be larger. */
const UNITS_PER_READ = 1_000_000;

interface ReaderInput {
  readonly after: number;
  /** The turn to read: only its frames, ending with it. Null: all frames, without an end. */
  readonly turn: string | null;
  /** Frames that replace pruned ones; they are sent before the live ones. */
  readonly replay: readonly FrameLine[];
  /** The frame as it is sent: with what the record says now and no stored frame has. */
  readonly fill: (line: FrameLine) => FrameLine;
  /** Tells whether the turn is over, so that no more frames come. */
  readonly isOver: () => boolean;
  /** Tells whether work under way is halted, because there is no room to record it. */
  readonly isHalted: () => boolean;
}

export function openReader(buffer: StreamBuffer, input: ReaderInput, schedule: Schedule): ReadableStream<Uint8Array> {
  return openSse(new Cursor(buffer, input), buffer, schedule);
}

/** A source that is read in steps and may end. */
export interface SseSource {
  /** Everything new as event text. Empty: nothing yet, unless it has ended. */
  take(): string;
  ended: boolean;
}

/** A source as a byte stream. It is read when the client wants more, and again whenever the buffer wakes its readers. */
export function openSse(source: SseSource, buffer: StreamBuffer, schedule: Schedule): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const silence = new Silence(schedule);
  let opened = false;
  let left = false;
  let endWait = (): void => {};
  /** Resolves with a heartbeat, or with null at a change or when the reader leaves. Nothing of the wait is left then. */
  const wait = (): Promise<string | null> =>
    new Promise((resolve) => {
      const forget = buffer.onNext(() => resolve(null));
      const end = (beat: string | null): void => {
        forget();
        resolve(beat);
      };
      endWait = () => end(null);
      silence.onBroken(end);
    });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = source.take();
      // The headers are sent with the first bytes. Without any, a client of an idle session would not know that it is
      // connected.
      if (text === "" && !source.ended && !opened) text = formatComment("open");
      opened = true;
      while (text === "" && !source.ended) text = (await wait()) ?? source.take();
      if (left) return;
      silence.spoken();
      if (text) controller.enqueue(utf8.encode(text));
      if (!source.ended) return;
      silence.end();
      controller.close();
    },
    cancel() {
      left = true;
      source.ended = true;
      silence.end();
      endWait();
    },
  });
}

/** Sends heartbeats with one timer after the other, however much is sent: a timer for each wait would cost more than the output. */
class Silence {
  readonly #schedule: Schedule;
  #cancel: (() => void) | null = null;
  #spoke = false;
  #tell: (beat: string) => void = () => undefined;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** Calls `tell` with a heartbeat after enough silence, in place of the function given before. */
  onBroken(tell: (beat: string) => void): void {
    this.#tell = tell;
    if (!this.#cancel) {
      this.#spoke = false;
      this.#cancel = this.#schedule(HEARTBEAT_MS, () => this.#ring());
    }
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
    if (!this.#spoke) this.#tell(formatComment("heartbeat"));
    this.#spoke = false;
  }
}

/** The frames that readers of a single turn receive too, because they concern the whole conversation. */
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
    this.ended = input.replay.length > 0; // the replay is the whole turn
  }

  /** Everything that may be shown since the last call. Empty: nothing yet, unless it has `ended`. */
  take(): string {
    let text = this.#opening;
    this.#opening = "";
    if (this.ended) return text;
    // Reads on even when nothing is shown: frames of this turn may lie behind those of others, and no new frame would
    // wake the reader.
    for (let lines = this.#read(); lines.length > 0; lines = this.#read()) {
      text += this.#format(lines);
      if (this.ended) return text;
      if (text !== "" && this.#at < this.buffer.offset) return text;
    }
    // All frames are sent. A turn that waits for tools sends no more here: the request that brings the results receives
    // the rest.
    if (this.input.turn !== null) this.ended ||= this.input.isOver();
    return this.ended ? text : text + this.#halt();
  }

  /** Reports a halt once, after all frames. It ends the stream of a single turn, which has nothing more to wait for. */
  #halt(): string {
    const isHalted = this.input.isHalted();
    const isNews = isHalted && !this.#toldHalt;
    this.#toldHalt = isHalted;
    if (!isNews) return "";
    this.ended = this.input.turn !== null;
    const json = JSON.stringify({ type: "stream.halted", reason: "storage_full" });
    return formatSse({ offset: this.#at, type: "stream.halted", json });
  }

  /**
   * The frames that follow. Frames that were pruned or redacted before they were read are reported as a gap. A jump to
   * a new life's first offset is no gap.
   */
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
      text += formatSse(this.input.fill(line));
      this.ended = line.type === "session.erased" || (this.input.turn !== null && endsTurn(line.type));
      if (this.ended || text.length > UNITS_PER_READ) break;
    }
    return text;
  }
}

/**
 * The first event of a reader. A client ahead of the log is told to rewind to the last stored offset: what it received
 * beyond was lost in a crash. A client too far behind is told the offset from which frames still exist.
 */
function openingText(start: ReturnType<StreamBuffer["locate"]>, input: ReaderInput): string {
  const replay = input.replay.map(formatSse).join("");
  if (start.kind === "known" || replay) return replay;
  const type = start.kind === "rewind" ? "stream.rewind" : "stream.gap";
  return formatSse({ offset: start.offset, type, json: JSON.stringify({ type, to: start.offset }) });
}
