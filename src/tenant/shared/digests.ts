/**
 * What the tenant's object stores in place of a client's own words, so that no file of it has to be searched for them when they are erased.
 * Who knows the words can compute it, as `docs/erasing-people.md` shows for end users.
 */
import type { TenantId } from "../../domain/ids";
import { sha256Sync } from "../../lib/sha256-sync";

/** Says how the text behind it was made. */
const PREFIX = "sha256:";

export const digestExternalId = (tenant: TenantId, externalId: string): string =>
  `${PREFIX}${sha256Sync(`${tenant}/external/${externalId}`)}`;

/** The key stays for a day, longer than what an erased session had. */
export const hideKey = (idempotencyKey: string): string => `${PREFIX}${sha256Sync(idempotencyKey)}`;
