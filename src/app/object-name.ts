/** Names of the Durable Objects: version, jurisdiction, tenant, session. Whoever knows a tenant cannot reach another's. */
import type { SessionId, TenantId } from "../domain/ids";

const VERSION = "v1";
/** No jurisdiction asked for. */
const ANYWHERE = "any";

export const sessionObjectName = (tenant: TenantId, session: SessionId): string => `${VERSION}:${ANYWHERE}:${tenant}:${session}`;
export const tenantObjectName = (tenant: TenantId): string => `${VERSION}:${ANYWHERE}:${tenant}`;
