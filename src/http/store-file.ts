/** Stores a file that a client sends: checks its type and size, notes it at the tenant's object, and streams it to the store. */
import type { Idempotency } from "../app/session-api";
import type { TenantError } from "../app/tenant-api";
import { findFileType } from "../context/file-types";
import type { FileView } from "../contract/file";
import type { TenantId } from "../domain/ids";
import { toErrorName } from "../lib/error-name";
import { err, ok, type Result } from "../lib/result";
import { SNIFFED_BYTES, sniffType } from "../lib/sniff-type";
import { callWithRetry } from "./calls";
import type { HttpDeps } from "./deps";
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
  /** The idempotency key's digest depends on the content, which is known at the end. */
  readonly identify: (sha256: string) => Promise<Idempotency | null>;
}

type Stored = Result<{ readonly file: FileView; readonly replayed: boolean }, TenantError | FileError | RequestError>;

export async function storeFile(deps: HttpDeps, tenant: TenantId, sent: SentFile): Promise<Stored> {
  const store = deps.files(tenant);
  if (!store) return err({ code: "files_disabled" });
  const { head, body } = await readHead(sent.body);
  const checked = checkType(head, sent);
  if (!checked.ok) return checked;
  const media_type = checked.value;
  const file = deps.newId("fil");
  const { name, bytes } = sent;
  const begun = await deps.tenants(tenant).beginFile({ file, name, media_type, bytes });
  if (!begun.ok) return begun;
  const put = await reachStore(deps, () => store.put(file, { body, bytes, media_type }));
  if (!put.ok) return put;
  if (!put.value.ok) {
    const detail = put.value.error === "length" ? "has not as many bytes as Content-Length says" : "not UTF-8";
    return err({ code: "invalid_request", errors: [{ field: sent.field, detail }] });
  }
  const stored = put.value.value;
  const idempotency = await sent.identify(stored.sha256);
  return callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.finishFile({ file, stored, idempotency }),
  );
}

/** The result of `work`, or an error when the store is out of reach. */
export async function reachStore<T>({ log }: HttpDeps, work: () => Promise<T>): Promise<Result<T, FileError>> {
  try {
    return ok(await work());
  } catch (error) {
    log.error("http.file_store_unavailable", { error: toErrorName(error) });
    return err({ code: "file_store_unavailable" });
  }
}

/** Types that say nothing: curl and browsers send them when nothing else is known. */
const UNSAID = new Set(["", "application/octet-stream", "application/x-www-form-urlencoded"]);

/** The type to store. A text's kind cannot be found by its bytes, so the client's word is taken there. */
function checkType(head: Uint8Array, { declared, field, bytes }: SentFile): Result<string, FileError> {
  const found = sniffType(head);
  const named = UNSAID.has(declared ?? "") ? found : declared;
  const type = named === null ? null : findFileType(named);
  const isAsNamed = named === found || (type?.kind === "text" && found === "text/plain");
  if (named === null || !type || !isAsNamed) return err({ code: "file_type_not_allowed", field, found });
  return bytes > type.maxBytes ? err({ code: "file_too_large", field, limit: type.maxBytes }) : ok(named);
}

/** The first bytes, and a stream of the whole. */
async function readHead(
  body: ReadableStream<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly body: ReadableStream<Uint8Array> }> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < SNIFFED_BYTES) {
    const part = await reader.read();
    if (part.done) break;
    chunks.push(part.value);
    size += part.value.byteLength;
  }
  const head = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    head.set(chunk, at);
    at += chunk.byteLength;
  }
  const whole = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (size > 0) controller.enqueue(head);
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { head, body: whole };
}
