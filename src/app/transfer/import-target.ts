/** Where an import puts what it reads: the sessions' objects, the tenant's object and the bucket, wherever the import runs. */

import type { SettingsMode } from "../../domain/export-format";
import type { SessionId, TenantId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { type ParseSetting, parseSettings, type RestoreInput } from "../exported-settings";
import type { FileStore } from "../file-api";
import type { TransferApi } from "../transfer-api";
import type { WholeTenantApi } from "../whole-tenant-api";
import type { ImportTarget } from "./import-file";
import type { RestoredFile } from "./import-sessions";
import type { ParseLine, RecordCheck } from "./read-export";

export type ImportTenant = Pick<
  WholeTenantApi,
  "registerRestored" | "forgetSession" | "restoreSettings" | "getFile" | "beginFile" | "finishFile" | "abandonFile"
>;
type ImportSession = Pick<TransferApi, "stageRestore" | "finishRestore" | "dropRestore">;

export interface ImportReaders {
  readonly parseLine: ParseLine;
  readonly recordCheck: RecordCheck;
  /** Holds a setting to what the API holds a client to. */
  readonly parseSetting: ParseSetting;
}

export interface ImportPorts extends ImportReaders, Pick<RestoreInput, "act" | "allowed"> {
  readonly tenant: TenantId;
  readonly mode: SettingsMode;
  /** Null when the deployment stores no files. */
  readonly files: Pick<FileStore, "put"> | null;
  session(session: SessionId): ImportSession;
  /** Makes a call that may be repeated. */
  askSession<T>(session: SessionId, call: (api: ImportSession) => Promise<T>): Promise<T>;
  askTenant<T>(call: (api: ImportTenant) => Promise<T>): Promise<T>;
}

const toRefusal = (error: { readonly code: string }): Awaited<ReturnType<ImportTarget["register"]>> => {
  if (error.code === "external_id_taken")
    return err({ status: "external_id_taken", detail: "another session of the tenant has the external id" });
  if (error.code === "session_erased") return err({ status: "erased", detail: "the session is being erased" });
  if (error.code === "file_taken")
    return err({ status: "file_taken", detail: "the tenant has another file of an id of the session's files" });
  return err({ status: "refused", detail: error.code });
};

export function createImportTarget(ports: ImportPorts): ImportTarget {
  const { tenant, act, mode, parseLine, recordCheck, askSession, askTenant } = ports;
  return {
    tenant,
    parse: parseLine,
    check: recordCheck,
    restoreSettings: mode === "skip" ? null : (lines) => restoreLines(lines, { ...ports, mode }),
    // A page that is sent twice would not follow itself. Only the first one may be, because it begins anew.
    stage: (session, input) =>
      input.first
        ? askSession(session, (api) => api.stageRestore({ tenant, session }, input))
        : ports.session(session).stageRestore({ tenant, session }, input),
    finish: (session, seq) => askSession(session, (api) => api.finishRestore({ tenant, session }, { seq })),
    drop: async (session) => void (await askSession(session, (api) => api.dropRestore({ tenant, session }))),
    register: async ({ id: session, external_id, end_user, created_at }) => {
      const entered = await askTenant((api) => api.registerRestored(act, { session, external_id, end_user, created_at }));
      return entered.ok ? entered : toRefusal(entered.error);
    },
    forget: async (session) => void (await askTenant((api) => api.forgetSession(session))),
    storeFile: (file) => storeRestored(ports, file),
  };
}

/** What the API refuses of a client is refused of a file. Throws when the tenant's object takes no settings now. */
function restoreLines(
  lines: Parameters<typeof parseSettings>[0],
  { act, mode, allowed, parseSetting, askTenant }: ImportPorts & Pick<RestoreInput, "mode">,
): ReturnType<NonNullable<ImportTarget["restoreSettings"]>> {
  return parseSettings(lines, parseSetting, async (settings) => {
    const restored = await askTenant((api) => api.restoreSettings({ act, mode, allowed, settings }));
    if (restored.ok) return restored.value;
    throw new Error(restored.error.code);
  });
}

/** Stores a file under the id that it had. One that is there with the same content is left as it is. */
async function storeRestored(
  { files, askTenant }: ImportPorts,
  { id: file, name, media_type, bytes, sha256, content }: RestoredFile,
): ReturnType<ImportTarget["storeFile"]> {
  if (!files) return toRefusal({ code: "files_disabled" });
  const found = await askTenant((api) => api.getFile(file));
  if (found.ok) return found.value.sha256 === sha256 ? ok(null) : toRefusal({ code: "file_taken" });
  const begin = () => askTenant((api) => api.beginFile({ file, name, media_type, bytes }));
  let begun = await begin();
  if (!begun.ok && begun.error.code === "file_taken") {
    // An import that was cut off left its upload, which would hold the id for an hour.
    await askTenant((api) => api.abandonFile(file));
    begun = await begin();
  }
  if (!begun.ok) return toRefusal(begun.error);
  const stored = await files.put(file, { body: new Blob([content]).stream(), bytes, media_type });
  if (stored.ok && stored.value.sha256 === sha256) {
    const finished = await askTenant((api) => api.finishFile({ file, stored: stored.value, idempotency: null }));
    return finished.ok ? ok(null) : toRefusal(finished.error);
  }
  await askTenant((api) => api.abandonFile(file));
  return err({ status: "refused", detail: "the content of a file is not the one that its line describes" });
}
