/**
 * A stream that goes on only as long as the key that it was opened with is valid. Its bytes are passed on by the runtime;
 * the timer beside it is all that is done here, however much is said.
 */
import type { Schedule } from "../app/session-ports";

/** Between two looks at the key. A look may be answered from what the isolate remembers of keys, which is as old as that at most. */
export const KEY_CHECK_MS = 30_000;

interface BoundStreamInput {
  readonly stream: ReadableStream<Uint8Array>;
  /** Throws when it cannot be known: then the stream goes on, and the next look tells. */
  isValid(): Promise<boolean>;
  readonly schedule: Schedule;
  /** Passes bytes through as they are. */
  newPipe(): TransformPair;
}

export interface TransformPair {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** Ends as the stream ends, or in good order once the key is gone: its client may come again with another one. */
export function boundToKey({ stream, isValid, schedule, newPipe }: BoundStreamInput): ReadableStream<Uint8Array> {
  const { readable, writable } = newPipe();
  const gone = new AbortController();
  const stop = repeat(schedule, async () => {
    if (!(await isValid().catch(() => true))) gone.abort();
  });
  // Without `preventAbort` whoever reads would be told of a failure.
  stream
    .pipeTo(writable, { signal: gone.signal, preventAbort: true })
    .catch((error: unknown) => (gone.signal.aborted ? writable.close() : writable.abort(error)))
    .catch(() => undefined) // nobody is left to read
    .finally(stop);
  return readable;
}

/** `work` again and again, `KEY_CHECK_MS` after it was done, until the result is called. */
function repeat(schedule: Schedule, work: () => Promise<void>): () => void {
  let isOver = false;
  let cancel = (): void => undefined;
  const arm = (): void => {
    cancel = schedule(KEY_CHECK_MS, () => void work().then(() => isOver || arm()));
  };
  arm();
  return () => {
    isOver = true;
    cancel();
  };
}
