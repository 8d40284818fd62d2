/** Creates sessions for requests: completes what the client asked for, and opens the session (`app/open-session`). */
import { toOpenInput } from "../app/open-input";
import { adoptSession, type OpenedSession, type OpeningPorts, openNewSession } from "../app/open-session";
import type { OpenInput, SessionError } from "../app/session-api";
import type { TenantError } from "../app/tenant-api";
import type { SessionDescription } from "../contract/session";
import { err, ok, type Result } from "../lib/result";
import { readPrincipal } from "./auth";
import { callWithRetry } from "./calls";
import type { Asker, HttpDeps } from "./deps";
import { labelWithinReach } from "./key-reach";
import type { HttpError } from "./problem";
import { registerSession } from "./register-session";
import { type CreateBody, faultOfPolicy } from "./schemas/session";
import { sessionClient } from "./session-calls";
import { findTools } from "./session-tools";

type Creation = Promise<Result<OpenedSession, HttpError>>;

interface Asked {
  readonly body: CreateBody;
  /** The idempotency key. */
  readonly key: string | undefined;
}

/** `POST /v1/sessions`: an external id that another session has is a conflict. */
export async function createSession(deps: HttpDeps, c: Asker, { body, key }: Asked): Creation {
  const input = await prepareOpen(deps, c, body);
  if (!input.ok) return input;
  const opened = await openNewSession(input.value, toPorts(deps, c, key));
  return opened.ok ? opened : err(ofCreation(opened.error, body.model));
}

/** `key`: the request's idempotency key. */
function toPorts(deps: HttpDeps, c: Asker, key: string | undefined): OpeningPorts {
  return {
    register: (naming) => registerSession(deps, c, key, naming),
    open: (session, input) => sessionClient(deps, c, session).repeatable((api, caller) => api.open(caller, input)),
    describe: (session) => sessionClient(deps, c, session).repeatable((api, caller) => api.describe(caller)),
    forget: (session) => deps.tenants(readPrincipal(c).tenant).forgetSession(session),
  };
}

/** `PUT` by external id: the session that has it, unchanged, or a new one. */
export async function putSession(deps: HttpDeps, c: Asker, body: CreateBody & { readonly external_id: string }): Creation {
  const found = await findByExternalId(deps, c, body.external_id);
  if (found.ok) return ok({ session: found.value, isNew: false, replayed: false });
  if (found.error.code !== "session_not_found" && found.error.code !== "session_erased") return found;
  const input = await prepareOpen(deps, c, body);
  if (!input.ok) return input;
  const adopted = await adoptSession(input.value, toPorts(deps, c, undefined));
  if (adopted.ok) return adopted;
  if (adopted.error.code !== "external_id_taken") return err(ofCreation(adopted.error, body.model));
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

/** If the client named no model, the unknown one comes from the tenant's settings. */
const ofCreation = (error: SessionError | TenantError, named: string | undefined): HttpError =>
  named === undefined && error.code === "unknown_model" ? { code: "default_model_gone", model: error.model } : error;
