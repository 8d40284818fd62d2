/** Reads the frames of a live stream that a script knows. */
import type { ServerSentEvent } from "./event-stream.ts";

/** A union of frames by their `type`, as `z.discriminatedUnion` builds it. */
interface FrameUnion<F> {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: string } } }[];
  parse(value: unknown): F;
}

/** Returns a reader of one event: its frame, or null if the union has no frame of that name. Throws if a known frame has another shape. */
export function createFrameReader<F>(union: FrameUnion<F>): (event: ServerSentEvent) => F | null {
  const known = new Set(union.options.map((option) => option.shape.type.value));
  return ({ event, data }) => (known.has(event) ? union.parse(JSON.parse(data)) : null);
}
