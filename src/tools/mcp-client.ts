/**
 * A session with a remote MCP server, through the official SDK and our own requests. Each piece of work has a session of its
 * own, which is closed afterwards. The SDK follows redirects only within the server's origin, so that the session id and the
 * secret stay there; each redirect is judged like any other request.
 */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
import type { Schedule } from "../app/session-ports";
import { boundBody } from "../lib/bounded-body";
import { err, ok, type Result } from "../lib/result";
import { type Deadline, startDeadline } from "./deadline";
import { type SafeFailure, type SafeFetch, type SafeRequest, toFetchFailure } from "./safe-fetch";
import type { ToolSecret } from "./tool-secret";

export interface McpDeps {
  readonly fetch: SafeFetch;
  readonly schedule: Schedule;
}

interface McpAddress {
  readonly url: string;
  readonly timeout_ms: number;
  readonly secret: ToolSecret | null;
  readonly signal: AbortSignal;
}

/** `malformed`: the answer is not MCP. `error`: the server reports that it failed, with `message` in its own words. */
export type McpSessionFailure =
  | { readonly kind: SafeFailure | "too_large" | "malformed" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "error"; readonly message: string };

/** Maximum bytes of one answer, or of one stream of answers. */
export const MAX_MCP_BYTES = 4_194_304;
/** Maximum wait for the end of a session, which is only a courtesy to the server. */
const CLOSE_MS = 2_000;
/** Keeps the SDK's own time limit from ending a call, because ours does. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export const SDK_OPTIONS = { timeout: NO_LIMIT_MS, maxTotalTimeout: NO_LIMIT_MS } as const;

/** Why a session ended, if the SDK did not end it. */
interface Ended {
  failure: McpSessionFailure | null;
}

/** Loaded on first use, so that a wake without a call of an MCP tool does not pay for it. */
async function loadSdk() {
  const [client, transport] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  return { ...client, ...transport };
}

/**
 * The SDK prepares a validator for each output schema of a listing. This one does nothing: results are not validated here,
 * and the schemas are the server's own, so that compiling them would be work without bounds.
 */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (value) => ({ valid: true, data: value as T, errorMessage: undefined });
  },
};

/** Never throws. `work` may throw: its errors come from the SDK. */
export async function withMcpSession<T>(
  address: McpAddress,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
  deps: McpDeps,
): Promise<Result<T, McpSessionFailure>> {
  const deadline = startDeadline(address.timeout_ms, { signal: address.signal, schedule: deps.schedule });
  const ended: Ended = { failure: null };
  try {
    return ok(await runSession(address, work, { deps, deadline, ended }));
  } catch (error) {
    return err(ended.failure ?? (deadline.signal.aborted ? { kind: toFetchFailure(deadline.signal) } : toFailure(error)));
  } finally {
    deadline.clear();
  }
}

interface Running {
  readonly deps: McpDeps;
  readonly deadline: Deadline;
  readonly ended: Ended;
}

async function runSession<T>(address: McpAddress, work: (client: Client, signal: AbortSignal) => Promise<T>, running: Running): Promise<T> {
  const { signal } = running.deadline;
  const sdk = await loadSdk();
  const transport = new sdk.StreamableHTTPClientTransport(new URL(address.url), { fetch: fetchFor(address, running) });
  const client = new sdk.Client({ name: "longhand", version: "1" }, { capabilities: {}, jsonSchemaValidator: NO_VALIDATION });
  try {
    // The SDK's transport may have an undefined session id, which the SDK's own interface does not allow.
    await client.connect(transport as Parameters<Client["connect"]>[0], { ...SDK_OPTIONS, signal });
    return await work(client, signal);
  } finally {
    await endSession(transport, running);
    await client.close().catch(() => undefined);
  }
}

/** Ends the session at the server, unless the call was aborted, and waits at most `CLOSE_MS` for it. */
async function endSession(transport: { terminateSession(): Promise<void> }, { deps, deadline }: Running): Promise<void> {
  if (deadline.signal.aborted) return;
  const given = Promise.withResolvers<void>();
  const cancel = deps.schedule(CLOSE_MS, given.resolve);
  await Promise.race([transport.terminateSession().catch(() => undefined), given.promise]);
  cancel();
}

/**
 * True for the stream of messages that the server sends unasked. They are not read here, and the stream would hold one of
 * six connections.
 */
const isUnasked = ({ method = "GET", headers }: RequestInit): boolean => method === "GET" && !new Headers(headers).has("last-event-id");

/**
 * The SDK's only access to the network. A failure here ends the whole session: the SDK would wait for an answer that cannot
 * come any more.
 */
function fetchFor(address: McpAddress, { deps, deadline, ended }: Running) {
  const end = (failure: McpSessionFailure): void => {
    ended.failure ??= failure;
    deadline.abort(new Error(failure.kind));
  };
  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (isUnasked(init)) return new Response(null, { status: 405 });
    const sent = await deps.fetch(toRequest(address, { url: String(input), init, signal: deadline.signal }));
    if (!sent.ok) {
      // A request that the SDK itself aborted is no failure of the session.
      if (!init.signal?.aborted) end({ kind: sent.error });
      throw new Error(sent.error);
    }
    const { status, headers, body } = sent.value;
    if (!body) return sent.value;
    return new Response(
      boundBody(body, MAX_MCP_BYTES, () => end({ kind: "too_large" })),
      { status, headers },
    );
  };
}

interface SdkRequest {
  readonly url: string;
  readonly init: RequestInit;
  readonly signal: AbortSignal;
}

/** Follows no redirects: the SDK does, within the origin, and each one comes back here as a request. */
function toRequest({ url: own, secret }: McpAddress, { url, init, signal }: SdkRequest): SafeRequest {
  const isOwn = URL.parse(url)?.origin === new URL(own).origin;
  return {
    url,
    method: init.method ?? "GET",
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof init.body === "string" && { body: init.body }),
    secret: secret && isOwn ? secret.header : null,
    signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal,
    redirects: 0,
  };
}

/** Identifies errors by their fields and not by their class, because the SDK and its classes are loaded late. */
function toFailure(error: unknown): McpSessionFailure {
  if (!(error instanceof Error)) return { kind: "malformed" };
  if (error.name === "McpError") return { kind: "error", message: error.message };
  const status = "code" in error && typeof error.code === "number" ? error.code : 0;
  return status >= 300 && status < 600 ? { kind: "status", status } : { kind: "malformed" };
}
