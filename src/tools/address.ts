/**
 * Whether a URL may be called for a tenant's tool: https, a public host, and a name of which every address is public. What is really
 * connected to is the platform's own look-up, a moment later (SECURITY.md).
 */
import { isAddress, isPublicAddress, urlFault } from "../lib/public-address";
import type { ResolveName } from "./resolve-name";

export interface AddressRules {
  readonly resolve: ResolveName;
  /** For development: http and private addresses too. */
  readonly allowPrivate: boolean;
}

/** `unreachable`: nobody could say where it leads, or it leads nowhere. Neither is called. */
type AddressVerdict = "public" | "refused_address" | "unreachable";

export async function judgeAddress(url: URL, { resolve, allowPrivate }: AddressRules, signal: AbortSignal): Promise<AddressVerdict> {
  if (urlFault(url.href, allowPrivate)) return "refused_address";
  if (allowPrivate || isAddress(url.hostname)) return "public";
  const addresses = await resolve(url.hostname.replace(/(?<!\.)\.+$/, ""), signal);
  if (!addresses.ok || addresses.value.length === 0) return "unreachable";
  return addresses.value.every(isPublicAddress) ? "public" : "refused_address";
}
