/** Reads bodies up to a limit on the bytes that arrive, whatever a header claims. */
import { err, ok, type Result } from "./result";

interface BodyLimits {
  readonly maxBytes: number;
  /** Ends the reading. Absent: no time limit. */
  readonly signal?: AbortSignal;
}

/** Throws the signal's reason, or the connection's error. */
export async function readAtMost(
  body: ReadableStream<Uint8Array> | null,
  { maxBytes, signal }: BodyLimits,
): Promise<Result<Uint8Array, "too_large">> {
  if (!body) return ok(new Uint8Array());
  const reader = body.getReader();
  const giveUp = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > maxBytes) {
        // Do not wait for the cancellation: the other side may take long.
        void reader.cancel().catch(() => undefined);
        return err("too_large");
      }
      chunks.push(part.value);
    }
    // A cancelled stream looks like a complete one, so check the signal.
    signal?.throwIfAborted();
    return ok(join(chunks, size));
  } finally {
    signal?.removeEventListener("abort", giveUp);
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
