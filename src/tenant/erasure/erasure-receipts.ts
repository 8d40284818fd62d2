/** The tenant's erasures as resources: what each was asked for, and how far it is. A finished one stays as its receipt. */
import type { ErasurePage } from "../../app/erasure-api";
import { type ErasureFacts, REPORTING_STORES, type ReportingStore } from "../../app/erasure-view";
import type { Page } from "../../contract/page";
import { ERASURE_KINDS } from "../../domain/erasure-kinds";
import { type ErasureId, parseId, type SessionId } from "../../domain/ids";
import type { ErasureCause } from "../../domain/retention-actions";
import type { SyncSql } from "../../lib/sync-sql";

interface Request {
  readonly kind: (typeof ERASURE_KINDS)[number];
  readonly target: string;
  readonly forks: boolean;
}

export interface AskedErasure extends Request {
  readonly id: ErasureId;
}

/** Methods that change rows are called inside a transaction. */
export interface ErasureReceipts {
  /** The newest erasure that does what is asked for, or null. `running`: only one that is not done. */
  findLike(request: Request & { readonly running?: true }): ErasureId | null;
  /** Notes a new erasure, of which no session is known yet. */
  add(request: Request & { readonly id: ErasureId; readonly at: number; readonly cause?: ErasureCause }): ErasureId;
  /** Notes that the erasure covers the session. */
  cover(erasure: ErasureId, session: string): void;
  isCovered(erasure: ErasureId, session: string): boolean;
  /** The last session, in the order of ids, that the erasure covers. Empty: none yet. */
  findLastCovered(erasure: ErasureId): string;
  /** The newest erasure that covers the session, or null. */
  findCovering(session: string): ErasureId | null;
  /** Notes which models the session called, for all erasures that cover it. */
  noteModels(session: SessionId, models: readonly string[]): void;
  /** Erasures that have yet to find all their sessions. */
  listUngathered(): readonly (Request & { readonly id: ErasureId; readonly requested_at: number })[];
  noteGathered(erasure: ErasureId): void;
  /** Erasures of end users whose sessions are all erased, and whose names usage may still have. `target`: the digest of the name. */
  listUnforgotten(): readonly { readonly id: ErasureId; readonly target: string }[];
  noteForgotten(erasure: ErasureId): void;
  /** Ends or reopens the erasure, as its sessions are. */
  settle(erasure: ErasureId, at: number): void;
  /** As `settle`, for all erasures that cover the session. */
  settleCovering(session: string, at: number): void;
  find(id: string): ErasureFacts | null;
  /** Ids sort by time. */
  list(page: ErasurePage): Page<ErasureFacts>;
}

interface ReceiptRow {
  readonly [column: string]: string | number | null;
  readonly id: string;
  readonly kind: string;
  readonly target: string;
  readonly forks: number;
  readonly requested_at: number;
  readonly gathered: number;
  readonly forgotten: number;
  readonly done_at: number | null;
  readonly cause: string;
}

/** A string that sorts after every erasure id. */
const AFTER_EVERY_ID = "~";
/** The notes come first: there are ever fewer of them. */
const LEFT = "FROM erasures n CROSS JOIN erased_sessions s ON s.session = n.session WHERE s.erasure = ?";
const PENDING = REPORTING_STORES.map((store) => `coalesce(sum(' ' || n.pending || ' ' LIKE '% ${store} %'), 0) AS ${store}`).join(", ");

/** What is left of an erasure: sessions, and those that a store has not reported. */
type Left = Readonly<Record<"sessions" | ReportingStore, number>>;
const NOTHING_LEFT: Left = { sessions: 0, session: 0, read_model: 0, files: 0, exports: 0, chat: 0 };

function toErasureId(text: string): ErasureId {
  const id = parseId("era", text);
  if (!id) throw new Error("A stored erasure id is malformed");
  return id;
}

function toRequest({ kind, target, forks }: ReceiptRow): Request {
  const known = ERASURE_KINDS.find((name) => name === kind);
  if (!known) throw new Error("A stored erasure is of an unknown kind");
  return { kind: known, target, forks: forks === 1 };
}

