/** Where an export reads its sessions and files from. */
import { digestEndUser } from "../../app/end-user-digest";
import type { ExportStore, ExportSubject } from "../../app/export-api";
import type { Caller } from "../../app/session-api";
import type { ExportSource } from "../../app/transfer/build-part";
import type { TransferApi } from "../../app/transfer-api";
import type { FileView } from "../../contract/file";
import type { SessionId, TenantId } from "../../domain/ids";
import type { Directory } from "../shared/directory";
import type { DueExport } from "./export-rows";

export interface SourceDeps {
  readonly directory: Directory;
  readonly tenant: () => TenantId;
  readonly sessions: (caller: Caller) => Pick<TransferApi, "exportLines">;
  readonly listFiles: (session: SessionId) => readonly FileView[];
  readonly listSettings: ExportSource["listSettings"];
}

interface ExportSources {
  /** How many sessions are looked at. */
  count(subject: ExportSubject): number;
  open(due: Pick<DueExport, "subject">, store: ExportStore): ExportSource;
  /** Something was taken out of the session: a page of it that is on its way here is read again. */
  takeOut(session: SessionId): void;
}

/** An entry whose session was never opened, and a session whose erasure has begun. */
const GONE: ReadonlySet<string> = new Set(["session_not_found", "session_erased"]);

export function createExportSources({ directory, tenant, sessions, listFiles, listSettings }: SourceDeps): ExportSources {
  /** The session whose page is on its way here. `isStale`: something was taken out of it meanwhile. */
  let reading: { readonly session: SessionId; isStale: boolean } | null = null;

  const read: ExportSource["read"] = async (session, input) => {
    if (!directory.has(session)) return "gone";
    const caller = { tenant: tenant(), session };
    const asked = { session, isStale: false };
    reading = asked;
    const page = await sessions(caller).exportLines(caller, input);
    reading = null;
    // Its erasure may have begun, or a redaction may have been reported, after the page was read.
    if (!directory.has(session)) return "gone";
    if (asked.isStale) return "moved";
    if (page.ok) return "moved" in page.value ? "moved" : page.value;
    if (GONE.has(page.error.code)) return "gone";
    throw new Error(page.error.code);
  };
  /** The next session that may belong to the export. One that the directory knows as another end user's is not asked. */
  function findNext(subject: ExportSubject, after: SessionId | null): SessionId | null {
    if (subject.of === "session") return after === null ? subject.session_id : null;
    if (subject.of === "end_user") return directory.findOfUser({ endUser: digestEndUser(tenant(), subject.end_user), before: after });
    return directory.list({ after, limit: 1 }).data[0]?.id ?? null;
  }
  return {
    count: (subject) => {
      if (subject.of === "session") return 1;
      return subject.of === "end_user" ? directory.countOfUser(digestEndUser(tenant(), subject.end_user)) : directory.count();
    },
    open: ({ subject }, store) => ({
      next: (after) => findNext(subject, after),
      listSettings,
      listFiles,
      readFile: (file, range) => store.readFile(file, range),
      read,
    }),
    takeOut: (session) => {
      if (reading?.session === session) reading.isStale = true;
    },
  };
}
