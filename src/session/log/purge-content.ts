/**
 * Deletes what a redaction removes: the content itself, and every text that was made from it
 * (`domain/summary-sources`). Bodies are content and no part of the log. What the log says of the message (that it
 * existed, when, how large) stays.
 */
import type { CoveredRange } from "../../domain/compaction-events";
import type { StoredEvent } from "../../domain/events";
import type { BodyId, ItemId, OverlayId } from "../../domain/ids";
import { type CommittedSummary, type Quotation, toReadRanges } from "../../domain/summary-sources";
import { toFiller } from "../../lib/scrub/filler";
import { deleteBodies, readBodies } from "./bodies";
import { readCompactions } from "./compaction-rows";
import { beginDeletion, remakeIndex } from "./recall-tables";
import type { Sql } from "./sql";

type Redacted = Extract<StoredEvent, { type: "MessageRedacted" }>;
type Forked = Extract<StoredEvent, { type: "SessionForked" }>;

const EVERYTHING = { after: 0, limit: Number.MAX_SAFE_INTEGER, order: "asc" } as const;

/**
 * Runs in the transaction of the event. The redaction has ended any compaction under way, so the texts of its parts and
 * drafts are deleted too.
 */
export function purgeContent(sql: Sql, { item, position, texts = findReadingSummaries(sql, [position]) }: Redacted): void {
  const used = beginDeletion(sql);
  deleteBodies(sql, [item, ...texts, ...readArtifacts(sql, position), ...passingTexts(sql)]);
  // Held outcomes stay without their text: their model calls must still be recorded in the ledger.
  const blank = `json_replace(outcome, '$.text', ${toFiller("json_extract(outcome, '$.text')")})`;
  sql.all(`UPDATE pending_outcomes SET outcome = ${blank} WHERE json_extract(outcome, '$.text') IS NOT NULL`);
  sql.all("UPDATE pending_outcomes SET outcome = json_replace(outcome, '$.text', '')");
  remakeIndex(sql, used);
}

/**
 * Deletes the content of an old tool result. Summaries that were made from it stay. Runs in the transaction of the event; the index is made
 * anew once for all results (`session/calls/retention-calls`).
 */
export function purgeResult(sql: Sql, { item, position }: Redacted): void {
  deleteBodies(sql, [item, ...readArtifacts(sql, position)]);
}

/** A tool result whose content is there. */
export interface StoredResult {
  readonly position: number;
  readonly at: number;
}

/** The tool results of all branches that were neither redacted nor removed for their age, in order. */
export function readStoredResults(sql: Sql): readonly StoredResult[] {
  const query = `SELECT position, json_extract(meta, '$.at') AS at FROM items
    WHERE json_extract(meta, '$.kind') = 'tool_result' AND json_extract(meta, '$.recorded') IS NULL
      AND EXISTS (SELECT 1 FROM bodies WHERE bodies.id = json_extract(meta, '$.id')) ORDER BY position`;
  return sql.all<{ position: number; at: number }>(query);
}

/** The summaries that were made from any of these positions, and whose text still exists. */
export function findReadingSummaries(sql: Sql, positions: readonly number[]): OverlayId[] {
  const readers = [...readReadings(sql)].flatMap(([id, ranges]) =>
    ranges.some(({ from, to }) => positions.some((position) => from <= position && position <= to)) ? [id] : [],
  );
  const texts = readBodies(sql, readers);
  return readers.filter((id) => texts.has(id));
}

/** The positions that each summary of the session was made from. The summaries that a fork began with come first. */
export function readReadings(sql: Sql): ReadonlyMap<OverlayId, readonly CoveredRange[]> {
  return toReadRanges([...broughtOver(sql), ...committed(sql)]);
}

