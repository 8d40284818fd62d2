/** The database of an object as the platform keeps it, in a folder whose files a test searches byte by byte. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeSql, type NodeSql } from "../../scripts/support/node-sql";
import type { SyncSql } from "../../src/lib/sync-sql";

export interface ObjectFiles extends Pick<NodeSql, "script" | "scrub"> {
  readonly sql: SyncSql;
  /** The same database, as a session uses it. */
  readonly session: NodeSql;
  /** How often the text is in the files. */
  count(text: string): number;
  /** What in the files matches a global pattern, each once. */
  find(pattern: RegExp): ReadonlySet<string>;
  remove(): void;
}

export function openObjectFiles(): ObjectFiles {
  const folder = mkdtempSync(join(tmpdir(), "object-"));
  const session = createNodeSql({ path: join(folder, "object.sqlite") });
  const read = (): readonly string[] => readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  return {
    session,
    sql: { rows: session.all, transaction: session.transaction },
    script: session.script,
    scrub: session.scrub,
    count: (text) => read().reduce((sum, file) => sum + file.split(text).length - 1, 0),
    find: (pattern) => new Set(read().flatMap((file) => [...file.matchAll(pattern)].map(([found]) => found))),
    remove: () => {
      session.close();
      rmSync(folder, { recursive: true });
    },
  };
}
