/** Limits that providers named and the tenant has not adopted: for each model, figure and source the newest. */
import type { SuggestedLimit } from "../../app/model-entry";
import { LIMIT_FIGURES, SUGGESTION_SOURCES } from "../../context/model-input";
import type { LimitSuggestion } from "../../contract/model";
import type { SyncSql } from "../../lib/sync-sql";

/**
 * The bounds of a plausible limit. A request of fewer tokens holds no conversation, and no model reads more than the
 * maximum. A figure outside is the reporter's mistake.
 */
const MIN_TOKENS = { context_window: 1_024, max_output: 16 } as const;
const MAX_TOKENS = 100_000_000;

type SuggestionRow = { readonly figure: string; readonly source: string; readonly tokens: number; readonly at: number };

interface Suggestions {
  /** Stores a suggestion. Call it inside a transaction. Figures that cannot be a limit are ignored. */
  add(suggested: SuggestedLimit, at: number): void;
  of(model: string): readonly LimitSuggestion[];
  forget(model: string): void;
}

const isLimit = (tokens: number | undefined, least: number): tokens is number =>
  tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= least && tokens <= MAX_TOKENS;

/** A figure or source that this build does not know is not shown. */
function toSuggestion({ figure: named, source: said, tokens, at }: SuggestionRow): readonly LimitSuggestion[] {
  const figure = LIMIT_FIGURES.find((known) => known === named);
  const source = SUGGESTION_SOURCES.find((known) => known === said);
  return source && figure ? [{ figure, tokens, source, at }] : [];
}

export function createSuggestions(sql: SyncSql): Suggestions {
  function set(model: string, { figure, tokens, source, at }: LimitSuggestion): void {
    sql.rows(
      `INSERT INTO suggestions (model, figure, source, tokens, at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (model, figure, source) DO UPDATE SET tokens = excluded.tokens, at = excluded.at`,
      model,
      figure,
      source,
      tokens,
      at,
    );
  }
  return {
    add: ({ model, context_window, max_output, source }, at) => {
      if (isLimit(context_window, MIN_TOKENS.context_window)) {
        set(model, { figure: "context_window", tokens: context_window, source, at });
      }
      if (isLimit(max_output, MIN_TOKENS.max_output)) set(model, { figure: "max_output", tokens: max_output, source, at });
    },
    of: (model) =>
      sql
        .rows<SuggestionRow>("SELECT figure, source, tokens, at FROM suggestions WHERE model = ? ORDER BY figure, source", model)
        .flatMap(toSuggestion),
    forget: (model) => void sql.rows("DELETE FROM suggestions WHERE model = ?", model),
  };
}
