/**
 * Searches the titles and messages of one tenant's sessions by words. Each term in the index has its tenant in front, so a
 * search reads no other tenant's lists. A message scores by the terms that it has and how rare they are in the tenant's
 * messages (BM25 with every term counted once); a session scores by its best message.
 */
import type { ReadError, SessionFilter, SessionSearch, SessionSearchInput, SessionSearchPage } from "../app/read-api";
import { toQuery } from "../context/recall/query";
import { chooseRarest } from "../context/recall/rarest-terms";
import { type AskedTerm, MOST_SEARCHED_UNITS, toAskedTerms } from "../context/recall/session-terms";
import type { TenantId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { sha256 } from "../lib/sha256";
import { databaseFor, type ReadModelEnv } from "./database-for";
import { type FoundRow, MATCHES_SHOWN, toFoundSessions } from "./found-sessions";
import { type SessionSelection, selectSessions } from "./session-filter";
import { SUMMARY_COLUMNS } from "./session-summary";

/** The most entries of the index that one search reads. A term that is in more messages is looked for in the newest of them. */
const MOST_READ = 10_000;
/** Sessions that a filter selects and that have at most this many texts are read directly, without the index. */
const MOST_FILTERED = 3_000;
/** A tenant's texts are counted up to this number: beyond it no term is rarer for there being more. */
const MOST_COUNTED = 50_000;
/** The last place that a cursor reaches. */
const MOST_SESSIONS = 1_000;

export function createSessionSearch(env: ReadModelEnv): SessionSearch {
  return { searchSessions: async (input) => searchSessions(await databaseFor(env, input.tenant), input) };
}

type Value = string | number;

interface WeighedTerm {
  readonly term: string;
  readonly weight: number;
}

async function searchSessions(db: D1Database, input: SessionSearchInput): Promise<Result<SessionSearchPage, ReadError>> {
  const { tenant, limit } = input;
  const digest = await digestSearch(input);
  const offset = input.after === null ? 0 : parseCursor(input.after, digest);
  if (offset === null) return err({ code: "invalid_cursor" });
  const query = toQuery(input.query);
  const asked = await weigh(db, tenant, toAskedTerms(query));
  if (!asked) return ok({ data: [], has_more: false, next_cursor: null });
  const candidates = await selectCandidates(db, input, asked);
  const { results } = await db
    .prepare(buildRanking(candidates))
    .bind(...candidates.params, tenant, limit + 1, offset, tenant)
    .all<FoundRow>();
  const found = toFoundSessions(results, query);
  const end = offset + limit;
  const has_more = found.length > limit && end < MOST_SESSIONS;
  return ok({ data: found.slice(0, limit), has_more, next_cursor: has_more ? toCursor(end, digest) : null });
}

const toTag = (tenant: TenantId): string => `${tenant.slice("ten_".length).toLowerCase()}·`;

interface Asked {
  readonly terms: readonly WeighedTerm[];
  /** The terms to look up in the index: rarest first, as many as may be read. */
  readonly rarest: readonly WeighedTerm[];
  readonly isEverywhere: boolean;
}

/** Null when the tenant has none of the terms. */
async function weigh(db: D1Database, tenant: TenantId, asked: readonly AskedTerm[]): Promise<Asked | null> {
  const tag = toTag(tenant);
  const counts = db
    .prepare(
      "SELECT asked.value AS term, (SELECT doc FROM search_terms WHERE term = ?1 || asked.value) AS texts FROM json_each(?2) AS asked",
    )
    .bind(tag, JSON.stringify(asked.map(({ term }) => term)));
  const texts = db
    .prepare(`SELECT count(*) AS texts FROM (SELECT 1 FROM search_rows WHERE tenant_id = ?1 LIMIT ${MOST_COUNTED})`)
    .bind(tenant);
  const [counted, all] = await db.batch<{ term?: string; texts: number | null }>([counts, texts]);
  const rows = new Map(counted?.results.map(({ term, texts: have }) => [term, have ?? 0]));
  const total = all?.results[0]?.texts ?? 0;
  const known = asked.map(({ term, share }) => {
    const have = rows.get(term) ?? 0;
    return { term, rows: have, weight: share * Math.log(1 + total / Math.max(1, have)) };
  });
  const chosen = chooseRarest(known, MOST_READ);
  return chosen && { terms: known.filter((term) => term.rows > 0), rarest: chosen.terms, isEverywhere: chosen.isEverywhere };
}

interface Candidates {
  /** Common table expressions, of which `candidates` has `session_id`, `position`, `weight` and `size` of texts. */
  readonly tables: string;
  readonly params: readonly Value[];
}

const isFiltered = ({ metadata, ...filter }: SessionFilter): boolean =>
  Object.keys(metadata).length > 0 || Object.values(filter).some((value) => value !== null);

async function selectCandidates(db: D1Database, { tenant, filter }: SessionSearchInput, asked: Asked): Promise<Candidates> {
  if (!isFiltered(filter)) return selectFromIndex(tenant, asked, null);
  const { from, where, params, end, check } = await selectSessions(db, tenant, filter, { ...toOrder(filter), after: null });
  // Sessions may be left behind those that were checked. The index knows the texts of all.
  if (end) return selectFromIndex(tenant, asked, check);
  const texts = `${from} CROSS JOIN search_rows AS r ON r.tenant_id = s.tenant_id AND r.session_id = s.id`;
  const counted = await db
    .prepare(`SELECT count(*) AS texts FROM (SELECT 1 FROM ${texts} WHERE ${where} LIMIT ${MOST_FILTERED + 1})`)
    .bind(...params)
    .first<number>("texts");
  if ((counted ?? 0) > MOST_FILTERED) return selectFromIndex(tenant, asked, check);
  const tables = `asked (term, weight) AS MATERIALIZED (
      SELECT ' ' || json_extract(value, '$[0]') || ' ', json_extract(value, '$[1]') FROM json_each(?)),
    candidates AS (
      SELECT r.session_id, r.position, sum(asked.weight) AS weight, length(r.terms) AS size
      FROM ${texts} CROSS JOIN asked
      WHERE ${where} AND instr(' ' || r.terms || ' ', asked.term) > 0 GROUP BY r.id)`;
  return { tables, params: [toList(asked.terms), ...params] };
}

/** An order whose index knows the filter's times. */
const toOrder = ({ createdAfter, createdBefore, updatedAfter, updatedBefore }: SessionFilter) => {
  const isByCreation = (createdAfter ?? createdBefore) !== null && (updatedAfter ?? updatedBefore) === null;
  return { orderBy: isByCreation ? "created_at" : "updated_at", order: "desc" } as const;
};

const toList = (terms: readonly WeighedTerm[]): string => JSON.stringify(terms.map(({ term, weight }) => [term, weight]));

/** `within`: only these sessions. Null: all of the tenant. */
function selectFromIndex(tenant: TenantId, { rarest, isEverywhere }: Asked, within: SessionSelection["check"] | null): Candidates {
  // The newest texts are read without a score: where a word is everywhere, no text is better than another.
  const newest = isEverywhere ? `ORDER BY i.rowid DESC LIMIT ${MOST_READ}` : "";
  const sessions = within ? "CROSS JOIN sessions AS s ON s.tenant_id = r.tenant_id AND s.id = r.session_id" : "";
  const tables = `asked (phrase, weight) AS MATERIALIZED (
      SELECT '"' || ? || json_extract(value, '$[0]') || '"', json_extract(value, '$[1]') FROM json_each(?)),
    matches AS (
      SELECT i.rowid AS id, asked.weight FROM asked CROSS JOIN search_index AS i WHERE i.search_index MATCH asked.phrase ${newest}),
    candidates AS (
      SELECT r.session_id, r.position, sum(matches.weight) AS weight, length(r.terms) AS size
      FROM matches CROSS JOIN search_rows AS r ON r.id = matches.id ${sessions}
      WHERE r.tenant_id = ? AND ${within?.where ?? "1"} GROUP BY r.id)`;
  return { tables, params: [toTag(tenant), toList(rarest), tenant, ...(within?.params ?? [])] };
}

/** A title counts more than a message. A text with more terms counts less, down to half. */
const SCORE = "c.weight * iif(c.position = 0, 1.5, 1.0) / (1 + 0.25 * min(c.size / 400.0, 4.0))";
/** Further texts of a session raise its score a little, up to half. */
const SESSION_SCORE = "max(score) * (1 + 0.05 * min(count(*) - 1, 10))";
/** The beginning of a message's text, without its other parts. */
const TEXT = `(SELECT substr(group_concat(json_extract(part.value, '$.text'), char(10)), 1, ${MOST_SEARCHED_UNITS})
  FROM json_each(m.content) AS part WHERE json_extract(part.value, '$.type') = 'text')`;

/** The parameters after those of the candidates: the tenant, the limit, the offset, the tenant. */
const buildRanking = ({ tables }: Candidates): string => `WITH ${tables},
  scored AS MATERIALIZED (
    SELECT c.session_id, c.position, ${SCORE} AS score FROM candidates AS c
    LEFT JOIN messages AS m ON m.tenant_id = ? AND m.session_id = c.session_id AND m.position = c.position
    WHERE c.position = 0 OR m.superseded = 0),
  best AS MATERIALIZED (
    SELECT session_id, ${SESSION_SCORE} AS score, max(position = 0) AS in_title FROM scored
    GROUP BY session_id ORDER BY score DESC, session_id DESC LIMIT ? OFFSET ?),
  shown AS (
    SELECT scored.session_id, scored.position, best.score, best.in_title,
      row_number() OVER (PARTITION BY scored.session_id ORDER BY scored.position = 0, scored.score DESC, scored.position DESC) AS place
    FROM best CROSS JOIN scored ON scored.session_id = best.session_id)
  SELECT ${SUMMARY_COLUMNS}, shown.score AS found_score, shown.in_title AS found_in_title, shown.position AS found_position,
    m.id AS message_id, m.role AS message_role, m.created_at AS message_created_at, ${TEXT} AS message_text
  FROM shown CROSS JOIN sessions AS s ON s.tenant_id = ? AND s.id = shown.session_id
  LEFT JOIN messages AS m ON m.tenant_id = s.tenant_id AND m.session_id = s.id AND m.position = shown.position
  WHERE shown.place <= ${MATCHES_SHOWN} ORDER BY shown.score DESC, s.id DESC, shown.place`;

/** A cursor is a place in the answer of one search. It holds a digest of that search. */
const digestSearch = async ({ query, filter }: SessionSearchInput): Promise<string> =>
  (await sha256(JSON.stringify([query, { ...filter, metadata: Object.entries(filter.metadata).sort() }]))).slice(0, 16);

const toCursor = (place: number, digest: string): string => `${place}-${digest}`;

/** Null when the text is no cursor that this search made. */
function parseCursor(text: string, digest: string): number | null {
  const [, place, made] = /^([1-9]\d{0,3})-([0-9a-f]{16})$/.exec(text) ?? [];
  return place !== undefined && made === digest ? Number(place) : null;
}