const committed = (sql: Sql): CommittedSummary[] =>
  readCompactions(sql, EVERYTHING)
    .toSorted((one, other) => (one.epoch ?? 0) - (other.epoch ?? 0))
    .flatMap(({ ops }) =>
      ops.flatMap((op): CommittedSummary[] => {
        if (op.op !== "summarize") return [];
        const { overlay: id, to, read } = op;
        return [{ id, to, read }];
      }),
    );

/** The summaries that a fork took over: none of its own compactions made them. */
function broughtOver(sql: Sql): CommittedSummary[] {
  const rows = sql.all<{ data: string }>("SELECT data FROM events WHERE type = 'SessionForked'");
  return rows.flatMap(({ data }) => {
    const { view } = JSON.parse(data) as Pick<Forked, "view">;
    const reads = new Map((view?.reads ?? []).map(({ overlay, ranges }) => [overlay, ranges]));
    return (view?.overlays ?? []).flatMap(({ id, kind, to }): CommittedSummary[] => {
      const ranges = reads.get(id) ?? [{ from: 1, to }];
      return kind === "summary" ? [{ id, to, read: { ranges, overlays: [] } }] : [];
    });
  });
}

/** The recorded answers of look-ups, in order of position. */
export function readQuotations(sql: Sql, tool: string): (Quotation & { readonly item: ItemId })[] {
  const query = `SELECT items.position, json_extract(meta, '$.id') AS item, json_extract(executions.data, '$.ran.read') AS read
    FROM items LEFT JOIN executions ON executions.id = json_extract(meta, '$.tool.execution')
    WHERE json_extract(meta, '$.kind') = 'tool_result' AND json_extract(meta, '$.tool.name') = ? ORDER BY items.position`;
  const rows = sql.all<{ position: number; item: string; read: string | null }>(query, tool);
  return rows.map(({ position, item, read }) => ({
    position,
    item: item as ItemId,
    ...(read !== null && { read: JSON.parse(read) as readonly CoveredRange[] }),
  }));
}

/** The position that the conversation had reached when a model made this title from it. 0: no model did. */
export function readTitleReach(sql: Sql, title: BodyId): number {
  const made = `SELECT json_extract(call.data, '$.up_to') AS reach FROM events AS named JOIN events AS call ON call.seq = named.seq - 1
    WHERE named.type = 'SettingsChanged' AND json_extract(named.data, '$.changes.title.body') = ?
      AND call.type = 'ModelCallFinished' AND json_extract(call.data, '$.purpose') = 'title'`;
  // A fork opens with the title that it takes over.
  const brought = `SELECT json_extract(fork.data, '$.view.title_read_to') AS reach FROM events AS opened, events AS fork
    WHERE opened.type = 'SessionOpened' AND json_extract(opened.data, '$.settings.title.body') = ? AND fork.type = 'SessionForked'`;
  const rows = sql.all<{ reach: number | null }>(`${made} UNION ALL ${brought}`, title, title);
  return Math.max(0, ...rows.map(({ reach }) => reach ?? 0));
}

/** The artifacts of a tool result. */
function readArtifacts(sql: Sql, position: number): BodyId[] {
  const query = `SELECT json_extract(kept.value, '$.body') AS body
    FROM items CROSS JOIN executions ON executions.id = json_extract(meta, '$.tool.execution')
      CROSS JOIN json_each(executions.data, '$.ran.artifacts') AS kept
    WHERE items.position = ? AND json_extract(meta, '$.kind') = 'tool_result'`;
  return sql.all<{ body: string }>(query, position).map(({ body }) => body as BodyId);
}

/** The summaries of finished parts, and of drafts. A summary that was committed has a body of its own. */
function passingTexts(sql: Sql): BodyId[] {
  const query = `SELECT coalesce(json_extract(data, '$.part.summary.body'), json_extract(data, '$.summary.body')) AS body FROM events
    WHERE type IN ('CompactionProgressed', 'CompactionDrafted', 'DraftEdited')`;
  return sql.all<{ body: string }>(query).map(({ body }) => body as BodyId);
}
