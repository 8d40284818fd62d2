/** Server-sent events as a client reads them. */
import type { StreamFrame } from "../../src/contract/frame";
import { findFrameFault } from "../support/known-frames";

export type SseFrame = StreamFrame & { readonly offset: number };

function parse(block: string): SseFrame | null {
  const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  const data = fields.get("data");
  if (data === undefined) return null;
  const frame: unknown = JSON.parse(data);
  const fault = findFrameFault(frame);
  if (fault !== null) throw new Error(`Not as the schema of frames says: ${fault}\n${data}`);
  return { ...(frame as StreamFrame), offset: Number(fields.get("id")) };
}

/** A stream of frames that the test reads as far as it needs. */
export class Frames {
  /** All frames read so far, without comments. */
  readonly seen: SseFrame[] = [];
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  #pending: SseFrame[] = [];

  constructor(bytes: ReadableStream<Uint8Array>) {
    this.#reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  }

  async #next(): Promise<SseFrame | null> {
    while (this.#pending.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return null;
      const blocks = (this.#rest + value).split("\n\n");
      this.#rest = blocks.pop() ?? "";
      this.#pending = blocks.map(parse).filter((frame) => frame !== null);
    }
    const [frame = null, ...rest] = this.#pending;
    this.#pending = rest;
    if (frame) this.seen.push(frame);
    return frame;
  }

  /** Reads up to the first frame of this type that passes. Throws if the stream ends first. */
  async until<T extends SseFrame["type"]>(
    type: T,
    passes: (frame: Extract<SseFrame, { type: T }>) => boolean = () => true,
  ): Promise<Extract<SseFrame, { type: T }>> {
    for (;;) {
      const frame = await this.#next();
      if (!frame) throw new Error(`the stream ended without ${type}, after ${this.seen.map((each) => each.type).join(", ")}`);
      if (isOfType(frame, type) && passes(frame)) return frame;
    }
  }

  /** The next frame. Throws if there is none. */
  async next(): Promise<SseFrame> {
    const frame = await this.#next();
    if (!frame) throw new Error("the stream ended");
    return frame;
  }

  /** Reads until the stream ends. */
  async rest(): Promise<readonly SseFrame[]> {
    const from = this.seen.length;
    while (await this.#next());
    return this.seen.slice(from);
  }

  /** Disconnects, as a closed tab does. The stream of a reset object is already broken. */
  async leave(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }
}

function isOfType<T extends SseFrame["type"]>(frame: SseFrame, type: T): frame is Extract<SseFrame, { type: T }> {
  return frame.type === type;
}

export const listTypes = (frames: readonly SseFrame[]): string[] => frames.map((frame) => frame.type);

/** The streamed text. */
export const spoken = (frames: readonly SseFrame[]): string =>
  frames.map((frame) => (frame.type === "text.delta" ? frame.text : "")).join("");
