/** Exports and imports: what the API answers, and the lines of an export's file (docs/export-format.md). */
import { z } from "@hono/zod-openapi";
import { FILE_TYPE_NAMES } from "../context/file-types";
import { EXPORT_FORMAT, EXPORT_VERSION, SETTING_KINDS, SETTINGS_MODES } from "../domain/export-format";
import { id, MAX_TIME, time } from "./ids";
import { endUser, externalId, fileName } from "./label";

const exportSubject = z.enum(["session", "end_user", "tenant"]);
const settingKind = z.enum(SETTING_KINDS);

export const exportView = z
  .object({
    id: id("exp"),
    of: exportSubject,
    session_id: id("ses").nullable().openapi({ description: "Of an export of one session" }),
    end_user: z.string().nullable().openapi({ description: "Of an export of one end user's sessions" }),
    settings: z.array(settingKind).readonly().openapi({
      description:
        "The settings that are in it: those that the key which asked for the export may read. Only an export of the tenant has some",
    }),
    status: z
      .enum(["running", "ready", "failed"])
      .openapi({ description: "failed: the store could not be written, or a session changed too often" }),
    sessions_done: z.int(),
    sessions_total: z.int().openapi({ description: "The sessions to look at, as counted when the export began" }),
    bytes: z.int().openapi({ description: "The bytes that are written" }),
    created_at: time,
    finished_at: time.nullable(),
    expires_at: time.openapi({ description: "When the export is removed" }),
    download_url: z.string().nullable().openapi({
      format: "uri",
      description: "Reads the file without a key, for an hour. Null unless the export is ready, and the calling key may read its settings",
    }),
  })
  .openapi("Export");
export type ExportView = z.infer<typeof exportView>;

export const exportRemoval = z
  .object({ id: id("exp"), status: z.enum(["removed", "pending"]).openapi({ description: "pending: the file is removed later" }) })
  .openapi("ExportRemoval", { description: "The export cannot be read any more" });
export type ExportRemoval = z.infer<typeof exportRemoval>;

const lineNumber = z.int().openapi({ description: "Where the file has it: the number of its first line, from 1" });

const importedSession = z
  .object({
    line: lineNumber,
    id: id("ses"),
    status: z
      .enum(["restored", "exists", "erased", "external_id_taken", "file_taken", "refused"])
      .openapi({ description: "Only `restored` changed anything. exists: the tenant has a session of this id, and nothing is merged" }),
    detail: z.string().nullable().openapi({ description: "Why the session was not restored" }),
  })
  .openapi("ImportedSession");
export type ImportedSession = z.infer<typeof importedSession>;

const importedSetting = z
  .object({
    line: lineNumber,
    kind: settingKind,
    name: z.string(),
    status: z.enum(["created", "replaced", "exists", "differs", "needs_credential", "needs_key", "forbidden", "refused"]).openapi({
      description:
        "created, replaced: it is as in the file. exists: it was already. differs: the tenant has another one, which is left as it is. needs_credential: store the credential, or rotate the secret; what needs it is there. needs_key: make a new key. forbidden: the calling key has not the scope",
    }),
    detail: z.string().nullable().openapi({ description: "What is to be done, or why nothing was" }),
  })
  .openapi("ImportedSetting");
export type ImportedSetting = z.infer<typeof importedSetting>;

export const importReport = z
  .object({
    settings: z.array(importedSetting).readonly(),
    sessions: z.array(importedSession).readonly(),
    has_more: z.boolean().openapi({ description: "The file has more sessions than one request restores: send it again with `after`" }),
    next_cursor: id("ses").nullable(),
  })
  .openapi("ImportReport");
export type ImportReport = z.infer<typeof importReport>;

export const importView = z
  .object({
    id: id("imp"),
    export_id: id("exp"),
    settings: z.enum(SETTINGS_MODES),
    status: z.enum(["running", "done", "failed"]).openapi({ description: "failed: `error` says why. What is restored stays" }),
    bytes_read: z.int().openapi({ description: "How far the file is restored, to the last session that is whole" }),
    bytes_total: z.int(),
    sessions_done: z.int().openapi({ description: "The sessions of the file that were taken, restored or not" }),
    sessions_restored: z.int(),
    sessions_total: z.int().nullable().openapi({ description: "As the export counted them. Null for one of an end user, which does not" }),
    error: z
      .object({ line: z.int().nullable(), detail: z.string() })
      .nullable()
      .openapi({ description: "`line`: where the file is at fault" }),
    created_at: time,
    finished_at: time.nullable(),
    expires_at: time.openapi({ description: "When this report is removed" }),
  })
  .openapi("Import");
export type ImportView = z.infer<typeof importView>;

export const importEntry = z
  .object({
    line: lineNumber,
    kind: z.enum(["session", ...SETTING_KINDS]),
    name: z.string().openapi({ description: "The session's id, or the setting's name" }),
    status: z.enum([...new Set([...importedSession.shape.status.options, ...importedSetting.shape.status.options])]),
    detail: z.string().nullable(),
  })
  .openapi("ImportEntry");
export type ImportEntry = z.infer<typeof importEntry>;

export const importDeletion = z.object({ id: id("imp"), deleted: z.literal(true) }).openapi("ImportDeletion");

const count = z.int().min(0);
const pastTime = z.int().min(0).max(MAX_TIME);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The lines of an export by their type. */
export const exportLine = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("header"),
    format: z.literal(EXPORT_FORMAT),
    version: z.literal(EXPORT_VERSION),
    of: exportSubject,
    made_at: pastTime,
    settings: z.array(settingKind).optional(),
  }),
  z.strictObject({
    type: z.literal("setting"),
    kind: settingKind,
    name: z.string().min(1).max(256),
    /** Checked where it is restored, as the API checks it. */
    value: z.unknown(),
  }),
  z.strictObject({
    type: z.literal("session"),
    id: id("ses"),
    created_at: pastTime,
    external_id: externalId.nullable(),
    end_user: endUser.nullable(),
    seq: z.int().min(1),
  }),
  z.strictObject({
    type: z.literal("event"),
    seq: z.int().min(1),
    at: pastTime,
    event: z.string(),
    version: z.int().min(1),
    /** Read from the parsed line, so that its keys keep their order. */
    data: z.looseObject({}),
  }),
  z.strictObject({ type: z.literal("body"), id: z.string().regex(/^[a-z]{3}_[0-9A-Z]{26}$/), part: count, text: z.string().max(500_000) }),
  z.strictObject({
    type: z.literal("file"),
    id: id("fil"),
    name: fileName.nullable(),
    media_type: z.enum(FILE_TYPE_NAMES),
    bytes: z.int().min(1),
    sha256,
  }),
  z.strictObject({ type: z.literal("content"), file: id("fil"), offset: count, base64: z.base64() }),
  z.strictObject({ type: z.literal("session_end"), id: id("ses"), events: count, bodies: count, files: count }),
  z.strictObject({ type: z.literal("checkpoint"), sha256 }),
  z.strictObject({ type: z.literal("end"), sessions: count, lines: count, sha256 }),
]);
export type ExportLine = z.infer<typeof exportLine>;
export type LineOf<T extends ExportLine["type"]> = Extract<ExportLine, { readonly type: T }>;
