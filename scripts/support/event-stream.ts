/** Parses server-sent events (WHATWG HTML §9.2.6), as far as Longhand sends them. */

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** Comments and events without data yield nothing. An incomplete last event is dropped. */
export async function* parseEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let lines: string[] = [];
  for await (const chunk of body) {
    const [first = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    // A line is joined once it is complete. Otherwise each read would copy the part before it.
    pieces.push(first);
    for (const start of rest) {
      const line = pieces.join("").replace(/\r$/, "");
      pieces = [start];
      if (line !== "") {
        lines.push(line);
        continue;
      }
      const event = toEvent(lines);
      lines = [];
      if (event) yield event;
    }
  }
}

function toEvent(lines: readonly string[]): ServerSentEvent | null {
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name, [...(fields.get(name) ?? []), value ?? ""]);
  }
  const data = fields.get("data");
  if (!data) return null;
  return { event: fields.get("event")?.at(-1) ?? "message", data: data.join("\n"), id: fields.get("id")?.at(-1) ?? null };
}
