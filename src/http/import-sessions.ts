/** Restores the settings and sessions of an export's file into the caller's tenant. */

import type { Act } from "../app/audit-chain";
import { parseSettings, type RestoreInput } from "../app/exported-settings";
import { FileImport, type ImportTarget } from "../app/transfer/import-file";
import type { RestoredFile } from "../app/transfer/import-sessions";
import { ImportFault, type ParseLine } from "../app/transfer/read-export";
import { MAX_FILE_BYTES } from "../context/file-types";
import { exportLine, type ImportReport } from "../contract/export";
import type { SettingKind, SettingsMode } from "../domain/export-format";
import type { SessionId, TenantId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { callWithRetry } from "./calls";
import type { HttpDeps } from "./deps";
import { findJsonFault } from "./json-check";
import type { HttpError } from "./problem";
import { createSettingParser } from "./schemas/setting";

interface ImportInput {
  readonly act: Act;
  readonly tenant: TenantId;
  readonly body: ReadableStream<Uint8Array>;
  readonly after: SessionId | null;
  readonly mode: SettingsMode;
  /** The kinds of settings that the calling key may write. */
  readonly allowed: readonly SettingKind[];
}

export async function runImport(deps: HttpDeps, input: ImportInput): Promise<Result<ImportReport, HttpError>> {
  try {
    return ok(await new FileImport(createTarget(deps, input), { after: input.after, maxFile: MAX_FILE_BYTES }).run(input.body));
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error;
    const detail = error.line === 0 ? error.detail : error.message;
    return err({ code: "invalid_request", errors: [{ field: "body", detail }] });
  }
}

export const parseExportLine: ParseLine = (value, text) => {
  const parsed = exportLine.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return err(`${issue?.path.join(".") || "type"}: ${issue?.message ?? "is not valid"}`);
  }
  // A setting is held to what a request's body is held to.
  const fault = parsed.data.type === "setting" ? findJsonFault(text) : null;
  return fault ? err(`${fault.field}: ${fault.detail}`) : ok(parsed.data);
};

const toRefusal = (error: { readonly code: string }): Awaited<ReturnType<ImportTarget["register"]>> => {
  if (error.code === "external_id_taken")
    return err({ status: "external_id_taken", detail: "another session of the tenant has the external id" });
  if (error.code === "session_erased") return err({ status: "erased", detail: "the session is being erased" });
  if (error.code === "file_taken")
    return err({ status: "file_taken", detail: "the tenant has another file of an id of the session's files" });
  return err({ status: "refused", detail: error.code });
};

function createTarget(deps: HttpDeps, input: ImportInput): ImportTarget {
  const { tenant, act, mode } = input;
  const own = <T>(session: SessionId, call: Parameters<typeof callWithRetry<ReturnType<HttpDeps["sessions"]>, T>>[1]) =>
    callWithRetry(() => deps.sessions(tenant, session), call);
  return {
    tenant,
    parse: parseExportLine,
    restoreSettings: mode === "skip" ? null : (lines) => restoreLines(deps, lines, { ...input, mode }),
    // A page that is sent twice would not follow itself. Only the first one may be, because it begins anew.
    stage: (session, input) =>
      input.first
        ? own(session, (api) => api.stageRestore({ tenant, session }, input))
        : deps.sessions(tenant, session).stageRestore({ tenant, session }, input),
    finish: (session, seq) => own(session, (api) => api.finishRestore({ tenant, session }, { seq })),
    drop: async (session) => void (await own(session, (api) => api.dropRestore({ tenant, session }))),
    register: async ({ id: session, external_id, created_at }) => {
      const entered = await callWithRetry(
        () => deps.tenants(tenant),
        (api) => api.registerRestored(act, { session, external_id, created_at }),
      );
      return entered.ok ? entered : toRefusal(entered.error);
    },
    forget: async (session) =>
      void (await callWithRetry(
        () => deps.tenants(tenant),
        (api) => api.forgetSession(session),
      )),
    storeFile: (file) => storeRestored(deps, tenant, file),
  };
}

/** What the API refuses of a client is refused of a file. */
async function restoreLines(
  deps: HttpDeps,
  lines: Parameters<typeof parseSettings>[0],
  { tenant, act, mode, allowed }: Pick<ImportInput, "tenant" | "allowed"> & Pick<RestoreInput, "act" | "mode">,
): ReturnType<NonNullable<ImportTarget["restoreSettings"]>> {
  return parseSettings(lines, createSettingParser(deps.config), async (settings) => {
    const restored = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.restoreSettings({ act, mode, allowed, settings }),
    );
    if (restored.ok) return restored.value;
    throw new ImportFault(0, restored.error.code);
  });
}

/** Stores a file under the id that it had. One that is there with the same content is left as it is. */
async function storeRestored(
  deps: HttpDeps,
  tenant: TenantId,
  { id: file, name, media_type, bytes, sha256, content }: RestoredFile,
): ReturnType<ImportTarget["storeFile"]> {
  const tenants = <T>(call: Parameters<typeof callWithRetry<ReturnType<HttpDeps["tenants"]>, T>>[1]) =>
    callWithRetry(() => deps.tenants(tenant), call);
  const store = deps.files(tenant);
  if (!store) return toRefusal({ code: "files_disabled" });
  const found = await tenants((api) => api.getFile(file));
  if (found.ok) return found.value.sha256 === sha256 ? ok(null) : toRefusal({ code: "file_taken" });
  const begun = await tenants((api) => api.beginFile({ file, name, media_type, bytes }));
  if (!begun.ok) return toRefusal(begun.error);
  const body = new Blob([content]).stream();
  const stored = await store.put(file, { body, bytes, media_type });
  if (stored.ok && stored.value.sha256 === sha256) {
    const finished = await tenants((api) => api.finishFile({ file, stored: stored.value, idempotency: null }));
    return finished.ok ? ok(null) : toRefusal(finished.error);
  }
  await tenants((api) => api.abandonFile(file));
  return err({ status: "refused", detail: "the content of a file is not the one that its line describes" });
}
