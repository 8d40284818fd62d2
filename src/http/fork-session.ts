/** Copies a session into a new one, which the tenant's directory lists. */
import { copySession } from "../app/branch/copy-session";
import type { ForkCut } from "../app/fork-parts";
import type { SessionDescription } from "../contract/session";
import type { FileId, SessionId } from "../domain/ids";
import { ok, type Result } from "../lib/result";
import { readPrincipal } from "./auth";
import type { Asker, HttpDeps } from "./deps";
import type { HttpError } from "./problem";
import { eraseFor, registerSession } from "./register-session";
import { sessionClient } from "./session-calls";
import { holdFiles } from "./take-files";

interface Forking {
  readonly from: SessionId;
  /** The last position of the copy, in the numbers of `from`. Null: the newest. */
  readonly at: number | null;
  readonly cut?: ForkCut | undefined;
  readonly title: string | null;
  /** The idempotency key. */
  readonly key: string | undefined;
  /** The id of the copy. Absent: one is made. */
  readonly to?: SessionId;
}

interface Forked {
  readonly session: SessionDescription;
  /** The idempotency key was used before. */
  readonly replayed: boolean;
  /** Drops the copy when the request is refused after all. With its key the client may come back to it, and nothing is dropped. */
  giveUp(): Promise<void>;
}

export async function forkSession(deps: HttpDeps, c: Asker, asked: Forking): Promise<Result<Forked, HttpError>> {
  const { from, at, cut, title, key, to: chosen } = asked;
  const { registered, isKeyed } = await registerSession(deps, c, key, { source: from, ...(chosen && { session: chosen }) });
  if (!registered.ok) return registered;
  const { session: to, replayed } = registered.value;
  const giveUp = async (): Promise<void> => (isKeyed ? undefined : dropCopy(deps, c, to));
  const [source, target] = [sessionClient(deps, c, from), sessionClient(deps, c, to)];
  const hold = (files: readonly FileId[]) => holdFiles(c, deps, { session: to, files });
  const place = { from, to, at, title, ...(cut && { cut }) };
  const copied = await copySession({ source: source.repeatable, target: target.repeatable, hold, ...place });
  if (copied.ok) return ok({ session: copied.value, replayed, giveUp });
  await giveUp();
  return copied;
}

/** Drops a fork whose id no client has received. If the copy was not begun, there is nothing to erase. */
async function dropCopy(deps: HttpDeps, c: Asker, session: SessionId): Promise<void> {
  const begun = await sessionClient(deps, c, session).repeatable((api, caller) => api.describe(caller));
  if (begun.ok) await eraseFor(deps, c, { session });
  else await deps.tenants(readPrincipal(c).tenant).forgetSession(session);
}
