/** Reads server-sent events (WHATWG HTML §9.2.6), as far as Longhand sends them. */

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** Comments and events without data yield nothing; a last event that the connection cut off is dropped. */
export async function* parseEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true }).replaceAll("\r\n", "\n");
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event) yield event;
    }
  }
}

function parseBlock(block: string): ServerSentEvent | null {
  const fields = new Map<string, string[]>();
  for (const line of block.split("\n")) {
    const [, name, value] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name, [...(fields.get(name) ?? []), value ?? ""]);
  }
  const data = fields.get("data");
  if (!data) return null;
  return { event: fields.get("event")?.at(-1) ?? "message", data: data.join("\n"), id: fields.get("id")?.at(-1) ?? null };
}