/** `done`: called in the transaction in which an erasure ends that was asked for. It may end again after it was reopened. */
export function createErasureReceipts(sql: SyncSql, done: (erasure: AskedErasure) => void = () => {}): ErasureReceipts {
  const count = (statement: string, id: string): number => sql.rows<{ n: number }>(`SELECT count(*) AS n ${statement}`, id)[0]?.n ?? 0;

  const isLeft = (id: string): boolean => sql.rows(`SELECT 1 ${LEFT} LIMIT 1`, id).length > 0;

  function settle(id: string, at: number): void {
    const left = isLeft(id);
    const reopen =
      "UPDATE erasure_receipts SET done_at = NULL WHERE id = ?1 AND done_at IS NOT NULL AND (?2 = 1 OR gathered = 0 OR forgotten = 0)";
    sql.rows(reopen, id, left ? 1 : 0);
    if (left) return;
    const end = "UPDATE erasure_receipts SET done_at = ?2 WHERE id = ?1 AND gathered = 1 AND forgotten = 1 AND done_at IS NULL RETURNING *";
    for (const row of sql.rows<ReceiptRow>(end, id, at)) if (row.cause === "request") done({ ...toRequest(row), id: toErasureId(row.id) });
  }

  function toFacts(row: ReceiptRow): ErasureFacts {
    const { id, requested_at, done_at } = row;
    const { kind, target, forks } = toRequest(row);
    const total = count("FROM erased_sessions WHERE erasure = ?", id);
    const [counted] = sql.rows<Left>(`SELECT count(*) AS sessions, ${PENDING} ${LEFT}`, id);
    const { sessions, ...pending } = counted ?? NOTHING_LEFT;
    const models = sql.rows<{ model: string }>("SELECT model FROM erasure_models WHERE erasure = ? ORDER BY model", id);
    return {
      id: toErasureId(id),
      of: kind,
      target,
      forks,
      cause: row.cause === "retention" ? row.cause : "request",
      requested_at,
      done_at,
      gathered: row.gathered === 1,
      forgotten: row.forgotten === 1,
      sessions: { total, done: total - sessions },
      pending,
      models: models.map(({ model }) => model),
    };
  }
  const listCovering = (session: string): readonly string[] =>
    sql
      .rows<{ erasure: string }>("SELECT erasure FROM erased_sessions WHERE session = ? ORDER BY erasure DESC", session)
      .map((row) => row.erasure);

  return {
    findLike: ({ kind, target, forks, running }) => {
      const [row] = sql.rows<{ id: string }>(
        "SELECT id FROM erasure_receipts WHERE target = ? AND kind = ? AND forks >= ? AND (? = 0 OR done_at IS NULL) ORDER BY id DESC LIMIT 1",
        target,
        kind,
        forks ? 1 : 0,
        running ? 1 : 0,
      );
      return row ? toErasureId(row.id) : null;
    },
    add: ({ id, kind, target, forks, at, cause = "request" }) => {
      const columns = "id, kind, target, forks, requested_at, cause, gathered, forgotten";
      const values = [id, kind, target, forks ? 1 : 0, at, cause, kind === "end_user" ? 0 : 1];
      sql.rows(`INSERT INTO erasure_receipts (${columns}) VALUES (?, ?, ?, ?, ?, ?, 0, ?)`, ...values);
      return id;
    },
    cover: (erasure, session) => void sql.rows("INSERT OR IGNORE INTO erased_sessions (session, erasure) VALUES (?, ?)", session, erasure),
    isCovered: (erasure, session) =>
      sql.rows("SELECT 1 FROM erased_sessions WHERE session = ? AND erasure = ?", session, erasure).length > 0,
    findLastCovered: (erasure) =>
      sql.rows<{ last: string | null }>("SELECT max(session) AS last FROM erased_sessions WHERE erasure = ?", erasure)[0]?.last ?? "",
    findCovering: (session) => {
      const [newest] = listCovering(session);
      return newest === undefined ? null : toErasureId(newest);
    },
    noteModels: (session, models) => {
      for (const erasure of listCovering(session)) {
        for (const model of models) sql.rows("INSERT OR IGNORE INTO erasure_models (erasure, model) VALUES (?, ?)", erasure, model);
      }
    },
    listUngathered: () =>
      sql
        .rows<ReceiptRow>("SELECT * FROM erasure_receipts WHERE done_at IS NULL AND gathered = 0 ORDER BY id")
        .map((row) => ({ ...toRequest(row), id: toErasureId(row.id), requested_at: row.requested_at })),
    noteGathered: (erasure) => void sql.rows("UPDATE erasure_receipts SET gathered = 1 WHERE id = ?", erasure),
    listUnforgotten: () =>
      sql
        .rows<ReceiptRow>("SELECT * FROM erasure_receipts WHERE done_at IS NULL AND gathered = 1 AND forgotten = 0 ORDER BY id")
        .filter(({ id }) => !isLeft(id))
        .map(({ id, target }) => ({ id: toErasureId(id), target })),
    noteForgotten: (erasure) => void sql.rows("UPDATE erasure_receipts SET forgotten = 1 WHERE id = ?", erasure),
    settle,
    settleCovering: (session, at) => {
      for (const erasure of listCovering(session)) settle(erasure, at);
    },
    find: (id) => {
      const [row] = sql.rows<ReceiptRow>("SELECT * FROM erasure_receipts WHERE id = ?", id);
      return row ? toFacts(row) : null;
    },
    list: ({ after, limit, order }) => {
      const rows =
        order === "desc"
          ? sql.rows<ReceiptRow>("SELECT * FROM erasure_receipts WHERE id < ? ORDER BY id DESC LIMIT ?", after ?? AFTER_EVERY_ID, limit + 1)
          : sql.rows<ReceiptRow>("SELECT * FROM erasure_receipts WHERE id > ? ORDER BY id LIMIT ?", after ?? "", limit + 1);
      return { data: rows.slice(0, limit).map(toFacts), has_more: rows.length > limit };
    },
  };
}
