/** Restores the settings and sessions of an export's file into the caller's tenant, while the file arrives. */

import { FileImport } from "../app/transfer/import-file";
import { createImportTarget, type ImportPorts } from "../app/transfer/import-target";
import { ImportFault, type ParseLine } from "../app/transfer/read-export";
import { MAX_FILE_BYTES } from "../context/file-types";
import { exportLine, type ImportReport } from "../contract/export";
import type { SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { callWithRetry } from "./calls";
import type { HttpDeps } from "./deps";
import { findJsonFault } from "./json-check";
import type { HttpError } from "./problem";
import { createSettingParser } from "./schemas/setting";
import { recordCheck } from "./schemas/stored-record";

interface ImportInput extends Pick<ImportPorts, "act" | "tenant" | "mode" | "allowed"> {
  readonly body: ReadableStream<Uint8Array>;
  readonly after: SessionId | null;
}

export async function runImport(deps: HttpDeps, { body, after, ...input }: ImportInput): Promise<Result<ImportReport, HttpError>> {
  const { tenant } = input;
  const target = createImportTarget({
    ...input,
    parseLine: parseExportLine,
    recordCheck,
    parseSetting: createSettingParser(deps.config),
    files: deps.files(tenant),
    session: (session) => deps.sessions(tenant, session),
    askSession: (session, call) => callWithRetry(() => deps.sessions(tenant, session), call),
    askTenant: (call) => callWithRetry(() => deps.tenants(tenant), call),
  });
  try {
    return ok(await new FileImport(target, { after, maxFile: MAX_FILE_BYTES }).run(body));
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
  const fault = findJsonFault(text);
  return fault ? err(`${fault.field}: ${fault.detail}`) : ok(parsed.data);
};
