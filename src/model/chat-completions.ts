/**
 * `ChatModel` for chat completions at any endpoint. The reply is decoded by our own decoder (`chat-stream`). One call sends
 * one request: retries, deadlines, the tool loop and persistence belong to the caller.
 */
import type { CallOptions, ChatModel, ModelFailure, ModelRequest, ModelSpec, ModelStreamPart } from "../app/ports";
import { ABORTED, refuseLarge, toThrownFailure } from "./call-failure";
import type { ReplyDecoder } from "./chat-stream";
import type { BuiltRequest } from "./provider-link";
import { openReplyStream, type ReplyReader } from "./reply-body";
import { untilAborted } from "./until-aborted";
import type { ToEvents } from "./whole-answers";

/** How an endpoint is called. */
interface ChatWire {
  /** Throws when the model cannot be called at all. */
  build(request: ModelRequest): Promise<BuiltRequest>;
  /** Sets the key just before the request is sent. Returns why it must not be sent; null when it may be sent. */
  authorize(built: BuiltRequest, model: ModelSpec): Promise<ModelFailure | null>;
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
  const close = (): void => void reader?.cancel().catch(() => undefined);
  try {
    const reply = await untilAborted(signal, open({ request, call, wire }));
    if ("kind" in reply) return yield { type: "failure", failure: reply };
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
        yield chunk;
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
async function open({ request, call, wire }: Call): Promise<ReplyReader | ModelFailure> {
  call.signal.throwIfAborted();
  const built = await wire.build(request);
  const refusal = refuseLarge(built.body) ?? (await wire.authorize(built, request.model));
  if (refusal) return refusal;
  call.signal.throwIfAborted();
  call.onRequest?.(built.body);
  const response = await wire.send(built, call.signal);
  call.onAlive?.();
  if (call.signal.aborted) void response.body?.cancel().catch(() => undefined);
  call.signal.throwIfAborted();
  return openReplyStream(response, { toEvents: wire.toEvents, signal: call.signal, onAlive: call.onAlive });
}
