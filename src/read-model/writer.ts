/**
 * Writes a session's rows: one D1 batch, which is one transaction, for each batch of events. `statements` refuses a
 * batch that comes twice, late or too early; this module reacts to the refusal.
 */
import type { Projection, ProjectionBatch } from "../app/ports";
import { ProjectionGapError } from "../app/projection/projection-gap";
import type { StoredEvent } from "../domain/events";
import { isUse } from "../domain/evolve";
import type { SessionId, TenantId } from "../domain/ids";
import { type Pause, pause, withRetries } from "./d1-retry";
import { projectEvent } from "./project-event";
import type { RowOp } from "./row-ops";
import { indexTexts } from "./search-statements";
import { finishSession, type Statement, toStatements } from "./statements";
import { clearScratch, dropOutdatedScratch, eraseRows, forgetNames, toScratchName } from "./store";

export interface WriterOptions {
  /** Writes scratch rows, which `rebuild` compares with the live ones. No list shows them. */
  readonly scratch?: boolean;
  readonly pause?: Pause;
  /** Called after a write with what the database then holds. */
  readonly noteSize?: (bytes: number) => void;
}

/** `write` throws `ProjectionGapError`, and D1's own errors when D1 is out of reach. */
export function createProjection(db: D1Database, options: WriterOptions = {}): Projection {
  const wait = options.pause ?? pause;
  const toTenantKey = (tenant: TenantId): string => (options.scratch ? toScratchName(tenant) : tenant);
  return {
    async write(batch) {
      // The rows of an erased session need not be written first. `erase` removes them and stores the ledger's sums.
      if (batch.events.some((event) => event.type === "SessionErased")) return;
      await writeEvents(batch, (events) =>
        withRetries(() => commit(db, { ...batch, events, key: toTenantKey(batch.tenant), noteSize: options.noteSize }), wait),
      );
    },
    erase: (input) => withRetries(() => eraseRows(db, input), wait),
    forgetEndUsers: (input) => withRetries(() => forgetNames(db, input), wait),
  };
}

/** The position that the rows of a session have reached. */
interface Standing {
  readonly lastSeq: number;
  readonly erased: boolean;
}

/** A concurrent writer of the same session is either ahead or behind. Two tries are enough to find out which. */
const TRIES = 3;

async function writeEvents(batch: ProjectionBatch, commitEvents: (events: readonly StoredEvent[]) => Promise<Standing>): Promise<void> {
  let events = batch.events;
  for (let tries = 0; tries < TRIES; tries++) {
    const first = events[0];
    const last = events.at(-1);
    if (!first || !last) return;
    const at = await commitEvents(events);
    if (at.erased || at.lastSeq >= last.seq) return;
    if (at.lastSeq < first.seq - 1) throw new ProjectionGapError(at.lastSeq);
    events = events.filter((event) => event.seq > at.lastSeq);
  }
  throw new Error("another writer is writing the session's rows");
}

interface Commit extends ProjectionBatch {
  /** The rows' tenant_id. */
  readonly key: string;
  readonly noteSize: WriterOptions["noteSize"];
}

async function commit(db: D1Database, batch: Commit): Promise<Standing> {
  const { events, bodies, key, tenant, session } = batch;
  const first = events[0];
  const last = events.at(-1);
  if (!first || !last) return { lastSeq: 0, erased: false };
  const ops = events.flatMap((event) => projectEvent(event, bodies));
  const end = { seq: last.seq, at: events.findLast(isUse)?.at ?? null };
  const statements = [...ops.flatMap(toOpStatements), ...indexTexts(ops, key !== tenant), finishSession(ops, end)];
  const base = first.seq - 1;
  const isRedacted = key === tenant && events.some((event) => event.type === "MessageRedacted");
  const results = await db.batch<Record<string, unknown>>([
    ...(isRedacted ? clearScratch(db, tenant, session) : []),
    ...statements.map(({ sql, params }) => db.prepare(sql).bind(key, session, base, ...params)),
    ...(key === tenant ? [] : dropOutdatedScratch(db, tenant, session)),
    standing(db, key, session),
  ]);
  const written = results.at(-1);
  if (written) batch.noteSize?.(written.meta.size_after);
  const row = written?.results[0];
  return { lastSeq: Number(row?.last_seq ?? 0), erased: row?.erased === 1 };
}

const toOpStatements = (op: RowOp): readonly Statement[] => (op.op === "erase_session" || op.op === "index_text" ? [] : toStatements(op));

function standing(db: D1Database, key: string, session: SessionId): D1PreparedStatement {
  const sql = `SELECT (SELECT last_seq FROM sessions WHERE tenant_id = ?1 AND id = ?2) AS last_seq,
    EXISTS (SELECT 1 FROM session_tombstones WHERE tenant_id = ?1 AND session_id = ?2) AS erased`;
  return db.prepare(sql).bind(key, session);
}
