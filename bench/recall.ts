/** `memory_query` in a long session: the code of the session's object over Node's SQLite, in this process. */

import { createNodeSql } from "../scripts/support/node-sql.ts";
import { createRandom, type Random } from "../scripts/support/random.ts";
import { lookUp, type RecallPorts } from "../src/session/recall/recall.ts";
import { indexPage } from "../src/session/recall/recall-index.ts";
import { buildRecord, type RecordedText } from "../test/support/recall-record.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";

const MESSAGES = 100_000;
const QUERIES = 200;
const WARM_UP = 20;
const WORDS_A_MESSAGE = 25;
const VOCABULARY = 20_000;
/** The goal in milliseconds, which a turn does not notice. */
const GOAL = { p50: 20, p95: 40 } as const;
/** The goal in milliseconds for each message. */
const INDEX_GOAL = 0.5;
/** Maximum milliseconds that another request waits behind a first look-up. */
const LONGEST_PAGE_MS = 500;

/** A few words are in every message and most are rare, as in any language. */
const word = (random: Random): string => `w${Math.floor((random.between(1, 1_000) / 1_000) ** 4 * VOCABULARY).toString(36)}ing`;
const sentence = (random: Random, words: number): string =>
  Array.from({ length: words }, (_, index) => `${index % 3 === 0 ? "and the " : ""}${word(random)}`).join(" ");

function buildMessages(): RecordedText[] {
  const random = createRandom(1);
  return Array.from({ length: MESSAGES }, (_, index) => ({
    kind: index % 2 === 0 ? "user" : "assistant",
    text: `${sentence(random, WORDS_A_MESSAGE)}. Note ${index}.`,
  }));
}

function timeIndex({ sql, content }: RecallPorts): Figure[] {
  const pages: number[] = [];
  const startedAt = performance.now();
  for (let more = true; more; ) {
    const pageAt = performance.now();
    more = indexPage(sql, MESSAGES, content);
    pages.push(performance.now() - pageAt);
  }
  const each = (performance.now() - startedAt) / MESSAGES;
  return [
    measured("index a message", "ms", [each], INDEX_GOAL),
    measured("index a page, one transaction", "ms", pages),
    measured("the longest page: others wait as long", "ms", [Math.max(...pages)], LONGEST_PAGE_MS),
  ];
}

async function timeQueries(ports: RecallPorts, name: string, makeQuery: (random: Random) => string): Promise<Figure[]> {
  const random = createRandom(2);
  const taken: number[] = [];
  for (let round = -WARM_UP; round < QUERIES; round++) {
    const query = makeQuery(random);
    const startedAt = performance.now();
    await lookUp({ query }, { hiddenOnly: true, limit: 60 }, ports);
    if (round >= 0) taken.push(performance.now() - startedAt);
  }
  const sorted = taken.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return [measured(`${name}, p50`, "ms", [at(0.5)], GOAL.p50), measured(`${name}, p95`, "ms", [at(0.95)], GOAL.p95)];
}

export async function benchRecall(): Promise<BenchResult> {
  const ports = buildRecord(createNodeSql(), buildMessages());
  const index = timeIndex(ports);
  const figures = [
    ...index,
    ...(await timeQueries(ports, "six words of any frequency", (random) => sentence(random, 6))),
    ...(await timeQueries(ports, "one number that is there once", (random) => `Note ${random.between(0, MESSAGES - 1)}`)),
    ...(await timeQueries(ports, "one word that is everywhere", () => "w0ing")),
  ];
  const notes = [
    `${MESSAGES} messages of ${WORDS_A_MESSAGE} words out of a vocabulary of ${VOCABULARY}, all out of the view; ${QUERIES} look-ups each.`,
    "A look-up is everything that memory_query does: candidates, reading and ranking them, and the text within 1,800 tokens.",
  ];
  return { title: `memory_query on ${MESSAGES} messages`, notes, figures };
}
