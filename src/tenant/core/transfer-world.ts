/** What a tenant's exports and imports meet outside of the tenant's object, and how it is reached. */
import type { TenantFileStore } from "../../app/file-api";
import type { OwnerApi } from "../../app/owner-api";
import type { RetentionApi } from "../../app/retention-api";
import type { Caller, SessionApi } from "../../app/session-api";
import type { ImportTarget } from "../../app/transfer/import-file";
import { createImportTarget, type ImportReaders, type ImportTenant } from "../../app/transfer/import-target";
import type { TransferApi } from "../../app/transfer-api";
import type { FileView } from "../../contract/file";
import type { SessionId, TenantId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { type Files, toFileId } from "../files/files";
import type { DueImport } from "../transfer/import-rows";

export interface TransferWorld {
  readonly sql: SyncSql;
  readonly files: Files;
  readonly tenant: () => TenantId;
  readonly sessions: (caller: Caller) => Pick<SessionApi, "erase" | "describe"> & OwnerApi & TransferApi & Pick<RetentionApi, "retain">;
  /** Null when the deployment stores no files. */
  readonly fileStore: (tenant: TenantId) => TenantFileStore | null;
  /** What restores an export into this tenant. */
  readonly imports: ImportReaders & { readonly own: ImportTenant };
}

/** The files to which the session refers, in order of their ids. */
export function listSessionFiles(session: SessionId, { sql, files }: Pick<TransferWorld, "sql" | "files">): readonly FileView[] {
  const named = sql.rows<{ file: string }>("SELECT file FROM file_refs WHERE session = ? ORDER BY file", session);
  return named.flatMap(({ file }) => files.find(toFileId(file)) ?? []);
}

/** Where an import of this tenant puts what it reads. */
export function openTarget({ act, mode, allowed }: DueImport, { tenant, imports, fileStore, sessions }: TransferWorld): ImportTarget {
  const [owner, { own, ...readers }] = [tenant(), imports];
  const session = (id: SessionId) => sessions({ tenant: owner, session: id });
  return createImportTarget({
    ...{ ...readers, act, mode, allowed, tenant: owner, session },
    files: fileStore(owner),
    askSession: (id, call) => call(session(id)),
    askTenant: (call) => call(own),
  });
}
