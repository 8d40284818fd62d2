/** The results of SQLite's full-text search alone: whole words as its tokenizer splits them, ranked by BM25. */
import { DatabaseSync } from "node:sqlite";
import { estimateTokens } from "../../src/context/tokens.ts";
import type { Planted } from "./conversation.ts";
import { type RecallFigures, toFigures } from "./figures.ts";

const BUDGET = 2_000;
const MOST = 60;

export function measureBaseline(language: string, { said, questions }: Planted): RecallFigures[] {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE plain USING fts5 (text)");
  const insert = database.prepare("INSERT INTO plain (rowid, text) VALUES (?, ?)");
  for (const [index, { text }] of said.entries()) insert.run(index, text);
  const search = database.prepare("SELECT rowid AS place FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?");

  const find = (query: string, evidence: number): { at: number; tokens: number } => {
    const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
    const places = search.all(words.map((word) => `"${word}"`).join(" OR "), MOST).map(({ place }) => Number(place));
    let tokens = 0;
    const fitting = places.filter((place) => {
      const weight = estimateTokens(said[place]?.text ?? "");
      if (tokens + weight > BUDGET) return false;
      tokens += weight;
      return true;
    });
    return { at: fitting.indexOf(evidence), tokens };
  };
  const by = "plain" as const;
  return [
    toFigures(
      { language, asked: "own words", by },
      questions.map(({ exact, evidence }) => find(exact, evidence)),
    ),
    toFigures(
      { language, asked: "other words", by },
      questions.map(({ asked, evidence }) => find(asked, evidence)),
    ),
  ];
}
