/**
 * Finds the sessions of an erasure: the forks of a session, and forks of these, or the sessions of an end user. The directory notes whose a
 * session is and what it was forked from when it is made. Where it does not know, as for sessions whose end user was changed, the
 * session's own object is asked. The erasure is not done before. Each alarm looks at a part of what the directory has, so none grows with it.
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
/** Sessions of the directory that one step looks at, most of which a walk that begins again passes over, and those that one statement reads. */
const VISITED = 500;
const PAGE = 50;
/** Sessions whose objects are called at a time. */
const TOGETHER = 10;
const FIRST_RETRY_MS = 15_000;

/** What `labelled` of a session says. */
export const LABELS = { unknown: 0, known: 1, unopened: 2 } as const;

interface GatheringDeps {
  readonly sql: SyncSql;
  readonly receipts: ErasureReceipts;
  readonly readLabels: ReadLabels;
  /** Removes a part of what no session of a deleted tenant has. Returns true when nothing is left. */
  readonly sweep: () => Promise<boolean>;
  readonly note: (session: string, erasure: ErasureId) => void;
  /** Called inside the transaction that empties a deleted tenant. */
  readonly noteScrub?: () => void;
  readonly alarm: Pick<TenantAlarm, "set">;
  readonly now: Clock;
  readonly log: Log;
}

interface Gathering {
  /** Notes what the directory knows already, at most `room` sessions. Call it inside a transaction. */
  begin(erasure: ErasureId, room: number): void;
  /** Notes the next sessions that the directory knows, at most `room`. */
  noteMore(room: number): void;
  /** Null: no erasure waits for sessions to be found. */
  nextDue(): number | null;
  /** Asks some of the sessions that the directory does not know enough of. Never rejects. */
  run(): Promise<void>;
}

/** A way through what the directory has for an erasure. Null stands for a session that is not of it. */
interface Walk {
  readonly ids: Iterator<string | null>;
  /** Nothing was unknown when it began: behind its end all sessions of the erasure are noted. */
  readonly isLast: boolean;
  hasEnded: boolean;
}

type Ungathered = ReturnType<ErasureReceipts["listUngathered"]>[number];

/** Calls `work` for `TOGETHER` of them at a time. */
export async function forEachTogether<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += TOGETHER) await Promise.all(all.slice(from, from + TOGETHER).map(work));
}

const FORKS = `SELECT f.session AS id, s.id IS NOT NULL AND e.session IS NULL AS is_new,
  EXISTS (SELECT 1 FROM forks WHERE source = f.session) AS is_source FROM forks f LEFT JOIN sessions s ON s.id = f.session
  LEFT JOIN erased_sessions e ON e.session = f.session AND e.erasure = ?1 WHERE f.source = ?2 AND f.session > ?3 ORDER BY f.session LIMIT ${PAGE}`;
const OF_END_USER = `SELECT s.id, e.session IS NULL AND s.created_at <= ?3 AS is_new FROM sessions s
  LEFT JOIN erased_sessions e ON e.session = s.id AND e.erasure = ?1 WHERE s.end_user = ?2 AND s.id > ?4 ORDER BY s.id LIMIT ${PAGE}`;
/** Sessions of the end user among those that were asked last. */
const ASKED_OF_END_USER = `SELECT s.id FROM json_each(?3) asked JOIN sessions s ON s.id = asked.value WHERE s.end_user = ?1 AND s.created_at <= ?2`;
/** A copy of an end user's session that is not opened yet will have that end user. */
const UNOPENED = `SELECT s.id, e.erasure IS NOT NULL AS is_new FROM sessions s LEFT JOIN forks f ON f.session = s.id
  LEFT JOIN erased_sessions e ON e.session = f.source AND e.erasure = ?1 WHERE s.labelled = ${LABELS.unopened} AND s.id > ?2 ORDER BY s.id LIMIT ${PAGE}`;
const NEXT = "SELECT id FROM sessions WHERE id > ? ORDER BY id LIMIT ?";

/** is_new: 1 where the session has to be noted, by what was known when it was read. */
type Visited = { readonly id: string; readonly is_new: number };

function* readPages<Row extends { readonly id: string }>(read: (after: string) => readonly Row[]): Generator<Row> {
  for (let page = read(""); page.length > 0; page = page.length < PAGE ? [] : read(page.at(-1)?.id ?? "")) yield* page;
}

