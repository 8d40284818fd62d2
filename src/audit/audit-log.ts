/**
 * Stores the audit log, a chain of entries that only grows at its end. Triggers refuse every other change. The oldest entries are removed
 * when there are too many; the anchor keeps the hash of the last of them, so that the rest can be verified.
 */
import type { AuditPage, AuditQuery } from "../app/audit-api";
import { type Act, buildGenesis, chainEntry } from "../app/audit-chain";
import type { AuditEntry, AuditPlace, AuditSubject } from "../contract/audit";
import type { Result } from "../lib/result";
import { remakeTables } from "../lib/scrub/rewrite-tables";
import type { SyncSql } from "../lib/sync-sql";

/** At about 800 bytes an entry with its indexes, 80 MB: years of a tenant's administration. */
const MAX_AUDIT_ENTRIES = 100_000;
/** Entries that one append removes at most, so that an append stays cheap. */
const PRUNE_BATCH = 10;

export interface AuditLog {
  /** Call it inside the transaction of the act. `at`: when the act was done, if that was earlier. */
  append(act: Act, subject: AuditSubject, at?: number): void;
  /** Removes every entry. The chain goes on from the last of them. Call it inside a transaction. */
  forget(): void;
  read(query: AuditQuery): AuditPage;
  findPlace(seq: number): AuditPlace | null;
}

interface AuditDeps {
  readonly sql: SyncSql;
  /** The tenant, or the deployment. A tenant's row may be made in the same transaction as the first entry. */
  readonly owner: () => string;
  readonly now: () => number;
  readonly maxEntries?: number;
  /** Called inside the transaction of each new entry. */
  readonly noteAppended?: (entry: AuditEntry) => void;
}

type EntryRow = { readonly entry: string; readonly hash: string };
/** When the entry was made. */
const RECORDED_AT = "coalesce(json_extract(entry, '$.recorded_at'), at)";

type StoredPlace = { readonly seq: number; readonly hash: string };
/** `at`: when the entry was made. */
type PlaceRow = { readonly seq: number; readonly hash: string; readonly at: number };

function toEntry({ entry, hash }: EntryRow): AuditEntry {
  const stored: Omit<AuditEntry, "hash"> = JSON.parse(entry);
  return { ...stored, hash };
}
const toPlace = ({ seq, hash }: StoredPlace): AuditPlace => ({ seq, hash });

const DIRECTIONS = { asc: { beyond: ">", by: "seq" }, desc: { beyond: "<", by: "seq DESC" } };

/** An act with what its entry says of it. `describe` returns null for an outcome that changed nothing. */
export interface Audited<T> {
  readonly act: Act;
  readonly describe: (value: T) => AuditSubject | null;
}

/** The body of a transaction that makes a change with its entry in the audit log. A refused change leaves no entry. */
export function auditing<T, E>(
  audit: Pick<AuditLog, "append">,
  { act, describe }: Audited<T>,
  body: () => Result<T, E>,
): () => Result<T, E> {
  return () => {
    const outcome = body();
    const subject = outcome.ok ? describe(outcome.value) : null;
    if (subject) audit.append(act, subject);
    return outcome;
  };
}

export function createAuditLog({ sql, owner, now, maxEntries = MAX_AUDIT_ENTRIES, noteAppended }: AuditDeps): AuditLog {
  const newest = (): PlaceRow | undefined =>
    sql.rows<PlaceRow>(`SELECT seq, hash, ${RECORDED_AT} AS at FROM audit ORDER BY seq DESC LIMIT 1`)[0];
  const findEntry = (seq: number): AuditPlace | undefined => sql.rows<StoredPlace>("SELECT seq, hash FROM audit WHERE seq = ?", seq)[0];
  const storedAnchor = () => sql.rows<StoredPlace>("SELECT seq, hash FROM audit_anchor")[0];
  const anchor = (): AuditPlace => toPlace(storedAnchor() ?? buildGenesis(owner()));

  /** The call was repeated: its answer had been lost. */
  const isThere = ({ nonce }: Act, { action, target }: AuditSubject): boolean =>
    nonce !== undefined &&
    sql.rows("SELECT 1 FROM audit WHERE nonce = ? AND action = ? AND target = ?", nonce, action, target.id).length > 0;

  function prune(head: number): void {
    const first = anchor().seq + 1;
    const last = findEntry(Math.min(head - maxEntries, first + PRUNE_BATCH - 1));
    if (!last) return;
    moveAnchor(last);
    sql.rows("DELETE FROM audit WHERE seq <= ?", last.seq);
  }
  function moveAnchor(last: AuditPlace): void {
    sql.rows(
      "INSERT INTO audit_anchor (one, seq, hash) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
      last.seq,
      last.hash,
    );
  }
  return {
    append: (act, subject, doneAt) => {
      if (isThere(act, subject)) return;
      const before = newest();
      // A clock that goes back must not put an entry before the one that it follows.
      const recorded_at = Math.max(now(), before?.at ?? 0);
      const at = Math.min(doneAt ?? recorded_at, recorded_at);
      const { hash, ...entry } = chainEntry(before ? toPlace(before) : anchor(), { act, subject, at, recorded_at });
      sql.rows(
        "INSERT INTO audit (seq, at, action, actor, target, entry, hash, nonce) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        entry.seq,
        at,
        entry.action,
        entry.actor.id,
        entry.target.id,
        JSON.stringify(entry),
        hash,
        act.nonce ?? null,
      );
      prune(entry.seq);
      noteAppended?.({ ...entry, hash });
    },
    forget: () => {
      const last = newest();
      if (!last) return;
      moveAnchor(toPlace(last));
      // The table would keep the bytes of deleted entries, and a long write-ahead log the pages on which they were deleted.
      remakeTables(sql, ["audit"]);
    },
    read: ({ after, limit, order, action, actor, target, from, to }) => {
      const { beyond, by } = DIRECTIONS[order];
      const conditions = [
        [`seq ${beyond} ?`, after],
        ["action = ?", action],
        ["actor = ?", actor],
        ["target = ?", target],
        ["at >= ?", from],
        ["at < ?", to],
      ] as const;
      const named = conditions.flatMap(([condition, value]) => (value === null ? [] : [{ condition, value }]));
      const where = named.length === 0 ? "" : `WHERE ${named.map(({ condition }) => condition).join(" AND ")}`;
      const rows = sql.rows<EntryRow>(
        `SELECT entry, hash FROM audit ${where} ORDER BY ${by} LIMIT ?`,
        ...named.map(({ value }) => value),
        limit + 1,
      );
      const head = newest();
      const first = anchor();
      return { data: rows.slice(0, limit).map(toEntry), has_more: rows.length > limit, anchor: first, head: head ? toPlace(head) : first };
    },
    findPlace: (seq) => {
      const first = anchor();
      if (seq <= first.seq) return first;
      const found = findEntry(seq);
      return found ? toPlace(found) : null;
    },
  };
}
