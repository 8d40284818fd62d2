/**
 * Decides which addresses may be called on behalf of a tenant (SSRF), as far as a URL or an address shows it. The caller must resolve names
 * and check their addresses itself (`tools/safe-fetch`).
 */

/** Private, local, shared, test and reserved blocks (IANA special-purpose registries): first address, prefix length. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Azure's agent and metadata service, at an address that looks public.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Names that resolve inside a host or a network, including cloud metadata services (`metadata.google.internal`). */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|intranet|private|lan|home|corp|localdomain|home\.arpa)$/;

const V4 = /^\d{1,3}(\.\d{1,3}){3}$/;

const toNumber = (address: string): number => address.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);

function isPrivateV4(address: string): boolean {
  return PRIVATE_V4.some(([first, prefix]) => {
    const size = 2 ** (32 - prefix);
    return Math.floor(toNumber(address) / size) === Math.floor(toNumber(first) / size);
  });
}

/**
 * Global unicast is 2000::/3, and only it may be called. That rules out unique local, link-local and multicast addresses, and IPv4
 * addresses inside IPv6 ones (mapped, compatible, NAT64). Within it, 2001::/23 (Teredo and others), 2002::/16 (6to4), 2001:db8::/32 and
 * 3fff::/20 (documentation) are ruled out, because they lead elsewhere or nowhere.
 */
function isPrivateV6(address: string): boolean {
  const [first = "", second = ""] = address.split(":");
  const head = Number.parseInt(first || "0", 16);
  const next = Number.parseInt(second || "0", 16);
  const special = head === 0x2002 || (head === 0x2001 && (next < 0x200 || next === 0xdb8)) || (head === 0x3fff && next < 0x1000);
  return head >> 13 !== 1 || special;
}

/** Whether an address, as a resolver writes it, belongs to the public internet. False for text that is no address. */
export function isPublicAddress(address: string): boolean {
  if (!address.includes(":")) return V4.test(address) && !isPrivateV4(address);
  // The URL parser writes each address in one form only, and rejects zones.
  const hostname = URL.parse(`http://[${address}]/`)?.hostname;
  return hostname !== undefined && !isPrivateV6(hostname.slice(1, -1));
}

/** Whether a host is an address, not a name. `hostname` must be in the URL parser's form. */
export const isAddress = (hostname: string): boolean => hostname.startsWith("[") || V4.test(hostname);

/**
 * `hostname` must be in the URL parser's form: it has turned every spelling of an IPv4 address into dotted decimal, and every kind of dot
 * into a full stop.
 */
export function isPrivateHost(hostname: string): boolean {
  if (isAddress(hostname)) return !isPublicAddress(hostname.replace(/^\[|\]$/g, ""));
  const name = hostname.replace(/(?<!\.)\.+$/, "");
  return !name.includes(".") || PRIVATE_NAME.test(name);
}

/**
 * What is wrong with a URL that a tenant wants called, or null. `allowPrivate` permits http and local addresses; credentials in the URL are
 * never permitted.
 */
export function urlFault(text: string, allowPrivate: boolean): string | null {
  const url = URL.parse(text);
  if (!url) return "not a URL";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must be https";
  if (url.username || url.password) return "must not hold credentials";
  if (url.hash) return "must not have a fragment";
  if (allowPrivate) return null;
  if (url.protocol !== "https:") return "must be https";
  return isPrivateHost(url.hostname) ? "must be a public address" : null;
}
