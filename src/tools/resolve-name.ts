/**
 * Resolves a name over HTTPS (DNS over HTTPS in its JSON form, as Cloudflare and Google answer it): a Worker has no other
 * way to learn an address before it connects. Asks for IPv4 and IPv6; the resolver follows aliases.
 */
import type { Clock } from "../app/ports";
import { readAtMost } from "../lib/bounded-body";
import { err, ok, type Result } from "../lib/result";

/** The addresses of a name; empty when it has none. An error when the resolver did not answer. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<Result<readonly string[], "unreachable">>;

export interface ResolverDeps {
  readonly fetch: typeof fetch;
  readonly now: Clock;
}

const RESOLVER = "https://cloudflare-dns.com/dns-query";
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;
/** Maximum time for which an answer is cached; its own TTL may be shorter. A name with a TTL of 0 is resolved at each hop. */
const MAX_TTL_MS = 30_000;
const MAX_KNOWN = 500;

/** Record types of the two questions (RFC 1035, RFC 3596). */
const TYPES = { A: 1, AAAA: 28 } as const;
type RecordType = keyof typeof TYPES;

interface Answer {
  readonly addresses: readonly string[];
  /** In seconds. */
  readonly ttl: number;
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Null when there is no usable answer. "No such name" (status 3) is an answer. */
function readAnswer(text: string, type: RecordType): Answer | null {
  const answer: unknown = JSON.parse(text);
  if (!isFields(answer) || (answer.Status !== 0 && answer.Status !== 3)) return null;
  const records = (Array.isArray(answer.Answer) ? answer.Answer : []).filter(isFields);
  const own = records.filter((record) => record.type === TYPES[type]);
  const ttls = records.map(({ TTL }) => (typeof TTL === "number" && TTL >= 0 ? TTL : 0));
  return { addresses: own.map(({ data }) => String(data)), ttl: Math.min(...ttls, MAX_TTL_MS / 1_000) };
}

export function createResolveName({ fetch: send, now }: ResolverDeps): ResolveName {
  const known = new Map<string, { readonly addresses: readonly string[]; readonly until: number }>();

  async function ask(name: string, type: RecordType, signal: AbortSignal): Promise<Answer | null> {
    try {
      const response = await send(`${RESOLVER}?name=${encodeURIComponent(name)}&type=${type}`, {
        headers: { accept: "application/dns-json" },
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      const bytes = await readAtMost(response.body, { maxBytes: MAX_BYTES, signal });
      return response.status === 200 && bytes.ok ? readAnswer(new TextDecoder().decode(bytes.value), type) : null;
    } catch {
      return null;
    }
  }
  return async (name, signal) => {
    const last = known.get(name);
    if (last && last.until > now()) return ok(last.addresses);
    const askedAt = now();
    const [four, six] = await Promise.all([ask(name, "A", signal), ask(name, "AAAA", signal)]);
    // With one of the two answers missing the name is not resolved: the missing one may hold a private address.
    if (!four || !six) return err("unreachable");
    const addresses = [...four.addresses, ...six.addresses];
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(name, { addresses, until: askedAt + Math.min(four.ttl, six.ttl) * 1_000 });
    return ok(addresses);
  };
}
