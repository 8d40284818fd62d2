/** Which stored files the session's messages refer to, by the recorded facts about its items. */
import type { FileId } from "../../domain/ids";
import type { MediaMeta } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import type { Sql } from "./sql";

interface References {
  readonly files: readonly FileId[];
  /** Files of redacted messages that no other message refers to. */
  readonly gone: readonly FileId[];
}

type Row = { readonly file: string };

/** Reads all branches: a message that was left can be returned to. */
export function readFileReferences(sql: Sql, { queue }: Pick<SessionState, "queue">): References {
  const list = (path: string): FileId[] =>
    sql
      .all<Row>(
        `SELECT DISTINCT json_extract(attached.value, '$.file.id') AS file FROM items, json_each(items.meta, ?) AS attached
         WHERE json_extract(attached.value, '$.file.id') IS NOT NULL`,
        path,
      )
      .map(({ file }) => file as FileId);
  const waiting = queue.flatMap(({ item }) => listFiles(item.attached));
  const files = new Set([...list("$.attached"), ...waiting]);
  return { files: [...files], gone: list("$.recorded.attached").filter((file) => !files.has(file)) };
}

const listFiles = (attached: readonly MediaMeta[] = []): FileId[] => attached.flatMap(({ file }) => (file ? [file.id] : []));
