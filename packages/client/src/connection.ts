/** One connection to a live stream. It ends when the server ends it, when it breaks, or when it is closed. */

import { describeAnswer, LonghandError } from "./errors.ts";
import { EventReader } from "./event-reader.ts";
import type { StreamEvent } from "./stream-types.ts";
import type { Method, Outgoing, Transport } from "./transport.ts";

export interface StreamSettings {
  readonly transport: Transport;
  /** How often in a row a stream may break without a new event. */
  readonly retries: number;
  /** A connection that brings no byte for so long is taken for lost. */
  readonly silenceMs: number;
}

interface StreamCall extends Outgoing {
  readonly method: Method;
  readonly path: string;
  /** The offset that the caller has. Null: none. */
  readonly after: number | null;
}

export class Connection {
  readonly #events: EventReader;
  readonly #release: () => void;
  #fault: unknown;

  private constructor(events: EventReader, release: () => void) {
    this.#events = events;
    this.#release = release;
  }

  /**
   * Returns the answer itself where it is JSON: the message has no turn, or its turn cannot be heard now. Rejects as the transport
   * does, and with a `LonghandError` for an answer that is neither.
   */
  static async open(settings: StreamSettings, { method, path, after, ...outgoing }: StreamCall): Promise<Connection | Response> {
    const { signal } = outgoing;
    const leaving = new AbortController();
    const stop = (): void => leaving.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const release = (): void => {
      signal?.removeEventListener("abort", stop);
      leaving.abort();
    };
    const headers = { ...outgoing.headers, ...(after !== null && { "last-event-id": String(after) }) };
    try {
      const options = { ...outgoing, headers, signal: leaving.signal, accept: "text/event-stream", stream: true };
      const response = await settings.transport.send(method, path, options);
      const type = response.headers.get("content-type") ?? "";
      if (type.startsWith("text/event-stream") && response.body) {
        return new Connection(new EventReader(response.body, settings.silenceMs), release);
      }
      if (type.startsWith("application/json")) return new Response(await response.text(), response);
      const facts = { status: response.status, code: "unexpected_answer", detail: describeAnswer(response) };
      throw new LonghandError(`${method} ${path}`, facts);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Why the connection broke. Undefined after an orderly end. */
  get fault(): unknown {
    return this.#fault ?? this.#events.fault;
  }

  /** The next event. Null when the connection is over. */
  async next(): Promise<StreamEvent | null> {
    const event = await this.#events.next();
    if (!event) return null;
    try {
      return { ...JSON.parse(event.data), offset: Number(event.id) };
    } catch (error) {
      this.#fault = error;
      return null;
    }
  }

  close(): void {
    this.#events.close();
    this.#release();
  }
}
