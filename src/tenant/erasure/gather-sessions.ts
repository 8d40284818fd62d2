/**
 * Finds the sessions of an erasure: the forks of a session, and forks of these, or the sessions of an end user. The directory notes whose a
 * session is and what it was forked from when it is made. Where it does not know, as for sessions whose end user was changed, the
 * session's own object is asked. The erasure is not done before.
 */
import type { Clock, Log } from "../../app/ports";
import type { ErasureId, SessionId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";
import { type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import { emptyTenant } from "./empty-tenant";
import type { ErasureReceipts } from "./erasure-receipts";

/** What a session's object says of itself. `end_user`: the digest. Null in place of both: it was not opened yet. */
export interface SessionLabels {
  readonly end_user: string | null;
  readonly source: SessionId | null;
  /** Digests of the end users that calls of the session name from before it was given to another. Absent: none. */
  readonly former?: readonly string[];
}
export type ReadLabels = (session: SessionId) => Promise<SessionLabels | null>;

/** Sessions that are asked in one go. */
const ASKED = 200;
/** Sessions whose objects are called at a time. */
const TOGETHER = 10;
const FIRST_RETRY_MS = 15_000;

/** What `labelled` of a session says. */
export const LABELS = { unknown: 0, known: 1, unopened: 2 } as const;

interface GatheringDeps {
  readonly sql: SyncSql;
  readonly receipts: ErasureReceipts;
  readonly readLabels: ReadLabels;
  readonly sweep: () => Promise<void>;
  readonly note: (session: string, erasure: ErasureId) => void;
  /** Called inside the transaction that empties a deleted tenant. */
  readonly noteScrub?: () => void;
  readonly alarm: Pick<TenantAlarm, "set">;
  readonly now: Clock;
  readonly log: Log;
}

interface Gathering {
  /** Notes what the directory knows already. Call it inside a transaction. */
  begin(erasure: ErasureId): void;
  /** Null: no erasure waits for sessions to be found. */
  nextDue(): number | null;
  /** Asks some of the sessions that the directory does not know enough of. Never rejects. */
  run(): Promise<void>;
}

type Ungathered = ReturnType<ErasureReceipts["listUngathered"]>[number];

/** Calls `work` for `TOGETHER` of them at a time. */
export async function forEachTogether<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += TOGETHER) await Promise.all(all.slice(from, from + TOGETHER).map(work));
}

const FORKS = `WITH RECURSIVE copies (session) AS (
  SELECT session FROM forks WHERE source = ?1 UNION SELECT f.session FROM forks f JOIN copies c ON f.source = c.session)
  SELECT s.id FROM copies JOIN sessions s ON s.id = copies.session`;
const OF_END_USER = "SELECT id FROM sessions WHERE end_user = ?1 AND created_at <= ?2";
/** A copy of an end user's session that is not opened yet will have that end user. */
const UNOPENED_COPIES = `SELECT s.id FROM sessions s JOIN forks f ON f.session = s.id JOIN erased_sessions e ON e.session = f.source
  WHERE s.labelled = ${LABELS.unopened} AND e.erasure = ?`;

export function createGathering({ sql, receipts, readLabels, sweep, note, noteScrub, alarm, now, log }: GatheringDeps): Gathering {
  let failures = 0;
  let notBefore = 0;
  const listUnknown = (limit: number): readonly string[] =>
    sql.rows<{ id: string }>(`SELECT id FROM sessions WHERE labelled = ${LABELS.unknown} ORDER BY id LIMIT ?`, limit).map(({ id }) => id);

  const noteAll = (erasure: ErasureId, found: readonly { readonly id: string }[]): void => {
    for (const { id } of found) note(id, erasure);
  };
  function collect(erasure: Ungathered): void {
    const { id, kind, target, forks, requested_at } = erasure;
    if (forks) noteAll(id, sql.rows<{ id: string }>(FORKS, target));
    if (kind === "end_user") {
      noteAll(id, sql.rows<{ id: string }>(OF_END_USER, target, requested_at));
      noteAll(id, sql.rows<{ id: string }>(UNOPENED_COPIES, id));
    }
    if (kind === "tenant") return noteAll(id, sql.rows<{ id: string }>("SELECT id FROM sessions"));
    if (!asksOthers(erasure) || listUnknown(1).length === 0) receipts.noteGathered(id);
  }
  const isLeft = (): boolean => sql.rows("SELECT 1 FROM erasures UNION ALL SELECT 1 FROM sessions LIMIT 1").length > 0;
  /** A tenant's own part waits for its sessions, whose notes have times of their own. */
  const nextDue = (): number | null => (receipts.listUngathered().some(({ kind }) => kind !== "tenant" || !isLeft()) ? notBefore : null);

  /** The tenant's own part comes last: its sessions report to it. */
  async function endTenant(): Promise<number> {
    const [erasure] = receipts.listUngathered().filter(({ kind }) => kind === "tenant");
    if (!erasure || isLeft()) return 0;
    try {
      await sweep();
    } catch (cause) {
      log.warn("tenant.not_swept", { cause });
      return 1;
    }
    sql.transaction(() => {
      emptyTenant(sql);
      noteScrub?.();
      receipts.noteGathered(erasure.id);
      receipts.settle(erasure.id, now());
    });
    return 0;
  }

  async function ask(session: string): Promise<void> {
    const labels = await readLabels(toSessionId(session));
    sql.transaction(() => {
      const { end_user: user, source, former = [] } = labels ?? { end_user: null, source: null };
      const labelled = labels ? LABELS.known : LABELS.unopened;
      sql.rows("UPDATE sessions SET end_user = ?, labelled = ?, given_to = NULL WHERE id = ?", user, labelled, session);
      for (const name of former) sql.rows("INSERT OR IGNORE INTO former_end_users (end_user, session) VALUES (?, ?)", name, session);
      if (source) sql.rows("INSERT OR IGNORE INTO forks (session, source) VALUES (?, ?)", session, source);
    });
  }

  return {
    nextDue,
    begin: (erasure) => {
      const [own] = receipts.listUngathered().filter(({ id }) => id === erasure);
      if (!own) return;
      if (asksOthers(own)) sql.rows(`UPDATE sessions SET labelled = ${LABELS.unknown} WHERE labelled = ${LABELS.unopened}`);
      collect(own);
      if (asksOthers(own)) alarm.set(now());
    },
    run: async () => {
      if (receipts.listUngathered().length === 0 || notBefore > now()) return;
      let failed = 0;
      const unknown = receipts.listUngathered().some(({ kind }) => kind !== "tenant") ? listUnknown(ASKED) : [];
      await forEachTogether(unknown, async (session) => {
        await ask(session).catch((cause: unknown) => {
          failed++;
          log.warn("tenant.labels_not_read", { session, cause });
        });
      });
      failed += await endTenant();
      failures = failed > 0 ? failures + 1 : 0;
      notBefore = failed > 0 ? now() + toRetryWait(FIRST_RETRY_MS, failures) : 0;
      sql.transaction(() => {
        for (const erasure of receipts.listUngathered()) {
          collect(erasure);
          receipts.settle(erasure.id, now());
        }
      });
    },
  };
}

/** An erasure of one session alone needs no other. */
const asksOthers = ({ kind, forks }: Ungathered): boolean => kind !== "session" || forks;
