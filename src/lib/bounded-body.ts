/** Reads bodies up to a limit on the bytes that arrive, whatever a header claims. */
import { err, ok, type Result } from "./result";
import { startTimer } from "./timer";

interface BodyLimits {
  readonly maxBytes: number;
  /** Ends the reading. Absent: no time limit. */
  readonly signal?: AbortSignal;
}

interface Head {
  readonly bytes: Uint8Array;
  /** False: there was more. */
  readonly isWhole: boolean;
}

/** As `readHead`, of a body that must be whole. */
export async function readAtMost(body: ReadableStream<Uint8Array> | null, limits: BodyLimits): Promise<Result<Uint8Array, "too_large">> {
  const { bytes, isWhole } = await readHead(body, limits);
  return isWhole ? ok(bytes) : err("too_large");
}

/** The body's first `maxBytes`. Throws the signal's reason, or the connection's error. */
export async function readHead(body: ReadableStream<Uint8Array> | null, { maxBytes, signal }: BodyLimits): Promise<Head> {
  if (!body) return { bytes: new Uint8Array(), isWhole: true };
  const reader = body.getReader();
  const giveUp = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      chunks.push(part.value);
      if (size > maxBytes) {
        // Do not wait for the cancellation: the other side may take long.
        void reader.cancel().catch(() => undefined);
        return { bytes: join(chunks, size).subarray(0, maxBytes), isWhole: false };
      }
    }
    // A cancelled stream looks like a complete one, so check the signal.
    signal?.throwIfAborted();
    return { bytes: join(chunks, size), isWhole: true };
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

/** The time that a body of JSON has to arrive whole. A client that sends a byte now and then would hold its request for ever. */
export const BODY_SECONDS = 60;

/** As `readAtMost`, within `BODY_SECONDS`. */
export async function readInTime(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Result<Uint8Array, "too_large" | "too_slow">> {
  const abort = new AbortController();
  const cancel = startTimer(BODY_SECONDS * 1_000, () => abort.abort());
  try {
    return await readAtMost(body, { maxBytes, signal: abort.signal });
  } catch (error) {
    if (abort.signal.aborted) return err("too_slow");
    throw error;
  } finally {
    cancel();
  }
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
/** Passes the body through, and fails the stream when it exceeds `maxBytes`. Calls `onTooLarge` before that. */
export function boundBody(body: ReadableStream<Uint8Array>, maxBytes: number, onTooLarge: () => void): ReadableStream<Uint8Array> {
  let size = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size <= maxBytes) return controller.enqueue(chunk);
      onTooLarge();
      return controller.error(new RangeError("The body is too large."));
    },
  });
  return body.pipeThrough(bound);
}
