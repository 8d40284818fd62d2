/** What a tenant's object says of sessions by their external ids. */
import type { TenantApi } from "../../../src/app/tenant-api";
import type { SessionId } from "../../../src/domain/ids";
import { ok } from "../../../src/lib/result";

export function createDirectory() {
  const known = new Map<string, SessionId>();
  const registerSession: TenantApi["registerSession"] = async ({ session, external_id = null }) => {
    const found = external_id === null ? session : (known.get(external_id) ?? session);
    if (external_id !== null) known.set(external_id, found);
    return ok({ session: found, replayed: false });
  };
  const findExternalId: TenantApi["findExternalId"] = async (name) => ok(known.get(name) ?? null);
  return { known, tenant: { registerSession, findExternalId } };
}
