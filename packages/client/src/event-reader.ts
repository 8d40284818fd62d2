/** Reads server-sent events from the body of one response. */
import { createParser } from "eventsource-parser";

export interface ServerEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string;
}

/**
 * An event is complete at the blank line behind it. What a cut leaves of an incomplete one, be it half of a line or half of a
 * character, is dropped with this reader: the server sends that event again.
 */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #silenceMs: number;
  readonly #decoder = new TextDecoder();
  readonly #events: ServerEvent[] = [];
  readonly #parser = createParser({
    onEvent: ({ event = "message", data, id = "" }) => void this.#events.push({ type: event, data, id }),
  });
  /** Why the connection broke. Undefined while it has not, and after an orderly end. */
  fault: unknown;

  /** `silenceMs`: a connection that brings no byte for so long is taken for lost. The server sends a comment at least every 30 seconds. */
  constructor(body: ReadableStream<Uint8Array>, silenceMs: number) {
    this.#reader = body.getReader();
    this.#silenceMs = silenceMs;
  }

  /** The next event. Null at the end of the connection, whether it ended in good order or broke. */
  async next(): Promise<ServerEvent | null> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      const bytes = await this.#read();
      if (bytes === null) return null;
      this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    }
  }

  /** Releases the connection. The body of a broken one cannot be cancelled. */
  close(): void {
    this.#reader.cancel().catch(() => undefined);
  }

  async #read(): Promise<Uint8Array | null> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silent = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`The stream sent nothing for ${this.#silenceMs} ms`)), this.#silenceMs);
    });
    try {
      const { done, value } = await Promise.race([this.#reader.read(), silent]);
      return done ? null : value;
    } catch (error) {
      this.fault = error ?? new Error("The connection broke");
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}
