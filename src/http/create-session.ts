/**
 * Creates sessions. The tenant's directory gives out the id, and the external id if the client names one; then the session's
 * object is opened. A request that ends in between leaves an id that no object knows: the next request for the same external
 * id, or the same request with its idempotency key, opens that session.
 */
import type { OpenInput, Outcome, SessionError } from "../app/session-api";
import type { SessionDescription } from "../contract/session";
import type { SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { readPrincipal } from "./auth";
import { callWithRetry } from "./calls";
import type { Asker, HttpDeps } from "./deps";
import { labelWithinReach } from "./key-reach";
import type { HttpError } from "./problem";
import { registerSession } from "./register-session";
import { type CreateBody, faultOfPolicy, toOpenInput } from "./schemas/session";
import { sessionClient } from "./session-calls";
import { findTools } from "./session-tools";

interface Created {
  readonly session: SessionDescription;
  /** False: the session existed before this request. */
  readonly isNew: boolean;
  /** The idempotency key was used before. */
  readonly replayed: boolean;
}

type Creation = Promise<Result<Created, HttpError>>;

interface Asked {
  readonly body: CreateBody;
  /** The idempotency key. */
  readonly key: string | undefined;
}

/** `POST /v1/sessions`: an external id that another session has is a conflict. */
export async function createSession(deps: HttpDeps, c: Asker, asked: Asked): Creation {
  const input = await prepareOpen(deps, c, asked.body);
  if (!input.ok) return input;
  const { external_id = null, end_user = null } = input.value;
  const place = await registerSession(deps, c, asked.key, { external_id, end_user });
  if (place.registered.ok) return openRegistered(deps, c, { ...asked, ...place, ...place.registered.value, input: input.value });
  const { error } = place.registered;
  if (error.code !== "external_id_taken" || (await isOpen(deps, c, error.session))) return err(error);
  return adoptSession(deps, c, { ...asked, input: input.value });
}

/** `PUT` by external id: the session that has it, unchanged, or a new one. */
export async function putSession(deps: HttpDeps, c: Asker, body: CreateBody & { readonly external_id: string }): Creation {
  const found = await findByExternalId(deps, c, body.external_id);
  if (found.ok) return ok({ session: found.value, isNew: false, replayed: false });
  if (found.error.code !== "session_not_found" && found.error.code !== "session_erased") return found;
  const input = await prepareOpen(deps, c, body);
  if (!input.ok) return input;
  const adopted = await adoptSession(deps, c, { body, key: undefined, input: input.value });
  if (adopted.ok || adopted.error.code !== "external_id_taken") return adopted;
  // Another request has opened it meanwhile.
  const { session } = adopted.error;
  const opened = await sessionClient(deps, c, session).repeatable((api, caller) => api.describe(caller));
  return opened.ok ? ok({ session: opened.value, isNew: false, replayed: false }) : opened;
}

export async function findByExternalId(deps: HttpDeps, c: Asker, externalId: string): Promise<Result<SessionDescription, HttpError>> {
  const found = await callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.findExternalId(externalId),
  );
  if (!found.ok) return found;
  if (found.value === null) return err({ code: "session_not_found" });
  return sessionClient(deps, c, found.value).repeatable((api, caller) => api.describe(caller));
}

/** Registers the external id, or joins the request that has registered it and has not opened its session. */
async function adoptSession(deps: HttpDeps, c: Asker, asked: Asked & { readonly input: OpenInput }): Creation {
  const { external_id = null, end_user = null } = asked.input;
  const place = await registerSession(deps, c, asked.key, { external_id, end_user, adopt: true });
  if (!place.registered.ok) return place.registered;
  return openRegistered(deps, c, { ...asked, ...place, ...place.registered.value });
}

async function isOpen(deps: HttpDeps, c: Asker, session: SessionId): Promise<boolean> {
  const described = await sessionClient(deps, c, session).repeatable((api, caller) => api.describe(caller));
  return described.ok || described.error.code !== "session_not_found";
}

/** Completes the request with the defaults of the tenant and the deployment, and checks it, before anything is registered. */
async function prepareOpen(deps: HttpDeps, c: Asker, asked: CreateBody): Promise<Result<OpenInput, HttpError>> {
  const { tenant } = readPrincipal(c);
  const labelled = labelWithinReach(c, asked);
  if (!labelled.ok) return labelled;
  const body = labelled.value;
  const [settings, tools] = await Promise.all([
    callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.settings(),
    ),
    findTools(deps, tenant, body.tools),
  ]);
  if (!settings.ok) return settings;
  if (!tools.ok) return tools;
  const input = toOpenInput(body, { ...settings.value, deploymentPolicy: deps.config.defaultPolicy, tools: tools.value });
  const fault = faultOfPolicy(input.policy, body.policy);
  return fault ? err({ code: "invalid_request", errors: [fault] }) : ok(input);
}

interface Opening extends Asked {
  readonly input: OpenInput;
  readonly session: SessionId;
  readonly replayed: boolean;
  readonly isKeyed: boolean;
}

async function openRegistered(deps: HttpDeps, c: Asker, opening: Opening): Creation {
  const { input, session, replayed, isKeyed, body } = opening;
  const calls = sessionClient(deps, c, session);
  const opened: Outcome<SessionDescription> = await calls.repeatable((api, caller) => api.open(caller, input));
  if (opened.ok) return ok({ session: opened.value, isNew: true, replayed });
  if (opened.error.code === "session_exists") {
    // Another request has opened the session under the same external id.
    if (input.external_id && !replayed) return err({ code: "external_id_taken", session });
    // The request was sent before: its answer was lost, or the first attempt ended between the two objects.
    const described = await calls.repeatable((api, caller) => api.describe(caller));
    return described.ok ? ok({ session: described.value, isNew: true, replayed }) : described;
  }
  // The id of a refused session is removed, because no client knows it, unless the same request may come back to it.
  if (!isKeyed) await deps.tenants(readPrincipal(c).tenant).forgetSession(session);
  return err(ofCreation(opened.error, body.model));
}

/** If the client named no model, the unknown one comes from the tenant's settings. */
const ofCreation = (error: SessionError, named: string | undefined): HttpError =>
  named === undefined && error.code === "unknown_model" ? { code: "default_model_gone", model: error.model } : error;
