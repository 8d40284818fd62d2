/** The queue's message: a wake-up that names the session and the job, validated like any input from outside. */
import { z } from "zod";
import type { CompactionJob } from "../app/ports";
import { idPattern, parseId } from "../domain/ids";

const schema = z.object({
  tenant: z.string().regex(idPattern("ten")),
  session: z.string().regex(idPattern("ses")),
  compaction: z.string().regex(idPattern("cmp")),
});

/** Null when the message is not a valid job. Retrying cannot make it one. */
export function parseCompactionJob(body: unknown): CompactionJob | null {
  const parsed = schema.safeParse(body);
  if (!parsed.success) return null;
  const tenant = parseId("ten", parsed.data.tenant);
  const session = parseId("ses", parsed.data.session);
  const compaction = parseId("cmp", parsed.data.compaction);
  return tenant && session && compaction ? { tenant, session, compaction } : null;
}
