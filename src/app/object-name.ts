/**
 * Names of the Durable Objects: version, jurisdiction, tenant, session. The tenant is part of the name, so no tenant can address another
 * tenant's objects.
 */
import type { SessionId, TenantId } from "../domain/ids";

const VERSION = "v1";
/** No jurisdiction was requested. */
const ANYWHERE = "any";

export const sessionObjectName = (tenant: TenantId, session: SessionId): string => `${VERSION}:${ANYWHERE}:${tenant}:${session}`;
/** There is one. */
export const DEPLOYMENT_OBJECT_NAME = "deployment";
export const tenantObjectName = (tenant: TenantId): string => `${VERSION}:${ANYWHERE}:${tenant}`;
