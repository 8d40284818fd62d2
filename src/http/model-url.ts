/**
 * Which base URLs a tenant may have called from here. It stops requests to the inside (SSRF) as far as a name shows
 * it; a public name that resolves to a private address is for the network to stop (Workers reach none).
 */

/** Private, local, shared, test and reserved blocks (IANA special-purpose registries): first address, prefix length. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Names that resolve inside a host or a network. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain)$/;

const toNumber = (address: string): number => address.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);

function isPrivateV4(address: string): boolean {
  return PRIVATE_V4.some(([first, prefix]) => {
    const size = 2 ** (32 - prefix);
    return Math.floor(toNumber(address) / size) === Math.floor(toNumber(first) / size);
  });
}

/** Global unicast is 2000::/3; of it 2001::/23 (Teredo and others), 2001:db8::/32 and 2002::/16 (6to4) reach elsewhere. */
function isPrivateV6(address: string): boolean {
  const [first = "", second = ""] = address.split(":");
  const head = Number.parseInt(first || "0", 16);
  const next = Number.parseInt(second || "0", 16);
  const special = head === 0x2002 || (head === 0x2001 && (next < 0x200 || next === 0xdb8));
  return head >> 13 !== 1 || special;
}

/** `hostname` as the URL parser writes it: every spelling of an IPv4 address is dotted decimal by then. */
function isPrivateHost(hostname: string): boolean {
  if (hostname.startsWith("[")) return isPrivateV6(hostname.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(hostname)) return isPrivateV4(hostname);
  const name = hostname.replace(/\.$/, "");
  return !name.includes(".") || PRIVATE_NAME.test(name);
}

/** What is wrong with it, or null. `allowPrivate`: http and local addresses too; credentials never. */
export function refuseModelUrl(text: string, allowPrivate: boolean): string | null {
  if (!URL.canParse(text)) return "not a URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must be https";
  if (url.username || url.password) return "must not hold credentials";
  if (url.search || url.hash) return "must not have a query or a fragment";
  if (allowPrivate) return null;
  if (url.protocol !== "https:") return "must be https";
  return isPrivateHost(url.hostname) ? "must be a public address" : null;
}
