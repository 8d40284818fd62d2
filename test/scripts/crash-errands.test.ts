/** The crash test's verdict on erasures, redactions, forks and rebuilds, and its reading of files. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { MARK } from "../../scripts/crash-test/errands";
import { readFiles } from "../../scripts/crash-test/evidence";
import { type ErrandEvidence, faultsOfErrands } from "../../scripts/crash-test/verify-errands";

const erased = { session: "ses_1", read: 404, messages: 404, recreated: 404, isListed: false };
const redacted = { markers: ["one"], answers: new Map([["context", "two"]]), hits: new Map([["one", 0]]) };
const fork = { fork: "ses_2", expected: ["a", "b"], found: ["a", "b"] };
const rebuilt = { session: "ses_3", rows: 5, differences: 0, repaired: true, isRepaired: true };
const files = { marked: [], named: [], bytes: [] };
const clean: ErrandEvidence = { erased: [erased], redacted, forks: [fork], rebuilt: [rebuilt], files };

describe("the verdict on errands", () => {
  test("is clean when each kind was done and nothing is left", () => {
    expect(faultsOfErrands(clean)).toEqual([]);
  });

  test.each<[string, Partial<ErrandEvidence>, RegExp]>([
    ["an erased session can be read", { erased: [{ ...erased, read: 200 }] }, /a read is answered 200: ses_1/],
    ["an erased session's messages can be read", { erased: [{ ...erased, messages: 200 }] }, /its messages is answered 200: ses_1/],
    ["an erased session is listed", { erased: [{ ...erased, isListed: true }] }, /listed: ses_1/],
    ["an old key revives an erased session", { erased: [{ ...erased, recreated: 200 }] }, /old key is answered 200: ses_1/],
    ["a create with an old key fails", { erased: [{ ...erased, recreated: 500 }] }, /old key is answered 500: ses_1/],
    ["an answer shows a redacted word", { redacted: { ...redacted, answers: new Map([["context", "t one"]]) } }, /answer of context: one/],
    ["a look-up finds a redacted word", { redacted: { ...redacted, hits: new Map([["one", 1]]) } }, /found by a look-up: one/],
    ["a fork lacks a message", { forks: [{ ...fork, found: ["a"] }] }, /has 1 of 2 messages: ses_2/],
    ["a fork has another message", { forks: [{ ...fork, found: ["a", "c"] }] }, /message 2 is not its source's: ses_2/],
    ["rows differ after a rebuild", { rebuilt: [{ ...rebuilt, differences: 2 }] }, /2 differences are left after a rebuild: ses_3/],
    ["rows cannot be mended", { rebuilt: [{ ...rebuilt, isRepaired: false }] }, /could not be mended: ses_3/],
    ["a session has no rows", { rebuilt: [{ ...rebuilt, rows: 0 }] }, /found no rows: ses_3/],
    ["a row holds the text", { files: { ...files, marked: ["bodies"] } }, /a row holds what was erased or redacted: bodies/],
    ["a row names an erased session", { files: { ...files, named: ["messages"] } }, /erased session's: messages/],
    ["a file holds the bytes", { files: { ...files, bytes: ["a.sqlite-wal"] } }, /a file holds bytes .* a.sqlite-wal/],
    ["no session was erased", { erased: [] }, /no session was erased/],
    ["no message was redacted", { redacted: { ...redacted, markers: [] } }, /no message was redacted/],
    ["no session was forked", { forks: [] }, /no session was forked/],
    ["no rows were rebuilt", { rebuilt: [] }, /no rows were rebuilt/],
  ])("says so when %s", (_, change, fault) => {
    expect(faultsOfErrands({ ...clean, ...change })).toEqual([expect.stringMatching(fault)]);
  });
});

describe("the files of a server", () => {
  const erasures = [{ session: "ses_1", marker: `a${MARK}`, key: "k" }];

  /** The databases of an object and of D1, after these statements. */
  function stateWith(object: string, d1: string): string {
    const state = mkdtempSync(join(tmpdir(), "longhand-crash-"));
    onTestFinished(() => rmSync(state, { recursive: true, force: true }));
    for (const [folder, statements] of [
      ["do", object],
      ["d1", d1],
    ] as const) {
      mkdirSync(join(state, "v3", folder), { recursive: true });
      const database = new DatabaseSync(join(state, "v3", folder, "one.sqlite"));
      database.exec(statements);
      database.close();
    }
    return state;
  }

  test("are clean with other text, and with a tombstone of the erased session", () => {
    const state = stateWith(
      "CREATE TABLE bodies (text TEXT)",
      "CREATE TABLE session_tombstones (id); INSERT INTO session_tombstones VALUES ('ses_1')",
    );
    expect(readFiles(state, erasures)).toEqual({ marked: [], named: [], bytes: [] });
  });

  test("show a marker in a row of text or of bytes, the index's too, and its bytes in the file", () => {
    const text = `said x${MARK} here`;
    const state = stateWith(
      `CREATE TABLE bodies (text TEXT); INSERT INTO bodies VALUES ('${text}');
       CREATE VIRTUAL TABLE recall USING fts5(text, content='', contentless_delete=1); INSERT INTO recall (rowid, text) VALUES (1, '${text}')`,
      "CREATE TABLE messages (content)",
    );
    const { marked, bytes } = readFiles(state, erasures);
    expect(marked).toEqual([expect.stringContaining("bodies"), expect.stringContaining("recall_data")]);
    expect(bytes).toEqual(["one.sqlite"]);
  });

  test("show a row of D1 that is an erased session's", () => {
    const state = stateWith(
      "CREATE TABLE t (a); INSERT INTO t VALUES (1795373724521000000)",
      "CREATE TABLE messages (session_id); INSERT INTO messages VALUES ('ses_1'), ('ses_2')",
    );
    expect(readFiles(state, erasures).named).toEqual(["messages: ses_1"]);
  });
});
