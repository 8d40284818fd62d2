import { describe, expect, test } from "vitest";
import { countRows, diffRows } from "../../src/app/diff-rows";

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
