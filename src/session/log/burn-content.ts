/**
 * What a redaction removes: the content itself, and every text that was made from it. Bodies are content, and no part of the log; what
 * the log says of the message (that it was, when, how large) stays.
 */
import type { StoredEvent } from "../../domain/events";
import type { BodyId } from "../../domain/ids";
import { readCompactions } from "./compaction-rows";
import { dropPassages } from "./recall-step";
import type { Sql } from "./sql";

type Redacted = Extract<StoredEvent, { type: "MessageRedacted" }>;

const EVERYTHING = { after: 0, limit: Number.MAX_SAFE_INTEGER, order: "asc" } as const;

/** In the transaction of the event. No compaction is under way any more: what was written for one goes as well. */
export function burnContent(sql: Sql, { item, position }: Redacted): void {
  const made = readCompactions(sql, EVERYTHING).flatMap(({ ops }) =>
    ops.flatMap((op): BodyId[] => (op.op === "summarize" && op.from <= position && position <= op.to ? [op.overlay] : [])),
  );
  for (const body of [item, ...made, ...broughtOver(sql, position), ...artifactsOf(sql, position), ...passingTexts(sql)])
    sql.all("DELETE FROM bodies WHERE id = ?", body);
  // The call was made, and the ledger is yet to hear of it.
  sql.all("UPDATE pending_outcomes SET outcome = json_replace(outcome, '$.text', '')");
  dropPassages(sql, position);
}

/** Summaries that a fork began with: no compaction of its own made them. */
function broughtOver(sql: Sql, position: number): BodyId[] {
  const query = `SELECT json_extract(brought.value, '$.id') AS body FROM events, json_each(events.data, '$.view.overlays') AS brought
    WHERE events.type = 'SessionForked' AND ? BETWEEN json_extract(brought.value, '$.from') AND json_extract(brought.value, '$.to')`;
  return sql.all<{ body: string }>(query, position).map(({ body }) => body as BodyId);
}

/** What came beside a tool's output. */
function artifactsOf(sql: Sql, position: number): BodyId[] {
  const query = `SELECT json_extract(kept.value, '$.body') AS body FROM executions, json_each(executions.data, '$.ran.artifacts') AS kept
    WHERE json_extract(executions.data, '$.result_position') = ?`;
  return sql.all<{ body: string }>(query, position).map(({ body }) => body as BodyId);
}

/** Summaries of parts of long ranges, and of drafts: what was committed of them has a body of its own. */
function passingTexts(sql: Sql): BodyId[] {
  const query = `SELECT coalesce(json_extract(data, '$.part.summary.body'), json_extract(data, '$.summary.body')) AS body FROM events
    WHERE type IN ('CompactionProgressed', 'CompactionDrafted', 'DraftEdited')`;
  return sql.all<{ body: string }>(query).map(({ body }) => body as BodyId);
}
