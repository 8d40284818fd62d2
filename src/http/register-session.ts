/** Keeps the tenant's directory of sessions: a session is registered before it is created, and removed when it is erased. */
import type { Condition } from "../app/conditions";
import { eraseSession } from "../app/erase-session";
import type { SessionRegistration } from "../app/tenant-api";
import type { SessionId } from "../domain/ids";
import { readPrincipal } from "./auth";
import { callWithRetry } from "./calls";
import type { Asker, HttpDeps } from "./deps";
import { readIdempotency } from "./idempotency";
import type { HttpError } from "./problem";
import { readAct } from "./read-act";
import { reachReadModel } from "./read-model";
import { actingClient, sessionClient } from "./session-calls";

/** How a client names a new session: by nothing, or by an external id. `session`: the fresh id. Absent: one is made. */
type Naming = Pick<SessionRegistration, "external_id" | "end_user" | "source" | "adopt"> & { readonly session?: SessionId };

/**
 * Registers a fresh id, or returns the id that the same idempotency key got before. `isKeyed`: the same request may come
 * back to the id.
 */
export async function registerSession(deps: HttpDeps, c: Asker, key: string | undefined, naming: Naming = {}) {
  const input = { session: deps.newId("ses"), idempotency: await readIdempotency(c, key), ...naming };
  const registered = await callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.registerSession(input),
  );
  return { registered, isKeyed: input.idempotency !== null };
}

interface ErasureInput {
  readonly session: SessionId;
  /** Erase the session only if its settings and pins are so. */
  readonly condition?: Condition | undefined;
  /** With its forks, and forks of these. Absent: it alone. */
  readonly forks?: boolean | undefined;
}

/** Repeated calls have one effect, under a condition too: the second finds the session erased, and compares nothing. */
export function eraseFor(deps: HttpDeps, c: Asker, { session, condition, forks }: ErasureInput) {
  const { tenant } = readPrincipal(c);
  const act = readAct(c);
  const connect = () => deps.tenants(tenant);
  const ports: Parameters<typeof eraseSession<HttpError>>[1] = {
    tenant: {
      beginErasure: (input) => callWithRetry(connect, (api) => api.beginErasure(act, input)),
      releaseFiles: (ended) => callWithRetry(connect, (api) => api.releaseFiles(ended)),
      noteErasure: (ended, pending) => callWithRetry(connect, (api) => api.noteErasure(ended, pending)),
      endErasure: (ended) => callWithRetry(connect, (api) => api.endErasure(ended)),
    },
    // Under a condition the session's object begins the erasure, and notes who asked. With forks the tenant's object notes it in any case.
    erase: (isNoted, compared) =>
      (compared && !forks ? actingClient : sessionClient)(deps, c, session).repeatable((api, caller) =>
        api.erase(caller, isNoted, compared),
      ),
    isListed: () => reachReadModel(c, deps, () => deps.sessionList.isListed({ tenant, session })),
  };
  return eraseSession({ session, forks, condition }, ports);
}
