/** Collects what is left at the end of a run: the server's answers and the contents of its files. `verify` judges it. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { type ReadMessage, readMessages, readText } from "../replay/read-back.ts";
import { ApiError, type Connection, callApi } from "../support/api-client.ts";
import { type Comparison, compareSession, type Target } from "../support/read-model.ts";
import { createWithKey, type ErasedRecord, type Errands, type ForkRecord, MARK, type RedactedRecord } from "./errands.ts";
import type { ErasedEvidence, FileEvidence, ForkEvidence, RebuiltEvidence, RedactedEvidence } from "./verify-errands.ts";

const list = z.object({ data: z.array(z.object({ id: z.string() })), has_more: z.boolean(), next_cursor: z.string().nullable() });
const hitList = z.object({ data: z.array(z.unknown()) });

const get = (connection: Connection, path: string): Promise<unknown> => callApi(connection, { method: "GET", path });

/** The HTTP status of the response. */
async function readStatus(request: Promise<unknown>): Promise<number> {
  try {
    await request;
    return 200;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

async function listedSessions(connection: Connection): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let after = ""; ; ) {
    const page = list.parse(await get(connection, `/v1/sessions?limit=100${after}`));
    for (const { id } of page.data) ids.add(id);
    if (!page.has_more || page.next_cursor === null) return ids;
    after = `&after=${encodeURIComponent(page.next_cursor)}`;
  }
}

/** Old keys are tried first, so that the later checks see anything that they revive. */
export async function askForErased(errands: Errands, records: readonly ErasedRecord[]): Promise<readonly ErasedEvidence[]> {
  const { connection } = errands;
  const recreated = new Map<string, number>();
  for (const { session, key, marker } of records) recreated.set(session, await readStatus(createWithKey(errands, key, marker)));
  const listed = await listedSessions(connection);
  const evidence: ErasedEvidence[] = [];
  for (const record of records) {
    const read = await readStatus(get(connection, `/v1/sessions/${record.session}`));
    const messages = await readStatus(get(connection, `/v1/sessions/${record.session}/messages`));
    evidence.push({ ...record, read, messages, recreated: recreated.get(record.session) ?? 0, isListed: listed.has(record.session) });
  }
  return evidence;
}

/** Reads everything that could show a redacted message: the complete session once, and a look-up for each word. */
export async function askForRedacted(connection: Connection, id: string, records: readonly RedactedRecord[]): Promise<RedactedEvidence> {
  const path = `/v1/sessions/${id}`;
  const answers = new Map<string, string>([["messages", JSON.stringify(await readMessages(connection, id))]]);
  for (const route of ["context", "compactions", "branches"]) answers.set(route, JSON.stringify(await get(connection, `${path}/${route}`)));
  const hits = new Map<string, number>();
  for (const { marker } of records) {
    const answer = await callApi(connection, { method: "POST", path: `${path}/recall`, body: { q: marker } });
    hits.set(marker, hitList.parse(answer).data.length);
  }
  return { markers: records.map(({ marker }) => marker), answers, hits };
}

export async function readForks(
  connection: Connection,
  source: readonly ReadMessage[],
  records: readonly ForkRecord[],
): Promise<readonly ForkEvidence[]> {
  const evidence: ForkEvidence[] = [];
  for (const { fork, at } of records) {
    const expected = source.filter(({ position }) => position <= at).map(toLine);
    evidence.push({ fork, expected, found: (await readMessages(connection, fork)).map(toLine) });
  }
  return evidence;
}

const toLine = (message: ReadMessage): string => `${message.position} ${message.role} ${readText(message)}`;

/** The rebuild runs twice: the first one repairs what the kills left behind, and the second must find nothing. */
export async function compareRows(target: Target, sessions: readonly string[]): Promise<readonly RebuiltEvidence[]> {
  const compare = (session: string): Promise<Comparison> => compareSession(target, session, () => undefined);
  const evidence: RebuiltEvidence[] = [];
  for (const session of sessions) {
    const first = await compare(session);
    evidence.push({ session, isRepaired: first.repaired, ...(await compare(session)) });
  }
  return evidence;
}

/** Rows that name an erased session, without its text. */
const MEMORIES: ReadonlySet<string> = new Set(["session_tombstones", "erased_usage"]);

/** Reads every table of every object and of D1. The server must have stopped. */
export function readFiles(state: string, erased: readonly ErasedRecord[]): FileEvidence {
  const ids = new Set(erased.map(({ session }) => session));
  const files = readdirSync(join(state, "v3"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name));
  // Runs before a database is opened, because opening empties its write-ahead log.
  const objects = paths.filter((path) => path.includes(join("v3", "do")));
  const bytes = objects.filter((path) => readFileSync(path).includes(MARK)).map((path) => basename(path));
  const marked = new Set<string>();
  const named = new Set<string>();
  for (const path of paths.filter((each) => each.endsWith(".sqlite"))) {
    const isD1 = path.includes(`${join("v3", "d1")}`);
    for (const { table, text } of readCells(path)) {
      if (text.includes(MARK)) marked.add(`${basename(path)} ${table}: ${text.slice(Math.max(0, text.indexOf(MARK) - 20)).slice(0, 40)}`);
      if (isD1 && ids.has(text) && !MEMORIES.has(table)) named.add(`${table}: ${text}`);
    }
  }
  return { marked: [...marked], named: [...named], bytes };
}

function* readCells(path: string): Generator<{ readonly table: string; readonly text: string }> {
  const database = new DatabaseSync(path);
  try {
    // A virtual table stores its content in other tables.
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'").all();
    for (const { name } of tables) {
      const rows = database.prepare(`SELECT * FROM "${String(name)}"`);
      // The engine's own tables contain integers that exceed a double.
      rows.setReadBigInts(true);
      for (const row of rows.iterate()) {
        for (const cell of Object.values(row)) {
          if (typeof cell === "string") yield { table: String(name), text: cell };
          else if (cell instanceof Uint8Array) yield { table: String(name), text: Buffer.from(cell).toString("latin1") };
        }
      }
    }
  } finally {
    database.close();
  }
}
