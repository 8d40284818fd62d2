/** Mutants of the scrub, which removes what deleted rows left in an object's files. */
import type { Mutant } from "./mutant.ts";

const SCRUB = ["test/lib/scrub/scrub.test.ts"];
const TABLES = ["test/lib/scrub/rewrite-tables.test.ts"];

export const scrub: readonly Mutant[] = [
  {
    name: "filler takes keys that filler of another scrub has",
    breaks: "redactions at once all succeed, also after a crash in between (docs/erasure.md)",
    file: "src/lib/scrub/filler.ts",
    find: 'n = "NULL"): string =>\n  `INSERT OR REPLACE INTO scrub',
    replace: 'n = "number"): string =>\n  `INSERT INTO scrub',
    tests: ["test/simulation/simulation.test.ts", "test/simulation/seeds-1.test.ts"],
  },
  {
    name: "the write-ahead log is overwritten only as far as a small transaction reaches",
    breaks: "no file keeps a text of up to 8 MB in a log that was long (docs/erasure.md)",
    file: "src/lib/scrub/scrub.ts",
    find: 'insertFiller(rows + toFillerRows(copied) + LEAST_ROWS, "-number")',
    replace: 'insertFiller(LEAST_ROWS, "-number")',
    tests: SCRUB,
  },
  {
    name: "the write-ahead log is overwritten only as far as the copies of tables reach, without their indexes",
    breaks: "no file keeps a row that a table kept, and that is deleted later (docs/erasure.md)",
    file: "src/lib/scrub/scrub.ts",
    find: "rows + toFillerRows(copied) + LEAST_ROWS",
    replace: "rows + LEAST_ROWS",
    tests: TABLES,
  },
  {
    name: "filler of tables that are made anew is kept beside that from before",
    breaks: "an object takes no more room, however often its tables are made anew (docs/erasure.md)",
    file: "src/lib/scrub/filler.ts",
    find: 'export const EMPTY_FILLER: readonly string[] = [CREATE_FILLER, "DELETE FROM scrub"];',
    replace: "export const EMPTY_FILLER: readonly string[] = [CREATE_FILLER];",
    tests: SCRUB,
  },
  {
    name: "who asks while a scrub runs is told that it is done when that one is",
    breaks: "a scrub covers what was deleted before it was asked for (docs/erasure.md)",
    file: "src/lib/scrub/scrub.ts",
    find: "    found.next ??= found.running.catch(() => null).then(() => scrub(storage, options));",
    replace: "    found.next ??= found.running;",
    tests: SCRUB,
  },
  {
    name: "each that asks while a scrub runs has one of its own",
    breaks: "scrubs at once take no more room than one (docs/erasure.md)",
    file: "src/lib/scrub/scrub.ts",
    find: "  if (found) {",
    replace: "  if (found?.next) {",
    tests: SCRUB,
  },
  {
    name: "a scrub writes no table anew",
    breaks: "no page keeps a copy of a redacted message, or of an erased chat's (docs/erasure.md, docs/chat-object.md)",
    file: "src/lib/scrub/scrub.ts",
    find: "const all = listTables(sql);",
    replace: "const all: string[] = [];",
    tests: ["test/session/redacted-files.test.ts", "test/channels/forgotten-chat.test.ts"],
  },
  {
    name: "tables are written anew into pages that were freed before",
    breaks: "no page of a copy keeps what was in it before (docs/erasure.md)",
    file: "src/lib/scrub/scrub.ts",
    find: "  await run(insertFiller(LEAST_ROWS));\n",
    replace: "",
    tests: TABLES,
  },
  {
    name: "indexes are made in the pages that the tables had",
    breaks: "no page of an index keeps what was in it before (docs/erasure.md)",
    file: "src/lib/scrub/rewrite-tables.ts",
    find: "fillFreed(before + copied - usedBytes())",
    replace: "fillFreed(0)",
    tests: TABLES,
  },
];
