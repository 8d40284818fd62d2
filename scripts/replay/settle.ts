/** Waits for compactions that still run in the background, and counts dropped messages, both through the API. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Connection, callApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";

const page = z.object({
  data: z.array(z.object({ id: z.string(), status: z.string(), ops: z.array(z.object({ op: z.string() })) })),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});

/** The limit for all sessions together, in milliseconds. */
const LIMIT = 60_000;
const POLL = 100;

/** Throws a `Failure` when a compaction is still running at the limit. */
export async function waitForCompactions(connection: Connection, sessions: readonly string[]): Promise<void> {
  const deadline = Date.now() + LIMIT;
  for (const session of sessions) {
    while (await isCompacting(connection, session)) {
      if (Date.now() > deadline) throw new Failure(`A compaction of session ${session} did not end within ${LIMIT / 1000} s`);
      await delay(POLL);
    }
  }
}

/** A session has at most one running compaction, so its newest ones suffice. */
async function isCompacting(connection: Connection, session: string): Promise<boolean> {
  const { data } = await readPage(connection, session, "order=desc&limit=5");
  return data.some(({ status }) => status === "requested" || status === "running");
}

/**
 * Epoch changes that dropped groups without a summary, by the guard or a fallback. They call no model, so the
 * provider's log does not contain them.
 */
export async function countDrops(connection: Connection, sessions: readonly string[]): Promise<number> {
  let drops = 0;
  for (const session of sessions) {
    for (let after: string | null = ""; after !== null; ) {
      const { data, has_more, next_cursor } = await readPage(connection, session, `limit=100${after}`);
      drops += data.filter(({ ops }) => ops.some(({ op }) => op === "drop")).length;
      after = has_more && next_cursor !== null ? `&after=${encodeURIComponent(next_cursor)}` : null;
    }
  }
  return drops;
}

async function readPage(connection: Connection, session: string, query: string): Promise<z.infer<typeof page>> {
  return page.parse(await callApi(connection, { method: "GET", path: `/v1/sessions/${session}/compactions?${query}` }));
}
