/**
 * A stream that goes on only while the key that opened it is valid. The runtime passes its bytes on; this module only runs a
 * timer beside it, whatever the amount of data.
 */
import type { Schedule } from "../app/session-ports";

/**
 * Time between two checks of the key. A check may be answered from the isolate's cache of keys, which is at most as old as
 * that.
 */
export const KEY_CHECK_MS = 30_000;

interface BoundStreamInput {
  readonly stream: ReadableStream<Uint8Array>;
  /** Throws when the key cannot be checked. The stream then goes on, and the next check decides. */
  isValid(): Promise<boolean>;
  readonly schedule: Schedule;
  /** Makes a pipe that passes bytes through unchanged. */
  newPipe(): TransformPair;
}

export interface TransformPair {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** Ends when `stream` ends, or normally once the key is invalid: the client may come back with another key. */
export function boundToKey({ stream, isValid, schedule, newPipe }: BoundStreamInput): ReadableStream<Uint8Array> {
  const { readable, writable } = newPipe();
  const gone = new AbortController();
  const stop = repeat(schedule, async () => {
    if (!(await isValid().catch(() => true))) gone.abort();
  });
  // Without `preventAbort`, the reader would get an error.
  stream
    .pipeTo(writable, { signal: gone.signal, preventAbort: true })
    .catch((error: unknown) => (gone.signal.aborted ? writable.close() : writable.abort(error)))
    .catch(() => undefined) // no reader is left
    .finally(stop);
  return readable;
}

/** Runs `work` again and again, `KEY_CHECK_MS` after it last finished, until the returned function is called. */
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
