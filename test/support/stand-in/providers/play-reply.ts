/** Writes a reply's events, in pieces of any size, until they end or a scripted fault occurs. */
import type { Accepted, Frame, Mishap, ScriptedReply } from "./script.ts";

/** A comment, which any stream may contain. Proxies and gateways write comments while a model thinks. */
const KEEP_ALIVE: Frame = { data: ": keep-alive\n\n" };

export interface Sink {
  /** Resolves when the client has disconnected, or everything was written. */
  readonly closed: Promise<unknown>;
  /** Resolves once the bytes have been sent. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** Breaks the connection. */
  cut(): void;
}

export interface Playing {
  readonly accepted: Accepted;
  readonly reply: ScriptedReply;
  readonly sink: Sink;
}

export async function playReply({ accepted, reply, sink }: Playing): Promise<void> {
  const frames = [KEEP_ALIVE, ...accepted.frames(reply)];
  await writeFrames(
    frames.filter((frame) => !frame.tail),
    { sink, reply },
  );
  if (reply.mishap && !(await goOn(reply.mishap, { accepted, reply, sink }))) return;
  await writeFrames(
    frames.filter((frame) => frame.tail),
    { sink, reply },
  );
  sink.end();
}

/** Whether the reply continues to its end. */
async function goOn(mishap: Mishap, { accepted, sink, reply }: Playing): Promise<boolean> {
  switch (mishap.type) {
    case "stall":
      return false;
    case "cut":
      sink.cut();
      return false;
    case "unfinished":
      sink.end();
      return false;
    case "error":
      await writeFrames([accepted.eventFrame(mishap.event)], { sink, reply });
      sink.end();
      return false;
    case "news":
      await writeFrames([accepted.eventFrame(mishap.event)], { sink, reply });
      return true;
    case "hold":
      await mishap.until;
      return true;
    default:
      throw new TypeError(`${mishap.type} comes before the reply.`);
  }
}

async function writeFrames(frames: readonly Frame[], { sink, reply }: Pick<Playing, "sink" | "reply">): Promise<void> {
  for (const { data } of frames) {
    const bytes = new TextEncoder().encode(data);
    const size = reply.bytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      const left = await Promise.race([sink.write(bytes.subarray(at, at + size)), sink.closed]);
      if (left !== undefined) return;
    }
  }
}
