/**
 * Forgets the name of an erased end user in usage: in the sums of erased sessions, and in sessions that were given to another end user after
 * calls were counted for the erased one. It begins when the end user's own sessions are erased, so that none of them hands over a name any
 * more, and the erasure is done only when the read model has no name either. The alarm repeats what was cut off.
 */
import type { Clock, Log } from "../../app/ports";
import type { SessionId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";
import { toRetryWait } from "../shared/tenant-alarm";
import type { UsageOutbox } from "../usage/usage-outbox";
import type { ErasureReceipts } from "./erasure-receipts";
import { forEachTogether } from "./gather-sessions";

const FIRST_RETRY_MS = 15_000;
/** Sessions that are asked in one go. */
const AT_ONCE = 200;

/** Makes a session's object forget an end user, given by the digest of the name. Returns true when the read model has no name of it either. */
export type ForgetInSession = (session: SessionId, endUser: string) => Promise<boolean>;

interface ForgettingDeps {
  readonly sql: SyncSql;
  readonly receipts: ErasureReceipts;
  readonly usage: Pick<UsageOutbox, "forget" | "isForgetting" | "drain">;
  readonly forgetInSession: ForgetInSession;
  readonly now: Clock;
  readonly log: Log;
}

interface Forgetting {
  /** Null: no erasure waits for a name to be forgotten. */
  nextDue(): number | null;
  /** Never rejects. */
  run(): Promise<void>;
}

type Unforgotten = ReturnType<ErasureReceipts["listUnforgotten"]>[number];

export function createForgetting({ sql, receipts, usage, forgetInSession, now, log }: ForgettingDeps): Forgetting {
  let failures = 0;
  let notBefore = 0;
  const isListed = (session: string): boolean => sql.rows("SELECT 1 FROM sessions WHERE id = ?", session).length > 0;
  const isBeingErased = (session: string): boolean => sql.rows("SELECT 1 FROM erasures WHERE session = ?", session).length > 0;

  /** A session that is being erased has yet to hand over its sums, and one that is erased has none left. */
  async function forgetIn(session: string, endUser: string): Promise<boolean> {
    if (isBeingErased(session)) return false;
    if (isListed(session) && !(await forgetInSession(toSessionId(session), endUser))) return false;
    if (isBeingErased(session)) return false;
    sql.rows("DELETE FROM former_end_users WHERE end_user = ? AND session = ?", endUser, session);
    return true;
  }

  /** Returns true when no session names the end user in its calls. */
  async function forgetInSessions(endUser: string): Promise<boolean> {
    const select = "SELECT session FROM former_end_users WHERE end_user = ? ORDER BY session LIMIT ?";
    const former = sql.rows<{ session: string }>(select, endUser, AT_ONCE);
    let left = former.length === AT_ONCE;
    await forEachTogether(former, async ({ session }) => {
      try {
        if (!(await forgetIn(session, endUser))) left = true;
      } catch (cause) {
        left = true;
        log.warn("tenant.name_not_forgotten", { session, cause });
      }
    });
    return !left;
  }

  /** Returns true when the name is forgotten everywhere. */
  async function forget({ id, target }: Unforgotten): Promise<boolean> {
    if (!(await forgetInSessions(target))) return false;
    sql.transaction(() => usage.forget(target));
    await usage.drain();
    if (usage.isForgetting()) return false;
    sql.transaction(() => {
      receipts.noteForgotten(id);
      receipts.settle(id, now());
    });
    return true;
  }

  return {
    nextDue: () => (receipts.listUnforgotten().length > 0 ? notBefore : null),
    run: async () => {
      if (notBefore > now()) return;
      let failed = false;
      for (const erasure of receipts.listUnforgotten()) if (!(await forget(erasure))) failed = true;
      failures = failed ? failures + 1 : 0;
      notBefore = failed ? now() + toRetryWait(FIRST_RETRY_MS, failures - 1) : 0;
    },
  };
}
