/**
 * Reads the lines of an export while its bytes arrive. Lines are passed on only after the digest behind them is the right
 * one, so that nothing of a damaged stretch is used. At most one stretch is in memory.
 */

import type { ExportLine, LineOf } from "../../contract/export";
import { parseStoredEvent, type StoredRow } from "../../domain/event-versions";
import type { StoredEvent } from "../../domain/events";
import type { Result } from "../../lib/result";
import type { NamedText } from "./named-texts";
import { digestStretch, MAX_LINE_BYTES, PART_BYTES } from "./part-writer";

/** A fault of the file. `detail` names no content. */
export class ImportFault extends Error {
  override readonly name = "ImportFault";
  readonly line: number;
  readonly detail: string;

  constructor(line: number, detail: string) {
    super(`line ${line}: ${detail}`);
    this.line = line;
    this.detail = detail;
  }
}

/** A line with its number, from 1. The row of an event is as it was stored. */
export type ReadLine = { readonly number: number } & (
  | { readonly line: Exclude<ExportLine, { readonly type: "event" | "checkpoint" }> }
  | { readonly line: { readonly type: "event" }; readonly row: StoredRow; readonly event: StoredEvent }
);

/** Where a stretch begins: its first byte and line, and the digest of the stretch before. */
export interface StretchStart {
  readonly offset: number;
  readonly line: number;
  readonly previous: string;
}
export const FILE_START: StretchStart = { offset: 0, line: 1, previous: "" };

/** What lies between two checkpoints, with the digest checked. */
export interface CheckedStretch {
  readonly start: StretchStart;
  readonly lines: readonly ReadLine[];
}

/** A stretch between two checkpoints. */
const MAX_STRETCH_BYTES = PART_BYTES + MAX_LINE_BYTES;
const NEWLINE = 10;

/** Lines as bytes, each with its newline. */
async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  first: number,
): AsyncGenerator<{ readonly number: number; readonly bytes: Uint8Array }> {
  let rest: Uint8Array[] = [];
  let held = 0;
  let number = first;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      yield { number: number++, bytes: joinPieces([...rest, chunk.subarray(from, at + 1)]) };
      [rest, held, from] = [[], 0, at + 1];
    }
    if (from < chunk.length) rest.push(chunk.slice(from));
    held += chunk.length - from;
    // A checkpoint fills the part that it ends.
    if (held > MAX_STRETCH_BYTES) throw new ImportFault(number, `is longer than ${MAX_STRETCH_BYTES} bytes`);
  }
  if (held > 0) throw new ImportFault(number, "is cut off");
}

/** More than a request may bring on most plans (https://developers.cloudflare.com/workers/platform/limits/#request-limits). */
const MOST_LEFT_BYTES = 100_000_000;

/**
 * The body's chunks. Where a reader stops before the end, the rest is read over: a client that is still sending would find its connection
 * closed, and not read the answer.
 */
export async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let done = false;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
    done = true;
  } finally {
    if (!done) await readOver(reader);
  }
}

async function readOver(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    let left = MOST_LEFT_BYTES;
    for (let part = await reader.read(); !part.done && left > 0; part = await reader.read()) left -= part.value.byteLength;
    await reader.cancel();
  } catch {
    // The client has left.
  }
}

function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

function parseJson(number: number, bytes: Uint8Array): { readonly value: unknown; readonly text: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return { value: JSON.parse(text), text };
  } catch {
    // The parser's message is not repeated, because it may quote content.
    throw new ImportFault(number, "is not JSON in UTF-8");
  }
}

/** The line that a value is, or why it is none. `text`: as the file has it. */
export type ParseLine = (value: unknown, text: string) => Result<ExportLine, string>;

/** Holds a session's events and texts to what the API could have stored. A fault names no content. */
export interface RecordCheck {
  findEventFault(event: StoredEvent): string | null;
  findTextFault(named: NamedText, text: string): string | null;
}

interface ParsedLine {
  readonly line: ExportLine;
  readonly value: unknown;
}

function parseLine(number: number, bytes: Uint8Array, parse: ParseLine): ParsedLine {
  const { value, text } = parseJson(number, bytes);
  const parsed = parse(value, text);
  if (!parsed.ok) throw new ImportFault(number, parsed.error);
  return { line: parsed.value, value };
}

/** The event's data with the keys in the order of the file, as the log has it. */
function toRow(
  number: number,
  { seq, at, event: type, version }: LineOf<"event">,
  value: unknown,
): { readonly row: StoredRow; readonly event: StoredEvent } {
  const data = typeof value === "object" && value !== null && "data" in value ? value.data : null;
  const row = { seq, at, type, version, data: JSON.stringify(data) };
  try {
    return { row, event: parseStoredEvent(row) };
  } catch (error) {
    throw new ImportFault(number, error instanceof Error ? error.message : "is no event");
  }
}

/** What came since the last checkpoint. */
class Stretch {
  lines: ReadLine[] = [];
  /** The bytes of its lines, without the line that ends it. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #start: StretchStart;

  constructor(start: StretchStart) {
    this.#start = start;
  }

  take(number: number, bytes: Uint8Array, { line, value }: ParsedLine): void {
    if (bytes.byteLength > MAX_LINE_BYTES) throw new ImportFault(number, `is longer than ${MAX_LINE_BYTES} bytes`);
    this.#bytes += bytes.byteLength;
    if (this.#bytes > MAX_STRETCH_BYTES) throw new ImportFault(number, `no checkpoint within ${MAX_STRETCH_BYTES} bytes`);
    this.#pieces.push(bytes);
    if (line.type === "event") this.lines.push({ number, line: { type: "event" }, ...toRow(number, line, value) });
    else if (line.type !== "checkpoint") this.lines.push({ number, line });
  }

  /** Compares the digest, and begins the next stretch. Returns this one. `bytes`: of the line that ends it. */
  async end(number: number, bytes: number, line: LineOf<"checkpoint"> | LineOf<"end">): Promise<CheckedStretch> {
    const start = this.#start;
    const digest = await digestStretch(start.previous, joinPieces(this.#pieces));
    if (digest !== line.sha256) throw new ImportFault(number, "sha256: is another digest");
    const lines = line.type === "end" ? [...this.lines, { number, line }] : this.lines;
    this.#start = { offset: start.offset + this.#bytes + bytes, line: number + 1, previous: digest };
    [this.lines, this.#pieces, this.#bytes] = [[], [], 0];
    return { start, lines };
  }
}

/** Yields each stretch once its digest is checked. The last line is `end`; anything behind it is a fault. `chunks`: the bytes from `start` on. */
export async function* readExport(
  chunks: AsyncIterable<Uint8Array>,
  parse: ParseLine,
  start: StretchStart = FILE_START,
): AsyncGenerator<CheckedStretch> {
  const stretch = new Stretch(start);
  let hasEnded = false;
  for await (const { number, bytes } of splitLines(chunks, start.line)) {
    if (hasEnded) throw new ImportFault(number, "comes behind the end");
    const parsed = parseLine(number, bytes, parse);
    const { line } = parsed;
    if ((number === 1) !== (line.type === "header")) throw new ImportFault(number, "the header must be the first line, and only that");
    hasEnded = line.type === "end";
    if (line.type === "checkpoint" || line.type === "end") yield await stretch.end(number, bytes.byteLength, line);
    else stretch.take(number, bytes, parsed);
  }
  if (!hasEnded) throw new ImportFault(0, "the file has no end: it is cut off");
}
