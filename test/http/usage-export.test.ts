/** Usage as CSV and as JSON lines. */
import { describe, expect, test } from "vitest";
import type { UsageInput } from "../../src/app/read-api";
import { toSums } from "../../src/app/usage-sums";
import { USAGE_COLUMNS, type UsageRow } from "../../src/contract/usage";
import { NO_CALLS } from "../../src/domain/call-totals";
import { ok } from "../../src/lib/result";
import { readProblem, world } from "./support";

const row = (end_user: string | null, calls = 1): UsageRow => ({
  ...{ day: "2026-11-18", session_id: null, model: "m", purpose: null, source: null, key_id: null, end_user },
  ...toSums({ ...NO_CALLS, calls, cost: 0.5 }),
});

const countOldUsage = async () => [];

/** Each page of the list has one row. */
function createList(rows: readonly UsageRow[]) {
  const asked: UsageInput[] = [];
  const sumUsage = async (input: UsageInput) => {
    asked.push(input);
    const index = Number(input.after ?? 0);
    const has_more = index + 1 < rows.length;
    return ok({ data: rows.slice(index, index + 1), has_more, next_cursor: has_more ? String(index + 1) : null, complete_from: null });
  };
  const { call } = world({ deps: { usageList: { sumUsage, countOldUsage } } });
  return { asked, read: (query: string, headers: Readonly<Record<string, string>> = {}) => call("GET", `/v1/usage${query}`, { headers }) };
}

/** One field of RFC 4180 with what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g;

function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quoted, plain = "", end] of text.matchAll(FIELD)) {
    record.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

describe("an export of usage", () => {
  const hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", 'say "hi", 李雷', "a\r\nb", "plain", null];

  test("has all pages: a header and one record a row as CSV, and the rows of the JSON as lines", async () => {
    const rows = hostile.map((user, index) => row(user, index + 1));
    const list = createList(rows);
    const csv = await list.read("?format=csv");
    const lines = await list.read("?format=jsonl");

    const [head, ...records] = parseCsv(await csv.text());
    expect(head).toEqual(USAGE_COLUMNS);
    expect(records.map((record) => record[USAGE_COLUMNS.indexOf("calls")])).toEqual(rows.map(({ calls }) => String(calls)));
    expect(
      (await lines.text())
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(rows);
    expect([csv, lines].map(({ headers }) => headers.get("content-type"))).toEqual([
      "text/csv; charset=utf-8; header=present",
      "application/x-ndjson; charset=utf-8",
    ]);
  });

  test("puts an apostrophe before free text that a spreadsheet reads as a formula, and quotes commas, quotes and line ends", async () => {
    const csv = await createList(hostile.map((user) => row(user))).read("?format=csv");
    const users = parseCsv(await csv.text())
      .slice(1)
      .map((record) => record[USAGE_COLUMNS.indexOf("end_user")]);
    expect(users).toEqual(["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'＝1", 'say "hi", 李雷', "a\r\nb", "plain", ""]);
  });

  test.each([
    ["text/csv", "text/csv"],
    ["application/x-ndjson", "application/x-ndjson"],
    ["text/csv;q=0.5, application/json", "application/json"],
    ["*/*", "application/json"],
  ])("is chosen by Accept: %s is answered as %s", async (accept, type) => {
    const answer = await createList([row("Ada")]).read("", { accept });
    expect(answer.headers.get("content-type")?.split(";")[0]).toBe(type);
  });

  test("that D1 cannot begin is refused, and one that breaks off never ends as if it were whole", async () => {
    const lost = world({ deps: { usageList: { sumUsage: () => Promise.reject(new Error("D1 is down")), countOldUsage } } });
    const refused = await lost.call("GET", "/v1/usage?format=csv");
    expect([refused.status, (await readProblem(refused)).type]).toEqual([503, "urn:longhand:problem:read_model_unavailable"]);

    const sumUsage = async ({ after }: UsageInput) => {
      if (after !== null) throw new Error("D1 is down");
      return ok({ data: [row("Ada")], has_more: true, next_cursor: "1", complete_from: null });
    };
    const broken = await world({ deps: { usageList: { sumUsage, countOldUsage } } }).call("GET", "/v1/usage?format=csv");
    await expect(broken.text()).rejects.toThrow();
  });

  test("says from when on it is complete, and breaks off if more is removed before its end", async () => {
    const from = Date.UTC(2026, 9, 1);
    const sumUsage =
      (second: number) =>
      async ({ after }: UsageInput) =>
        ok({
          data: [row("Ada")],
          has_more: after === null,
          next_cursor: after === null ? "1" : null,
          complete_from: after === null ? from : second,
        });
    const read = (second: number) =>
      world({ deps: { usageList: { sumUsage: sumUsage(second), countOldUsage } } }).call(
        "GET",
        "/v1/usage?format=csv&from=2026-09-01&to=2026-11-01",
      );

    const whole = await read(from);
    expect([whole.headers.get("usage-complete-from"), (await whole.text()).split("\r\n").length]).toEqual([String(from), 4]);
    await expect((await read(Date.UTC(2026, 10, 1))).text()).rejects.toThrow();
    expect((await createList([row("Ada")]).read("?format=csv")).headers.get("usage-complete-from")).toBeNull();
  });

  test("reads more rows a query than a page has, and refuses an unknown format by its field", async () => {
    const list = createList([row("Ada")]);
    await (await list.read("?format=jsonl&group_by=end_user")).text();
    expect(list.asked[0]?.limit).toBeGreaterThan(1_000);
    expect((await list.read("?format=xml")).status).toBe(400);
  });
});
