/**
 * The beginning of a stateless answer. A provider refuses a request before it says anything, and the vendors answer with an error and its status
 * then: agents look for that status to compact a conversation that is too long. An answer that has begun cannot say it any more.
 */
import { createParser } from "eventsource-parser";
import type { Schedule } from "../../app/session-ports";
import type { StreamFrame } from "../../contract/frame";

/** After this time the answer begins, so that no proxy takes the connection for dead. */
const MOST_WAIT_MS = 10_000;

/** Frames that come before the model's words. */
const BEFORE: ReadonlySet<StreamFrame["type"]> = new Set([
  ...(["message.accepted", "turn.started", "turn.resumed", "turn.waiting", "usage.updated", "notice"] as const),
  ...(["compaction.started", "compaction.drafted", "compaction.completed"] as const),
]);

interface Begun {
  /** The turn failed without a word. */
  readonly isFailed: boolean;
  /** All of the source. */
  readonly stream: ReadableStream<Uint8Array>;
}

export async function awaitWord(source: ReadableStream<Uint8Array>, schedule: Schedule): Promise<Begun> {
  const reader = source.getReader();
  const read: Uint8Array[] = [];
  const first = createFirst();
  let isLate = false;
  const late = Promise.withResolvers<null>();
  const cancel = schedule(MOST_WAIT_MS, () => {
    isLate = true;
    late.resolve(null);
  });
  let next = reader.read();
  while (first.type === null && !isLate) {
    // A source that breaks breaks the stream, which says so.
    const piece = await Promise.race([next.catch(() => null), late.promise]);
    if (piece === null || piece.done) break;
    read.push(piece.value);
    first.feed(piece.value);
    next = reader.read();
  }
  cancel();
  return { isFailed: first.type === "turn.failed", stream: goOn(reader, { read, next }) };
}

/** Hears the first frame that is not before the words. */
function createFirst() {
  const utf8 = new TextDecoder();
  const first: { type: StreamFrame["type"] | null; feed(bytes: Uint8Array): void } = {
    type: null,
    feed: (bytes) => parser.feed(utf8.decode(bytes, { stream: true })),
  };
  const parser = createParser({
    onEvent: ({ data }) => {
      const { type }: StreamFrame = JSON.parse(data);
      if (first.type === null && !BEFORE.has(type)) first.type = type;
    },
  });
  return first;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

interface Rest {
  readonly read: Uint8Array[];
  /** What is being read already. */
  readonly next: ReturnType<Reader["read"]>;
}

function goOn(reader: Reader, { read, next }: Rest): ReadableStream<Uint8Array> {
  let pending: ReturnType<Reader["read"]> | null = next;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const known = read.shift();
      if (known) return controller.enqueue(known);
      const piece = await (pending ?? reader.read());
      pending = null;
      if (piece.done) controller.close();
      else controller.enqueue(piece.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
