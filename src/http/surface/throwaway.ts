/**
 * A session for one request of a stateless API: the request brings the whole conversation, and nothing of it is kept after the answer but what
 * it cost.
 */
import type { Context } from "hono";
import type { SessionId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { ok, type Result } from "../../lib/result";
import { createSession } from "../create-session";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { eraseFor } from "../register-session";

export interface Throwaway {
  readonly session: SessionId;
  /** Erases it. A second call does nothing. It stops a turn that runs. */
  discard(): void;
}

/** A title of its own, so that no model is asked for one. */
export const STATELESS_TITLE = "Stateless request";

interface Asked {
  readonly model: string | undefined;
}

export async function openThrowaway(c: Context<HttpEnv>, deps: HttpDeps, { model }: Asked): Promise<Result<Throwaway, HttpError>> {
  const created = await createSession(deps, c, { body: { title: STATELESS_TITLE, ...(model !== undefined && { model }) }, key: undefined });
  if (!created.ok) return created;
  return ok(toThrowaway(c, deps, created.value.session.id));
}

/** A session that was made for this request alone. */
export function toThrowaway(c: Context<HttpEnv>, deps: HttpDeps, session: SessionId): Throwaway {
  let isDiscarded = false;
  const discard = (): void => {
    if (isDiscarded) return;
    isDiscarded = true;
    runAfter(c, eraseQuietly(c, deps, session));
  };
  return { session, discard };
}

/** An erasure that breaks off is finished by the tenant's object, which has noted it. */
async function eraseQuietly(c: Context<HttpEnv>, deps: HttpDeps, session: SessionId): Promise<void> {
  const fields = { request_id: c.get("requestId"), session };
  try {
    const erased = await eraseFor(deps, c, { session });
    if (!erased.ok) deps.log.warn("http.throwaway_left", { ...fields, error: erased.error.code });
  } catch (error) {
    deps.log.warn("http.throwaway_left", { ...fields, error: toErrorName(error) });
  }
}

/** The platform lets the work end after the answer. Outside of it, as in tests, there is nothing to tell. */
function runAfter(c: Context<HttpEnv>, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    return;
  }
}

/** The stream, and at its end, or when its reader goes away, `done`. */
export function whenOver(source: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: isOver, value } = await reader.read();
        if (!isOver) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      done();
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
}
