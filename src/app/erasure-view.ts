/** What the receipt of an erasure says, from what the tenant's object has noted. */
import type { ErasureView } from "../contract/erasure";
import type { ErasureId } from "../domain/ids";
import type { ErasureCause } from "../domain/retention-actions";

/** The stores that report to the tenant's object. Each has parts that the receipt names. */
export const REPORTING_STORES = ["session", "read_model", "files", "exports", "chat"] as const;
export type ReportingStore = (typeof REPORTING_STORES)[number];
/** The stores that the tenant's object empties, or has emptied. They are last in each list. */
export const BUCKET_STORES = ["files", "exports", "chat"] as const satisfies readonly ReportingStore[];

/** What the bucket, and the chat, lost with an erased session. `pending`: files still to be erased. `exports`: those that held the session and are there still. */
export interface Released {
  readonly erased: number;
  readonly pending: number;
  readonly exports: number;
  /** Chats that still hold texts of the session. */
  readonly chats: number;
}

export const toBucketStores = ({ erased, pending, exports, chats }: Released) =>
  [
    { store: "files", status: pending === 0 ? "erased" : "pending", rows: erased },
    { store: "exports", status: exports === 0 ? "erased" : "pending", rows: null },
    { store: "chat", status: chats === 0 ? "erased" : "pending", rows: null },
  ] as const;

/** The stores of a session's receipt that have yet to be erased. */
export const listPending = (stores: readonly { readonly store: string; readonly status: string }[]): readonly ReportingStore[] =>
  REPORTING_STORES.filter((name) => stores.some(({ store, status }) => store === name && status !== "erased"));

export interface ErasureFacts {
  readonly id: ErasureId;
  readonly of: ErasureView["of"];
  readonly target: string;
  readonly forks: boolean;
  readonly cause: ErasureCause;
  readonly requested_at: number;
  readonly done_at: number | null;
  /** All its sessions are known. */
  readonly gathered: boolean;
  /** The name of its end user is in no usage. */
  readonly forgotten: boolean;
  readonly sessions: ErasureView["sessions"];
  /** How many sessions each store has not reported for. */
  readonly pending: Readonly<Record<ReportingStore, number>>;
  readonly models: readonly string[];
}

/** The longest time that an erasure takes once every store answers: the alarm asks a store that failed at least every hour. */
const DUE_MS = 24 * 60 * 60 * 1_000;
/** The longest time for which the platform can restore an object or a D1 database (docs/platform-facts.md). */
const RECOVERY_MS = 30 * 24 * 60 * 60 * 1_000;

const PARTS: Readonly<Record<ReportingStore, readonly ErasureView["stores"][number]["store"][]>> = {
  session: ["session_log", "bodies", "look_up_index", "live_stream", "idempotency", "jobs"],
  read_model: ["read_model", "session_search"],
  files: ["files"],
  exports: ["exports"],
  chat: ["chat"],
};

const USAGE_NOTES: Readonly<Record<ErasureView["of"], string>> = {
  session: "Sums of tokens and cost by session, model, purpose, key, end user and quarter of an hour, without text",
  end_user: "Sums of tokens and cost by session, model, purpose, key and quarter of an hour, without text and without the end user",
  tenant: "Sums of tokens and cost by session, model, purpose and quarter of an hour, without text, keys and end users",
};

export function toErasureView(facts: ErasureFacts): ErasureView {
  const { pending, gathered, forgotten, models, sessions, ...rest } = facts;
  const report = (store: ErasureView["stores"][number]["store"], left: number): ErasureView["stores"][number] => ({
    store,
    status: left === 0 && gathered ? "erased" : "pending",
    pending: left,
    note: null,
  });
  return {
    ...rest,
    status: facts.done_at === null ? "running" : "done",
    due_at: facts.requested_at + DUE_MS,
    sessions,
    stores: [
      ...REPORTING_STORES.flatMap((store) => PARTS[store].map((part) => report(part, pending[store]))),
      report("directory", sessions.total - sessions.done),
      ...(facts.of === "tenant" ? [report("tenant", gathered ? 0 : 1)] : []),
      ...(facts.of === "end_user" ? [report("usage_names", forgotten ? 0 : 1)] : []),
      { store: "usage", status: "kept", pending: 0, note: USAGE_NOTES[facts.of] },
      toForks(facts),
    ],
    may_remain: listRemains(facts),
  };
}

function toForks({ of, forks, sessions, gathered }: ErasureFacts): ErasureView["stores"][number] {
  if (of === "session" && !forks)
    return {
      store: "forks",
      status: "kept",
      pending: 0,
      note: "Forks own copies of what they began with. Erase them too with ?forks=true",
    };
  if (of === "tenant")
    return { store: "forks", status: gathered ? "erased" : "pending", pending: sessions.total - sessions.done, note: null };
  if (of === "end_user")
    return {
      store: "forks",
      status: "kept",
      pending: 0,
      note: "A fork has the end user of its source, and is erased unless it was given to another",
    };
  const left = sessions.total - sessions.done;
  return { store: "forks", status: left === 0 && gathered ? "erased" : "pending", pending: left, note: null };
}

function listRemains({ done_at, requested_at, models }: ErasureFacts): ErasureView["may_remain"] {
  const until = (done_at ?? requested_at) + RECOVERY_MS;
  const recovery = "Cloudflare can restore an earlier state until then, for the operator alone";
  const provider = { where: "provider", until: null, models, note: "What a provider logged is the provider's" } as const;
  return [
    { where: "objects_point_in_time_recovery", until, models: [], note: recovery },
    { where: "database_point_in_time_recovery", until, models: [], note: recovery },
    ...(models.length > 0 ? [provider] : []),
  ];
}
