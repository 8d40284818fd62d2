/** Texts that are planted in every field that takes one, and what a server's files and tables still hold of them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { vi } from "vitest";
import { z } from "zod";
import { type Connection, callApi, type Method } from "../../../scripts/support/api-client";

const named = z.object({ id: z.string() });
const waiting = z.object({ turn: z.object({ open_calls: z.array(z.object({ call_id: z.string() })) }).nullable() });

/** How long a test waits for what must happen. */
const PATIENCE_MS = 60_000;
/** How long a reader waits for a database that the server locks. */
const LOCKED_MS = 5_000;

export interface Client {
  readonly connection: Connection;
  readonly call: (method: Method, path: string, body?: unknown, key?: string) => Promise<unknown>;
}

export const createClient = (connection: Connection): Client => ({
  connection,
  call: (method, path, body, key) =>
    callApi(connection, { method, path, ...(body !== undefined && { body }), ...(key !== undefined && { idempotencyKey: key }) }),
});

export const readId = (answer: unknown): string => named.parse(answer).id;

/** Makes a word of the name of a field. */
type Plant = (field: string) => string;

/** Stores a picture with a planted text and name. */
async function uploadPicture({ url, key }: Connection, plant: Plant): Promise<string> {
  const body = Buffer.from(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${plant("picture")}`, "latin1");
  const headers = { authorization: `Bearer ${key}`, "content-type": "image/png" };
  const answer = await fetch(`${url}/v1/files?name=${plant("filename")}`, { method: "POST", headers, body });
  return readId(await answer.json());
}

/** Asks until the answer is as it must be. Between two questions the processor belongs to the server. */
export const pollUntil = <T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> =>
  vi.waitFor(
    async () => {
      const answer = await ask();
      if (!isRight(answer)) throw new Error(`It is ${JSON.stringify(answer)} still.`);
      return answer;
    },
    { timeout: PATIENCE_MS, interval: 50 },
  );

/** Waits until no turn of the session runs. */
export async function rest({ call }: Pick<Client, "call">, path: string): Promise<void> {
  const turn = async () => z.object({ turn: z.unknown() }).parse(await call("GET", path)).turn;
  await pollUntil(turn, (found) => found === null);
}

const toTool = (plant: Plant) => ({
  name: plant("tool"),
  description: plant("tooldescription"),
  parameters: { type: "object", properties: {} },
});

let planted = 0;

/** A session with a planted word in every field that takes one. Returns its path. */
async function plantSession(client: Client, plant: Plant, endUser: string | null): Promise<string> {
  const { call, connection } = client;
  const number = ++planted;
  const created = await call(
    "POST",
    "/v1/sessions",
    {
      title: plant("title"),
      system: plant("system"),
      metadata: { [plant("k")]: plant("metadata") },
      summary_instructions: plant("instructions"),
      external_id: `${plant("external")}-${number}`,
      tools: [toTool(plant)],
      ...(endUser !== null && { end_user: endUser }),
    },
    `${plant("sessionkey")}-${number}`,
  );
  const path = `/v1/sessions/${readId(created)}`;
  await plantTalk(client, plant, path);
  const message = {
    content: [
      { type: "text", text: plant("caption") },
      { type: "image", file_id: await uploadPicture(connection, plant) },
    ],
    run: false,
  };
  await call("POST", `${path}/messages`, message);
  await plantSummaries(client, plant, path);
  await call("GET", `${path}/recall?q=${plant("question")}`);
  // A call that waits for its result, and a message that waits for the turn.
  await call("POST", `${path}/messages`, { content: `${plant("tool")} {"open":"${plant("waiting")}"}` });
  await call("POST", `${path}/messages`, { content: plant("queued"), metadata: { note: plant("queuednote") } });
  return path;
}

async function plantTalk(client: Client, plant: Plant, path: string): Promise<void> {
  const { call } = client;
  const long = `${plant("question")} ${"more text ".repeat(500)}`;
  const ask = {
    content: long,
    name: plant("speaker"),
    client_id: plant("client"),
    metadata: { note: plant("messagenote") },
    note: plant("note"),
  };
  await call("POST", `${path}/messages`, ask, plant("messagekey"));
  await rest(client, path);
  await call("POST", `${path}/messages`, { content: `${plant("tool")} {"q":"${plant("argument")}"}` });
  const openCall = async () => waiting.parse(await call("GET", path)).turn?.open_calls[0];
  const open = await pollUntil(openCall, (found) => found !== undefined);
  await call("POST", `${path}/tool_results`, { results: [{ call_id: open?.call_id, output: plant("result") }] });
  await rest(client, path);
  await call("POST", `${path}/messages`, { role: "assistant", content: plant("reply"), run: false });
  await call("PUT", `${path}/pins`, { pins: [{ text: plant("pin") }] });
  await call("PATCH", path, { title: plant("newtitle"), system: plant("newsystem") });
}

/** A summary, and a draft of one. */
async function plantSummaries({ call }: Client, plant: Plant, path: string): Promise<void> {
  for (let turn = 0; turn < 6; turn++)
    await call("POST", `${path}/messages`, { content: `${plant(`old${turn}`)} ${"filler ".repeat(400)}`, run: false });
  for (const draft of [false, true]) {
    const asked = await call("POST", `${path}/compactions`, {
      instructions: plant("ask"),
      keep_recent: draft ? 1 : 2_000,
      ...(draft && { draft }),
    });
    const id = z.object({ id: z.string() }).parse(asked).id;
    const status = async () => z.object({ status: z.string() }).parse(await call("GET", `${path}/compactions/${id}`)).status;
    await pollUntil(status, (found) => found !== "requested" && found !== "running");
  }
}

/** A mark as bytes, and as it is within base64, wherever it begins. */
const toShapes = (mark: string): readonly Buffer[] => [
  Buffer.from(mark),
  ...[0, 1, 2].map((shift) =>
    Buffer.from(
      Buffer.from(`${"x".repeat(shift)}${mark}`)
        .toString("base64")
        .slice(4, -4),
    ),
  ),
];

const listFiles = (state: string): readonly string[] =>
  readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((file) => join(file.parentPath, file.name));

/** The server deletes files while a test reads others: a database's log, and the database of an object that holds nothing. */
function ifThere<Found>(path: string, gone: Found, read: (path: string) => Found): Found {
  try {
    return read(path);
  } catch (error) {
    if (existsSync(path)) throw error;
    return gone;
  }
}

/** The tables of a database of which a row has a value that `isFound` knows. */
function findTables(path: string, isFound: (value: unknown) => boolean): readonly string[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: LOCKED_MS });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const names = tables.map(({ name }) => String(name));
    return names.filter((name) => {
      const rows = database.prepare(`SELECT * FROM "${name}"`);
      rows.setReadBigInts(true);
      return rows.all().some((row) => Object.values(row).some(isFound));
    });
  } finally {
    database.close();
  }
}

const isPacked = (value: Uint8Array): boolean => value[0] === 0x1f && value[1] === 0x8b;

/** Plants the words of one test, and finds them. Each test has a mark of its own, so that tests of the same server run at once. */
export class Planter {
  /**
   * The ending of every planted word. Each word begins with letters of its own, because an index stores what two words have in common at their
   * beginning once.
   */
  readonly mark: string;
  readonly #shapes: readonly Buffer[];

  /** `letter`: in the middle, where it is part of each shape. */
  constructor(letter: string) {
    this.mark = `zqunf${letter}rgettable`;
    this.#shapes = toShapes(this.mark);
  }

  readonly plant = (field: string): string => `${field}${this.mark}`;

  /** A session with a planted word in every field that takes one. Returns its path. */
  plantSession(client: Client, endUser: string | null): Promise<string> {
    return plantSession(client, this.plant, endUser);
  }

  /** The files below `state` of which a byte says it: databases, their write-ahead logs and blobs. `among`: those alone, if they still exist. */
  findInFiles(state: string, among?: readonly string[]): readonly string[] {
    const paths = among?.map((name) => join(state, name)) ?? listFiles(state);
    return paths.filter((path) => this.#isIn(ifThere(path, Buffer.alloc(0), readFileSync))).map((path) => relative(state, path));
  }

  /** The tables of which a row says it, as SQLite returns it. */
  findInTables(state: string): readonly string[] {
    const databases = listFiles(state).filter((path) => path.endsWith(".sqlite"));
    return databases.flatMap((path) => {
      const names = ifThere<readonly string[]>(path, [], () => findTables(path, (value) => this.#isInValue(value)));
      return names.map((name) => `${relative(state, path)} ${name}`);
    });
  }

  #isIn(bytes: Buffer): boolean {
    return this.#shapes.some((shape) => bytes.includes(shape));
  }

  #isInValue(value: unknown): boolean {
    if (typeof value === "string") return this.#isIn(Buffer.from(value));
    if (!(value instanceof Uint8Array)) return false;
    return this.#isIn(isPacked(value) ? gunzipSync(value) : Buffer.from(value));
  }
}
