/** Refusals of files, as documents. */
import type { TenantError } from "../app/tenant-api";
import { FILE_TYPE_NAMES } from "../context/file-types";
import { conflict, type RouteAnswer, retryLater, unknown } from "./answer";

/** `field` is named as the client wrote it: `body`, `content.1.url`. */
export type FileError =
  /** The type is not one that is stored, or the bytes are not of the type that the client named. `found`: null when nothing is known of it. */
  | { readonly code: "file_type_not_allowed"; readonly field: string; readonly found: string | null }
  | { readonly code: "file_too_large"; readonly field: string; readonly limit: number }
  | { readonly code: "length_required" }
  /** `limit`: milliseconds. */
  | { readonly code: "upload_too_slow"; readonly limit: number }
  /** A signed address that has expired, or that this deployment did not sign for this file. */
  | { readonly code: "signature_not_valid" }
  /** The deployment has no bucket for files. */
  | { readonly code: "files_disabled" }
  | { readonly code: "file_store_unavailable" };

type Answered =
  | FileError
  | Extract<
      TenantError,
      {
        readonly code:
          | "file_not_found"
          | "file_limit"
          | "file_taken"
          | "export_not_found"
          | "export_limit"
          | "import_not_found"
          | "import_limit";
      }
    >;
type AnsweredBy = { [E in Answered as E["code"]]: E };

const ALLOWED = `one of ${FILE_TYPE_NAMES.join(", ")}`;

export const fileAnswers: { readonly [C in keyof AnsweredBy]: (error: AnsweredBy[C]) => RouteAnswer } = {
  file_type_not_allowed: ({ field, found }) => {
    const detail = found === null ? `must be ${ALLOWED}` : `the content is ${found}; it must be ${ALLOWED}, and the type that is named`;
    return { status: 415, title: "File type not allowed", detail: `${field}: ${detail}.`, errors: [{ field, detail }], extra: { found } };
  },
  file_too_large: ({ field, limit }) => {
    const detail = `at most ${limit} bytes`;
    return { status: 413, title: "File too large", detail: `${field}: ${detail}.`, errors: [{ field, detail }], extra: { limit } };
  },
  length_required: () => ({
    status: 411,
    title: "Length required",
    detail: "Content-Length: needed, because a file is stored while it arrives.",
    errors: [{ field: "Content-Length", detail: "needed" }],
  }),
  upload_too_slow: ({ limit }) => ({
    status: 408,
    title: "Upload too slow",
    detail: `An upload takes at most ${limit / 60_000} minutes. Nothing was stored.`,
    extra: { limit_ms: limit },
  }),
  signature_not_valid: () => ({
    status: 403,
    title: "Signature not valid",
    detail: "The signed address has expired, or is not as it was signed. Ask for a new one.",
  }),
  files_disabled: () => ({
    status: 501,
    title: "Files not configured",
    detail: "This deployment stores no files, because it has no bucket for them.",
  }),
  file_store_unavailable: () => retryLater("The files' store is unavailable; nothing was changed."),
  file_not_found: () => unknown("file"),
  file_taken: ({ file }) => conflict("File exists", "A file of this id exists already.", { file_id: file }),
  export_not_found: () => unknown("export"),
  export_limit: ({ limit }) => conflict("Too many exports", `A tenant keeps at most ${limit} exports; delete one first.`, { limit }),
  import_not_found: () => unknown("import"),
  import_limit: ({ limit }) => conflict("Too many imports", `A tenant keeps at most ${limit} imports; delete one first.`, { limit }),
  file_limit: ({ of, limit }) =>
    conflict("Too many files", `A tenant stores at most ${limit} ${of === "files" ? "files" : "bytes of files"}; delete some first.`, {
      limit,
    }),
};
