/** The events of live streams, as the caller sees them. */
import type { StreamFrame } from "./generated.ts";

/** An event of a live stream, typed by its `type`. A stream resumes after its `offset`. */
export type StreamEvent = StreamFrame & { readonly offset: number };
