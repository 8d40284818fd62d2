/**
 * Searches by words: takes candidates from the index, ranks and reads them, boosts the first by their own words, and
 * adds lines until the answer is full.
 */

import { toRecallText } from "../../context/recall/passages";
import { toQuery } from "../../context/recall/query";
import { byScore, computeBoost, type Ranked, rankPositions } from "../../context/recall/rank";
import type { RecallReport } from "../../contract/recall";
import type { ContentReader } from "../content";
import type { Sql } from "../log/sql";
import { AnswerLines } from "./answer-lines";
import { FoundRecord, type ReadItem, type SearchInput } from "./found-record";
import { findCandidates } from "./recall-index";
import { isFindable, readItemsAt } from "./recall-reader";

/** The number of first hits that are ordered by their own words. Later hits keep the index's order. */
const LOOKED_AT = 60;
/** The number of hits that are read at a time, until the answer is full. */
const BATCH = 60;
const MOST_READ = 180;

interface SearchPorts {
  readonly sql: Sql;
  readonly content: Pick<ContentReader, "readShown">;
}

/** Null when no message has any of the words. */
export function searchWords(input: SearchInput, ports: SearchPorts): RecallReport | null {
  const query = toQuery(input.query);
  const ranked = rankPositions(findCandidates(ports.sql, query, input.ranges), input.isWanted);
  const record = new FoundRecord(query, (positions) => readFindable(positions, ports));
  const first = lookCloser(ranked.slice(0, LOOKED_AT), record);
  const answer = new AnswerLines(input, record, first);
  for (const hit of first) answer.add(hit);
  for (let start = LOOKED_AT; start < Math.min(ranked.length, MOST_READ) && !answer.isFull; start += BATCH) {
    const batch = ranked.slice(start, start + BATCH);
    record.read(batch.map(({ position }) => position));
    for (const hit of batch) answer.add(hit);
  }
  return answer.toReport();
}

function readFindable(positions: readonly number[], { sql, content }: SearchPorts): ReadItem[] {
  const items = readItemsAt(sql, positions).filter(isFindable);
  const shown = content.readShown(items);
  return items.map((meta, index) => ({ meta, text: toRecallText(shown[index]?.parts ?? []) }));
}

/** Orders the first hits by how well their own words match. */
function lookCloser(ranked: readonly Ranked[], record: FoundRecord): Ranked[] {
  record.read(ranked.map(({ position }) => position));
  return ranked.map((hit) => ({ ...hit, score: hit.score * computeBoost(record.passage(hit), record.query) })).sort(byScore);
}
