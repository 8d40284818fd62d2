/**
 * Opens a session. The tenant's directory gives out the id, and the external id if there is one; then the session's object is opened. A request
 * that ends in between leaves an id that no object knows: the next request for the same external id, or the same request with its idempotency
 * key, opens that session.
 */
import type { SessionDescription } from "../contract/session";
import type { SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { OpenInput, Outcome, SessionError } from "./session-api";
import type { SessionRegistration, TenantApi, TenantError } from "./tenant-api";

export interface OpenedSession {
  readonly session: SessionDescription;
  /** False: the session existed before this request. */
  readonly isNew: boolean;
  /** The idempotency key was used before. */
  readonly replayed: boolean;
}

type Registered = Awaited<ReturnType<TenantApi["registerSession"]>>;

/** All can be repeated, and are, where the platform says that it may help. */
export interface OpeningPorts {
  /** `isKeyed`: the same request may come back to the id. */
  register(
    naming: Pick<SessionRegistration, "external_id" | "end_user" | "adopt">,
  ): Promise<{ readonly registered: Registered; readonly isKeyed: boolean }>;
  open(session: SessionId, input: OpenInput): Promise<Outcome<SessionDescription>>;
  describe(session: SessionId): Promise<Outcome<SessionDescription>>;
  /** Removes an id that was never opened. */
  forget(session: SessionId): Promise<unknown>;
}

type Opening = Promise<Result<OpenedSession, SessionError | TenantError>>;

/** An external id that another open session has is a conflict. */
export async function openNewSession(input: OpenInput, ports: OpeningPorts): Opening {
  const { external_id = null, end_user = null } = input;
  const { registered, isKeyed } = await ports.register({ external_id, end_user });
  if (registered.ok) return openRegistered(input, { ...registered.value, isKeyed }, ports);
  const { error } = registered;
  if (error.code !== "external_id_taken" || (await isOpen(error.session, ports))) return err(error);
  return adoptSession(input, ports);
}

/** Registers the external id, or joins the request that has registered it and has not opened its session. */
export async function adoptSession(input: OpenInput, ports: OpeningPorts): Opening {
  const { external_id = null, end_user = null } = input;
  const { registered, isKeyed } = await ports.register({ external_id, end_user, adopt: true });
  return registered.ok ? openRegistered(input, { ...registered.value, isKeyed }, ports) : registered;
}

async function isOpen(session: SessionId, { describe }: OpeningPorts): Promise<boolean> {
  const described = await describe(session);
  return described.ok || described.error.code !== "session_not_found";
}

interface Place {
  readonly session: SessionId;
  readonly replayed: boolean;
  readonly isKeyed: boolean;
}

async function openRegistered(input: OpenInput, { session, replayed, isKeyed }: Place, ports: OpeningPorts): Opening {
  const opened = await ports.open(session, input);
  if (opened.ok) return ok({ session: opened.value, isNew: true, replayed });
  if (opened.error.code === "session_exists") {
    // Another request has opened the session under the same external id.
    if (input.external_id && !replayed) return err({ code: "external_id_taken", session });
    // The request was sent before: its answer was lost, or the first attempt ended between the two objects.
    const described = await ports.describe(session);
    return described.ok ? ok({ session: described.value, isNew: true, replayed }) : described;
  }
  // The id of a refused session is removed, because no client knows it, unless the same request may come back to it.
  if (!isKeyed) await ports.forget(session);
  return opened;
}
