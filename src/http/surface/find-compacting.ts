/** Whether a compaction runs. A turn may begin while one does, and its own frames do not tell of it. */
import type { CompactionId } from "../../domain/ids";
import type { SessionCalls } from "../session-calls";

/** Null: none runs. */
export async function findCompacting(calls: SessionCalls): Promise<CompactionId | null> {
  const page = await calls.repeatable((api, caller) => api.compactions(caller, { after: null, limit: 1, order: "desc" }));
  const [newest] = page.ok ? page.value.data : [];
  return newest?.status === "running" ? newest.id : null;
}
