/**
 * The tenant's retention: its setting, and the work of its alarm. The directory only says which sessions are old enough to be looked at. Each
 * session's own object knows when it was last used, judges itself by the setting, and does what is due with nothing in between. It says when
 * to look again, so that a session is asked about once for each of its lives between two rules, not at every alarm.
 */
import { toEtag } from "../../app/conditions";
import type { Clock, Log } from "../../app/ports";
import { findLeastAge, hasRule, NO_RETENTION, RETENTION_STARTS_AFTER_MS } from "../../app/retention";
import type { PreviewPage, RetainedSession, TenantRetentionApi } from "../../app/retention-api";
import type { Outcome } from "../../app/session-api";
import type { DueActView, RetentionSetting, RetentionView } from "../../contract/retention";
import type { SessionId } from "../../domain/ids";
import type { SyncSql } from "../../lib/sync-sql";
import { toSessionId } from "../shared/directory";
import { armAlarm, type TenantAlarm } from "../shared/tenant-alarm";
import { forEachTogether } from "./gather-sessions";

/** The most sessions that one alarm asks. */
const AT_ONCE = 100;
/** Sessions whose time by an earlier rule is forgotten in one step. A new rule leaves a day for all of them. */
const FORGOTTEN_AT_ONCE = 1_000;
/** A session that could not be asked is asked again after this time. */
const RETRY_MS = 60 * 60 * 1_000;
/** How often a suspended tenant is looked at. */
const LOOK_AGAIN_MS = 24 * 60 * 60 * 1_000;

interface RetentionDeps {
  readonly sql: SyncSql;
  readonly alarm: TenantAlarm;
  readonly retain: (
    session: SessionId,
    input: { readonly setting: RetentionSetting; readonly isDryRun: boolean },
  ) => Promise<Outcome<RetainedSession>>;
  /** While the tenant is suspended nothing is removed: its users cannot use their sessions. */
  readonly isSuspended: () => boolean;
  readonly now: Clock;
  readonly log: Log;
}

export interface Retention {
  read(): RetentionView;
  /** Call it inside a transaction, and `settle` after it. */
  write(setting: RetentionSetting): RetentionView;
  /** Resolves when no session is asked by an earlier setting, and the alarm is armed for the present one. */
  settle(): Promise<void>;
  preview(input: Parameters<TenantRetentionApi["previewRetention"]>[0]): Promise<PreviewPage>;
  /** When the alarm must ring for retention. Null: there is no rule. */
  nextDue(): number | null;
  resume(): Promise<void>;
  /** Asks the sessions that are due. Never rejects. Only one run goes on at a time. */
  run(): Promise<void>;
}

type StoredRow = { readonly setting: string; readonly starts_at: number };

const OLD_ENOUGH = "created_at <= ?";

