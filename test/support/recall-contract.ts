/** The contract of the index of a session's record over any database: see `event-log-contract`. */
import { describe, expect, test } from "vitest";
import type { RecallArguments } from "../../src/context/recall/request";
import { estimateTokens } from "../../src/context/tokens";
import type { RecallReport } from "../../src/contract/recall";
import { migrateSession } from "../../src/session/log/log-schema";
import { WATERMARK } from "../../src/session/log/recall-tables";
import type { Sql } from "../../src/session/log/sql";
import { lookUp, type RecallPorts } from "../../src/session/recall/recall";
import { indexPage, readWatermark } from "../../src/session/recall/recall-index";
import type { WithSql } from "./event-log-contract";
import { appendRecord, buildRecord, executionAt, type RecordedText } from "./recall-record";

const user = (text: string): RecordedText => ({ kind: "user", text });

async function ask(ports: RecallPorts, given: RecallArguments, limit = 60): Promise<RecallReport> {
  const found = await lookUp(given, { hiddenOnly: true, limit }, ports);
  if (!found.ok) throw new Error(`${found.error.field}: ${found.error.detail}`);
  return found.value;
}

const listPositions = ({ data }: RecallReport): number[] => data.map(({ position }) => position);
const first = async (ports: RecallPorts, query: string): Promise<string | undefined> => (await ask(ports, { query })).data[0]?.snippet;
const small = (n: number): RecordedText[] => Array.from({ length: n }, (_, index) => user(`nothing much happened on walk ${index}`));

export function recallContract(withSql: WithSql): void {
  describe("looking up by words", () => wordRules(withSql));
  describe("the index", () => indexRules(withSql));
  describe("an execution", () => executionRules(withSql));
}

const TEXTS = [
  "I bought a second-hand accordion at the fair.",
  "Der Zahnarzt hat die Termine verschoben, wegen der Straße.",
  "我上周末在黄山徒步,结果迷路了。",
  "美咲さんは望遠鏡を買いました。",
  "ฉันชอบกินข้าวมันไก่ที่ตลาดน้อย",
  "서울에서 친구를 만났습니다",
  "The fix is in getUserById of src/app/user-store.ts, see exe or ticket OPS-4711.",
  "Write to ada.lovelace@example.org about invoice 1,250.50",
  "Les universités françaises étaient fermées",
  "Вчера мы купили билеты в театр",
] as const;

