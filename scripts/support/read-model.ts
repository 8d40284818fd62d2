/** Compares the read model with the logs, and repairs it, through the admin routes. */
import { z } from "zod";
import { askAdmin } from "./admin.ts";
import { type Connection, callApi } from "./api-client.ts";

export interface Target {
  /** The server, with the key of its admin routes. */
  readonly admin: Connection;
  readonly tenant: string;
}

const cell = z.union([z.string(), z.number(), z.null()]);
export const differences = z.array(
  z.object({ table: z.string(), key: z.string(), column: z.string().nullable(), before: cell, after: cell }),
);
export type Differences = z.infer<typeof differences>;

const sessionStep = z.object({
  session_id: z.string(),
  rows: z.number(),
  repaired: z.boolean().nullable(),
  next_cursor: z.string().nullable(),
  differences,
});

export const toAdminPath = ({ tenant }: Target, rest = ""): string => `/v1/admin/tenants/${encodeURIComponent(tenant)}${rest}`;

export interface Comparison {
  readonly rows: number;
  readonly repaired: boolean;
  /** The number of differences, all repaired if `repaired` is true. */
  readonly differences: number;
}

/** One bounded part of a comparison. An empty cursor begins at the start. Throws as `callApi` does. */
export async function compareStep(target: Target, session: string, cursor: string): Promise<z.infer<typeof sessionStep>> {
  const path = toAdminPath(target, `/sessions/${encodeURIComponent(session)}/rebuild`);
  return sessionStep.parse(await callApi(target.admin, { method: "POST", path: cursor === "" ? path : `${path}?after=${cursor}` }));
}

/** A long session takes many requests: each handles a bounded part and returns the cursor of the next one. */
export async function compareSession(target: Target, session: string, onFound: (found: Differences) => void): Promise<Comparison> {
  const path = toAdminPath(target, `/sessions/${encodeURIComponent(session)}/rebuild`);
  let count = 0;
  for (let cursor = ""; ; ) {
    const step = sessionStep.parse(await askAdmin(target.admin, "POST", cursor === "" ? path : `${path}?after=${cursor}`));
    count += step.differences.length;
    onFound(step.differences);
    if (step.next_cursor === null) return { rows: step.rows, repaired: step.repaired === true, differences: count };
    cursor = step.next_cursor;
  }
}
