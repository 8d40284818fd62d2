/**
 * A session for one request of a stateless API: the request brings the whole conversation, and nothing of it is kept after the answer but what
 * it cost. The session also ends when the request's client goes away. It ends itself within an hour where `discard` was never called, because the
 * Worker died.
 */
import type { Context } from "hono";
import { toOpenInput } from "../../app/open-input";
import type { Responded, RespondInput } from "../../app/respond-api";
import type { OpenInput, Outcome } from "../../app/session-api";
import type { SessionId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import type { Asker, HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { type SessionCalls, sessionClient } from "../session-calls";

export interface Throwaway {
  readonly session: SessionId;
  /** Ends the session. A second call does nothing. It stops a turn that runs. */
  discard(): void;
}

/** A session that is opened by what is asked of it first. */
export interface PreparedThrowaway extends Throwaway {
  readonly calls: SessionCalls;
  /** Opens the session and responds in it: one call of its object, which undoes all of it where it refuses. Call it once. */
  begin(input: RespondInput): Promise<Outcome<Responded>>;
}

interface Asked {
  /** Absent: the tenant's default. */
  readonly model: string | undefined;
}

type Prepared<T> = Promise<Result<T, HttpError>>;

/** Asks the tenant's object for its defaults, and no other. Files of the request are taken for `session` before it begins. */
export async function prepareThrowaway(c: Context<HttpEnv>, deps: HttpDeps, asked: Asked): Prepared<PreparedThrowaway> {
  const open = await buildOpen(c, deps, asked);
  if (!open.ok) return open;
  const session = deps.newId("ses");
  const calls = sessionClient(deps, c, session);
  const made = toThrowaway(c, deps, session);
  let isThere = false;
  const begin = async (respond: RespondInput): Promise<Outcome<Responded>> => {
    isThere = true;
    const begun = await calls.once((api, caller) => api.openAndRespond(caller, { open: open.value, respond }));
    isThere = begun.ok;
    if (isThere) endWithClient(c, made.discard);
    return begun;
  };
  // Without a session only the files of the request may be there.
  const discard = (): void => (isThere ? made.discard() : runAfter(c, releaseQuietly(c, deps, session)));
  return ok({ session, calls, begin, discard });
}

/** The client of a stateless request can never ask for its answer again. Where the platform does not tell that it left, nothing is lost. */
function endWithClient(c: Context<HttpEnv>, discard: () => void): void {
  const { signal } = c.req.raw;
  if (signal.aborted) discard();
  else signal.addEventListener("abort", discard, { once: true });
}

/** Ends the files that came with a request whose session never began. A removal that breaks off is finished by the tenant's own alarm. */
async function releaseQuietly(c: Context<HttpEnv>, deps: HttpDeps, session: SessionId): Promise<void> {
  try {
    await deps.tenants(readPrincipal(c).tenant).releaseFiles(session);
  } catch (error) {
    deps.log.warn("http.files_left", { request_id: c.get("requestId"), session, error: toErrorName(error) });
  }
}

/** For a request that makes more than one call. */
export async function openThrowaway(c: Context<HttpEnv>, deps: HttpDeps, asked: Asked): Prepared<Throwaway> {
  const opened = await openUnlisted(c, deps, asked);
  if (!opened.ok) return opened;
  const made = toThrowaway(c, deps, opened.value);
  endWithClient(c, made.discard);
  return ok(made);
}

/** A throwaway session that its caller ends. */
export async function openUnlisted(c: Asker, deps: HttpDeps, asked: Asked): Prepared<SessionId> {
  const open = await buildOpen(c, deps, asked);
  if (!open.ok) return open;
  const session = deps.newId("ses");
  const opened = await sessionClient(deps, c, session).repeatable((api, caller) => api.open(caller, open.value));
  return opened.ok ? ok(session) : opened;
}

async function buildOpen(c: Asker, deps: HttpDeps, { model }: Asked): Prepared<OpenInput> {
  const settings = await deps.knownSettings(readPrincipal(c).tenant, model);
  if (!settings) return err({ code: "tenant_not_found" });
  const defaults = { ...settings, deploymentPolicy: deps.config.defaultPolicy, tools: null };
  return ok({ ...toOpenInput(model === undefined ? {} : { model }, defaults), throwaway: true });
}

/** A throwaway session that was opened for this request. */
export function toThrowaway(c: Context<HttpEnv>, deps: HttpDeps, session: SessionId): Throwaway {
  let isDiscarded = false;
  const discard = (): void => {
    if (isDiscarded) return;
    isDiscarded = true;
    runAfter(c, eraseQuietly(c, sessionClient(deps, c, session), session));
  };
  return { session, discard };
}

/** An end that breaks off is finished by the session's own alarm. */
async function eraseQuietly(c: Context<HttpEnv>, { repeatable, log }: SessionCalls, session: SessionId): Promise<void> {
  const fields = { request_id: c.get("requestId"), session };
  try {
    const erased = await repeatable((api, caller) => api.erase(caller, false));
    if (!erased.ok && erased.error.code !== "session_not_found") log.warn("http.throwaway_left", { ...fields, error: erased.error.code });
  } catch (error) {
    log.warn("http.throwaway_left", { ...fields, error: toErrorName(error) });
  }
}

/** The platform lets the work end after the answer. Outside of it, as in tests, there is nothing to tell. */
export function runAfter(c: Context<HttpEnv>, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    return;
  }
}

/** The stream, and at its end, or when its reader goes away, `done`. `isLeft`: the reader went away. */
export function whenOver(source: ReadableStream<Uint8Array>, done: (isLeft: boolean) => void): ReadableStream<Uint8Array> {
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
      done(false);
    },
    async cancel(reason) {
      done(true);
      await reader.cancel(reason);
    },
  });
}