export function createRetention(deps: RetentionDeps): Retention {
  const { sql, alarm, retain, now, log } = deps;
  let running: Promise<void> | null = null;
  /** Counts the changes of the setting in this life, which ends a run that began before. */
  let changes = 0;
  /** The newest count of candidates, and the age that it is of. */
  let counted: { readonly least: number; readonly candidates: number } | null = null;

  const stored = (): StoredRow | undefined => sql.rows<StoredRow>("SELECT setting, starts_at FROM retention")[0];
  const readSetting = (): RetentionSetting => {
    // A rule that another build does not know is absent.
    const said: Partial<RetentionSetting> = JSON.parse(stored()?.setting ?? "{}");
    return { ...NO_RETENTION, ...said };
  };
  const read = (): RetentionView => {
    const setting = readSetting();
    return { ...setting, starts_at: hasRule(setting) ? (stored()?.starts_at ?? null) : null };
  };

  /** True while a rule that has not started yet finds times that an earlier one noted. */
  const isForgetting = (): boolean =>
    (stored()?.starts_at ?? 0) > now() && sql.rows("SELECT 1 FROM sessions WHERE retain_at IS NOT NULL LIMIT 1").length > 0;
  const forgetSome = (): void =>
    void sql.rows(
      "UPDATE sessions SET retain_at = NULL WHERE id IN (SELECT id FROM sessions WHERE retain_at IS NOT NULL LIMIT ?)",
      FORGOTTEN_AT_ONCE,
    );

  function nextDue(): number | null {
    const least = findLeastAge(readSetting());
    if (least === null) return null;
    if (isForgetting()) return now();
    const [noted] = sql.rows<{ due: number | null }>("SELECT min(retain_at) AS due FROM sessions WHERE retain_at IS NOT NULL");
    const [unseen] = sql.rows<{ oldest: number | null }>("SELECT min(created_at) AS oldest FROM sessions WHERE retain_at IS NULL");
    // A session that is made from now on cannot be due before `least` from now.
    const due = Math.min(noted?.due ?? Number.POSITIVE_INFINITY, (unseen?.oldest ?? now()) + least);
    return Math.max(due, stored()?.starts_at ?? 0, deps.isSuspended() ? now() + LOOK_AGAIN_MS : 0);
  }
  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);

  /** All of them are put off before the first is asked: after a kill they are asked again, and not at once. */
  function takeDue(least: number): readonly SessionId[] {
    const at = now();
    const rows = sql.rows<{ id: string }>(
      `SELECT id FROM sessions WHERE retain_at IS NULL AND ${OLD_ENOUGH} UNION ALL SELECT id FROM sessions WHERE retain_at <= ? LIMIT ?`,
      at - least,
      at,
      AT_ONCE,
    );
    for (const { id } of rows) sql.rows("UPDATE sessions SET retain_at = ? WHERE id = ?", at + RETRY_MS, id);
    return rows.map(({ id }) => toSessionId(id));
  }

  async function attempt(session: SessionId, { setting, least }: { readonly setting: RetentionSetting; readonly least: number }) {
    const began = changes;
    try {
      const retained = await retain(session, { setting, isDryRun: false });
      // A session that was never opened, or is erased already, has nothing to remove.
      const lookAt = retained.ok ? retained.value.look_at : now() + least;
      if (began === changes) sql.rows("UPDATE sessions SET retain_at = ? WHERE id = ?", lookAt, session);
    } catch (cause) {
      log.warn("tenant.not_retained", { session, retry_in_ms: RETRY_MS, cause });
    }
  }

  async function runOnce(): Promise<void> {
    const setting = readSetting();
    const least = findLeastAge(setting);
    if (least !== null && isForgetting()) return forgetSome();
    if (least === null || deps.isSuspended() || (stored()?.starts_at ?? 0) > now()) return;
    const began = changes;
    const due = sql.transaction(() => takeDue(least));
    await forEachTogether(due, async (session) => {
      if (began === changes) await attempt(session, { setting, least });
    });
  }

  /** It reads an index entry of each, so it is done for the first page of a preview alone: a life of the object remembers it for the others. */
  function countCandidates(least: number, after: SessionId | null): number {
    if (after === null || counted?.least !== least) {
      const [found] = sql.rows<{ n: number }>(`SELECT count(*) AS n FROM sessions WHERE ${OLD_ENOUGH}`, now() - least);
      counted = { least, candidates: found?.n ?? 0 };
    }
    return counted.candidates;
  }

  async function preview({ setting, after, limit }: Parameters<Retention["preview"]>[0]): Promise<PreviewPage> {
    const at = now();
    const judged = setting ?? readSetting();
    const least = findLeastAge(judged);
    if (least === null) return { at, candidates: 0, looked_at: 0, data: [], next: null };
    const oldest = at - least;
    const rows = sql.rows<{ id: string }>(
      `SELECT id FROM sessions WHERE ${OLD_ENOUGH} AND id > ? ORDER BY id LIMIT ?`,
      oldest,
      after ?? "",
      limit + 1,
    );
    const looked = rows.slice(0, limit).map(({ id }) => toSessionId(id));
    const found = new Map<SessionId, readonly DueActView[]>();
    await forEachTogether(looked, async (session) => {
      const retained = await retain(session, { setting: judged, isDryRun: true });
      if (!retained.ok) return;
      const { used_at, due } = retained.value;
      found.set(
        session,
        due.map((act) => ({ session_id: session, used_at, ...act })),
      );
    });
    const data = looked.flatMap((session) => found.get(session) ?? []);
    const next = rows.length > limit ? (looked.at(-1) ?? null) : null;
    return { at, candidates: countCandidates(least, after), looked_at: looked.length, data, next };
  }

  return {
    read,
    write: (setting) => {
      // The rules that are in force already stay in force.
      if (toEtag(setting) === toEtag(readSetting())) return read();
      changes += 1;
      sql.rows(
        "INSERT OR REPLACE INTO retention (one, setting, starts_at) VALUES (1, ?, ?)",
        JSON.stringify(setting),
        now() + RETENTION_STARTS_AFTER_MS,
      );
      forgetSome();
      return read();
    },
    settle: async () => {
      await running;
      await resume();
    },
    preview,
    nextDue,
    resume,
    run: async () => {
      running ??= runOnce().finally(() => {
        running = null;
      });
      await running;
      await resume();
    },
  };
}
