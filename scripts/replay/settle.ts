/** Waits for compactions that still run in the background, so that the figures are complete. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Connection, callApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";

const page = z.object({ data: z.array(z.object({ id: z.string(), status: z.string() })) });

/** Of all sessions together, in milliseconds. */
const LIMIT = 60_000;
const POLL = 100;

/** Throws a `Failure` when one is still under way at the limit. */
export async function waitForCompactions(connection: Connection, sessions: readonly string[]): Promise<void> {
  const deadline = Date.now() + LIMIT;
  for (const session of sessions) {
    while (await isCompacting(connection, session)) {
      if (Date.now() > deadline) throw new Failure(`A compaction of session ${session} did not end within ${LIMIT / 1000} s`);
      await delay(POLL);
    }
  }
}

/** A session has at most one compaction under way, so the newest ones tell. */
async function isCompacting(connection: Connection, session: string): Promise<boolean> {
  const path = `/v1/sessions/${session}/compactions?order=desc&limit=5`;
  const { data } = page.parse(await callApi(connection, { method: "GET", path }));
  return data.some(({ status }) => status === "requested" || status === "running");
}
