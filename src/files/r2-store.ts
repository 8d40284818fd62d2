/** The bytes of one tenant's files in an R2 bucket, one object each, under the tenant's and the file's id. */
import type { FileStore, PutFault, StoredFile, TenantFileStore } from "../app/file-api";
import type { FileId, TenantId } from "../domain/ids";
import { toHex } from "../lib/hex";
import { err, ok, type Result } from "../lib/result";
import { type Digest, FileMeter } from "./file-meter";

function createDigest(): Digest {
  const stream = new crypto.DigestStream("SHA-256");
  const writer = stream.getWriter();
  return {
    write: (chunk) => writer.write(chunk),
    end: async () => {
      await writer.close();
      return toHex(new Uint8Array(await stream.digest));
    },
  };
}

type Upload = Parameters<FileStore["put"]>[1];

/** R2 takes a stream only if its length is known in advance (https://developers.cloudflare.com/r2/api/workers/workers-api-reference/). */
async function putStream(bucket: R2Bucket, key: string, { body, bytes, media_type }: Upload): Promise<Result<StoredFile, PutFault>> {
  const pipe = new FixedLengthStream(bytes);
  const meter = new FileMeter(media_type, createDigest());
  const writer = pipe.writable.getWriter();
  const put = bucket.put(key, pipe.readable, { httpMetadata: { contentType: media_type } });
  // A store that refuses reads no further, and a write would wait for it.
  put.catch((error: unknown) => writer.abort(error)).catch(() => undefined);
  const [pumped, stored] = await Promise.allSettled([pump(body, { meter, bytes, writer }), put]);
  if (pumped.status === "fulfilled" && pumped.value !== null) return err(pumped.value);
  if (stored.status === "rejected") throw stored.reason;
  if (pumped.status === "rejected") throw pumped.reason;
  const measured = await meter.end();
  return measured === "not_text" ? err(measured) : ok(measured);
}

interface Pump {
  readonly meter: FileMeter;
  readonly bytes: number;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
}

/** Passes the body on. After a fault the write fails, and nothing is stored. */
async function pump(body: ReadableStream<Uint8Array>, { meter, bytes, writer }: Pump): Promise<PutFault | null> {
  const reader = body.getReader();
  try {
    for (let part = await readPart(reader); !part.done; part = await readPart(reader)) {
      await meter.take(part.value);
      if (meter.bytes > bytes) break;
      await writer.write(part.value);
    }
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    await reader.cancel(error).catch(() => undefined);
    if (error instanceof CutOffError) return "cut_off";
    throw error;
  }
  if (meter.bytes === bytes) await writer.close();
  else {
    const fault = new TypeError("The body has another length.");
    await writer.abort(fault).catch(() => undefined);
    await reader.cancel(fault).catch(() => undefined);
  }
  return meter.bytes === bytes ? null : "length";
}

/** The client's side of an upload failed, not the store's. */
class CutOffError extends Error {
  override readonly name = "CutOffError";
}

async function readPart(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (cause) {
    throw new CutOffError("The body ended before its end.", { cause });
  }
}

async function removeAll(bucket: R2Bucket, tenant: TenantId): Promise<void> {
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix: `${tenant}/`, limit: 1_000 });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}

export function createFileStore(bucket: R2Bucket, tenant: TenantId): TenantFileStore {
  const toKey = (file: FileId): string => `${tenant}/${file}`;
  return {
    put: (file, upload) => putStream(bucket, toKey(file), upload),
    open: async (file) => (await bucket.get(toKey(file)))?.body ?? null,
    has: async (file) => (await bucket.head(toKey(file))) !== null,
    read: async (file) => {
      const found = await bucket.get(toKey(file));
      return found && new Uint8Array(await found.arrayBuffer());
    },
    remove: (file) => bucket.delete(toKey(file)),
    removeAll: () => removeAll(bucket, tenant),
  };
}
