/** Builds the answer of a search from its rows: one row a message that is shown, or one for a session found by its title alone. */
import { toPassages } from "../context/recall/passages";
import type { RecallQuery } from "../context/recall/query";
import { findTermMatches, toSnippet } from "../context/recall/snippet";
import type { FoundSession, SessionMatch } from "../contract/session-search";
import { type SummaryRow, toSummary } from "./session-summary";

/** The most messages shown of a session. */
export const MATCHES_SHOWN = 3;
const SNIPPET_UNITS = 240;

export interface FoundRow extends SummaryRow {
  readonly found_score: number;
  readonly found_in_title: number;
  /** 0: the title. */
  readonly found_position: number;
  readonly message_id: SessionMatch["id"] | null;
  readonly message_role: SessionMatch["role"] | null;
  readonly message_created_at: number | null;
  readonly message_text: string | null;
}

/** `rows` are in order of the sessions, and of the messages in each. */
export function toFoundSessions(rows: readonly FoundRow[], query: RecallQuery): readonly FoundSession[] {
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((found) => {
    const [first] = found;
    if (!first) return [];
    const { found_score: score, found_in_title: inTitle } = first;
    const matches = found.flatMap((row) => toMatch(row, query));
    return [{ session: toSummary(first), score: Math.round(score * 1_000) / 1_000, in_title: inTitle === 1, matches }];
  });
}

function toMatch({ found_position: position, ...row }: FoundRow, query: RecallQuery): readonly SessionMatch[] {
  const { message_id: id, message_role: role, message_created_at: at, message_text: text } = row;
  return id === null || role === null || at === null
    ? []
    : [{ id, position, role, created_at: at, snippet: cutSnippet(text ?? "", query) }];
}

/** The piece of the passage that has the most different words of the query. */
function cutSnippet(text: string, query: RecallQuery): string {
  const passages = toPassages(text).map((passage) => ({ text: passage.text, matches: findTermMatches(passage.text, query) }));
  const countTerms = ({ matches }: (typeof passages)[number]): number => new Set(matches.map(({ term }) => term)).size;
  const best = passages.reduce((found, each) => (countTerms(each) > countTerms(found) ? each : found), {
    text: text.slice(0, 0),
    matches: [],
  });
  const shown = best.text === "" ? (passages[0] ?? best) : best;
  return toSnippet(shown.text, shown.matches, SNIPPET_UNITS);
}