function wordRules(withSql: WithSql): void {
  test.each([
    ["the words themselves", "second-hand accordion", 0],
    ["another form of an irregular word", "What did I buy?", 0],
    ["another form of a German word", "Wann ist der Termin beim Zahnarzt?", 1],
    ["a word without its special letters", "strasse", 1],
    ["two characters of Chinese", "黄山", 2],
    ["one character of Chinese", "徒", 2],
    ["two characters of Japanese", "望遠", 3],
    ["katakana and kanji in a question", "望遠鏡を買ったのは誰?", 3],
    ["two letters of Thai with their marks", "ข้าว", 4],
    ["a Thai word in the middle of a run", "ตลาด", 4],
    ["a Korean word without its ending", "서울", 5],
    ["an identifier whole", "getUserById", 6],
    ["a word of an identifier", "user", 6],
    ["a path", "src/app/user-store.ts", 6],
    ["a ticket", "ops-4711", 6],
    ["an address of mail", "ada.lovelace@example.org", 7],
    ["a number with its signs", "1,250.50", 7],
    ["another form of a French word", "université fermée", 8],
    ["another form of a Russian word", "билет", 9],
  ] as const)("finds %s", (_, query, index) =>
    withSql(async (sql) => {
      const ports = buildRecord(sql, [...small(30), ...TEXTS.map(user), ...small(30)]);

      expect((await first(ports, query))?.slice(0, 20)).toBe(TEXTS[index].slice(0, 20));
    }),
  );

  test.each([
    '"',
    '" OR "',
    "NEAR(a b, 2)",
    "accordion*",
    "exact : fair",
    "-accordion ^fair AND NOT (OR",
    "'; DROP TABLE items; --",
    "\u0000\u0001",
    "🎉🎊",
    "¬¤·",
    "?",
    "a".repeat(1_000_000),
    "fair 黄 ".repeat(100_000),
  ])("takes any text for words: %#", (query) =>
    withSql(async (sql) => {
      const ports = buildRecord(sql, TEXTS.map(user));

      const { data, text } = await ask(ports, { query });

      expect(text.length).toBeGreaterThan(0);
      expect(data.length).toBeLessThanOrEqual(TEXTS.length);
    }),
  );

  test("an answer comes with its question, which alone has the words", () =>
    withSql(async (sql) => {
      const talk: RecordedText[] = [user("Caroline, which instrument do you practise?"), { kind: "assistant", text: "Mostly the oboe." }];
      const ports = buildRecord(sql, [...small(40), ...talk, ...small(40)]);

      const { data } = await ask(ports, { query: "What instrument does Caroline practise?" });

      const [best] = data;
      expect([best?.position, ...(best?.neighbours.map(({ position }) => position) ?? [])]).toEqual(expect.arrayContaining([41, 42]));
    }));

  test("stays within 1,800 tokens however much there is, and within an eighth of a small window", () =>
    withSql(async (sql) => {
      const ports = buildRecord(
        sql,
        Array.from({ length: 300 }, (_, index) => user(`accordion ${index} ${"黄山 lorem ipsum ".repeat(40)}`)),
      );

      for (const [window, most] of [
        [null, 1_800],
        [8_000, 1_000],
      ] as const) {
        const { text, tokens, data } = await ask({ ...ports, window }, { query: "accordion 黄山" });
        expect(tokens.tokens).toBe(estimateTokens(text));
        expect(tokens.tokens).toBeLessThanOrEqual(most);
        expect(data.length).toBeGreaterThan(3);
      }
    }));

  test("the best hit fits into the smallest window, however long it and its neighbours are", () =>
    withSql(async (sql) => {
      const told = ["我们出发了。", "我买了一支双簧管。", "天晚了。"].map((words) => user(`${"今天没什么事。".repeat(90)}${words}`));
      const ports = { ...buildRecord(sql, [...small(9), ...told, ...small(9)]), window: 2_000 };

      const found = await ask(ports, { query: "谁买了双簧管" });

      expect(found.data[0]).toMatchObject({ position: 11, snippet: expect.stringContaining("双簧管") });
      expect(found.tokens.tokens).toBeLessThanOrEqual(300);
    }));

  test("what comes as a neighbour shows where it has the words, not how it begins", () =>
    withSql(async (sql) => {
      const rows = Array.from({ length: 200 }, (_, index) => `row ${index}: in stock`);
      rows[150] = "row 150: the accordion is under 7719-B";
      const better = Array.from({ length: 12 }, (_, index) => [user(`accordion shelf code ${index}`), ...small(4)]).flat();
      const call: RecordedText[] = [
        { kind: "tool_call", text: "accordion shelf code, accordion shelf code" },
        { kind: "tool_result", text: rows.join("\n") },
      ];
      const ports = buildRecord(sql, [...better, ...call, ...small(20)]);

      const { text, data } = await ask(ports, { query: "accordion shelf code" });

      expect(text).toContain("7719-B");
      // Every line's subject is among the hits or beside one of them.
      const lines = [...text.matchAll(/^ *#(\d+) /gm)].map(([, position]) => Number(position));
      expect(data.flatMap(({ position, neighbours }) => [position, ...neighbours.map((near) => near.position)])).toEqual(lines);
    }));

  test("the same question gets the same text, and the line in a long result is what is shown of it", () =>
    withSql(async (sql) => {
      const lines = Array.from({ length: 600 }, (_, index) => `row ${index}: part ${index % 7}, in stock`);
      lines[420] = "row 420: the locker code is 7719-B";
      const ports = buildRecord(sql, [...small(10), { kind: "tool_call", text: "{}" }, { kind: "tool_result", text: lines.join("\n") }]);

      const once = await ask(ports, { query: "locker code" });
      const again = await ask(ports, { query: "locker code" });

      expect(again).toEqual(once);
      expect(once.data[0]).toMatchObject({ position: 12, kind: "tool_result", execution_id: executionAt(11) });
      expect(once.data[0]?.snippet).toContain("7719-B");
    }));

  test("from and to say where to look", () =>
    withSql(async (sql) => {
      const ports = buildRecord(
        sql,
        Array.from({ length: 500 }, (_, index) => user(`the accordion again, ${index}`)),
      );

      expect(listPositions(await ask(ports, { query: "accordion", from: 3, to: 5 })).sort()).toEqual([3, 4, 5]);
    }));
}

function indexRules(withSql: WithSql): void {
  const terms = (sql: Sql): unknown => sql.all("SELECT term, doc, cnt FROM recall_terms ORDER BY term");
  const isDone = (ports: RecallPorts, to: number): boolean => !indexPage(ports.sql, to, ports.content);

  test("made again it is what it became step by step", () =>
    withSql((sql) => {
      const ports = buildRecord(sql, TEXTS.map(user));
      for (let to = 1; to <= TEXTS.length; to++) expect(isDone(ports, to)).toBe(true);
      const before = terms(sql);

      sql.all("DELETE FROM meta WHERE key = ?", WATERMARK);
      expect(isDone(ports, TEXTS.length)).toBe(true);

      expect(terms(sql)).toEqual(before);
      expect(readWatermark(sql)).toBe(TEXTS.length);
    }));

  test("a backlog is worked off in pages, and each is kept", () =>
    withSql(async (sql) => {
      const ports = buildRecord(sql, small(1_000));

      expect(indexPage(sql, 1_000, ports.content)).toBe(true);
      const reached = readWatermark(sql);
      expect(reached).toBeGreaterThan(100);
      expect(reached).toBeLessThan(1_000);

      expect(listPositions(await ask(ports, { query: "walk 999" }))[0]).toBe(1_000);
      expect(readWatermark(sql)).toBe(1_000);
    }));

  test("what was said after the last look-up is found by the next one", () =>
    withSql(async (sql) => {
      const ports = buildRecord(sql, small(5));
      await ask(ports, { query: "accordion" });

      const more = appendRecord(ports, [user("an accordion")]);

      expect(listPositions(await ask(more, { query: "accordion" }))[0]).toBe(6);
    }));

  test("no text is stored in it", () =>
    withSql(async (sql) => {
      const ports = buildRecord(sql, TEXTS.map(user));
      await ask(ports, { query: "accordion" });

      expect(sql.all("SELECT exact, stems FROM recall LIMIT 1")).toEqual([{ exact: null, stems: null }]);
    }));

  test("a database that was emptied holds no term of it", () =>
    withSql(async (sql) => {
      await ask(buildRecord(sql, TEXTS.map(user)), { query: "accordion" });

      await sql.wipe();
      migrateSession(sql);

      expect(terms(sql)).toEqual([]);
    }));
}

function executionRules(withSql: WithSql): void {
  test("is read whole, page after page, with its arguments", () =>
    withSql(async (sql) => {
      const output = Array.from({ length: 900 }, (_, index) => `line ${index} 🎉 of what was found`).join("\n");
      const ports = buildRecord(sql, [
        { kind: "tool_call", text: '{"of":"everything"}' },
        { kind: "tool_result", text: output },
      ]);
      const asked = { execution_id: executionAt(1) };

      let whole = "";
      for (let next: RecallReport["next"] = { from: null, to: null, offset: 0 }; next; ) {
        const page: RecallReport = await ask(ports, { ...asked, offset: next.offset });
        expect(page.tokens.tokens).toBeLessThanOrEqual(2_000);
        const shown = page.next ? page.text.slice(0, page.text.lastIndexOf("\n[characters")) : page.text;
        expect(page.next === null || shown.endsWith("\n"), "a page ends with a whole line").toBe(true);
        whole += shown;
        next = page.next;
      }

      expect(whole).toContain('{"of":"everything"}');
      expect(whole.endsWith(output)).toBe(true);
    }));

  test("a range of positions is read whole, page after page", () =>
    withSql(async (sql) => {
      const texts = Array.from({ length: 40 }, (_, index) => `message ${index} ${"说 lorem ".repeat(index * 10)}`.trim());
      const ports = buildRecord(sql, texts.map(user));

      let whole = "";
      let asked: RecallArguments | null = { from: 5, to: 30 };
      while (asked) {
        const page: RecallReport = await ask(ports, asked);
        expect(page.tokens.tokens).toBeLessThanOrEqual(2_000);
        whole += page.next ? page.text.slice(0, page.text.lastIndexOf("\n[go on")) : page.text;
        asked = page.next && { ...page.next };
      }

      for (const text of texts.slice(4, 30)) expect(whole).toContain(`\n${text}`);
      expect(whole).not.toContain("message 30 ");
      expect(whole).not.toContain("message 3 ");
    }));

  test("of another session, or of an unknown one, is not found", () =>
    withSql(async (sql) => {
      const ports = buildRecord(sql, small(3));

      expect((await ask(ports, { execution_id: executionAt(77) })).text).toContain("There is no execution");
      const foreign = await lookUp({ session_id: "ses_01HZZZZZZZ0000000000000099", query: "walk" }, { hiddenOnly: true, limit: 9 }, ports);
      expect(foreign).toMatchObject({ ok: false, error: { field: "session_id" } });
    }));
}
