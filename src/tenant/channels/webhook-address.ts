/**
 * The part of a webhook's path that names the tenant: its id, and a checksum of it under the deployment's pepper. A platform sends no key, and a
 * made-up id without the checksum is refused before an object is addressed (docs/decisions/0013). It opens nothing: the channel's signature
 * does. Under the previous pepper it counts for as long as that is configured, as the checksums of keys do.
 */
import { parseId, type TenantId } from "../../domain/ids";
import { addChecksum, isSignedKey } from "../../lib/peppered";
import type { Peppers } from "../../lib/peppers";

const LABEL = "longhand/webhook-address/1";
const ADDRESS = /^(ten_[0-9A-Z]{26})_[0-9A-Za-z]{11}$/;

export const toWebhookTenant = (tenant: TenantId, { current }: Peppers): Promise<string> =>
  addChecksum(`${tenant}_`, { pepper: current, label: LABEL });

/** Null: this deployment made no such address. */
export async function readWebhookTenant(text: string, peppers: Peppers): Promise<TenantId | null> {
  const tenant = parseId("ten", ADDRESS.exec(text)?.[1] ?? "");
  return tenant && (await isSignedKey(text, LABEL, peppers)) ? tenant : null;
}
