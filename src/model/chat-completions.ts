/**
 * `ChatModel` for chat completions at any endpoint. The reply is decoded by our own decoder (`chat-stream`). One call sends
 * one request: retries, deadlines, the tool loop and persistence belong to the caller.
 */
import type { CallOptions, ChatModel, Credentials, ModelFailure, ModelRequest, ModelSpec, ModelStreamPart } from "../app/ports";
import { ABORTED, hideCallKey, refuseLarge, toThrownFailure, withKey } from "./call-failure";
import type { ReplyDecoder } from "./chat-stream";
import type { BuiltRequest } from "./provider-link";
import { setBearer } from "./providers";
import { openReplyStream, type ReplyReader } from "./reply-body";
import { untilAborted } from "./until-aborted";
import type { ToEvents } from "./whole-answers";

/** How an endpoint is called. */
interface ChatWire {
  /** Throws when the model cannot be called at all. */
  build(request: ModelRequest): Promise<BuiltRequest>;
  /** Finds the key just before the request is sent. It is sent as a bearer token. */
  readonly credentials: Credentials;
  send(built: BuiltRequest, signal: AbortSignal): Promise<Response>;
  /** Converts an answer that is not a stream to events. */
  readonly toEvents: ToEvents;
  newDecoder(model: ModelSpec): ReplyDecoder;
}

export function createChatCompletions(wire: ChatWire): ChatModel {
  return {
    stream: (request, call) => runCall({ request, call, wire }),
    async render(request) {
      const { url, body } = await wire.build(request);
      return { url, body };
    },
  };
}

interface Call {
  readonly request: ModelRequest;
  readonly call: CallOptions;
  readonly wire: ChatWire;
}

/** One generator, without nesting: in workerd each nested generator costs as much per chunk as decoding the chunk. */
async function* runCall({ request, call, wire }: Call): AsyncGenerator<ModelStreamPart, void, undefined> {
  const { signal } = call;
  let reader: ReplyReader | null = null;
  let sentKey: string | null = null;
  const onKey = (key: string | null): void => {
    sentKey = key;
  };
  const close = (): void => void reader?.cancel().catch(() => undefined);
  try {
    const reply = await untilAborted(signal, open({ request, call, wire, onKey }));
    if ("kind" in reply) return yield hideCallKey({ type: "failure", failure: reply }, sentKey);
    reader = reply;
    signal.addEventListener("abort", close, { once: true });
    signal.throwIfAborted();
    const decoder = wire.newDecoder(request.model);
    while (!decoder.over) {
      const { done, value } = await reader.read();
      call.onAlive?.();
      const { deltas } = decoder;
      const chunks = done ? decoder.end() : decoder.read(value);
      if (decoder.deltas > deltas) call.onProgress?.();
      if (decoder.isSaid) reader.linger();
      for (const chunk of chunks) {
        if (signal.aborted) return yield ABORTED;
        yield hideCallKey(chunk, sentKey);
      }
    }
  } catch (error) {
    yield { type: "failure", failure: toThrownFailure(error, signal) };
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** Sends the request. Returns a reader of the reply's bytes, or the failure. */
async function open({ request, call, wire, onKey }: Call & { onKey: (key: string | null) => void }): Promise<ReplyReader | ModelFailure> {
  call.signal.throwIfAborted();
  const built = await wire.build(request);
  const setKey = (key: string | null): void => {
    onKey(key);
    setBearer(built.headers, key);
  };
  const refusal = refuseLarge(built.body) ?? withKey(await wire.credentials(request.model), setKey);
  if (refusal) return refusal;
  call.signal.throwIfAborted();
  call.onRequest?.(built.body);
  const response = await wire.send(built, call.signal);
  call.onAlive?.();
  if (call.signal.aborted) void response.body?.cancel().catch(() => undefined);
  call.signal.throwIfAborted();
  return openReplyStream(response, { toEvents: wire.toEvents, signal: call.signal, onAlive: call.onAlive });
}
