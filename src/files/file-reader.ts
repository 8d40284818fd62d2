/**
 * Reads a tenant's files for requests to models. What was read last is kept in memory, because each round of a turn sends the same files
 * again. The store is still asked whether the file is there, so that a deleted file leaves requests at once.
 */
import type { FileReader, FileSigner, FileStore } from "../app/file-api";
import type { FileId, TenantId } from "../domain/ids";
import { toBase64 } from "../lib/base64";

/** Characters that stay in memory: about one message's files. Several objects share the isolate's memory. */
const KEPT_CHARACTERS = 6_000_000;
/**
 * A signed address works to the end of the hour after the request's. All requests within an hour have the same address, so that a provider's
 * prompt cache keeps working, and a past request gets the address that was sent.
 */
const HOUR_MS = 60 * 60 * 1_000;

interface ReaderDeps {
  readonly tenant: TenantId;
  readonly store: FileStore | null;
  readonly signer: () => FileSigner;
  /** The deployment's own address. Null: no address is made. */
  readonly publicUrl: () => string | null;
  readonly now: () => number;
}

export function createFileReader({ tenant, store, signer, publicUrl, now }: ReaderDeps): FileReader {
  const kept = new Map<string, string>();
  const read = async (file: FileId, form: "base64" | "text"): Promise<string | null> => {
    const key = `${form} ${file}`;
    const known = kept.get(key);
    if (known !== undefined && (await store?.has(file))) return known;
    kept.delete(key);
    const bytes = (await store?.read(file)) ?? null;
    if (!bytes) return null;
    const text = form === "base64" ? toBase64(bytes) : new TextDecoder("utf-8").decode(bytes);
    let held = text.length;
    for (const other of kept.values()) held += other.length;
    if (held > KEPT_CHARACTERS) kept.clear();
    if (text.length <= KEPT_CHARACTERS) kept.set(key, text);
    return text;
  };
  return {
    readBase64: (file) => read(file, "base64"),
    readText: (file) => read(file, "text"),
    findAddress: async (file, at = now()) => {
      const origin = publicUrl();
      if (origin === null) return null;
      if (!(await store?.has(file))) return "gone";
      const expires_at = (Math.floor(at / HOUR_MS) + 2) * HOUR_MS;
      const signature = await signer().sign({ tenant, file, expires_at });
      return `${origin}/v1/files/${file}/content?signature=${signature}`;
    },
  };
}
