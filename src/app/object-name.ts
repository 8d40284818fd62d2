/**
 * Names of the Durable Objects: version, jurisdiction, tenant, session or chat. The tenant is part of the name, so no tenant can address another
 * tenant's objects.
 */
import type { SessionId, TenantId } from "../domain/ids";
import { sha256Sync } from "../lib/sha256-sync";

const VERSION = "v1";
/** No jurisdiction was requested. */
const ANYWHERE = "any";

export const sessionObjectName = (tenant: TenantId, session: SessionId): string => `${VERSION}:${ANYWHERE}:${tenant}:${session}`;
/** There is one. */
export const DEPLOYMENT_OBJECT_NAME = "deployment";
export const tenantObjectName = (tenant: TenantId): string => `${VERSION}:${ANYWHERE}:${tenant}`;
/** `conversation`: its key within the channel, which names a person, so that the name has a digest of it. */
export const chatObjectName = (tenant: TenantId, channel: string, conversation: string): string =>
  `${VERSION}:${ANYWHERE}:${tenant}:${channel}:${sha256Sync(conversation)}`;
