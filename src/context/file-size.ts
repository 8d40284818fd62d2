/** What a file weighs in a request, from its bytes as they come. */
import { estimateFile, findFileType } from "./file-types";
import { estimateTokens } from "./tokens";

/** A page of a PDF, where its directory is not compressed (ISO 32000-1, 7.7.3.3): `/Type /Page`, but not `/Type /Pages`. */
const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
/** Characters of the last chunk that are looked at again, because a page's entry may lie across two chunks. */
const OVERLAP = 32;

export class FileScale {
  readonly #kind: NonNullable<ReturnType<typeof findFileType>>["kind"] | null;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #latin1 = new TextDecoder("latin1");
  #bytes = 0;
  #pages = 0;
  #tail = "";
  #textTokens = 0;
  #isText = true;

  constructor(mediaType: string) {
    this.#kind = findFileType(mediaType)?.kind ?? null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#kind === "pdf") this.#countPages(chunk);
    if (this.#kind === "text") this.#countTokens(chunk);
  }

  /** Raw estimate in tokens. `not_text`: the file was to be a text and is not UTF-8. */
  end(): number | "not_text" {
    if (this.#kind === "text") this.#countTokens(null);
    if (!this.#isText) return "not_text";
    const size = { bytes: this.#bytes, pages: this.#pages, textTokens: this.#textTokens };
    return this.#kind === null ? 0 : estimateFile(this.#kind, size);
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
