/** Stores a file that a client sends: checks its type and size, notes it at the tenant's object, and streams it to the store. */
import type { Act } from "../app/audit-chain";
import type { FileStore, PutFault, TenantFilesApi } from "../app/file-api";
import type { Log } from "../app/ports";
import type { Idempotency } from "../app/session-api";
import type { Schedule } from "../app/session-ports";
import type { TenantError } from "../app/tenant-api";
import { judgeType } from "../context/file-types";
import type { FileView } from "../contract/file";
import type { FileId, SessionId, TenantId } from "../domain/ids";
import { toErrorName } from "../lib/error-name";
import { err, ok, type Result } from "../lib/result";
import { SNIFFED_BYTES } from "../lib/sniff-type";
import { callWithRetry } from "./calls";
import type { FileError } from "./file-problems";
import type { RequestError } from "./problem";

interface SentFile {
  /** The field of the request that holds the bytes, for refusals. */
  readonly field: string;
  readonly name: string | null;
  /** The media type that the client names. Null: the bytes decide. */
  readonly declared: string | null;
  readonly body: ReadableStream<Uint8Array>;
  readonly bytes: number;
  /** Who uploads the file as such. Absent: it comes with a message. */
  readonly act?: Act;
  /** The throwaway session that the file ends with. Absent: none. */
  readonly throwaway?: SessionId;
  /** The idempotency key's digest depends on the content, which is known at the end. */
  readonly identify: (sha256: string) => Promise<Idempotency | null>;
}

/** What an upload needs of the rest of the system. */
interface UploadDeps {
  files(tenant: TenantId): FileStore | null;
  tenants(tenant: TenantId): Pick<TenantFilesApi, "beginFile" | "abandonFile" | "finishFile">;
  newId(prefix: "fil"): FileId;
  readonly schedule: Schedule;
  readonly log: Log;
}

type Stored = Result<{ readonly file: FileView; readonly replayed: boolean }, TenantError | FileError | RequestError>;

/** Less than the hour after which the tenant's object takes an upload for cut off: no bytes arrive for a file that was given up. */
const UPLOAD_LIMIT_MS = 30 * 60 * 1_000;

const FAULTS: Readonly<Record<PutFault, string>> = {
  length: "has not as many bytes as Content-Length says",
  cut_off: "ended before its end",
  not_text: "not UTF-8",
};

export async function storeFile(deps: UploadDeps, tenant: TenantId, sent: SentFile): Promise<Stored> {
  const store = deps.files(tenant);
  if (!store) return err({ code: "files_disabled" });
  const timed = limitTime(sent.body, deps);
  try {
    const stored = await storeBody(deps, { tenant, store, sent: { ...sent, body: timed.body } });
    return timed.isOver() && !stored.ok ? err({ code: "upload_too_slow", limit: UPLOAD_LIMIT_MS }) : stored;
  } finally {
    timed.stop();
  }
}

interface Storing {
  readonly tenant: TenantId;
  readonly store: FileStore;
  readonly sent: SentFile;
}

async function storeBody(deps: UploadDeps, { tenant, store, sent }: Storing): Promise<Stored> {
  const read = await readHead(sent.body);
  if (read === null) return refuse(sent, "cut_off");
  const checked = judgeType(read.head, sent);
  if (!checked.ok) return err({ ...checked.error, field: sent.field });
  const media_type = checked.value;
  const file = deps.newId("fil");
  const { name, bytes, throwaway } = sent;
  const begun = await deps.tenants(tenant).beginFile({ file, name, media_type, bytes, ...(throwaway && { throwaway }) });
  if (!begun.ok) return begun;
  const put = await reachStore(deps, () => store.put(file, { body: read.body, bytes, media_type }));
  if (!put.ok) return put;
  if (!put.value.ok) {
    await abandon(deps, tenant, file);
    return refuse(sent, put.value.error);
  }
  const stored = put.value.value;
  const idempotency = await sent.identify(stored.sha256);
  return callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.finishFile({ file, stored, idempotency, ...(sent.act && { act: sent.act }) }),
  );
}

const refuse = ({ field }: SentFile, fault: PutFault): Stored =>
  err({ code: "invalid_request", errors: [{ field, detail: FAULTS[fault] }] });

/** Frees what the upload took of the tenant's quota. Where it fails, that ends with the upload's hour. */
async function abandon({ tenants, log }: UploadDeps, tenant: TenantId, file: FileId): Promise<void> {
  try {
    await tenants(tenant).abandonFile(file);
  } catch (error) {
    log.warn("http.upload_not_abandoned", { file, error: toErrorName(error) });
  }
}

/** A stream that fails when the time of an upload is over, whatever the client sends. */
function limitTime(body: ReadableStream<Uint8Array>, { schedule }: UploadDeps) {
  const reader = body.getReader();
  let over = false;
  let stop = (): void => {};
  // The end of the time fails the stream itself. A promise of it, raced with each read, would hold every chunk that was read.
  const timed = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        stop = schedule(UPLOAD_LIMIT_MS, () => {
          over = true;
          const error = new Error("The upload took too long.");
          controller.error(error);
          reader.cancel(error).catch(() => undefined);
        });
      },
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (over) return;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { body: timed, stop: () => stop(), isOver: () => over };
}

/** The result of `work`, or an error when the store is out of reach. */
export async function reachStore<T>({ log }: Pick<UploadDeps, "log">, work: () => Promise<T>): Promise<Result<T, FileError>> {
  try {
    return ok(await work());
  } catch (error) {
    log.error("http.file_store_unavailable", { error: toErrorName(error) });
    return err({ code: "file_store_unavailable" });
  }
}

/** The first bytes, and a stream of the whole. Null: the body ended before its end. */
async function readHead(
  body: ReadableStream<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly body: ReadableStream<Uint8Array> } | null> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < SNIFFED_BYTES) {
      const part = await reader.read();
      if (part.done) break;
      chunks.push(part.value);
      size += part.value.byteLength;
    }
  } catch {
    return null;
  }
  return { head: joinChunks(chunks, size), body: toStream(chunks, reader) };
}

function joinChunks(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const head = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    head.set(chunk, at);
    at += chunk.byteLength;
  }
  return head;
}

/** The chunks that were read already, then the rest. */
const toStream = (chunks: readonly Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
