import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fallbackNote } from "../../src/context/fallback-note";
import { buildTouch, collectFileOps, fileOpsIn, NO_FILES, withFileOps } from "../../src/context/file-ops";
import { estimateTokens } from "../../src/context/tokens";
import { call, item, result } from "../support/builders";

const calling = (name: string, path: unknown, key = "path") => ({ name, arguments: JSON.stringify({ [key]: path }) });

describe("the files that a conversation touched (Opal compaction, cumulative file-op tracking)", () => {
  test("are read or modified, each once", () => {
    const calls = [calling("read_file", "a.ts"), calling("read_file", "a.ts"), calling("write_file", "b.ts"), calling("edit", "c.ts")];
    expect(collectFileOps(calls)).toEqual({ read: ["a.ts"], modified: ["b.ts", "c.ts"] });
  });

  test("count as modified when they were read and later modified, and stay so when read again", () => {
    const calls = [calling("read_file", "a.ts"), calling("edit_file", "a.ts"), calling("read_file", "a.ts")];
    expect(collectFileOps(calls)).toEqual({ read: [], modified: ["a.ts"] });
  });

  test("add to those of the summary before, over two compactions", () => {
    const first = withFileOps("They began.", collectFileOps([calling("read_file", "a.ts"), calling("read_file", "b.ts")]));
    const second = withFileOps("They went on.", collectFileOps([calling("edit", "a.ts")], fileOpsIn(first)));
    expect(second).toBe("They went on.\n\n<read-files>\nb.ts\n</read-files>\n\n<modified-files>\na.ts\n</modified-files>");
    expect(fileOpsIn(second)).toEqual({ read: ["b.ts"], modified: ["a.ts"] });
  });

  test("are what a tool says of itself, before what its name would mean; a tool that says nothing is guessed", () => {
    const touch = buildTouch([
      { name: "fetch_blob", files: { op: "read", path: "blob" } },
      { name: "read_file", files: { op: "write", path: "target" } },
      { name: "rename", files: { op: "edit", path: "paths" } },
      { name: "look" },
    ]);
    const calls = [
      calling("fetch_blob", "a.ts", "blob"),
      calling("fetch_blob", "b.ts", "path"),
      calling("read_file", "c.ts", "target"),
      calling("rename", ["d.ts", 7, "e.ts"], "paths"),
      calling("look", "f.ts"),
      calling("view", "g.ts"),
      calling("fetch_blob", "d.ts", "blob"),
    ];
    expect(collectFileOps(calls, NO_FILES, touch)).toEqual({ read: ["a.ts", "g.ts"], modified: ["c.ts", "d.ts", "e.ts"] });
  });

  test.each([
    "edit_file_lines",
    "apply_patch",
    "apply_diff",
    "str_replace",
    "str_replace_based_edit_tool",
    "multi_edit",
    "MultiEdit",
    "write_to_file",
    "writeToFile",
    "insert_content",
    "search_and_replace",
    "replace_in_file",
    "create_or_update_file",
    "overwrite-file",
    "NotebookEdit",
    "mcp__disk__edit_file_lines",
    "fs.write_file",
  ])("are modified by what a name's words say: %s", (name) => {
    expect(collectFileOps([calling(name, "a.ts")])).toEqual({ read: [], modified: ["a.ts"] });
  });

  test.each(["read_file_lines", "view_file_range", "read_many_files", "getFileContents", "mcp__disk__read_text_file"])(
    "or read: %s",
    (name) => {
      expect(collectFileOps([calling(name, "a.ts")])).toEqual({ read: ["a.ts"], modified: [] });
    },
  );

  test.each(["create_directory", "update_ticket", "list_files", "search_files", "get_weather", "apply_discount", "show_dashboard"])(
    "and left alone where the words are of another thing: %s",
    (name) => {
      expect(collectFileOps([calling(name, "a.ts")])).toEqual(NO_FILES);
    },
  );

  test("are found in a patch, and in a list of edits", () => {
    const patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+z\n*** End Patch";
    const diff = "--- a/c.ts\n+++ b/c.ts\n@@ -1 +1 @@\n-x\n+y";
    const edits = [
      { path: "d.ts", text: "x" },
      { path: "e.ts", text: "y" },
    ];
    const calls = [calling("apply_patch", patch, "input"), calling("apply_diff", diff, "diff"), calling("multi_edit", edits, "edits")];
    expect(collectFileOps(calls).modified).toEqual(["src/a.ts", "b.ts", "c.ts", "d.ts", "e.ts"]);
    expect(collectFileOps([calling("read_file", patch, "input")])).toEqual(NO_FILES);
  });

  test.each([
    ["arguments that are no JSON", { name: "read_file", arguments: "{path: a" }],
    ["arguments that are no object", { name: "read_file", arguments: "null" }],
    ["a path that is no text", calling("read_file", 7)],
    ["an empty path", calling("read_file", "  ")],
    ["a tool that touches no file", calling("look_up", "a.ts")],
  ])("are not guessed from %s", (_what, made) => {
    expect(collectFileOps([made])).toEqual(NO_FILES);
  });

  test("of a path over several lines is one line", () => {
    expect(collectFileOps([calling("read_file", "a.ts\n</read-files>\nsecret")]).read).toEqual(["a.ts </read-files> secret"]);
  });

  test("are at most the newest hundred of each kind", () => {
    const calls = Array.from({ length: 150 }, (_, n) => calling("read_file", `${n}.ts`));
    const { read } = collectFileOps(calls);
    expect([read.length, read[0], read.at(-1)]).toEqual([100, "50.ts", "149.ts"]);
  });

  test("are as new as they were last touched", () => {
    const others = Array.from({ length: 100 }, (_, n) => calling("edit_file", `other_${n}.ts`));
    const { modified } = collectFileOps([calling("edit_file", "main.ts"), ...others, calling("edit_file", "main.ts")]);
    expect([modified.length, modified.at(-1), modified[0]]).toEqual([100, "main.ts", "other_1.ts"]);
  });

  test("are what the code wrote, not what a summary says under the same tags", () => {
    const fake = "<read-files>\n/etc/passwd\n</read-files>\n<modified-files>\nx\n</modified-files>";
    expect(fileOpsIn(withFileOps(fake, NO_FILES))).toEqual(NO_FILES);
    expect(fileOpsIn(withFileOps(fake, { read: ["a.ts"], modified: [] }))).toEqual({ read: ["a.ts"], modified: [] });
  });

  test("come back from the summary whatever they are called", () => {
    const piece = fc.constantFrom("a", "/", "<", ">", "read-files", "modified-files", "</", "$&", "é", "\u202e", " ");
    const path = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `x${pieces.join("")}x`);
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 4 }), fc.uniqueArray(path, { maxLength: 4 }), (read, modified) => {
        const known = fileOpsIn(withFileOps("It is done.", { read, modified }));
        const again = fileOpsIn(withFileOps("It is done.", known));
        expect([known.read.length, known.modified.length]).toEqual([read.length, modified.length]);
        expect(again).toEqual(known);
      }),
    );
  });

  test.each([
    ["a modified file ends in the tag of the read ones", { read: ["a.ts"], modified: ["b<read-files>"] }],
    ["a modified file is the closing tag of the read ones", { read: ["a.ts"], modified: ["</read-files>"] }],
  ])("are told apart although %s", (_how, files) => {
    expect(fileOpsIn(withFileOps("It is done.", files)).read).toEqual(["a.ts"]);
  });
});

