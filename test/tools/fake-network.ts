/** A network of invented hosts: the addresses of names, the responses, and the sent requests. */
import { err, ok } from "../../src/lib/result";
import type { ResolveName } from "../../src/tools/resolve-name";
import { createSafeFetch, type SafeFetch, type SafeRequest } from "../../src/tools/safe-fetch";

export const PUBLIC = "93.184.216.34";

export interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface NetworkInput {
  /** By name. A list of lists: one entry for each look-up. Absent: a public address. */
  readonly names?: Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>;
  /** By URL. */
  readonly answers?: Readonly<Record<string, () => Response>>;
  readonly allowPrivate?: boolean;
}

const isTurns = (known: readonly string[] | readonly (readonly string[])[]): known is readonly (readonly string[])[] =>
  Array.isArray(known[0]);

export class Network {
  readonly sent: Sent[] = [];
  readonly asked: string[] = [];
  readonly fetch: SafeFetch;

  constructor({ names = {}, answers = {}, allowPrivate = false }: NetworkInput = {}) {
    const resolve: ResolveName = async (name) => {
      const turn = this.asked.filter((each) => each === name).length;
      this.asked.push(name);
      const known = names[name] ?? [PUBLIC];
      const addresses = isTurns(known) ? (known[Math.min(turn, known.length - 1)] ?? []) : known;
      return addresses[0] === "?" ? err("unreachable") : ok(addresses);
    };
    const send = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
      const url = String(input);
      this.sent.push({ url, method: init.method ?? "GET", headers: new Headers(init.headers), body: init.body });
      init.signal?.throwIfAborted();
      return answers[url]?.() ?? new Response("fine");
    };
    this.fetch = createSafeFetch({ fetch: send, resolve, allowPrivate });
  }

  ask(url: string, more: Partial<SafeRequest> = {}) {
    return this.fetch({ url, method: "GET", headers: {}, secret: null, signal: new AbortController().signal, ...more });
  }
}

export const redirect =
  (to: string, status = 302) =>
  () =>
    new Response(null, { status, headers: { location: to } });
