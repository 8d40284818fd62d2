/** The list of sessions and their search: the queries of the read model over D1 in workerd, with many sessions of one tenant. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { ROOT } from "../scripts/support/paths.ts";
import { createRandom, type Random } from "../scripts/support/random.ts";
import type { SessionFilter, SessionListInput } from "../src/app/read-api.ts";
import { toSessionTerms } from "../src/context/recall/session-terms.ts";
import { type IdPrefix, parseId, type TenantId } from "../src/domain/ids.ts";
import { createSessionList } from "../src/read-model/queries.ts";
import { createSessionSearch } from "../src/read-model/session-search.ts";
import { ALL_SESSIONS } from "../test/read-model/builders.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";

const SESSIONS = 100_000;
const AT_ONCE = 500;
const MESSAGES = 2;
const WORDS_A_TEXT = 12;
const VOCABULARY = 20_000;
/** Sessions of each person, and sessions for each of which one has the rare entry of metadata. */
export const OF_PERSON = 20;
const RARE = 1_000;
const QUERIES = 60;
const WARM_UP = 5;
/** The goals of the 95th percentile in milliseconds. */
const GOAL = { list: 50, search: 250 } as const;
export const START = 1_700_000_000_000;

export function makeId<P extends IdPrefix>(prefix: P, number: number) {
  const id = parseId(prefix, `${prefix}_${String(number).padStart(26, "0")}`);
  if (!id) throw new Error(`${number} makes no id`);
  return id;
}
const TENANT = makeId("ten", 1);

interface Filling {
  readonly tenant: TenantId;
  readonly sessions: number;
}

/** A few words are in most texts and most are rare, as in any language. */
const word = (random: Random): string => `w${Math.floor((random.between(1, 1_000) / 1_000) ** 4 * VOCABULARY).toString(36)}ing`;
const sentence = (random: Random, words: number): string => Array.from({ length: words }, () => word(random)).join(" ");

function buildSession(number: number, random: Random) {
  const texts = [sentence(random, 4), ...Array.from({ length: MESSAGES }, () => sentence(random, WORDS_A_TEXT))];
  const metadata = { team: number % 2 === 0 ? "red" : "blue", ...(number % RARE === 0 && { rare: `r${number}` }) };
  return { id: makeId("ses", number), at: START + number * 1_000, user: `user ${Math.floor(number / OF_PERSON)}`, texts, metadata };
}
type Built = ReturnType<typeof buildSession>;

const field = (name: string): string => `json_extract(row.value, '$.${name}')`;
const INSERTS: readonly (readonly [sql: string, toRows: (session: Built) => readonly unknown[]])[] = [
  [
    `INSERT INTO sessions (tenant_id, id, title, model, policy, message_count, created_at, updated_at, last_seq, end_user, metadata)
     SELECT ?1, ${field("id")}, ${field("title")}, 'm', 'balanced', ${MESSAGES}, ${field("at")}, ${field("at")}, 1, ${field("user")}, ${field("metadata")}
     FROM json_each(?2) AS row`,
    ({ id, at, user, texts, metadata }) => [{ id, at, user, title: texts[0], metadata: JSON.stringify(metadata) }],
  ],
  [
    `INSERT INTO session_metadata (tenant_id, session_id, number, name, value, last_seq)
     SELECT ?1, ${field("id")}, ${field("number")}, ${field("name")}, ${field("value")}, 1 FROM json_each(?2) AS row`,
    ({ id, metadata }) => Object.entries(metadata).map(([name, value], number) => ({ id, number, name, value })),
  ],
  [
    `INSERT INTO messages (tenant_id, session_id, position, id, kind, role, content, content_state, tokens, created_at, last_seq)
     SELECT ?1, ${field("id")}, ${field("position")}, ${field("id")} || ${field("position")}, 'user', 'user', ${field("content")}, 'full', 1, ${field("at")}, 1
     FROM json_each(?2) AS row`,
    ({ id, at, texts }) =>
      texts.slice(1).map((text, index) => ({ id, at, position: index + 1, content: JSON.stringify([{ type: "text", text }]) })),
  ],
  [
    `INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq)
     SELECT ?1, ${field("id")}, ${field("position")}, ${field("terms")}, 1 FROM json_each(?2) AS row`,
    ({ id, at, texts }) => texts.map((text, position) => ({ id, position, terms: toSessionTerms(text, at) })),
  ],
];
const INDEX = `INSERT INTO search_index (rowid, terms) SELECT t.id, t.terms FROM search_texts AS t
  WHERE t.id IN (SELECT id FROM search_rows WHERE tenant_id = ?1 AND session_id BETWEEN ?2 AND ?3)`;

