/**
 * Sends requests to addresses that tenants choose. Every hop is judged before it is taken. A secret is sent only to the
 * origin that it was given for. This module reads no body: the caller does, with a limit of its own. No error holds what the
 * server answered.
 */
import type { ToolFailure } from "../domain/tool-run";
import { isAddress, isPublicAddress, urlFault } from "../lib/public-address";
import { err, ok, type Result } from "../lib/result";
import type { ResolveName } from "./resolve-name";

import { createResolveName, type ResolverDeps } from "./resolve-name";

interface AddressRules {
  readonly resolve: ResolveName;
  /** True in development: allows http and private addresses too. */
  readonly allowPrivate: boolean;
}

/** Only a `public` URL is called. `unreachable`: the name could not be resolved, or has no address. */
type AddressVerdict = "public" | "refused_address" | "unreachable";

async function judgeAddress(url: URL, { resolve, allowPrivate }: AddressRules, signal: AbortSignal): Promise<AddressVerdict> {
  if (urlFault(url.href, allowPrivate)) return "refused_address";
  if (allowPrivate || isAddress(url.hostname)) return "public";
  const addresses = await resolve(url.hostname.replace(/(?<!\.)\.+$/, ""), signal);
  if (!addresses.ok || addresses.value.length === 0) return "unreachable";
  return addresses.value.every(isPublicAddress) ? "public" : "refused_address";
}

interface SafeFetchDeps extends AddressRules {
  readonly fetch: typeof fetch;
}

/** A header that is sent only to the first URL's origin. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

export interface SafeRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly secret: Secret | null;
  /** Aborting it ends the call: with `timeout` if its reason is `TimeIsUp`, else with `unreachable`. */
  readonly signal: AbortSignal;
  /** Maximum number of redirects that are followed. Absent: `MAX_REDIRECTS`. */
  readonly redirects?: number;
  /** Called right before each request leaves. A call that fails without it sent nothing. */
  readonly onSend?: () => void;
}

export type SafeFailure = Extract<ToolFailure, "refused_address" | "unreachable" | "timeout">;
export type SafeFetch = (request: SafeRequest) => Promise<Result<Response, SafeFailure>>;

export const MAX_REDIRECTS = 3;

/** The reason of a signal that was aborted because its time was over. */
export class TimeIsUp extends Error {
  override readonly name = "TimeIsUp";
}

const isTimeUp = (signal: AbortSignal): boolean => signal.aborted && signal.reason instanceof TimeIsUp;
/** The failure of a call that threw. Nothing else of the thrown error is reported. */
export const toFetchFailure = (signal: AbortSignal): SafeFailure => (isTimeUp(signal) ? "timeout" : "unreachable");

const CHANGES_METHOD = [301, 302, 303];
const KEEPS_METHOD = [307, 308];

/**
 * The URL that an answer redirects to, or null. A call that may have an effect is never turned into another one: 301, 302
 * and 303 are followed for GET only, because clients change every other method to GET there; 307 and 308 keep method and
 * body.
 */
function findRedirect(response: Response, { method }: SafeRequest, from: URL): URL | "malformed" | null {
  const isFollowed = KEEPS_METHOD.includes(response.status) || (CHANGES_METHOD.includes(response.status) && method === "GET");
  const location = isFollowed ? response.headers.get("location") : null;
  return location === null ? null : (URL.parse(location, from.href) ?? "malformed");
}

/** Names are resolved over HTTPS (`resolve-name`). */
export function createToolFetch({ fetch, now, allowPrivate }: Pick<SafeFetchDeps, "fetch" | "allowPrivate"> & ResolverDeps): SafeFetch {
  return createSafeFetch({ fetch, allowPrivate, resolve: createResolveName({ fetch, now }) });
}

interface Hop {
  readonly url: URL;
  /** Redirects that may still be followed. */
  readonly left: number;
  /** True if no other origin was visited on the way: only then the secret is sent. */
  readonly isOwn: boolean;
}

export function createSafeFetch(deps: SafeFetchDeps): SafeFetch {
  async function take(request: SafeRequest, hop: Hop): Promise<Result<Response, SafeFailure>> {
    const { url, left } = hop;
    const verdict = await judgeAddress(url, deps, request.signal);
    if (verdict !== "public") return err(isTimeUp(request.signal) ? "timeout" : verdict);
    const response = await send(request, hop);
    const next = request.redirects === 0 ? null : findRedirect(response, request, url);
    if (next === null) return ok(response);
    void response.body?.cancel().catch(() => undefined);
    if (next === "malformed" || left === 0) return err("unreachable");
    return take(request, { url: next, left: left - 1, isOwn: hop.isOwn && next.origin === url.origin });
  }
  function send({ method, headers, body, secret, signal, onSend }: SafeRequest, { url, isOwn }: Hop): Promise<Response> {
    onSend?.();
    return deps.fetch(url.href, {
      method,
      headers: { ...headers, ...(secret && isOwn && { [secret.name]: secret.value }) },
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal,
    });
  }
  return async (request) => {
    const url = URL.parse(request.url);
    if (!url) return err("refused_address");
    try {
      return await take(request, { url, left: request.redirects ?? MAX_REDIRECTS, isOwn: true });
    } catch {
      return err(toFetchFailure(request.signal));
    }
  };
}
