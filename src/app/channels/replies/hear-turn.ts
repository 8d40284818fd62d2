/** Reads the frames of a turn from its session's stream. */
import { createParser } from "eventsource-parser";
import type { StreamFrame } from "../../../contract/frame";

/** Returns when the stream ends, and throws when it breaks. `signal`: ends the reading. */
export async function readTurnFrames(
  stream: ReadableStream<Uint8Array>,
  { hear, signal }: { readonly hear: (frame: StreamFrame) => void; readonly signal: AbortSignal },
): Promise<void> {
  const utf8 = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => hear(JSON.parse(data) as StreamFrame) });
  const reader = stream.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", leave, { once: true });
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) parser.feed(utf8.decode(read.value, { stream: true }));
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
