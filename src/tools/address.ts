/**
 * Judges whether a URL may be called for a tenant's tool: it needs https, a public host, and a name whose addresses are all
 * public. The platform resolves the name again when it connects, a moment later (docs/security.md).
 */
import { isAddress, isPublicAddress, urlFault } from "../lib/public-address";
import type { ResolveName } from "./resolve-name";

export interface AddressRules {
  readonly resolve: ResolveName;
  /** True in development: allows http and private addresses too. */
  readonly allowPrivate: boolean;
}

/** Only a `public` URL is called. `unreachable`: the name could not be resolved, or has no address. */
type AddressVerdict = "public" | "refused_address" | "unreachable";

export async function judgeAddress(url: URL, { resolve, allowPrivate }: AddressRules, signal: AbortSignal): Promise<AddressVerdict> {
  if (urlFault(url.href, allowPrivate)) return "refused_address";
  if (allowPrivate || isAddress(url.hostname)) return "public";
  const addresses = await resolve(url.hostname.replace(/(?<!\.)\.+$/, ""), signal);
  if (!addresses.ok || addresses.value.length === 0) return "unreachable";
  return addresses.value.every(isPublicAddress) ? "public" : "refused_address";
}
