/** Measures a file while it passes by: its bytes, its digest, and what it weighs in a request. */
import type { StoredFile } from "../app/file-api";
import { estimateFile, findFileType } from "../context/file-types";
import { estimateTokens } from "../context/tokens";

/** A page of a PDF, where its directory is not compressed (ISO 32000-1, 7.7.3.3): `/Type /Page`, but not `/Type /Pages`. */
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
/** Characters of the last chunk that are looked at again, because a page's entry may lie across two chunks. */
const OVERLAP = 32;

/** Hashes bytes as they come. workerd has such a stream; other runtimes collect the bytes. */
export interface Digest {
  write(chunk: Uint8Array): Promise<void>;
  /** Hexadecimal. */
  end(): Promise<string>;
}

export class FileMeter {
  readonly #mediaType: string;
  readonly #digest: Digest;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #latin1 = new TextDecoder("latin1");
  #bytes = 0;
  #pages = 0;
  #tail = "";
  #textTokens = 0;
  #isText = true;

  constructor(mediaType: string, digest: Digest) {
    this.#mediaType = mediaType;
    this.#digest = digest;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async take(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.byteLength;
    await this.#digest.write(chunk);
    if (this.#kind === "pdf") this.#countPages(chunk);
    if (this.#kind === "text") this.#countTokens(chunk);
  }

  /** `not_text`: the file was to be a text and is not UTF-8. */
  async end(): Promise<StoredFile | "not_text"> {
    if (this.#kind === "text") this.#countTokens(null);
    const sha256 = await this.#digest.end();
    if (!this.#isText) return "not_text";
    const size = { bytes: this.#bytes, pages: this.#pages, textTokens: this.#textTokens };
    return { sha256, tokens: this.#kind === null ? 0 : estimateFile(this.#kind, size) };
  }

  get #kind() {
    return findFileType(this.#mediaType)?.kind ?? null;
  }

  #countPages(chunk: Uint8Array): void {
    const text = this.#tail + this.#latin1.decode(chunk);
    const end = Math.max(0, text.length - OVERLAP);
    for (const { index } of text.matchAll(PAGE)) if (index < end) this.#pages += 1;
    this.#tail = text.slice(end);
  }

  #countTokens(chunk: Uint8Array | null): void {
    try {
      const text = chunk ? this.#utf8.decode(chunk, { stream: true }) : this.#utf8.decode();
      this.#textTokens += estimateTokens(text);
    } catch {
      this.#isText = false;
    }
  }
}
