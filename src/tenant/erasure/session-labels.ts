/** Asks sessions whose they are and were, for erasures by end user, which must also find what the directory does not know. */

import { digestEndUser } from "../../app/end-user-digest";
import type { OwnerApi } from "../../app/owner-api";
import type { Caller, SessionApi } from "../../app/session-api";
import type { SessionId, TenantId } from "../../domain/ids";
import type { ForgetInSession } from "./forget-names";
import type { ReadLabels, SessionLabels } from "./gather-sessions";

interface SessionLabelsDeps {
  readonly tenant: () => TenantId;
  readonly sessions: (caller: Caller) => Pick<SessionApi, "describe"> & OwnerApi;
  /** Called when a session has forgotten a name: exports that were made before still have it. */
  readonly forgotten: (session: SessionId) => void;
}

/** The labels of a session that is erased, or null: it was not opened. */
const toMissingLabels = ({ code }: { readonly code: string }): SessionLabels | null =>
  code === "session_erased" ? { end_user: null, source: null } : null;

export function createSessionLabels({ tenant, sessions, forgotten }: SessionLabelsDeps): {
  readonly readLabels: ReadLabels;
  readonly forgetInSession: ForgetInSession;
} {
  const readLabels: ReadLabels = async (session) => {
    const caller = { tenant: tenant(), session };
    const found = await sessions(caller).describe(caller);
    if (!found.ok) return toMissingLabels(found.error);
    const former = await sessions(caller).formerEndUsers(caller);
    if (!former.ok) return toMissingLabels(former.error);
    const { end_user: name, forked_from } = found.value;
    return {
      end_user: name === null ? null : digestEndUser(caller.tenant, name),
      source: forked_from?.session_id ?? null,
      former: former.value.map((each) => digestEndUser(caller.tenant, each)),
    };
  };
  const forgetInSession: ForgetInSession = async (session, endUser) => {
    const caller = { tenant: tenant(), session };
    const former = await sessions(caller).formerEndUsers(caller);
    if (!former.ok) return former.error.code === "session_not_found";
    const names = former.value.filter((each) => digestEndUser(caller.tenant, each) === endUser);
    const isForgotten = await sessions(caller).forgetEndUsers(caller, names);
    if (!isForgotten.ok || !isForgotten.value) return false;
    forgotten(session);
    return true;
  };
  return { readLabels, forgetInSession };
}