/** Returns microseconds for each text that was indexed. */
export async function fillSessions(db: D1Database, { tenant, sessions }: Filling): Promise<number> {
  const random = createRandom(1);
  let indexing = 0;
  for (let from = 1; from <= sessions; from += AT_ONCE) {
    const built = Array.from({ length: AT_ONCE }, (_, index) => buildSession(from + index, random));
    await db.batch(INSERTS.map(([sql, toRows]) => db.prepare(sql).bind(tenant, JSON.stringify(built.flatMap(toRows)))));
    const startedAt = performance.now();
    await db.batch([db.prepare(INDEX).bind(tenant, makeId("ses", from), makeId("ses", from + AT_ONCE - 1))]);
    indexing += performance.now() - startedAt;
  }
  return (indexing * 1_000) / (sessions * (MESSAGES + 1));
}

async function timeQueries(name: string, goal: number, run: (random: Random) => Promise<{ readonly ok: boolean }>): Promise<Figure[]> {
  const random = createRandom(2);
  const taken: number[] = [];
  for (let round = -WARM_UP; round < QUERIES; round++) {
    const startedAt = performance.now();
    const { ok } = await run(random);
    if (!ok) throw new Error(`${name} was refused`);
    if (round >= 0) taken.push(performance.now() - startedAt);
  }
  const sorted = taken.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return [measured(`${name}, p50`, "ms", [at(0.5)]), measured(`${name}, p95`, "ms", [at(0.95)], goal)];
}

async function timeAll(db: D1Database): Promise<Figure[]> {
  const [{ listSessions }, { searchSessions }] = [createSessionList({ DB: db }), createSessionSearch({ DB: db })];
  const person = (random: Random): string => `user ${random.between(0, SESSIONS / OF_PERSON - 1)}`;
  const list = (asked: Partial<SessionListInput>) =>
    listSessions({ tenant: TENANT, filter: ALL_SESSIONS, orderBy: "updated_at", order: "desc", limit: 50, after: null, ...asked });
  const search = (query: string, filter: Partial<SessionFilter> = {}) =>
    searchSessions({ tenant: TENANT, query, filter: { ...ALL_SESSIONS, ...filter }, limit: 20, after: null });
  const middle = START + (SESSIONS / 2) * 1_000;
  return [
    ...(await timeQueries("list, the newest", GOAL.list, () => list({}))),
    ...(await timeQueries("list, from the middle, oldest first", GOAL.list, () =>
      list({ orderBy: "created_at", order: "asc", filter: { ...ALL_SESSIONS, createdAfter: middle } }),
    )),
    ...(await timeQueries("list, of a person", GOAL.list, (random) => list({ filter: { ...ALL_SESSIONS, endUser: person(random) } }))),
    ...(await timeQueries("list, metadata that half of them have", GOAL.list, () =>
      list({ filter: { ...ALL_SESSIONS, metadata: { team: "red" } } }),
    )),
    ...(await timeQueries("list, metadata that one has", GOAL.list, (random) =>
      list({ filter: { ...ALL_SESSIONS, metadata: { team: "red", rare: `r${random.between(1, SESSIONS / RARE) * RARE}` } } }),
    )),
    ...(await timeQueries("search, three words of any frequency", GOAL.search, (random) => search(sentence(random, 3)))),
    ...(await timeQueries("search, one word that is everywhere", GOAL.search, () => search("w0ing"))),
    ...(await timeQueries("search, three words in a person's sessions", GOAL.search, (random) =>
      search(sentence(random, 3), { endUser: person(random) }),
    )),
    ...(await timeQueries("search, three words in half of the sessions", GOAL.search, (random) =>
      search(sentence(random, 3), { metadata: { team: "red" } }),
    )),
  ];
}

const openDatabase = (): Miniflare =>
  new Miniflare(
    convertV4MiniflareOptions({
      log: new Log(LogLevel.NONE),
      cf: false,
      modules: [{ type: "ESModule", path: "index.js", contents: "export default { fetch: () => new Response() }" }],
      compatibilityDate: "2026-10-23",
      d1Databases: { DB: "longhand" },
    }),
  );

export async function benchFind(): Promise<BenchResult> {
  const miniflare = openDatabase();
  try {
    const db = await miniflare.getD1Database("DB");
    const folder = join(ROOT, "migrations");
    for (const file of readdirSync(folder).sort()) {
      const statements = readFileSync(join(folder, file), "utf8").replaceAll(/--.*$/gm, "").split(";");
      await db.batch(statements.filter((sql) => sql.trim() !== "").map((sql) => db.prepare(sql)));
    }
    const each = await fillSessions(db, { tenant: TENANT, sessions: SESSIONS });
    return {
      title: `The list of ${SESSIONS} sessions and their search, in D1`,
      notes: [
        `Wall time through Miniflare's connection to workerd, of which an empty query is a part; ${QUERIES} queries each.`,
        `Each session has a title and ${MESSAGES} messages of ${WORDS_A_TEXT} words out of a vocabulary of ${VOCABULARY}.`,
      ],
      figures: [
        measured("index a text, in batches", "µs", [each]),
        ...(await timeQueries("an empty query", GOAL.list, async () => ({ ok: (await db.prepare("SELECT 1").all()).success }))),
        ...(await timeAll(db)),
      ],
    };
  } finally {
    await miniflare.dispose();
  }
}
