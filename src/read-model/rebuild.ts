/** The two kinds of rows that `app/rebuild` compares, in one database. */
import type { SessionRows } from "../app/rebuild";
import type { TenantId } from "../domain/ids";
import { clearSession, isErased, readSession, scratchOf } from "./store";
import { createProjection } from "./writer";

export function createSessionRows(db: D1Database, kind: "live" | "scratch"): SessionRows {
  const keyOf = (tenant: TenantId): string => (kind === "scratch" ? scratchOf(tenant) : tenant);
  return {
    projection: createProjection(db, { scratch: kind === "scratch" }),
    read: ({ tenant, session }) => readSession(db, keyOf(tenant), session),
    clear: ({ tenant, session }) => clearSession(db, keyOf(tenant), session),
    isErased: ({ tenant, session }) => isErased(db, keyOf(tenant), session),
  };
}