export function createGathering({ sql, receipts, readLabels, sweep, note, noteScrub, alarm, now, log }: GatheringDeps): Gathering {
  let failures = 0;
  let notBefore = 0;
  const listUnknown = (limit: number): readonly string[] =>
    sql.rows<{ id: string }>(`SELECT id FROM sessions WHERE labelled = ${LABELS.unknown} ORDER BY id LIMIT ?`, limit).map(({ id }) => id);

  const isListed = (session: string): boolean => sql.rows("SELECT 1 FROM sessions WHERE id = ?", session).length > 0;
  const noteAll = (erasure: ErasureId, found: readonly { readonly id: string }[]): void => {
    for (const { id } of found) if (!receipts.isCovered(erasure, id)) note(id, erasure);
  };
  /** The forks of a session, and forks of these. They are listed for ever, and one that is noted gets no more: so a walk that begins again misses none. */
  function* walkForks({ id: erasure, target }: Ungathered): Generator<string | null> {
    const read = (source: string) =>
      readPages<Visited & { readonly is_source: number }>((after) => sql.rows(FORKS, erasure, source, after));
    const path = [read(target)];
    for (let forks = path.at(-1); forks; forks = path.at(-1)) {
      const { value: fork, done } = forks.next();
      if (done) path.pop();
      else {
        yield fork.is_new ? fork.id : null;
        if (fork.is_new || fork.is_source) path.push(read(fork.id));
      }
    }
  }
  function* walkEndUser({ id: erasure, target, requested_at: at }: Ungathered): Generator<string | null> {
    for (const { id, is_new } of readPages<Visited>((after) => sql.rows(OF_END_USER, erasure, target, at, after))) yield is_new ? id : null;
    for (const { id, is_new } of readPages<Visited>((after) => sql.rows(UNOPENED, erasure, after))) yield is_new ? id : null;
  }
  const isAllKnown = (): boolean => listUnknown(1).length === 0;
  function beginWalk(erasure: Ungathered): Walk {
    const ids = erasure.kind === "end_user" ? walkEndUser(erasure) : walkForks(erasure);
    return { ids, isLast: isAllKnown(), hasEnded: false };
  }
  /** In memory: a new life of the object begins again, and passes over what is noted. */
  const walks = new Map<ErasureId, Walk>();
  /** The walk of the erasure that goes on, or the last one, which begins when nothing is unknown any more. */
  function findWalk(erasure: Ungathered): Walk {
    const known = walks.get(erasure.id);
    const walk = known && !(known.hasEnded && isAllKnown()) ? known : beginWalk(erasure);
    walks.set(erasure.id, walk);
    return walk;
  }
  /** Notes what a part of the walk finds, at most `room` sessions. Returns how many it noted. */
  function goOn(erasure: Ungathered, walk: Walk, room: number): number {
    let noted = 0;
    for (let visited = 0; visited < VISITED && noted < room && !walk.hasEnded; visited++) {
      const { value: id, done } = walk.ids.next();
      walk.hasEnded = done === true;
      if (!id || !isListed(id) || receipts.isCovered(erasure.id, id)) continue;
      note(id, erasure.id);
      noted += 1;
    }
    if (walk.hasEnded && walk.isLast) receipts.noteGathered(erasure.id);
    receipts.settle(erasure.id, now());
    return noted;
  }
  function noteNext(room: number): void {
    let left = room;
    for (const erasure of receipts.listUngathered()) {
      if (left <= 0) return;
      if (erasure.kind === "tenant") noteAll(erasure.id, listNext(erasure.id, left));
      else left -= goOn(erasure, findWalk(erasure), left);
    }
  }
  /** The next sessions of a tenant, in the order of their ids. A deleted tenant gets no new ones, so that none is passed over. */
  const listNext = (erasure: ErasureId, room: number) => sql.rows<{ id: string }>(NEXT, receipts.findLastCovered(erasure), room);
  const findTenant = (): Ungathered | undefined => receipts.listUngathered().find(({ kind }) => kind === "tenant");
  const isLeft = (): boolean => sql.rows("SELECT 1 FROM erasures UNION ALL SELECT 1 FROM sessions LIMIT 1").length > 0;
  /** A tenant's own part waits for its sessions, whose notes have times of their own. */
  function nextDue(): number | null {
    const ungathered = receipts.listUngathered();
    const tenant = ungathered.find(({ kind }) => kind === "tenant");
    if (tenant && listNext(tenant.id, 1).length > 0) return 0;
    if (ungathered.some((erasure) => erasure !== tenant && !walks.get(erasure.id)?.hasEnded)) return 0;
    return ungathered.some((erasure) => erasure !== tenant || !isLeft()) ? notBefore : null;
  }

  /** The tenant's own part comes last: its sessions report to it. */
  async function endTenant(): Promise<number> {
    const erasure = findTenant();
    if (!erasure || isLeft()) return 0;
    try {
      if (!(await sweep())) return 0;
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

  /** The sessions of an end user are erased as they are found. All else that is found waits until nothing is unknown. */
  function noteAsked({ id, kind, target, requested_at }: Ungathered, asked: readonly string[]): void {
    if (kind === "end_user") noteAll(id, sql.rows<{ id: string }>(ASKED_OF_END_USER, target, requested_at, JSON.stringify(asked)));
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
    noteMore: (room) => {
      try {
        sql.transaction(() => noteNext(room));
        const left = new Set(receipts.listUngathered().map(({ id }) => id));
        for (const id of walks.keys()) if (!left.has(id)) walks.delete(id);
      } catch (cause) {
        // What they found is not noted.
        walks.clear();
        throw cause;
      }
    },
    begin: (erasure, room) => {
      const [own] = receipts.listUngathered().filter(({ id }) => id === erasure);
      if (!own) return;
      if (!asksOthers(own)) return receipts.noteGathered(erasure);
      if (own.kind === "tenant") {
        noteAll(own.id, listNext(own.id, room));
        return alarm.set(now());
      }
      sql.rows(`UPDATE sessions SET labelled = ${LABELS.unknown} WHERE labelled = ${LABELS.unopened}`);
      goOn(own, beginWalk(own), room);
      alarm.set(now());
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
        for (const erasure of receipts.listUngathered()) noteAsked(erasure, unknown);
      });
    },
  };
}

/** An erasure of one session alone needs no other. */
const asksOthers = ({ kind, forks }: Ungathered): boolean => kind !== "session" || forks;
