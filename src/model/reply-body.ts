/**
 * Opens the body of an answer. Its first bytes decide how it is read, because gateways and local servers state wrong content types: an event
 * stream as JSON, a document as an event stream or as plain text.
 */
import type { ModelFailure } from "../app/ports";
import { toAnsweredFailure } from "./call-failure";
import { type ByteReader, parseOrNull, readErrorText, readStart } from "./error-body";
import type { ToEvents } from "./whole-answers";

/** Maximum length of a whole answer, in UTF-16 units: the same as for one line of a stream. */
const MAX_WHOLE_UNITS = 2_000_000;

/** How long a reply is read after it has named its end: its usage may follow, and some gateways never close the connection. */
export const LINGER_MS = 3_000;

interface Opening {
  /** Converts an answer that is one document to the events that would have been streamed. Null: it is an error. */
  readonly toEvents: ToEvents;
  /** Ends the wait for a body that does not end. */
  readonly signal: AbortSignal;
  /** Called after each read. */
  readonly onAlive?: (() => void) | undefined;
}

/** Returns a reader of the answer as an event stream, or the failure. Some gateways report an error under status 200. */
export async function openReplyStream(response: Response, opening: Opening): Promise<ReplyReader | ModelFailure> {
  const { toEvents, signal } = opening;
  if (!response.ok) return toAnsweredFailure(response, await readErrorText(response, signal));
  if (!response.body) return { kind: "unavailable", status: response.status };
  const reader = await untilFirstBytes(response.body.getReader(), opening);
  if (!reader.isDocument) return reader;
  const text = await readStart(reader, signal, MAX_WHOLE_UNITS);
  const events = toEvents(parseOrNull(text));
  return events ? readEvents(events) : toAnsweredFailure(response, text);
}

/** Reads the bytes of a reply. The first ones were read already. */
export class ReplyReader implements ByteReader {
  #first: Uint8Array | null;
  readonly #reader: ByteReader;
  #lingering: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(first: Uint8Array | null, reader: ByteReader) {
    this.#first = first;
    this.#reader = reader;
  }

  /** An event stream never begins with a brace or a bracket. */
  get isDocument(): boolean {
    const byte = this.#first?.find((each) => !BLANK.has(each));
    return byte === BRACE || byte === BRACKET;
  }

  read(): ReturnType<ByteReader["read"]> {
    const value = this.#first;
    this.#first = null;
    return value === null ? this.#reader.read().catch((error: unknown) => this.#endOr(error)) : Promise.resolve({ done: false, value });
  }

  /** Call this when the reply has named its end: the bytes end after `LINGER_MS` if the provider does not end them before. */
  linger(): void {
    this.#lingering ??= setTimeout(() => {
      this.#isOver = true;
      this.cancel().catch(() => undefined);
    }, LINGER_MS);
  }

  cancel(): Promise<void> {
    clearTimeout(this.#lingering);
    return this.#reader.cancel();
  }

  /** In workerd a read fails that is waiting when its reader is cancelled; in Node it ends. */
  #endOr(error: unknown): { readonly done: true } {
    if (this.#isOver) return { done: true };
    throw error;
  }
}

const BRACE = 0x7b;
const BRACKET = 0x5b;
/** Space, tab, line ends, and the bytes of a byte order mark. */
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

async function untilFirstBytes(reader: ByteReader, { signal, onAlive }: Opening): Promise<ReplyReader> {
  const close = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", close, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      onAlive?.();
      if (done) return new ReplyReader(null, reader);
      if (value.some((byte) => !BLANK.has(byte))) return new ReplyReader(value, reader);
    }
  } finally {
    signal.removeEventListener("abort", close);
  }
}

const utf8 = new TextEncoder();

function readEvents(events: readonly object[]): ReplyReader {
  const lines = [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`);
  const ended = { read: async () => ({ done: true, value: undefined }) as const, cancel: async () => {} };
  return new ReplyReader(utf8.encode(lines.join("")), ended);
}
