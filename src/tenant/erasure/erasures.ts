/**
 * The tenant's erasures under way: one note for each session, from before anything is erased until every store has reported. The alarm
 * repeats an erasure that was cut off, and a repeated request never makes a listed session again. What was asked for, of which a session may
 * be a part, is in `erasure-receipts`.
 */
import type { Act } from "../../app/audit-chain";
import { REPORTING_STORES, type ReportingStore } from "../../app/erasure-view";
import type { Clock, Log } from "../../app/ports";
import type { ErasureId, SessionId } from "../../domain/ids";
import type { ErasureCause } from "../../domain/retention-actions";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";
import { armAlarm, type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";
import type { UsageOutbox } from "../usage/usage-outbox";
import { closeTenant } from "./empty-tenant";
import { type AskedErasure, createErasureReceipts, type ErasureReceipts } from "./erasure-receipts";
import { createForgetting, type ForgetInSession } from "./forget-names";
import { createGathering, forEachTogether, LABELS, type ReadLabels } from "./gather-sessions";

/** The first request runs the erasure itself, so the alarm waits this long before it repeats it. */
const FIRST_RETRY_MS = 15_000;
/** The most sessions that one alarm handles. */
const AT_ONCE = 200;
/** How long access tokens that were made before an end user's erasure may last: as long as any (`http/schemas/access-token`). */
const TOKEN_MS = 24 * 60 * 60 * 1000;

export interface ErasureNotes {
  /** Called in the transaction in which a new erasure is noted. `act`: null where the session's object began it, which has noted who asked. */
  readonly asked?: (erasure: AskedErasure, act: Act | null) => void;
  /** Called in the transaction in which an erasure ends. */
  readonly done?: (erasure: AskedErasure) => void;
}

interface ErasureDeps extends ErasureNotes {
  readonly sql: SyncSql;
  readonly alarm: TenantAlarm;
  /** Calls the session's object, telling it that the session has existed. Returns true when every store has reported. */
  readonly erase: (session: SessionId) => Promise<boolean>;
  /** Asks the session's object for what the directory does not know. */
  readonly readLabels: ReadLabels;
  /** Takes sessions out of the lists of the read model, before each of them is erased. */
  readonly hide: (sessions: readonly SessionId[]) => Promise<void>;
  /** Removes a part of what no session of a deleted tenant has: what is left in the bucket and in the read model. True when nothing is left. */
  readonly sweep: () => Promise<boolean>;
  /** The sums of erased sessions, in which the name of an erased end user is forgotten. */
  readonly usage: Pick<UsageOutbox, "forget" | "isForgetting" | "drain">;
  readonly forgetInSession: ForgetInSession;
  readonly newErasureId: () => ErasureId;
  /** Called with the note of a session: exports that hold it end. */
  readonly begun?: (session: SessionId) => void;
  /** Called in the transaction in which a session of the directory is erased. */
  readonly ended?: (session: SessionId) => void;
  /** Called inside a transaction that deletes a text of a client. Absent: nothing has to be overwritten. */
  readonly noteScrub?: () => void;
  readonly now: Clock;
  readonly log: Log;
}

interface Begin {
  readonly session: SessionId;
  /** The caller knows that the session existed. */
  readonly isKnown: boolean;
  /** Its forks, too. Absent: it alone. */
  readonly forks?: boolean;
  /** Absent: the session's object began it. */
  readonly act?: Act;
  /** Absent: a request. */
  readonly cause?: ErasureCause;
}

/** What begins an erasure is called inside a transaction. */
export interface Erasures {
  readonly receipts: ErasureReceipts;
  /** Notes an erasure if the session is in the directory, in an earlier note, or known to the caller. `noted`: whether there is a note. */
  begin(input: Begin): { readonly noted: boolean; readonly erasure: ErasureId | null };
  /** Notes the erasure of all sessions of an end user that the directory has, and ends the end user's access tokens. */
  beginEndUser(endUser: string, act: Act): ErasureId;
  /** Before when an access token of this end user must have been made to be refused. 0: none is. */
  findEnd(endUser: string): number;
  /** Notes the erasure of the tenant, closes it, and notes its first sessions. Repeated, it is the same erasure. */
  beginTenant(tenant: string, act: Act): ErasureId;
  /** Notes an erasure that its session's object began, if the session is in the directory and no note of it is here. */
  noteBegun(session: SessionId, cause?: ErasureCause): void;
  /** Notes which stores have yet to report. Returns the session's erasure; null if none is noted. */
  report(session: SessionId, pending: readonly ReportingStore[]): ErasureId | null;
  /** Ends an erasure for which every store has reported: removes the session from the directory, and the note with it. Returns the session's erasure. */
  end(session: SessionId): ErasureId | null;
  /** When the alarm must ring for erasures. Null when none is under way. */
  nextDue(): number | null;
  /** Arms the alarm if erasures are under way and it is not set early enough. */
  resume(): Promise<void>;
  /** Finds the sessions of erasures that were asked for, and erases those that are due. Never rejects. */
  run(): Promise<void>;
}

type ErasureRow = { readonly session: string; readonly attempts: number };

export function createErasures(deps: ErasureDeps): Erasures {
  const { sql, alarm, erase, now, log, newErasureId, hide } = deps;
  const receipts = createErasureReceipts(sql, deps.done);
  const isKnownHere = (session: SessionId): boolean =>
    sql.rows("SELECT 1 FROM sessions WHERE id = ?1 UNION ALL SELECT 1 FROM erasures WHERE session = ?1", session).length > 0;

  /** Notes one session. A second note changes nothing. */
  function note(session: string, { erasure, due }: { readonly erasure: ErasureId; readonly due: number }): void {
    receipts.cover(erasure, session);
    const columns = "session, asked_at, due_at, attempts, pending";
    const insert = `INSERT INTO erasures (${columns}) VALUES (?, ?, ?, 0, ?) ON CONFLICT (session) DO NOTHING`;
    sql.rows(insert, session, now(), due, REPORTING_STORES.join(" "));
    // The client may use the external id again at once: the erasure may have to wait for a store.
    sql.rows("UPDATE sessions SET external_id = NULL WHERE id = ? AND external_id IS NOT NULL", session);
    deps.begun?.(toSessionId(session));
  }
  const gathering = createGathering({ ...deps, receipts, note: (session, erasure) => note(session, { erasure, due: now() }) });
  const forgetting = createForgetting({ ...deps, receipts });

  const nextDue = (): number | null => {
    const noted = sql.rows<{ due: number | null }>("SELECT min(due_at) AS due FROM erasures")[0]?.due ?? null;
    const due = Math.min(...[noted, gathering.nextDue(), forgetting.nextDue()].map((each) => each ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(due) ? due : null;
  };
  const end = (session: SessionId): ErasureId | null =>
    sql.transaction(() => {
      if (sql.rows("DELETE FROM sessions WHERE id = ? RETURNING id", session).length > 0) deps.ended?.(session);
      sql.rows("DELETE FROM erasures WHERE session = ?", session);
      sql.rows("DELETE FROM former_end_users WHERE session = ?", session);
      receipts.settleCovering(session, now());
      return receipts.findCovering(session);
    });

  async function attempt({ session: id, attempts }: ErasureRow): Promise<void> {
    const session = toSessionId(id);
    try {
      if (await erase(session)) end(session);
    } catch (cause) {
      log.warn("tenant.erasure_failed", { session, attempts, retry_in_ms: toWait(attempts), cause });
    }
  }

  const listDue = (): readonly ErasureRow[] =>
    sql.rows<ErasureRow>("SELECT session, attempts FROM erasures WHERE due_at <= ? ORDER BY due_at LIMIT ?", now(), AT_ONCE);
  /** All of them are put off before the first is asked: a call that comes meanwhile does not ask them again. */
  function takeDue(): readonly ErasureRow[] {
    const rows = listDue();
    for (const { session, attempts } of rows)
      sql.rows("UPDATE erasures SET attempts = attempts + 1, due_at = ? WHERE session = ?", now() + toWait(attempts), session);
    return rows;
  }

  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);

  /** Notes a new erasure with who asked for it. */
  function add(request: Omit<AskedErasure, "id">, act: Act | null, cause?: ErasureCause): ErasureId {
    const id = receipts.add({ ...request, id: newErasureId(), at: now(), ...(cause && { cause }) });
    deps.asked?.({ ...request, id }, act);
    return id;
  }

  function begin({ session, isKnown, forks = false, act, cause }: Begin): ReturnType<Erasures["begin"]> {
    const noted = isKnown || isKnownHere(session);
    const covering = receipts.findCovering(session);
    if (!noted && covering === null) return { noted, erasure: null };
    const like = receipts.findLike({ kind: "session", target: session, forks }) ?? (forks ? null : covering);
    const erasure = like ?? add({ kind: "session", target: session, forks }, act ?? null, cause);
    const due = now() + FIRST_RETRY_MS;
    if (noted) note(session, { erasure, due });
    else receipts.cover(erasure, session);
    if (noted) alarm.set(due);
    if (like === null) gathering.begin(erasure, AT_ONCE);
    receipts.settle(erasure, now());
    return { noted, erasure };
  }

  function beginEndUser(endUser: string, act: Act): ErasureId {
    const at = now();
    sql.rows("DELETE FROM ended_users WHERE until <= ?", at);
    sql.rows("INSERT OR REPLACE INTO ended_users (end_user, before, until) VALUES (?, ?, ?)", endUser, at, at + TOKEN_MS);
    const request = { kind: "end_user", target: endUser, forks: false } as const;
    const running = receipts.findLike({ ...request, running: true });
    if (running && !hasNewer(sql, { endUser, running })) return running;
    const erasure = add(request, act);
    gathering.begin(erasure, AT_ONCE);
    receipts.settle(erasure, at);
    return erasure;
  }

  function beginTenant(tenant: string, act: Act): ErasureId {
    const request = { kind: "tenant", target: tenant, forks: false } as const;
    const like = receipts.findLike(request);
    if (like) return like;
    closeTenant(sql, now());
    deps.noteScrub?.();
    const erasure = add(request, act);
    gathering.begin(erasure, AT_ONCE);
    return erasure;
  }

  return {
    receipts,
    begin,
    beginTenant,
    beginEndUser,
    findEnd: (endUser) => sql.rows<{ before: number }>("SELECT before FROM ended_users WHERE end_user = ?", endUser)[0]?.before ?? 0,
    noteBegun: (session, cause) => {
      const isNoted = sql.rows("SELECT 1 FROM erasures WHERE session = ?", session).length > 0;
      if (!isNoted) begin({ session, isKnown: false, ...(cause && { cause }) });
    },
    report: (session, pending) => {
      sql.rows(
        "UPDATE erasures SET pending = ? WHERE session = ?",
        REPORTING_STORES.filter((store) => pending.includes(store)).join(" "),
        session,
      );
      return receipts.findCovering(session);
    },
    end,
    nextDue,
    resume,
    run: async () => {
      await gathering.run();
      gathering.noteMore(AT_ONCE - listDue().length);
      const due = takeDue();
      await hideAll(due);
      await forEachTogether(due, attempt);
      await forgetting.run();
      await resume();
    },
  };

  /** A list that still shows them for a moment does no harm: each session is erased from it by itself. */
  async function hideAll(due: readonly ErasureRow[]): Promise<void> {
    const fresh = due.flatMap(({ session, attempts }) => (attempts === 0 ? [toSessionId(session)] : []));
    if (fresh.length === 0) return;
    await hide(fresh).catch((cause: unknown) => log.warn("tenant.not_hidden", { sessions: fresh.length, cause }));
  }
}

const toWait = (attempts: number): number => toRetryWait(FIRST_RETRY_MS, attempts);

/**
 * Sessions that the end user has, or may have, since the erasure under way was asked for. Whose a session is that was given to another end
 * user, only its own object knows. What an erasure has yet to find is not newer.
 */
const hasNewer = (sql: SyncSql, { endUser, running }: { readonly endUser: string; readonly running: ErasureId }): boolean =>
  sql.rows(
    [`end_user = ?1`, `labelled = ${LABELS.unknown}`, `labelled = ${LABELS.unopened}`]
      .map(
        (are) =>
          `SELECT 1 FROM sessions WHERE ${are} AND NOT EXISTS (SELECT 1 FROM erased_sessions WHERE session = sessions.id AND erasure = ?2)
           AND NOT EXISTS (SELECT 1 FROM erasure_receipts WHERE id = ?2 AND gathered = 0 AND requested_at > created_at)`,
      )
      .join(" UNION ALL ")
      .concat(" LIMIT 1"),
    endUser,
    running,
  ).length > 0;
