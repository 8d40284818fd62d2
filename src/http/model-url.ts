/**
 * Decides which base URLs of tenants may be called. It stops requests to private addresses (SSRF) as far as the name shows
 * them. A public name that resolves to a private address is for the network to stop (Workers reach no private address).
 */
import { urlFault } from "../lib/public-address";

/** What is wrong with the URL, or null. `allowPrivate` accepts http and local addresses too, but never credentials. */
export function refuseModelUrl(text: string, allowPrivate: boolean): string | null {
  const fault = urlFault(text, allowPrivate);
  if (fault) return fault;
  // Paths are appended to the base URL, so a query would be lost.
  return URL.parse(text)?.search ? "must not have a query or a fragment" : null;
}
