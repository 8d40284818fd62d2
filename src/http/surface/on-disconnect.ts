/**
 * A turn of a session goes on when its client leaves, so that the client can come back to its answer. Where the client or its key says so, the turn
 * is stopped instead: an agent that a person interrupts says nothing else.
 */
import type { Context } from "hono";
import type { TurnId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { readPrincipal } from "../auth";
import type { HttpEnv } from "../deps";
import type { SessionCalls } from "../session-calls";
import { noteIgnored } from "./ignored";
import { runAfter, whenOver } from "./throwaway";

const HEADER = "X-On-Disconnect";

/** The header goes before the key's setting. */
function stopsWithClient(c: Context<HttpEnv>): boolean {
  const given = c.req.header(HEADER);
  if (given === "stop" || given === "continue") return given === "stop";
  if (given !== undefined) noteIgnored(c, [HEADER]);
  return readPrincipal(c).clients?.on_disconnect === "stop";
}

interface Heard {
  readonly calls: SessionCalls;
  readonly turn: TurnId;
}

/** The answer of a turn. A client that leaves before its end stops the turn, where it is asked for. A turn that waits for a client is at its end. */
export async function whileHeard(c: Context<HttpEnv>, heard: Heard, answer: () => Promise<Response>): Promise<Response> {
  if (!stopsWithClient(c)) return answer();
  const { signal } = c.req.raw;
  let isOver = false;
  const stop = (): void => {
    if (!isOver) runAfter(c, stopQuietly(c, heard));
    isOver = true;
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const response = await answer();
  const isStream = response.ok && response.body !== null && response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream || !response.body) {
    isOver = true;
    return response;
  }
  const over = (isLeft: boolean): void => {
    if (isLeft) stop();
    isOver = true;
  };
  return new Response(whenOver(response.body, over), response);
}

/** A turn that ended meanwhile has nothing to stop. */
async function stopQuietly(c: Context<HttpEnv>, { calls: { repeatable, log, session }, turn }: Heard): Promise<void> {
  try {
    await repeatable((api, caller) => api.stop(caller, { turn, idempotency: null }));
  } catch (error) {
    log.warn("http.stop_failed", { request_id: c.get("requestId"), session, turn, error: toErrorName(error) });
  }
}
