/** Measures a file while it passes by: its bytes, its digest, and what it weighs in a request. */
import type { StoredFile } from "../app/file-api";
import { FileScale } from "../context/file-size";

/** Hashes bytes as they come. workerd has such a stream; other runtimes collect the bytes. */
export interface Digest {
  write(chunk: Uint8Array): Promise<void>;
  /** Hexadecimal. */
  end(): Promise<string>;
}

export class FileMeter {
  readonly #scale: FileScale;
  readonly #digest: Digest;

  constructor(mediaType: string, digest: Digest) {
    this.#scale = new FileScale(mediaType);
    this.#digest = digest;
  }

  get bytes(): number {
    return this.#scale.bytes;
  }

  async take(chunk: Uint8Array): Promise<void> {
    await this.#digest.write(chunk);
    this.#scale.take(chunk);
  }

  /** `not_text`: the file was to be a text and is not UTF-8. */
  async end(): Promise<StoredFile | "not_text"> {
    const tokens = this.#scale.end();
    const sha256 = await this.#digest.end();
    return tokens === "not_text" ? tokens : { sha256, tokens };
  }
}
