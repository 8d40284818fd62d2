/**
 * Which base URLs a tenant may have called from here. It stops requests to the inside (SSRF) as far as a name shows
 * it; a public name that resolves to a private address is for the network to stop (Workers reach none).
 */
import { urlFault } from "../lib/public-address";

/** What is wrong with it, or null. `allowPrivate`: http and local addresses too; credentials never. */
export function refuseModelUrl(text: string, allowPrivate: boolean): string | null {
  const fault = urlFault(text, allowPrivate);
  if (fault) return fault;
  // A query would be lost behind the paths that are added.
  return URL.parse(text)?.search ? "must not have a query or a fragment" : null;
}
