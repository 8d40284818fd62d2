/** Tells the tenant's object which files the session refers to, after a message brought, lost or took back one. */
import { toErrorName } from "../lib/error-name";
import { readNewestRedaction } from "./log/event-log";
import { readFileReferences } from "./log/file-references";
import type { Jobs } from "./log/jobs";
import type { RuntimeDeps } from "./runtime-deps";
import type { Session } from "./session";

/** Never rejects. The job stays armed until the tenant's object has answered, unless the files changed again meanwhile. */
export async function keepFiles({ state, deps, jobs }: Session & { readonly jobs: Jobs; readonly deps: RuntimeDeps }): Promise<void> {
  const { tenant, session } = state;
  if (!tenant || !session || state.lifecycle !== "open") return jobs.disarm("keep_files");
  const { seq } = state;
  const armed = jobs.get("keep_files")?.due_at;
  try {
    const redacted_at = readNewestRedaction(deps.sql);
    await deps.files(tenant).keep({ session, seq, ...readFileReferences(deps.sql, state), ...(redacted_at !== null && { redacted_at }) });
    // A later change has armed the job for another time.
    if (jobs.get("keep_files")?.due_at === armed) jobs.disarm("keep_files");
  } catch (error) {
    deps.log.warn("files_not_kept", { seq, error: toErrorName(error) });
  }
}
