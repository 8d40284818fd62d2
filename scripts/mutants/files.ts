/** Mutants of the registry of files: what a session refers to, and what is removed when. */
import type { Mutant } from "./mutant.ts";

const FILES = ["test/simulation/files.test.ts"];

export const files: readonly Mutant[] = [
  {
    name: "the end of one file goes through all names",
    breaks: "a statement of the tenant's object runs by an index (test/support/tenant-plans.ts)",
    file: "src/tenant/files/file-names.ts",
    find: '"name IS NOT NULL AND id = ?"',
    replace: '"name IS NOT NULL AND +id = ?"',
    tests: ["test/tenant/query-plans.test.ts"],
  },
  {
    name: "references of throwaway sessions are found without an index",
    breaks: "a statement of the tenant's object runs by an index (test/support/tenant-plans.ts)",
    file: "src/tenant/core/tenant-tables.ts",
    find: "ON file_refs (held_until) WHERE own IS NOT NULL",
    replace: "ON file_refs (held_until) WHERE own = 2",
    tests: ["test/tenant/query-plans.test.ts"],
  },
  {
    name: "what a session said of its files before overtakes what it says now",
    breaks: "I37: a file that a live message names is there",
    file: "src/tenant/files/files.ts",
    find: "if (known && known.seq > seq) return true;",
    replace: "",
    tests: FILES,
  },
  {
    name: "a copy does not hold the files that it is about to refer to",
    breaks: "I37: a file that a live message names is there",
    file: "src/app/branch/copy-session.ts",
    find: "files.length > 0 && !(await hold(files))",
    replace: "false",
    tests: FILES,
  },
  {
    name: "a removed file is forgotten before its bytes are gone",
    breaks: "I36: no byte is in the bucket that no entry names",
    file: "src/tenant/files/file-removal.ts",
    find: "await store()?.remove(file);",
    replace: "void store()?.remove(file).catch(() => undefined);",
    tests: FILES,
  },
  {
    name: "bytes that arrive for an upload that was given up stay",
    breaks: "I36: no byte is in the bucket that no entry names",
    file: "src/tenant/files/files.ts",
    find: "if (!done.ok || done.value.outcome !== file) removeLate(file, at);",
    replace: "if (!done.ok || done.value.outcome !== file) mark(file, at);",
    tests: ["test/tenant/files.test.ts"],
  },
  {
    name: "an access token names any file of the tenant",
    breaks: "an access token names only files of its session",
    file: "src/tenant/files/files.ts",
    find: "sessionsOnly && !isReferred(session, file) ? null : findRow(file)",
    replace: "findRow(file)",
    tests: ["test/tenant/files.test.ts"],
  },
];
