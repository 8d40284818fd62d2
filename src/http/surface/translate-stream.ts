/** Translates the native stream of a turn into a vendor's events, chunk by chunk. Comments pass through: they keep a connection alive. */
import { createParser } from "eventsource-parser";
import type { StreamFrame } from "../../contract/frame";
import { formatComment } from "../../lib/sse";

/** Each function returns the text to send: whole events, or nothing. */
export interface Translator {
  frame(frame: StreamFrame, offset: number): string;
  /** True when nothing of the native stream matters any more: it is left before its end. Absent: never. */
  isOver?(): boolean;
  /** After the last frame. */
  end(): string | Promise<string>;
  /** When the native stream broke. The turn itself goes on. */
  broken(): string | Promise<string>;
}

/** The text that one chunk of bytes leads to. */
function createReader(translator: Translator): (bytes: Uint8Array) => string {
  const utf8 = new TextDecoder();
  let text = "";
  const parser = createParser({
    onEvent: ({ id = "0", data }) => {
      const frame: StreamFrame = JSON.parse(data);
      text += translator.frame(frame, Number(id));
    },
    onComment: (comment) => {
      text += formatComment(comment.trim());
    },
  });
  return (bytes) => {
    text = "";
    parser.feed(utf8.decode(bytes, { stream: true }));
    return text;
  };
}

/** A reader that goes away cancels the native stream, and stops nothing else. */
export function translateStream(source: ReadableStream<Uint8Array>, translator: Translator): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const read = createReader(translator);
  const utf8 = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const finish = (text: string): void => {
        if (text !== "") controller.enqueue(utf8.encode(text));
        controller.close();
      };
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return finish(await translator.end());
          const text = read(value);
          if (translator.isOver?.()) {
            await reader.cancel();
            return finish(text + (await translator.end()));
          }
          if (text !== "") return controller.enqueue(utf8.encode(text));
        }
      } catch {
        return finish(await translator.broken());
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
