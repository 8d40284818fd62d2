/**
 * Uploads, sends and removes files without pause while the server is killed, and compares what is left with what was acknowledged: a file that
 * was kept has its bytes, one that was removed is unreadable, and the bucket holds nothing that no entry names.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { ApiError, type Connection, callApi } from "../support/api-client.ts";
import type { Errands } from "./errands.ts";
import { isCut, untilDone } from "./repeat.ts";

/** How a file ends. `keep`: it does not. */
const ENDS = ["delete", "keep", "erase", "redact"] as const;
type End = (typeof ENDS)[number];

export interface FileRecord {
  readonly file: string;
  readonly end: End;
  readonly bytes: Uint8Array;
}

const made = z.object({ id: z.string() });
const accepted = z.object({ message_id: z.string() });
const receipt = z.object({ stores: z.array(z.object({ status: z.string() })) });

/** Large enough to arrive in several pieces, so that kills happen in the middle. */
const SIZE = 300_000;

/** A PDF that no other upload equals. */
function buildBytes(number: number): Uint8Array {
  const bytes = new Uint8Array(SIZE).fill(0x20 + (number % 64));
  bytes.set(new TextEncoder().encode(`%PDF-1.7\n% upload ${number}\n`));
  return bytes;
}

/** Sends the bytes in pieces. The same key always leads to the same file. */
async function upload({ url, key }: Connection, number: number): Promise<string> {
  const bytes = buildBytes(number);
  const response = await fetch(`${url}/v1/files?name=upload-${number}.pdf`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/pdf", "idempotency-key": `file-${number}` },
    body: bytes as Uint8Array<ArrayBuffer>,
  });
  const text = await response.text();
  if (!response.ok) throw new ApiError("POST /v1/files", response.status, text);
  return made.parse(JSON.parse(text)).id;
}

export async function useFiles(errands: Errands): Promise<readonly FileRecord[]> {
  const { isOver, onCut } = errands;
  const records: FileRecord[] = [];
  while (!isOver()) {
    const number = records.length + 1;
    const end = ENDS[(number - 1) % ENDS.length] ?? "keep";
    const file = await untilDone(() => upload(errands.connection, number), onCut);
    await send(errands, { file, end, number });
    records.push({ file, end, bytes: buildBytes(number) });
  }
  return records;
}

interface Sending {
  readonly file: string;
  readonly end: End;
  readonly number: number;
}

/** Sends a message with the file in a session of its own, and ends the file. */
async function send({ connection, model, onCut }: Errands, { file, end, number }: Sending): Promise<void> {
  const call = (method: "POST" | "DELETE", path: string, body?: unknown, key?: string) =>
    callApi(connection, { method, path, ...(body !== undefined && { body }), ...(key !== undefined && { idempotencyKey: key }) });
  const opened = await untilDone(() => call("POST", "/v1/sessions", { model }, `file-session-${number}`), onCut);
  const path = `/v1/sessions/${made.parse(opened).id}`;
  const content = [{ type: "file", file_id: file }];
  const sent = await untilDone(() => call("POST", `${path}/messages`, { content, run: false }, `file-message-${number}`), onCut);
  if (end === "redact") await untilDone(() => call("POST", `${path}/messages/${accepted.parse(sent).message_id}/redact`, {}), onCut);
  if (end === "delete") await untilDone(() => untilGone(() => call("DELETE", `/v1/files/${file}`)), onCut);
  if (end === "erase")
    await untilDone(
      () => untilGone(async () => receipt.parse(await call("DELETE", path)).stores.every(({ status }) => status === "erased") || null),
      onCut,
    );
}

/** A removal whose response was lost may have been completed: then its repetition finds nothing. */
async function untilGone(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  }
}

export interface FileUseEvidence {
  readonly file: string;
  readonly end: End;
  readonly status: number;
  /** Whether the content is what was uploaded. */
  readonly isWhole: boolean;
}

/** Files whose messages were redacted end a moment later, by the session's alarm. */
const SETTLING_MS = 60_000;
const POLL_MS = 100;

/** Reads each file, once all that were ended are gone or the time for it is over. */
export async function readUsedFiles(connection: Connection, records: readonly FileRecord[]): Promise<readonly FileUseEvidence[]> {
  const deadline = Date.now() + SETTLING_MS;
  for (;;) {
    const evidence: FileUseEvidence[] = [];
    for (const record of records) evidence.push(await readOne(connection, record));
    const isSettled = evidence.every(({ end, status }) => end === "keep" || status === 404);
    if (isSettled || Date.now() > deadline) return evidence;
    await delay(POLL_MS);
  }
}

async function readOne({ url, key }: Connection, { file, end, bytes }: FileRecord): Promise<FileUseEvidence> {
  try {
    const response = await fetch(`${url}/v1/files/${file}/content`, { headers: { authorization: `Bearer ${key}` } });
    const content = Buffer.from(await response.arrayBuffer());
    return { file, end, status: response.status, isWhole: response.ok && content.equals(bytes) };
  } catch (error) {
    if (!isCut(error)) throw error;
    return { file, end, status: 0, isWhole: false };
  }
}

export interface BucketEvidence {
  /** Objects of the bucket that no entry of a tenant names. */
  readonly unnamed: readonly string[];
  /** Stored entries without an object. */
  readonly empty: readonly string[];
}

/** Compares the bucket with the entries of all tenants. The server must have stopped. */
export function readBucket(state: string): BucketEvidence {
  const objects = new Set(readRows(join(state, "v3", "r2"), "_mf_objects", "key").map(({ key }) => String(key).split("/")[1] ?? ""));
  const entries = readRows(join(state, "v3", "do"), "files", "id, state");
  const names = new Set(entries.map(({ id }) => String(id)));
  return {
    unnamed: [...objects].filter((id) => !names.has(id)),
    empty: entries.filter(({ id, state: at }) => at === "stored" && !objects.has(String(id))).map(({ id }) => String(id)),
  };
}

/** The rows of the table in every database below the directory that has it. */
function readRows(directory: string, table: string, columns: string): Record<string, unknown>[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(({ name }) => name.endsWith(".sqlite"));
  return files.flatMap((file) => {
    const database = new DatabaseSync(join(file.parentPath, file.name));
    try {
      const isThere = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
      return isThere ? database.prepare(`SELECT ${columns} FROM "${table}"`).all() : [];
    } finally {
      database.close();
    }
  });
}

/** The problems found, one text each. An empty result means that files were kept and removed, and nothing is wrong. */
export function faultsOfUsedFiles(files: readonly FileUseEvidence[], { unnamed, empty }: BucketEvidence): readonly string[] {
  return [
    ...files.flatMap(({ file, end, status, isWhole }) => {
      if (end === "keep") return isWhole ? [] : [`a kept file is answered ${status}, or with other bytes: ${file}`];
      return status === 404 ? [] : [`a file whose end was acknowledged (${end}) is answered ${status}: ${file}`];
    }),
    ...unnamed.map((file) => `the bucket holds bytes that no entry names: ${file}`),
    ...empty.map((file) => `an entry is stored and has no bytes: ${file}`),
    ...(files.some(({ end }) => end === "keep") ? [] : ["no file was kept"]),
    ...(files.some(({ end }) => end !== "keep") ? [] : ["no file was removed"]),
  ];
}
