import { describe, expect, test } from "vitest";
import { countRows, diffRows, mergePages, type RowKey } from "../../src/app/diff-rows";

const rows = { messages: { "1": { text: "hello", tokens: 3 }, "2": { text: "再见 👋", tokens: 4 } }, sessions: { s: { count: 2 } } };

describe("diffRows", () => {
  test("rows that are equal differ in nothing", () => {
    expect(diffRows(rows, structuredClone(rows))).toEqual([]);
  });

  test("a changed value is named by table, row and column", () => {
    const damaged = { ...rows, sessions: { s: { count: 7 } } };
    expect(diffRows(rows, damaged)).toEqual([{ table: "sessions", key: "s", column: "count", before: 7, after: 2 }]);
  });

  test("a row that is missing or does not belong there is one difference", () => {
    const damaged = { ...rows, messages: { "2": rows.messages["2"], "3": { text: "?", tokens: 1 } } };
    expect(diffRows(rows, damaged)).toEqual([
      { table: "messages", key: "1", column: null, before: null, after: "row" },
      { table: "messages", key: "3", column: null, before: "row", after: null },
    ]);
  });

  test("a table that only one side has is compared as empty", () => {
    expect(diffRows({}, { usage: { "9": { input: 1 } } })).toHaveLength(1);
  });

  test("only the beginning of a long text is reported", () => {
    const long = (text: string) => ({ messages: { "1": { text: text.repeat(5000) } } });
    const [difference] = diffRows(long("好"), long("b"));
    expect(String(difference?.before).length).toBeLessThan(100);
    expect(String(difference?.after).length).toBeLessThan(100);
  });

  test("countRows counts over all tables", () => {
    expect(countRows(rows)).toBe(3);
  });
});

const page = (...keys: RowKey[]) => keys.map((key) => ({ key, row: { value: `row ${key}` } }));

describe("mergePages", () => {
  test("pages that are equal differ in nothing, and all of them was compared", () => {
    expect(mergePages(page(1, 2, 3), page(1, 2, 3))).toEqual({ differences: [], write: [], remove: [], rows: 3, upTo: 3 });
  });

  test("what lies beyond the shorter page is left for the next one", () => {
    expect(mergePages(page(1, 2), page(1, 2, 3, 4))).toMatchObject({ differences: [], rows: 2, upTo: 2 });
    expect(mergePages(page(1, 2, 9, 10), page(1, 2, 5))).toMatchObject({ remove: [5], write: [], upTo: 5 });
  });

  test("an empty page has nothing behind it: the whole of the other one differs", () => {
    expect(mergePages(page(1, 2), [])).toMatchObject({ write: [1, 2], remove: [], upTo: 2 });
    expect(mergePages([], page(1, 2))).toMatchObject({ write: [], remove: [1, 2], upTo: 2 });
    expect(mergePages([], [])).toMatchObject({ differences: [], upTo: null });
  });

  test("missing, changed and extra rows are told apart", () => {
    const changed = [{ key: 2, row: { value: "other" } }];
    const merged = mergePages(page(1, 2, 3), [...changed, ...page(3)]);
    expect(merged).toMatchObject({ write: [1, 2], remove: [], upTo: 3 });
    expect(merged.differences).toEqual([
      { key: "1", column: null, before: null, after: "row" },
      { key: "2", column: "value", before: "other", after: "row 2" },
    ]);
  });

  test("numbers are ordered as numbers, and before the texts of a damaged table", () => {
    expect(mergePages(page(2, 10), page(2, 9, 10))).toMatchObject({ remove: [9], upTo: 10 });
    expect(mergePages(page(2, 10), page(2, 10, "x"))).toMatchObject({ differences: [], upTo: 10 });
  });
});
