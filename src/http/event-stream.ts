/** Sends server-sent events. The bytes are passed on as the object made them. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { keyCheck } from "./auth";
import { boundToKey } from "./bound-stream";
import type { HttpDeps, HttpEnv } from "./deps";
import { counter } from "./schemas/page";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  /** Without this header, proxies of the nginx family hold streams back. */
  "x-accel-buffering": "no",
};

/** Sends the stream as it is. For the stream of one turn, which ends with the turn. */
export async function sendEvents(c: Context<HttpEnv>, stream: ReadableStream<Uint8Array>): Promise<Response> {
  if (c.req.method !== "HEAD") return new Response(stream, { status: 200, headers });
  // A HEAD request reads no stream, and an open stream would keep its object awake.
  await stream.cancel();
  return new Response(null, { status: 200, headers });
}

/** Sends a stream that has no end of its own. It ends when its key becomes invalid. */
export function sendEndlessEvents(c: Context<HttpEnv>, deps: HttpDeps, stream: ReadableStream<Uint8Array>): Promise<Response> {
  const { schedule, newPipe } = deps;
  return sendEvents(c, c.req.method === "HEAD" ? stream : boundToKey({ stream, schedule, newPipe, isValid: keyCheck(c, deps) }));
}

export const resumeHeaders = z.object({
  "Last-Event-ID": counter.optional().openapi({ description: "Sent by a browser that reconnects. It takes precedence over `after`" }),
});
