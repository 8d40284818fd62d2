/** Files: what may be asked of the tenant's object, which owns their registry, and of the store that holds their bytes. */
import type { FileErasure, FileView } from "../contract/file";
import type { FileId, SessionId, TenantId } from "../domain/ids";
import type { Result } from "../lib/result";
import type { Act } from "./audit-chain";
import type { Released } from "./erasure-view";
import type { Idempotency } from "./session-api";
import type { TenantOutcome } from "./tenant-api";

/** What a message stores of a file that it refers to. */
export interface FileFacts {
  readonly file_id: FileId;
  readonly name: string | null;
  readonly media_type: string;
  readonly bytes: number;
  /** Raw estimate of the file in a request to a model that reads it. */
  readonly tokens: number;
}

export interface FileUse {
  readonly session: SessionId;
  readonly files: readonly FileId[];
  /** A file that the session does not refer to yet counts as missing. */
  readonly sessionsOnly?: true;
  /** A file that is missing is left out. For copies of messages, which may refer to files that were deleted. */
  readonly skipMissing?: true;
  /**
   * The session is a throwaway session, which no directory has. `owns`: the files came with its request and end with it. `names`: they stay.
   * Such a session confirms no reference, because it ends before the note does.
   */
  readonly throwaway?: "owns" | "names";
  /** Only what is known of the files is asked: the session refers to none of them. */
  readonly asksOnly?: true;
}

/** Which files a session refers to. */
interface FileKeep {
  readonly session: SessionId;
  readonly files: readonly FileId[];
  /** Files of redacted messages that no other message refers to. */
  readonly gone: readonly FileId[];
  /** The session's newest event, by which an outdated call is known: calls arrive in any order. */
  readonly seq: number;
  /** The session's newest redaction: exports of an earlier state end. Absent: there was none. */
  readonly redacted_at?: number;
}

/** What is known of a file once its bytes are stored. */
export interface StoredFile {
  /** Hexadecimal. */
  readonly sha256: string;
  readonly tokens: number;
}

export interface TenantFilesApi {
  /** Notes an upload before its first byte is stored, so that an upload that was cut off is found and removed. */
  beginFile(input: {
    readonly file: FileId;
    readonly name: string | null;
    readonly media_type: string;
    readonly bytes: number;
    /** The throwaway session whose request brings the file, which ends with it from its first byte on. Absent: none. */
    readonly throwaway?: SessionId;
  }): Promise<TenantOutcome<null>>;
  /**
   * Ends an upload: the file can be read and referred to. With a repeated idempotency key: the first request's file, and this upload is
   * removed.
   */
  finishFile(input: {
    readonly file: FileId;
    readonly stored: StoredFile;
    readonly idempotency: Idempotency | null;
    /** Noted in the audit log, if the file is new. Absent: the file is a part of something that is noted, or of a message. */
    readonly act?: Act;
  }): Promise<TenantOutcome<{ readonly file: FileView; readonly replayed: boolean }>>;
  /** Gives up an upload that failed, so that it does not count against the tenant until its hour is over. A stored file stays. */
  abandonFile(file: FileId): Promise<TenantOutcome<null>>;
  getFile(file: FileId): Promise<TenantOutcome<FileView>>;
  /** By the time of the upload. */
  listFiles(page: FileQuery): Promise<TenantOutcome<FilePage>>;
  /** Makes a file unreadable at once, then erases its content. */
  deleteFile(act: Act, file: FileId): Promise<TenantOutcome<FileErasure>>;
  /**
   * Notes that a message of the session is about to refer to these files, and returns what messages store of them. Refused as a whole if one
   * of them is missing. `keepFiles` confirms the note.
   */
  useFiles(input: FileUse): Promise<TenantOutcome<readonly FileFacts[]>>;
  /**
   * Replaces the set of files that the session refers to. A file that no session refers to any more is erased. References that were noted a
   * short time ago stay, because their message may be on its way, except those of `gone`: their messages were redacted.
   */
  keepFiles(input: FileKeep): Promise<TenantOutcome<null>>;
  /** Ends all references of an erased session, and erases the files that were its own and the exports that held it. */
  releaseFiles(session: SessionId): Promise<TenantOutcome<Released>>;
}

export interface FileQuery {
  readonly after: FileId | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

export interface FilePage {
  readonly data: readonly FileView[];
  readonly has_more: boolean;
}

/** Faults of a body: it has not as many bytes as were announced, it ended before its end, or it was to be a text and is not UTF-8. */
export type PutFault = "length" | "cut_off" | "not_text";

/** The bytes of one tenant's files. A method throws when the store is out of reach. */
export interface FileStore {
  /**
   * Stores the body under a new id. After a fault nothing is stored, or what is stored is removed with the note of the upload. Throws when the store
   * refuses: then it may store the bytes all the same.
   */
  put(
    file: FileId,
    input: { readonly body: ReadableStream<Uint8Array>; readonly bytes: number; readonly media_type: string },
  ): Promise<Result<StoredFile, PutFault>>;
  /** Null when there is no such file. */
  open(file: FileId): Promise<ReadableStream<Uint8Array> | null>;
  has(file: FileId): Promise<boolean>;
  /** Null when there is no such file. For files that a request to a model may contain. */
  read(file: FileId): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Removing a file that is not there changes nothing. */
  remove(file: FileId): Promise<void>;
}

/** All bytes of a tenant. */
export interface TenantFileStore extends FileStore {
  /** Removes every file of the tenant. */
  removeAll(): Promise<void>;
}

interface FileGrant {
  readonly tenant: TenantId;
  readonly file: FileId;
  /** Epoch milliseconds. */
  readonly expires_at: number;
}

/** Signs addresses that read one file without a key. */
export interface FileSigner {
  /** The value of the address's query `signature`. */
  sign(grant: FileGrant): Promise<string>;
  /** Null when the text is not a signature of this deployment, or has expired. */
  verify(signature: string): Promise<FileGrant | null>;
}

/** Reads one tenant's files for requests to models. Null: there is no such file any more. A method throws when the store is out of reach. */
export interface FileReader {
  readBase64(file: FileId): Promise<string | null>;
  readText(file: FileId): Promise<string | null>;
  /** A signed address for a request that is sent at `at` (absent: now). Null: the deployment has no address of its own. */
  findAddress(file: FileId, at?: number): Promise<string | "gone" | null>;
}

/** Tells the tenant's object which files a session refers to. */
export interface FileReferences {
  keep(input: FileKeep): Promise<void>;
}
