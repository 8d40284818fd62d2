/** Server-sent events out: bytes are passed through as the object made them. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { HttpEnv } from "./deps";
import { counter } from "./schemas/page";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  /** Proxies of the nginx family hold streams back otherwise. */
  "x-accel-buffering": "no",
};

export async function sendEvents(c: Context<HttpEnv>, stream: ReadableStream<Uint8Array>): Promise<Response> {
  if (c.req.method !== "HEAD") return new Response(stream, { status: 200, headers });
  // Nobody will read it, and left open it would keep its object awake.
  await stream.cancel();
  return new Response(null, { status: 200, headers });
}

export const resumeHeaders = z.object({
  "Last-Event-ID": counter.optional().openapi({ description: "What a browser sends when it reconnects; goes before `after`" }),
});
