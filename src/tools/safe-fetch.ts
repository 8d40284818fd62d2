/**
 * Requests to addresses that tenants choose. Every hop is judged before it is taken; a secret goes to the origin that it was given for and to no
 * other. It reads no body: whoever asks does, to a limit of its own. No error holds what came back.
 */
import type { ToolFailure } from "../domain/tool-run";
import { err, ok, type Result } from "../lib/result";
import { type AddressRules, judgeAddress } from "./address";
import { createResolveName, type ResolverDeps } from "./resolve-name";

interface SafeFetchDeps extends AddressRules {
  readonly fetch: typeof fetch;
}

/** A header that only the first URL's origin is shown. */
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
  /** Ends the call with `timeout` where its reason says so, else with `unreachable`. */
  readonly signal: AbortSignal;
  /** Redirects that are followed, at most; absent: `MAX_REDIRECTS`. */
  readonly redirects?: number;
}

export type SafeFailure = Extract<ToolFailure, "refused_address" | "unreachable" | "timeout">;
export type SafeFetch = (request: SafeRequest) => Promise<Result<Response, SafeFailure>>;

export const MAX_REDIRECTS = 3;

/** Why a signal was aborted, where time is why. */
export class TimeIsUp extends Error {
  override readonly name = "TimeIsUp";
}

const isTimeUp = (signal: AbortSignal): boolean => signal.aborted && signal.reason instanceof TimeIsUp;
/** What a call that threw is: of a thrown error nothing else is told. */
export const failureOf = (signal: AbortSignal): SafeFailure => (isTimeUp(signal) ? "timeout" : "unreachable");

const CHANGES_METHOD = [301, 302, 303];
const KEEPS_METHOD = [307, 308];

/**
 * Where an answer sends the request on to, or null. A call that may have an effect is never turned into another one: 301, 302 and 303 are
 * followed for GET alone, since clients make a GET of everything else there; 307 and 308 keep method and body.
 */
function redirectOf(response: Response, { method }: SafeRequest, from: URL): URL | "malformed" | null {
  const isFollowed = KEEPS_METHOD.includes(response.status) || (CHANGES_METHOD.includes(response.status) && method === "GET");
  const location = isFollowed ? response.headers.get("location") : null;
  return location === null ? null : (URL.parse(location, from.href) ?? "malformed");
}

/** Names are looked up over HTTPS (`resolve-name`). */
export function createToolFetch({ fetch, now, allowPrivate }: Pick<SafeFetchDeps, "fetch" | "allowPrivate"> & ResolverDeps): SafeFetch {
  return createSafeFetch({ fetch, allowPrivate, resolve: createResolveName({ fetch, now }) });
}

interface Hop {
  readonly url: URL;
  /** Redirects that may still follow. */
  readonly left: number;
  /** No other origin lies between: the secret is sent. */
  readonly isOwn: boolean;
}

export function createSafeFetch(deps: SafeFetchDeps): SafeFetch {
  async function take(request: SafeRequest, hop: Hop): Promise<Result<Response, SafeFailure>> {
    const { url, left } = hop;
    const verdict = await judgeAddress(url, deps, request.signal);
    if (verdict !== "public") return err(isTimeUp(request.signal) ? "timeout" : verdict);
    const response = await send(request, hop);
    const next = request.redirects === 0 ? null : redirectOf(response, request, url);
    if (next === null) return ok(response);
    void response.body?.cancel().catch(() => undefined);
    if (next === "malformed" || left === 0) return err("unreachable");
    return take(request, { url: next, left: left - 1, isOwn: hop.isOwn && next.origin === url.origin });
  }
  const send = ({ method, headers, body, secret, signal }: SafeRequest, { url, isOwn }: Hop): Promise<Response> =>
    deps.fetch(url.href, {
      method,
      headers: { ...headers, ...(secret && isOwn && { [secret.name]: secret.value }) },
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal,
    });
  return async (request) => {
    const url = URL.parse(request.url);
    if (!url) return err("refused_address");
    try {
      return await take(request, { url, left: request.redirects ?? MAX_REDIRECTS, isOwn: true });
    } catch {
      return err(failureOf(request.signal));
    }
  };
}
