/** Sends server-sent events. The bytes are passed on as the object made them. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { SessionId } from "../domain/ids";
import { isHeldToSome, keyCheck, readPrincipal } from "./auth";
import { boundToKey } from "./bound-stream";
import type { HttpDeps, HttpEnv } from "./deps";
import { counter } from "./schemas/page";
import { findSession } from "./session-calls";

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  /** Without this header, proxies of the nginx family hold streams back. */
  "x-accel-buffering": "no",
};

/** Sends the stream as it is. For the stream of one turn, which ends with the turn. */
export async function sendEvents(c: Context<HttpEnv>, stream: ReadableStream<Uint8Array>): Promise<Response> {
  // Not `new Response`, which would lose the headers that were set before.
  if (c.req.method !== "HEAD") return c.body(stream, 200, headers);
  // A HEAD request reads no stream, and an open stream would keep its object awake.
  await stream.cancel();
  return c.body(null, 200, headers);
}

interface EndlessEvents {
  readonly session: SessionId;
  readonly stream: ReadableStream<Uint8Array>;
}

/** Sends a stream that has no end of its own. It ends when its credential becomes invalid, or no longer reaches the session. */
export function sendEndlessEvents(c: Context<HttpEnv>, deps: HttpDeps, { session, stream }: EndlessEvents): Promise<Response> {
  const { schedule, newPipe } = deps;
  const isKeyValid = keyCheck(c, deps);
  // A session can be given to another end user. For any other credential, what it reaches never changes.
  const isOfSome = isHeldToSome(readPrincipal(c));
  const isValid = async () => (await isKeyValid()) && (!isOfSome || (await findSession(deps, c, session)).ok);
  return sendEvents(c, c.req.method === "HEAD" ? stream : boundToKey({ stream, schedule, newPipe, isValid }));
}

export const resumeHeaders = z.object({
  "Last-Event-ID": counter.optional().openapi({ description: "Sent by a browser that reconnects. It takes precedence over `after`" }),
});
