/** Mutants of the overwriting of deleted bytes. */
import type { Mutant } from "./mutant.ts";

const FILES = ["test/lib/overwrite-freed.test.ts"];
const CHAT = ["test/channels/forgotten-chat.test.ts"];

export const scrub: readonly Mutant[] = [
  {
    name: "filler takes keys that filler of another overwriting has",
    breaks: "redactions at once all succeed, also after a crash in between (docs/erasure.md)",
    file: "src/lib/overwrite-freed.ts",
    find: 'n = "NULL"): string =>\n  `INSERT OR REPLACE INTO scrub',
    replace: 'n = "number"): string =>\n  `INSERT INTO scrub',
    tests: ["test/simulation/simulation.test.ts", "test/simulation/seeds-1.test.ts"],
  },
  {
    name: "the write-ahead log is overwritten only as far as a small transaction reaches",
    breaks: "no file keeps a row that a table kept, and that is deleted later (docs/erasure.md)",
    file: "src/lib/overwrite-freed.ts",
    find: 'insertFiller(rows + LEAST_ROWS, "-number")',
    replace: 'insertFiller(LEAST_ROWS, "-number")',
    tests: FILES,
  },
  {
    name: "filler of tables that are made anew is kept beside that from before",
    breaks: "an object takes no more room, however often its tables are made anew (docs/erasure.md)",
    file: "src/lib/overwrite-freed.ts",
    find: 'export const EMPTY_FILLER: readonly string[] = [CREATE_FILLER, "DELETE FROM scrub"];',
    replace: "export const EMPTY_FILLER: readonly string[] = [CREATE_FILLER];",
    tests: FILES,
  },
  {
    name: "who asks while an overwriting runs is told that it is done when that one is",
    breaks: "an overwriting covers what was deleted before it was asked for (docs/erasure.md)",
    file: "src/lib/overwrite-freed.ts",
    find: "    found.next ??= found.running.catch(() => {}).then(() => overwriteFreed(storage));",
    replace: "    found.next ??= found.running;",
    tests: FILES,
  },
  {
    name: "each that asks while an overwriting runs has one of its own",
    breaks: "overwritings at once take no more room than one (docs/erasure.md)",
    file: "src/lib/overwrite-freed.ts",
    find: "  if (found) {",
    replace: "  if (found?.next) {",
    tests: FILES,
  },
  {
    name: "a chat's tables are made anew only when no session is left",
    breaks: "an erased session leaves no byte in its chat (docs/chat-object.md)",
    file: "src/channels/chat/chat-rows.ts",
    find: '  rewriteTables(sql, TEXTS, () => {\n    for (const table of TEXTS) removeTexts(sql, table, "session = ?1", session);\n  });',
    replace: '  for (const table of TEXTS) removeTexts(sql, table, "session = ?1", session);',
    tests: CHAT,
  },
];
