/** Fetches a file of a message from its platform, and stores it as a file of the tenant. */
import type { ChannelAdapter, FileStep, PlatformRequest } from "../../app/channels/channel";
import type { TakenFile } from "../../app/channels/chat-ports";
import type { FileFacts } from "../../app/file-api";
import type { SessionId, TenantId } from "../../domain/ids";
import type { Part } from "../../domain/message";
import { readAtMost } from "../../lib/bounded-body";
import { err, ok, type Result } from "../../lib/result";
import { type ClientDeps, withinTime } from "./platform-client";

/** What the smallest of the platforms lets a bot fetch, and what fits into an object's memory. */
const MAX_FILE_BYTES = 20 * 1_024 * 1_024;
const MAX_JSON_BYTES = 64 * 1_024;
/** Requests that lead to one file, its own included. */
const MAX_STEPS = 4;
const REDIRECTS = 3;
const TIMEOUT_MS = 120_000;

/** The bytes, as they are to be stored. The same key stores one file. */
interface FileToStore {
  readonly name: string | null;
  readonly declared: string | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly key: string;
}

interface ChatFileDeps extends ClientDeps {
  readonly adapter: ChannelAdapter<unknown>;
  readonly store: (tenant: TenantId, file: FileToStore) => Promise<Result<FileFacts["file_id"], { readonly code: string }>>;
  readonly use: (
    tenant: TenantId,
    used: { readonly session: SessionId; readonly file: FileFacts["file_id"] },
  ) => Promise<Result<FileFacts, { readonly code: string }>>;
}

type Failed = { readonly reason: string };
type Fetched = { readonly bytes: Uint8Array<ArrayBuffer>; readonly media_type: string | null };

export async function takeChatFile(deps: ChatFileDeps, { tenant, session, channel, file, key }: TakenFile): Promise<Result<Part, Failed>> {
  if (file.bytes !== null && file.bytes > MAX_FILE_BYTES) return err({ reason: "too_large" });
  const request = deps.adapter.buildFileRequest(file, channel.credentials);
  if (!request) return err({ reason: "unsupported" });
  const fetched = await withinTime(deps.schedule, TIMEOUT_MS, (signal) =>
    fetchSteps(deps, { request, credentials: channel.credentials, signal }),
  );
  if (!fetched.ok) return fetched;
  const { bytes, media_type } = fetched.value;
  const stored = await deps.store(tenant, { name: file.name, declared: file.media_type ?? media_type, bytes, key });
  if (!stored.ok) return err({ reason: stored.error.code });
  const facts = await deps.use(tenant, { session, file: stored.value });
  return facts.ok ? ok(toPart(facts.value)) : err({ reason: facts.error.code });
}

function toPart({ file_id, name, media_type, bytes, tokens }: FileFacts): Part {
  const type = media_type.startsWith("image/") ? "image" : "file";
  return { type, file_id, media_type, bytes, tokens, ...(name !== null && { name }) };
}

interface Fetching {
  readonly request: PlatformRequest;
  readonly credentials: unknown;
  readonly signal: AbortSignal;
}

async function fetchSteps(deps: ChatFileDeps, { request, credentials, signal }: Fetching): Promise<Result<Fetched, Failed>> {
  let next = request;
  for (let step = 0; step < MAX_STEPS; step++) {
    const answered = await fetchOne(deps, next, signal);
    if (!answered.ok) return answered;
    const { status, headers, bytes } = answered.value;
    const isJson = /\bjson\b/.test(headers.get("content-type") ?? "") && bytes.byteLength <= MAX_JSON_BYTES;
    const read: FileStep = deps.adapter.readFile({ status, headers, body: isJson ? new TextDecoder().decode(bytes) : null }, credentials);
    if (read.kind === "failed") return err({ reason: read.reason });
    if (read.kind === "bytes") return bytes.byteLength > 0 ? ok({ bytes, media_type: read.media_type }) : err({ reason: "empty" });
    next = read.request;
  }
  return err({ reason: "too_many_steps" });
}

type Answered = { readonly status: number; readonly headers: Headers; readonly bytes: Uint8Array<ArrayBuffer> };

/** A redirect to another origin does not get the credentials. */
async function fetchOne({ fetch }: ChatFileDeps, request: PlatformRequest, signal: AbortSignal): Promise<Result<Answered, Failed>> {
  const { authorization = null, ...headers } = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const secret = authorization === null ? null : { name: "authorization", value: authorization };
  const fetched = await fetch({ ...request, headers, secret, signal, redirects: REDIRECTS });
  if (!fetched.ok) return err({ reason: fetched.error });
  const { status, body, headers: answered } = fetched.value;
  try {
    const read = await readAtMost(body, { maxBytes: MAX_FILE_BYTES, signal });
    return read.ok ? ok({ status, headers: answered, bytes: new Uint8Array(read.value) }) : err({ reason: "too_large" });
  } catch {
    return err({ reason: "unreachable" });
  }
}
