/** The files of a tenant's exports, in the bucket of its files: one object each, under the tenant's and the export's id. */
import type { ExportStore } from "../app/export-api";
import type { ExportId, TenantId } from "../domain/ids";

export function createExportStore(bucket: R2Bucket, tenant: TenantId): ExportStore {
  const toKey = (id: ExportId): string => `${tenant}/${id}`;
  return {
    begin: async (id) => {
      const httpMetadata = { contentType: "application/jsonl; charset=utf-8" };
      return (await bucket.createMultipartUpload(toKey(id), { httpMetadata })).uploadId;
    },
    putPart: async (id, { upload, number, bytes }) => {
      const { etag, partNumber } = await bucket.resumeMultipartUpload(toKey(id), upload).uploadPart(number, bytes);
      return { number: partNumber, etag };
    },
    finish: async (id, { upload, parts }) => {
      const named = parts.map(({ number, etag }) => ({ partNumber: number, etag }));
      // A repetition after a completion whose answer was lost finds the file.
      await bucket
        .resumeMultipartUpload(toKey(id), upload)
        .complete(named)
        .catch(async (error: unknown) => {
          if (!(await bucket.head(toKey(id)))) throw error;
        });
    },
    open: async (id) => {
      const found = await bucket.get(toKey(id));
      return found && { body: found.body, bytes: found.size };
    },
    readRange: async (id, { offset, length }) => {
      const found = await bucket.get(toKey(id), { range: { offset, length } });
      return found && new Uint8Array(await found.arrayBuffer());
    },
    remove: async (id, upload) => {
      // An upload that was completed or aborted before is not there any more. One that is left ends by itself after seven days.
      if (upload)
        await bucket
          .resumeMultipartUpload(toKey(id), upload)
          .abort()
          .catch(() => undefined);
      await bucket.delete(toKey(id));
    },
    readFile: async (file, { offset, length }) => {
      const found = await bucket.get(`${tenant}/${file}`, { range: { offset, length } });
      return found && new Uint8Array(await found.arrayBuffer());
    },
  };
}
