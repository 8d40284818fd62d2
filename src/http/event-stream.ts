/** Server-sent events out: bytes are passed through as the object made them. */
import { z } from "@hono/zod-openapi";
import { counter } from "./schemas/page";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  /** Proxies of the nginx family hold streams back otherwise. */
  "x-accel-buffering": "no",
};

export function sendEvents(stream: ReadableStream<Uint8Array>): Response {
  return new Response(stream, { status: 200, headers });
}

export const resumeHeaders = z.object({
  "Last-Event-ID": counter.optional().openapi({ description: "What a browser sends when it reconnects; goes before `after`" }),
});
