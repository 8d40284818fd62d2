/** A provider that sends a scripted reply in its own wire format, through the injected `fetch`. */
import type { CallOptions, Credentials, ModelRequest, ModelStreamPart } from "../../src/app/ports";
import { createChatModel } from "../../src/model/chat-model";
import { collect } from "./model-request";

export interface SentRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: a provider's own JSON, looked into by the tests.
  readonly body: any;
  readonly redirect: RequestInit["redirect"];
}

/** Each is one read of the stream: an event, or text unchanged. */
export type Read = string | object;

export const event = (value: object): string => {
  const type = "type" in value ? `event: ${String(value.type)}\n` : "";
  return `${type}data: ${JSON.stringify(value)}\n\n`;
};

const never = new Promise<void>(() => undefined);
const bytes = (read: Read): Uint8Array => new TextEncoder().encode(typeof read === "string" ? read : event(read));

/** A stream of these reads. `open`: it does not end by itself. */
export function toStream(reads: readonly Read[], ended: { open?: boolean; onCancel?: () => void } = {}): ReadableStream<Uint8Array> {
  const left = [...reads];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(bytes(next));
        else if (!ended.open) controller.close();
        else return never;
        return undefined;
      },
      cancel: () => ended.onCancel?.(),
    },
    { highWaterMark: 0 },
  );
}

export const streamed = (...reads: readonly Read[]): Response =>
  new Response(toStream(reads), { headers: { "content-type": "text/event-stream" } });

export interface Scripted {
  readonly sent: SentRequest[];
  ask(request: ModelRequest, options?: Partial<CallOptions>): Promise<readonly ModelStreamPart[]>;
  readonly model: ReturnType<typeof createChatModel>;
}

export function scripted(
  answer: (sent: SentRequest) => Response | Promise<Response>,
  credentials: Credentials = async () => "the-key",
): Scripted {
  const sent: SentRequest[] = [];
  const fetch = async (url: string, { headers, body, redirect }: RequestInit): Promise<Response> => {
    const raw = String(body);
    const request = { url, headers: new Headers(headers), raw, body: JSON.parse(raw), redirect };
    sent.push(request);
    return answer(request);
  };
  const model = createChatModel({ credentials, fetch, estimate: (text) => text.length });
  const never = new AbortController().signal;
  return { sent, model, ask: (request, options) => collect(model.stream(request, { signal: never, ...options })) };
}
