/** Exports of a tenant's sessions: what may be asked of the tenant's object, and of the store that holds their files. */
import type { ExportRemoval, ExportView, ImportEntry, ImportView } from "../contract/export";
import type { SettingKind, SettingsMode } from "../domain/export-format";
import type { ExportId, FileId, ImportId, SessionId, TenantId } from "../domain/ids";
import type { Act } from "./audit-chain";
import type { RestoredSetting, RestoreInput } from "./exported-settings";
import type { TenantOutcome } from "./tenant-api";

/** An export without the address, which is signed for the one who asks. */
export type ExportState = Omit<ExportView, "download_url">;

export type ExportSubject =
  | { readonly of: "session"; readonly session_id: SessionId }
  | { readonly of: "end_user"; readonly end_user: string }
  | { readonly of: "tenant" };

export interface NewExport {
  readonly id: ExportId;
  readonly subject: ExportSubject;
  /** The kinds of settings that an export of the tenant has. Absent: none. */
  readonly settings?: readonly SettingKind[];
}

export interface NewImport {
  readonly id: ImportId;
  /** The export, and the tenant whose bucket has it. */
  readonly source: { readonly tenant: TenantId; readonly export: ExportId };
  readonly bytes: number;
  readonly sessions: number | null;
  readonly mode: SettingsMode;
  /** The kinds of settings that the calling key may write. */
  readonly allowed: readonly SettingKind[];
}

/** A call that names an act first makes its entry in the audit log in the same transaction. */
export interface TenantExportsApi {
  /** Notes an export, which the object's alarm makes. */
  beginExport(act: Act, input: NewExport): Promise<TenantOutcome<ExportState>>;
  getExport(id: ExportId): Promise<TenantOutcome<ExportState>>;
  /** Newest first. */
  listExports(page: {
    readonly after: ExportId | null;
    readonly limit: number;
  }): Promise<TenantOutcome<{ readonly data: readonly ExportState[]; readonly has_more: boolean }>>;
  deleteExport(act: Act, id: ExportId): Promise<TenantOutcome<ExportRemoval>>;
  /** Restores settings in their order, and says what became of each. */
  restoreSettings(input: RestoreInput): Promise<TenantOutcome<readonly RestoredSetting[]>>;
  /** Notes an import of a stored export, which the object's alarm makes. */
  beginImport(act: Act, input: NewImport): Promise<TenantOutcome<ImportView>>;
  getImport(id: ImportId): Promise<TenantOutcome<ImportView>>;
  /** Newest first. */
  listImports(page: {
    readonly after: ImportId | null;
    readonly limit: number;
  }): Promise<TenantOutcome<{ readonly data: readonly ImportView[]; readonly has_more: boolean }>>;
  /** What became of each setting and session, in order of the file's lines. */
  reportImport(
    id: ImportId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<TenantOutcome<{ readonly data: readonly ImportEntry[]; readonly has_more: boolean }>>;
  /** Ends the import, and forgets its report. What is restored stays. */
  deleteImport(act: Act, id: ImportId): Promise<TenantOutcome<null>>;
  /** Enters a session that is being restored into the directory, with the time at which it was first made. One request makes one entry. */
  registerRestored(
    act: Act,
    input: {
      readonly session: SessionId;
      readonly external_id: string | null;
      readonly end_user: string | null;
      readonly created_at: number;
    },
  ): Promise<TenantOutcome<null>>;
}

export interface StoredPart {
  readonly number: number;
  readonly etag: string;
}

/** The files of a tenant's exports. A method throws when the store is out of reach. */
export interface ExportStore {
  /** Returns the name of the upload. */
  begin(id: ExportId): Promise<string>;
  putPart(id: ExportId, part: { readonly upload: string; readonly number: number; readonly bytes: Uint8Array }): Promise<StoredPart>;
  /** Makes the parts one file. */
  finish(id: ExportId, input: { readonly upload: string; readonly parts: readonly StoredPart[] }): Promise<void>;
  /** Null when there is no such file. */
  open(id: ExportId): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly bytes: number } | null>;
  /** A stretch of the file, which is shorter at its end. Null when there is no such file. */
  readRange(id: ExportId, range: { readonly offset: number; readonly length: number }): Promise<Uint8Array | null>;
  /** Removes the file and the parts of its upload. Removing what is not there changes nothing. */
  remove(id: ExportId, upload: string | null): Promise<void>;
  /** A stretch of a stored file of the tenant. Null when there is no such file. */
  readFile(file: FileId, range: { readonly offset: number; readonly length: number }): Promise<Uint8Array | null>;
}

export interface ExportGrant {
  readonly tenant: TenantId;
  readonly export: ExportId;
  /** Epoch milliseconds. */
  readonly expires_at: number;
}

/** Signs addresses that read one export without a key. */
export interface ExportSigner {
  sign(grant: ExportGrant): Promise<string>;
  /** Null when the text is not a signature of this deployment for an export, or has expired. */
  verify(signature: string): Promise<ExportGrant | null>;
}
