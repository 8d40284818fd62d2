/** Erasures: of a session, of an end user or of a tenant, with a receipt for each store. */
import { z } from "@hono/zod-openapi";
import { ERASURE_KINDS } from "../domain/erasure-kinds";
import { ERASURE_CAUSES } from "../domain/retention-actions";
import { id, time } from "./ids";

/** The places that an erasure empties, and what it leaves on purpose. */
const ERASED_STORES = [
  "session_log",
  "bodies",
  "look_up_index",
  "live_stream",
  "idempotency",
  "jobs",
  "read_model",
  "session_search",
  "files",
  "exports",
  "chat",
  "directory",
  "tenant",
  "usage_names",
  "usage",
  "forks",
] as const;

const storeReceipt = z.object({
  store: z.enum(ERASED_STORES),
  status: z.enum(["erased", "pending", "kept"]).openapi({ description: "kept: it stays on purpose, as `note` says" }),
  pending: z.int().openapi({ description: "The number of sessions whose part is still to be erased" }),
  note: z.string().nullable(),
});

const remainder = z.object({
  where: z.enum(["objects_point_in_time_recovery", "database_point_in_time_recovery", "provider"]),
  until: time.nullable().openapi({ description: "Null: not known here" }),
  models: z.array(z.string()).readonly().openapi({ description: "The models that were called. Empty except for providers" }),
  note: z.string(),
});

export const erasureView = z
  .object({
    id: id("era"),
    of: z.enum(ERASURE_KINDS),
    target: z.string().openapi({
      description:
        "The id of the session or the tenant. For an end user: SHA-256, hexadecimal, of the tenant's id, a slash and the client's id of the person, which itself is erased",
    }),
    forks: z.boolean().openapi({ description: "The forks of the session, and forks of these, are erased too" }),
    cause: z.enum(ERASURE_CAUSES).openapi({ description: "retention: a rule of the tenant's came to apply" }),
    status: z.enum(["running", "done"]),
    requested_at: time,
    due_at: time.openapi({ description: "It is done by then, unless a store was out of reach in the last hour before" }),
    done_at: time.nullable(),
    sessions: z.object({ total: z.int(), done: z.int() }).openapi({ description: "The total grows while sessions are still being found" }),
    stores: z.array(storeReceipt).readonly(),
    may_remain: z.array(remainder).readonly().openapi({
      description: "Copies out of this service's reach: those of the platform, for its operator alone, and those of providers",
    }),
  })
  .openapi("Erasure");
export type ErasureView = z.infer<typeof erasureView>;
