/** The database of an object as the platform keeps it, in a folder whose files a test searches byte by byte. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeSql, type NodeSql } from "../../scripts/support/node-sql";
import type { SyncSql } from "../../src/lib/sync-sql";
import { readMarks } from "./marks";

export interface ObjectFiles extends Pick<NodeSql, "script" | "scrub"> {
  readonly sql: SyncSql;
  /** The same database, as a session uses it. */
  readonly session: NodeSql;
  /** How often the text is in the files. */
  count(text: string): number;
  /** The marks in the files, each once, in order. */
  findMarks(): readonly string[];
  remove(): void;
}

export function openObjectFiles(): ObjectFiles {
  const folder = mkdtempSync(join(tmpdir(), "object-"));
  const session = createNodeSql({ path: join(folder, "object.sqlite") });
  const read = (): readonly string[] => readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  return {
    session,
    sql: { rows: session.all, transaction: session.transaction, usedBytes: session.usedBytes },
    script: session.script,
    scrub: session.scrub,
    count: (text) => read().reduce((sum, file) => sum + file.split(text).length - 1, 0),
    findMarks: () => readMarks(read().join("\n")),
    remove: () => {
      session.close();
      rmSync(folder, { recursive: true });
    },
  };
}
