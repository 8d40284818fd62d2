/** Reads server-sent events from bytes. */
import { createParser } from "eventsource-parser";

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** Comments and events without data yield nothing. An incomplete last event is dropped. */
export async function* parseEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  const read: ServerSentEvent[] = [];
  const parser = createParser({
    onEvent: ({ event = "message", data, id = null }) => void read.push({ event, data, id }),
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* read.splice(0);
  }
}