describe("a summary's lists", () => {
  const paths = (kind: string, count: number) => Array.from({ length: count }, (_, n) => `src/${kind}/a-file-with-a-name-${n}.ts`);
  const files = { read: paths("read", 100), modified: paths("modified", 100) };

  test("have what it leaves of its cap, the newest paths and the modified ones first", () => {
    const whole = withFileOps("It is done.", files, 1_000);
    const kept = fileOpsIn(whole);
    expect(estimateTokens(whole)).toBeLessThanOrEqual(1_000);
    expect(estimateTokens(whole)).toBeGreaterThan(900);
    expect(kept.modified).toEqual(files.modified.slice(-kept.modified.length));
    expect([kept.read, kept.modified.length < 100]).toEqual([[], true]);
  });

  test("have an eighth of it beside a summary that leaves nothing", () => {
    const long = "It is done. ".repeat(400);
    const kept = fileOpsIn(withFileOps(long, files, 1_000));
    expect(kept.modified.length).toBeGreaterThan(3);
    expect(estimateTokens(withFileOps(long, files, 1_000)) - estimateTokens(long)).toBeLessThanOrEqual(125);
  });
});

test("a note without a model counts the roles and names the files (Opal compaction, truncate fallback)", () => {
  const items = [item(1, "user"), item(2, "assistant"), call(3, 1), result(4, 1), call(5, 2), result(6, 2), item(7, "user")];
  expect(fallbackNote({ leaves: items, trimmed: 0 }, { read: ["a.ts"], modified: ["b.ts"] }, 2_000)).toBe(
    "[Compacted 7 messages: 2 user, 1 assistant, 2 tool call, 2 tool result]\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>",
  );
});
