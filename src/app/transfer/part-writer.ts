/**
 * Writes an export in parts of one size, which a store takes one by one. A part ends with a checkpoint, so that a writer
 * that was lost goes on behind the last part that is stored (docs/export-format.md).
 */
import { sha256 } from "../../lib/sha256";

/** R2 takes parts of at least 5 MiB, all of one size but the last (https://developers.cloudflare.com/r2/objects/multipart-objects/). */
export const PART_BYTES = 5 * 1024 * 1024;
/** A stored event is at most 2 MB, and a body's row at most 500,000 units, each of up to 6 bytes in JSON. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** Room for the line that ends a part. */
const RESERVED_BYTES = 512;
const NEWLINE = 10;
const SPACE = 32;

export interface SealedPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}

/** What the last line says of the whole file. */
interface ExportTotals {
  readonly sessions: number;
  /** All lines before the last part's end, without checkpoints. */
  readonly lines: number;
}

const utf8 = new TextEncoder();

/** The digest of a stretch of lines, which includes that of the stretch before. */
export function digestStretch(previous: string, bytes: Uint8Array): Promise<string> {
  const chained = new Uint8Array(previous.length + bytes.byteLength);
  chained.set(utf8.encode(previous));
  chained.set(bytes, previous.length);
  return sha256(chained);
}

export class PartWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #used = 0;

  /** The digest of the part before. Empty for the first. */
  readonly previous: string;

  constructor(previous: string, size: number = PART_BYTES) {
    this.previous = previous;
    this.#bytes = new Uint8Array(size);
  }

  get used(): number {
    return this.#used;
  }

  /** False when the line does not fit into this part; then nothing is written. */
  add(line: string): boolean {
    const encoded = utf8.encode(line);
    if (this.#used + encoded.byteLength + 1 > this.#bytes.byteLength - RESERVED_BYTES) {
      if (this.#used === 0) throw new RangeError("A line is larger than a part");
      return false;
    }
    this.#bytes.set(encoded, this.#used);
    this.#used += encoded.byteLength;
    this.#bytes[this.#used++] = NEWLINE;
    return true;
  }

  /** Ends the part. `totals`: it is the last one. Any other is filled up with spaces, which JSON ignores. */
  async seal(totals: ExportTotals | null): Promise<SealedPart> {
    const digest = await digestStretch(this.previous, this.#bytes.subarray(0, this.#used));
    const line = totals ? { type: "end", ...totals, sha256: digest } : { type: "checkpoint", sha256: digest };
    const encoded = utf8.encode(JSON.stringify(line));
    this.#bytes.set(encoded, this.#used);
    const end = this.#used + encoded.byteLength;
    if (totals) {
      this.#bytes[end] = NEWLINE;
      return { bytes: this.#bytes.slice(0, end + 1), sha256: digest };
    }
    this.#bytes.fill(SPACE, end, this.#bytes.byteLength - 1);
    this.#bytes[this.#bytes.byteLength - 1] = NEWLINE;
    return { bytes: this.#bytes, sha256: digest };
  }
}
