/** The types of files that are stored, their largest sizes, and what they weigh in a request. */
import { assertNever } from "../lib/assert-never";
import { err, ok, type Result } from "../lib/result";
import { sniffType } from "../lib/sniff-type";
import { IMAGE_TOKENS } from "./tokens";

type FileKind = "image" | "pdf" | "text";

interface FileType {
  readonly kind: FileKind;
  readonly maxBytes: number;
}

const IMAGE: FileType = { kind: "image", maxBytes: 10_000_000 };
/** A text is read by a model as text. Its bound is that of a message. */
const TEXT: FileType = { kind: "text", maxBytes: 1_048_576 };

/** By media type. Providers agree on these images; of documents all of them read PDF and text. */
const FILE_TYPES: Readonly<Record<string, FileType>> = {
  "image/png": IMAGE,
  "image/jpeg": IMAGE,
  "image/gif": IMAGE,
  "image/webp": IMAGE,
  "application/pdf": { kind: "pdf", maxBytes: 32_000_000 },
  "text/plain": TEXT,
  "text/markdown": TEXT,
  "text/csv": TEXT,
  "application/json": TEXT,
};

export const FILE_TYPE_NAMES = Object.keys(FILE_TYPES);
/** The largest size of any file. */
export const MAX_FILE_BYTES = Math.max(...Object.values(FILE_TYPES).map(({ maxBytes }) => maxBytes));

export const findFileType = (mediaType: string): FileType | null =>
  Object.hasOwn(FILE_TYPES, mediaType) ? (FILE_TYPES[mediaType] ?? null) : null;

/** Types that say nothing: curl and browsers send them when nothing else is known. */
const UNSAID = new Set(["", "application/octet-stream", "application/x-www-form-urlencoded"]);

type TypeFault =
  | { readonly code: "file_type_not_allowed"; readonly found: string | null }
  | { readonly code: "file_too_large"; readonly limit: number };

/**
 * The type to store, by the file's first bytes. A text's kind cannot be found by its bytes, so the sender's word is taken there. `declared`: null
 * when the bytes decide.
 */
export function judgeType(
  head: Uint8Array,
  { declared, bytes }: { readonly declared: string | null; readonly bytes: number },
): Result<string, TypeFault> {
  const found = sniffType(head);
  const named = UNSAID.has(declared ?? "") ? found : declared;
  const type = named === null ? null : findFileType(named);
  const isAsNamed = named === found || (type?.kind === "text" && found === "text/plain");
  if (named === null || !type || !isAsNamed) return err({ code: "file_type_not_allowed", found });
  return bytes > type.maxBytes ? err({ code: "file_too_large", limit: type.maxBytes }) : ok(named);
}

/** Tokens of a page of a PDF. Anthropic names 1,500 to 3,000 (https://docs.claude.com/en/docs/build-with-claude/pdf-support). */
const PAGE_TOKENS = 2_000;
/** Bytes of a page when the pages cannot be counted, because newer PDFs compress their directory. */
const BYTES_PER_PAGE = 50_000;

interface FileSize {
  readonly bytes: number;
  /** Pages of a PDF. 0 when they could not be counted. */
  readonly pages: number;
  /** Estimated tokens of a text. */
  readonly textTokens: number;
}

/** Raw estimate of the tokens that the file takes in a request when the model reads it. */
export function estimateFile(kind: FileKind, { bytes, pages, textTokens }: FileSize): number {
  switch (kind) {
    case "image":
      return IMAGE_TOKENS;
    case "pdf":
      return Math.max(1, pages || Math.ceil(bytes / BYTES_PER_PAGE)) * PAGE_TOKENS;
    case "text":
      return textTokens;
    default:
      return assertNever(kind);
  }
}
