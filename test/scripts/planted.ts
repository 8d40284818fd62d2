/** Texts that are planted in every field that takes one, and what a server's files and tables still hold of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { type Connection, callApi, type Method } from "../../scripts/support/api-client";

/**
 * The ending of every planted word. Each begins with letters of its own, because an index stores what two words have in common at their
 * beginning once.
 */
export const MARK = "zqunforgettable";
export const plant = (field: string): string => `${field}${MARK}`;

const named = z.object({ id: z.string() });

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

/** Stores a picture with a planted text and name. */
async function uploadPicture({ url, key }: Connection): Promise<string> {
  const body = Buffer.from(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${plant("picture")}`, "latin1");
  const headers = { authorization: `Bearer ${key}`, "content-type": "image/png" };
  const answer = await fetch(`${url}/v1/files?name=${plant("filename")}`, { method: "POST", headers, body });
  return readId(await answer.json());
}

const TOOL = { name: plant("tool"), description: plant("tooldescription"), parameters: { type: "object", properties: {} } };

/** Waits until no turn of the session runs. */
export async function rest({ call }: Pick<Client, "call">, path: string): Promise<void> {
  for (;;) {
    const { turn } = z.object({ turn: z.unknown() }).parse(await call("GET", path));
    if (turn === null) return;
  }
}

let planted = 0;

/** A session with a planted word in every field that takes one. Returns its path. */
export async function plantSession(client: Client, endUser: string | null): Promise<string> {
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
      tools: [TOOL],
      ...(endUser !== null && { end_user: endUser }),
    },
    `${plant("sessionkey")}-${number}`,
  );
  const path = `/v1/sessions/${readId(created)}`;
  await plantTalk(client, path);
  const message = {
    content: [
      { type: "text", text: plant("caption") },
      { type: "image", file_id: await uploadPicture(connection) },
    ],
    run: false,
  };
  await call("POST", `${path}/messages`, message);
  await plantSummaries(client, path);
  await call("GET", `${path}/recall?q=${plant("question")}`);
  // A call that waits for its result, and a message that waits for the turn.
  await call("POST", `${path}/messages`, { content: `${TOOL.name} {"open":"${plant("waiting")}"}` });
  await call("POST", `${path}/messages`, { content: plant("queued"), metadata: { note: plant("queuednote") } });
  return path;
}

async function plantTalk(client: Client, path: string): Promise<void> {
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
  await call("POST", `${path}/messages`, { content: `${TOOL.name} {"q":"${plant("argument")}"}` });
  for (;;) {
    const { turn } = z
      .object({ turn: z.object({ open_calls: z.array(z.object({ call_id: z.string() })) }).nullable() })
      .parse(await call("GET", path));
    const open = turn?.open_calls[0];
    if (!open) continue;
    await call("POST", `${path}/tool_results`, { results: [{ call_id: open.call_id, output: plant("result") }] });
    break;
  }
  await rest(client, path);
  await call("POST", `${path}/messages`, { role: "assistant", content: plant("reply"), run: false });
  await call("PUT", `${path}/pins`, { pins: [{ text: plant("pin") }] });
  await call("PATCH", path, { title: plant("newtitle"), system: plant("newsystem") });
}

/** A summary, and a draft of one. */
async function plantSummaries({ call }: Client, path: string): Promise<void> {
  for (let turn = 0; turn < 6; turn++)
    await call("POST", `${path}/messages`, { content: `${plant(`old${turn}`)} ${"filler ".repeat(400)}`, run: false });
  for (const draft of [false, true]) {
    const asked = await call("POST", `${path}/compactions`, {
      instructions: plant("ask"),
      keep_recent: draft ? 1 : 2_000,
      ...(draft && { draft }),
    });
    const id = z.object({ id: z.string() }).parse(asked).id;
    for (;;) {
      const { status } = z.object({ status: z.string() }).parse(await call("GET", `${path}/compactions/${id}`));
      if (status !== "requested" && status !== "running") break;
    }
  }
}

/** The mark as bytes, and as it is within base64, wherever it begins. */
const SHAPES: readonly Buffer[] = [
  Buffer.from(MARK),
  ...[0, 1, 2].map((shift) =>
    Buffer.from(
      Buffer.from(`${"x".repeat(shift)}${MARK}`)
        .toString("base64")
        .slice(4, -4),
    ),
  ),
];
const holdsMark = (bytes: Buffer): boolean => SHAPES.some((shape) => bytes.includes(shape));

const listFiles = (state: string): readonly string[] =>
  readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((file) => join(file.parentPath, file.name));

/** The files below `folder` of which a byte says it: databases, their write-ahead logs and blobs. */
export const findInFiles = (state: string): readonly string[] =>
  listFiles(state)
    .filter((path) => holdsMark(readFileSync(path)))
    .map((path) => relative(state, path));

const isPacked = (value: Uint8Array): boolean => value[0] === 0x1f && value[1] === 0x8b;

function valueHoldsMark(value: unknown): boolean {
  if (typeof value === "string") return holdsMark(Buffer.from(value));
  if (!(value instanceof Uint8Array)) return false;
  return holdsMark(isPacked(value) ? gunzipSync(value) : Buffer.from(value));
}

/** The tables of which a row says it, as SQLite returns it. */
export function findInTables(state: string): readonly string[] {
  return listFiles(state)
    .filter((path) => path.endsWith(".sqlite"))
    .flatMap((path) => {
      const database = new DatabaseSync(path, { readOnly: true });
      try {
        const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
        const holding = tables.filter(({ name }) => {
          const rows = database.prepare(`SELECT * FROM "${String(name)}"`);
          rows.setReadBigInts(true);
          return rows.all().some((row) => Object.values(row).some(valueHoldsMark));
        });
        return holding.map(({ name }) => `${relative(state, path)} ${String(name)}`);
      } finally {
        database.close();
      }
    });
}
