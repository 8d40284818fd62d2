/** A session that is exported and restored is the same session, in another tenant. Random conversations, and hostile files. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import { NO_RETENTION } from "../../src/app/retention";
import { toBase64 } from "../../src/lib/base64";
import { sha256 } from "../../src/lib/sha256";
import { hasSchema } from "../../src/session/log/log-schema";
import { drawn } from "../support/effort";
import { makeId } from "../tenant/support";
import { exportSession, importInto, importStream, newTarget, sealed, text } from "./exported";
import { CALLER, Life, settle } from "./life";
import { policies } from "./script";
import { acts, Story } from "./story";
import { buildRequestText, newLife, say } from "./talk";

const OTHER = { ...CALLER, tenant: makeId("ten", 7) };

const LOG_TABLES = ["events", "bodies", "items", "turns", "compactions", "executions", "views_before", "branches"];

/** All that is derived from the log, with the tenant taken out. */
function dump(life: Life): unknown {
  const rows = LOG_TABLES.map((table) => [table, life.sql.all(`SELECT * FROM ${table}`)] as const);
  return JSON.parse(JSON.stringify(Object.fromEntries(rows)).replaceAll(CALLER.tenant, "TENANT").replaceAll(OTHER.tenant, "TENANT"));
}

test("a restored session counts as used when it was restored, however old its messages are", async () => {
  const life = await newLife();
  await say(life, "Where shall we go?", "To the sea.");
  const bytes = await exportSession(life, CALLER, { size: 60_000, cut: -1 });
  const target = newTarget();
  target.time.advance(400 * 86_400_000);
  await importInto(target, OTHER.tenant, bytes);
  const setting = { ...NO_RETENTION, erase_sessions_after_days: 365 };
  const retain = () => target.service.retain(OTHER, { setting, isDryRun: true });

  expect(await retain()).toMatchObject({ ok: true, value: { due: [] } });
  target.time.advance(365 * 86_400_000);
  expect(await retain()).toMatchObject({ ok: true, value: { due: [{ action: "erase_session" }] } });
});

test("a restored session has the pins and the system prompt that were set after a redaction", async () => {
  const life = await newLife({ system: "Be brief." });
  await say(life, "the secret word", "I see.");
  const [first] = new Story(life).items;
  if (!first) throw new Error("no message");
  await life.service.redact(CALLER, first.id);
  await life.service.patch(CALLER, { system: "Be kind." });
  await life.service.setPins(CALLER, ["The user's name is Ada."]);
  await say(life, "And now?", "Nothing more.");
  const target = newTarget();

  await importInto(target, OTHER.tenant, await exportSession(life, CALLER));

  expect(await target.service.describe(OTHER)).toMatchObject({
    value: { system: "Be kind.", pins: [{ text: "The user's name is Ada." }] },
  });
});

describe("a session with any history", () => {
  test.each(policies)(
    "is the same after export and import, in any parts, and exports as the same lines: %s",
    { timeout: 120_000 },
    async (policy) => {
      await fc.assert(
        fc.asyncProperty(acts, fc.integer({ min: 8_000, max: 60_000 }), fc.integer({ min: -1, max: 12 }), async (script, size, cut) => {
          const story = new Story(await newLife({ policy }));
          for (const [n, act] of script.entries()) await story.do(act, n);
          const bytes = await exportSession(story.life, CALLER, { size, cut });
          for (const said of story.redacted) expect(text(bytes)).not.toContain(said);
          const target = newTarget();

          expect(await importInto(target, OTHER.tenant, bytes)).toMatchObject({ sessions: [{ status: "restored", detail: null }] });

          expect(dump(target)).toEqual(dump(story.life));
          expect({ ...target.runtime.state, tenant: null }).toEqual({ ...story.life.runtime.state, tenant: null });
          expect(buildRequestText(target)).toBe(buildRequestText(story.life));
          const again = await exportSession(target, OTHER, { size });
          expect(
            text(again)
              .replaceAll(OTHER.tenant, CALLER.tenant)
              .replace(/"sha256":"[0-9a-f]{64}"/g, ""),
          ).toBe(text(await exportSession(story.life, CALLER, { size })).replace(/"sha256":"[0-9a-f]{64}"/g, ""));
        }),
        { numRuns: drawn(25) },
      );
    },
  );
});

async function exportedLines(): Promise<string[]> {
  const life = await newLife({});
  await life.send("hello");
  await life.answer("Good day.");
  const lines = text(await exportSession(life, CALLER))
    .trim()
    .split("\n");
  return lines.slice(0, -1);
}

const at = (lines: readonly string[], index: number, change: (line: string) => string): string[] =>
  lines.map((line, n) => (n === index ? change(line) : line));

describe("a restoration", () => {
  test("that is not finished is no session, and a new try begins anew", async () => {
    const lines = await exportedLines();
    const target = newTarget();
    const event = { seq: 1, at: 1, type: "ForkCompleted", version: 1, data: "{}" };
    await target.service.stageRestore(OTHER, { first: true, events: [event], bodies: [] });

    expect(await target.service.describe(OTHER)).toMatchObject({ ok: false, error: { code: "session_not_found" } });
    expect(target.runtime.exists).toBe(false);
    expect(await importInto(target, OTHER.tenant, await sealed(lines))).toMatchObject({ sessions: [{ status: "restored" }] });
    expect(await target.service.describe(OTHER)).toMatchObject({ ok: true });
  });

  test("takes the first event of an earlier build, which called the tenant's id otherwise", async () => {
    const lines = await exportedLines();
    const earlier = at(lines, 2, (line) => line.replace('"version":2', '"version":1').replace('"tenant_id":', '"tenant":'));
    expect(earlier[2]).toContain(`"tenant":"${CALLER.tenant}"`);
    const target = newTarget();

    expect(await importInto(target, OTHER.tenant, await sealed(earlier))).toMatchObject({ sessions: [{ status: "restored" }] });
    const [, , opened] = text(await exportSession(target, OTHER)).split("\n");
    expect(JSON.parse(opened ?? "")).toMatchObject({ version: 2, data: { tenant_id: OTHER.tenant, session: OTHER.session } });
    expect(opened).not.toContain('"tenant":');
  });

  test("of a session that is there changes nothing, and an erased one is refused by its tombstone", async () => {
    const bytes = await sealed(await exportedLines());
    const target = newTarget();
    await importInto(target, OTHER.tenant, bytes);
    const before = dump(target);

    expect(await importInto(target, OTHER.tenant, bytes)).toMatchObject({ sessions: [{ status: "exists" }] });
    expect(dump(target)).toEqual(before);
    await target.service.erase(OTHER);
    expect(await importInto(target, OTHER.tenant, bytes)).toMatchObject({ sessions: [{ status: "erased" }] });
  });

  test.each([
    ["by one life", false],
    ["by two lives, where the first ends between two parts", true],
  ])("of a long session is folded in parts, and others are served between them: %s", async (_, dies) => {
    const source = await newLife();
    const messages = Array.from(
      { length: 700 },
      (__, n) => ({ role: "user", parts: [{ type: "text", text: `${n}` }], about: {} }) as const,
    );
    for (let batch = 0; batch < 5; batch++) await source.service.importMessages(CALLER, { messages, idempotency: null });
    const target = newTarget();
    const importing = importInto(target, OTHER.tenant, await exportSession(source, CALLER));
    const { sql } = target;
    const folded: number[] = [];
    /** Goes on with the fold, a part at a time. */
    const fold = async ({ runtime, service, time }: Life, isDone: () => boolean): Promise<void> => {
      for (;;) {
        await settle();
        folded.push(hasSchema(sql) ? Number(sql.all("SELECT count(*) AS n FROM items")[0]?.n) : 0);
        if (isDone()) return;
        expect(runtime.exists).toBe(false);
        expect(await service.describe(OTHER)).toMatchObject({ ok: false, error: { code: "session_not_found" } });
        time.advance(0);
      }
    };

    await fold(target, () => folded.some((items) => items > 1_000));
    const last = dies ? new Life(sql, "life-3") : target;
    const finished = dies ? last.service.finishRestore(OTHER, { seq: source.runtime.state.seq }) : importing;
    await fold(last, () => last.runtime.exists);

    expect(await finished).toMatchObject(dies ? { ok: true } : { sessions: [{ status: "restored" }] });
    const parts = folded.slice(1).map((items, index) => items - (folded[index] ?? 0));
    expect(Math.max(...parts)).toBeLessThan(1_500);
    expect(dump(last)).toEqual(dump(source));
  });

  test("closes a turn that was open in the source", async () => {
    const life = await newLife({});
    await life.send("hello");
    const target = newTarget();

    await importInto(target, OTHER.tenant, await exportSession(life, CALLER));

    expect(life.runtime.state.turn).toMatchObject({ incarnation: "life-1" });
    expect(target.events().length).toBeGreaterThan(life.events().length);
    expect(target.events().slice(life.events().length)).toMatchObject([{ type: expect.stringMatching(/^Turn(Started|Interrupted)$/) }]);
  });

  test.each<[string, (lines: string[]) => readonly string[], RegExp]>([
    ["another format", (lines) => at(lines, 0, (line) => line.replace("longhand.export", "other")), /^line 1: format/],
    ["a newer version", (lines) => at(lines, 0, (line) => line.replace('"version":1', '"version":99')), /^line 1: version/],
    ["no header", (lines) => lines.slice(1), /^line 1: the header/],
    ["two headers", (lines) => [...lines, lines[0] ?? ""], /: the header must be the first line/],
    ["an event before its session", (lines) => [lines[0] ?? "", lines[2] ?? ""], /^line 3: comes before|^line 2: comes before/],
    ["a gap in seq", (lines) => lines.filter((_, n) => n !== 3), /^line 4: seq: must be 2/],
    [
      "an unknown event",
      (lines) => at(lines, 3, (line) => line.replace(/"event":"\w+"/, '"event":"Invented"')),
      /^line 4: event 2 has unknown type/,
    ],
    [
      "an event of a newer build",
      (lines) => at(lines, 3, (line) => line.replace(/"version":\d/, '"version":9')),
      /^line 4: event 2 .*has version 9/,
    ],
    ["a line that is no JSON", (lines) => at(lines, 3, () => "{"), /^line 4: is not JSON/],
    ["an unknown field", (lines) => at(lines, 1, (line) => line.replace("{", '{"admin":true,')), /^line 2: /],
    [
      "another session's opening",
      (lines) => at(lines, 2, (line) => line.replace(CALLER.session, makeId("ses", 9))),
      /^line 3: data.session/,
    ],
    ["a session without its end", (lines) => lines.slice(0, -1), /: a session is not ended/],
    [
      "an end with other counts",
      (lines) => at(lines, lines.length - 1, (line) => line.replace(/"bodies":\d+/, '"bodies":99')),
      /: is not the end of this session/,
    ],
    [
      "a session named otherwise than by its log",
      (lines) => at(lines, 1, (line) => line.replace('"external_id":null', '"external_id":"ticket-2"')),
      /^line 2: external_id: is not the one of the session's events/,
    ],
    [
      "an end user of 5,000 characters",
      (lines) => at(lines, 1, (line) => line.replace('"end_user":null', `"end_user":"${"x".repeat(5_000)}"`)),
      /^line 2: end_user: /,
    ],
    ...["{broken", "null", '{"__proto__":1}', '[{"type":"video","url":"https://example.org"}]', '[{"type":"text","text":1}]'].map(
      (content): [string, (lines: string[]) => readonly string[], RegExp] => [
        `a message of ${content}`,
        (lines) => {
          const index = lines.findIndex((line) => line.includes('"type":"body"') && line.includes("msg_"));
          return at(lines, index, (line) => JSON.stringify({ ...JSON.parse(line), text: content }));
        },
        /^line \d+: text: /,
      ],
    ),
    [
      "a text that no event names",
      (lines) => {
        const body = JSON.stringify({ type: "body", id: makeId("bod", 1), part: 0, text: "hidden" });
        const first = lines.findIndex((line) => line.includes('"type":"body"'));
        return at(lines.toSpliced(first, 0, body), lines.length, (line) =>
          line.replace(/"bodies":(\d+)/, (_, n) => `"bodies":${Number(n) + 1}`),
        );
      },
      /: no event names this text/,
    ],
    [
      "a nested field that is of another kind",
      (lines) => at(lines, 3, (line) => line.replace('"tokens":', '"tokens":null,"rough_":')),
      /^line 4: data\./,
    ],
    [
      "an item beyond the next position",
      (lines) => at(lines, 3, (line) => line.replace('"position":1', '"position":2')),
      /^line 4: data: position: must be 1/,
    ],
  ])("is refused with the line: %s", async (_, change, fault) => {
    const target = newTarget();
    const bytes = await sealed(change(await exportedLines()));

    await expect(importInto(target, OTHER.tenant, bytes)).rejects.toThrow(fault);
    expect(target.runtime.exists).toBe(false);
  });

  test("of a file that was changed or cut off is refused", async () => {
    const bytes = await sealed(await exportedLines());
    const whole = text(bytes);
    const encode = (changed: string) => new Uint8Array(new TextEncoder().encode(changed));

    await expect(importInto(newTarget(), OTHER.tenant, encode(whole.replace("hello", "jello")))).rejects.toThrow(
      /sha256: is another digest/,
    );
    await expect(importInto(newTarget(), OTHER.tenant, encode(whole.slice(0, -100)))).rejects.toThrow(/is cut off/);
    const lines = whole.split("\n");
    await expect(importInto(newTarget(), OTHER.tenant, encode(`${lines.slice(0, 4).join("\n")}\n`))).rejects.toThrow(/has no end/);
    await expect(importInto(newTarget(), OTHER.tenant, encode(`${whole}{"type":"header"}\n`))).rejects.toThrow(/behind the end/);
    await expect(importInto(newTarget(), OTHER.tenant, encode("x".repeat(10_000_000)))).rejects.toThrow(/longer than/);
  });

  const PDF = "%PDF-1.7\n";
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  test.each<[string, object, string, RegExp]>([
    ["a page", { media_type: "text/html" }, "<p>Hello</p>", /^line \d+: media_type: /],
    ["a drawing", { media_type: "image/svg+xml" }, SVG, /^line \d+: media_type: /],
    ["a text that says to be a PDF", { media_type: "application/pdf" }, "nine bits", /^line \d+: media_type: the content is text\/plain/],
    ["a PDF that says to be an image", { media_type: "image/png" }, PDF, /^line \d+: media_type: the content is application\/pdf/],
    ["a text that is not UTF-8", { media_type: "text/plain" }, "\u00ff", /^line \d+: media_type: the content is not UTF-8/],
    ["a type of two lines", { media_type: "text/plain\r\nX-Evil: 1" }, "hello", /^line \d+: media_type: /],
    ["a name of two lines", { name: "a\r\nb.txt" }, "hello", /^line \d+: name: /],
    ["a name with a NUL", { name: "a\u0000.txt" }, "hello", /^line \d+: name: /],
    ["a name that reads backwards", { name: "a\u202Etxt.exe" }, "hello", /^line \d+: name: /],
    ["an empty name", { name: "" }, "hello", /^line \d+: name: /],
    ["a text that is too large", {}, "x".repeat(1_048_577), /^line \d+: bytes: at most 1048576/],
    ["another digest", { sha256: "0".repeat(64) }, "hello", /^line \d+: sha256: /],
  ])("is refused with the line of a file: %s", async (_, facts, content, fault) => {
    const lines = await exportedLines();
    const bytes = Uint8Array.from(content, (character) => character.charCodeAt(0));
    const file = { id: makeId("fil", 1), name: "a.txt", media_type: "text/plain", bytes: bytes.length, sha256: await sha256(bytes) };
    const written = [
      JSON.stringify({ type: "file", ...file, ...facts }),
      JSON.stringify({ type: "content", file: file.id, offset: 0, base64: toBase64(bytes) }),
    ];
    const end = (lines.at(-1) ?? "").replace('"files":0', '"files":1');
    const target = newTarget();
    const stored: string[] = [];

    const importing = importInto(target, OTHER.tenant, await sealed([...lines.slice(0, -1), ...written, end]), { stored });

    await expect(importing).rejects.toThrow(fault);
    expect([target.runtime.exists, stored]).toEqual([false, []]);
  });

  test("whose rows would take the room that is reserved is refused, and leaves nothing", async () => {
    const base = createNodeSql();
    let isFolded = false;
    const target = new Life({
      ...base,
      // The object is full once the log is folded.
      isFull: () => isFolded,
      transaction: (work) =>
        base.transaction(() => {
          isFolded =
            base.all("SELECT 1 FROM sqlite_master WHERE name = 'events'").length > 0 && base.all("SELECT 1 FROM bodies").length > 0;
          return work();
        }),
    });

    const done = await importInto(target, OTHER.tenant, await sealed(await exportedLines()));

    expect(done).toMatchObject({ sessions: [{ status: "refused", detail: "storage_full" }] });
    expect(target.runtime.exists).toBe(false);
    expect(base.all("SELECT name FROM sqlite_master WHERE name = 'events'")).toEqual([]);
  });

  test("that is refused reads the rest of its body, so that the client reads the answer", async () => {
    const chunks = ["{broken\n", ...Array.from({ length: 40 }, () => "x".repeat(1_000_000))];
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const chunk = chunks[sent++];
        if (chunk === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(chunk));
      },
      cancel: () => {
        throw new Error("the connection is closed");
      },
    });

    await expect(importStream(newTarget(), OTHER.tenant, body)).rejects.toThrow(/^line 1: is not JSON/);

    expect(sent).toBe(chunks.length + 1);
  });

  test("of a log that is not an open session's is refused as a whole", async () => {
    const lines = await exportedLines();
    const target = newTarget();
    const erased = '{"type":"event","seq":2,"at":1,"event":"SessionErased","version":1,"data":{}}';
    const end = JSON.stringify({ type: "session_end", id: CALLER.session, events: 2, bodies: 0, files: 0 });
    const session = (lines[1] ?? "").replace(/"seq":\d+/, '"seq":2');

    const importing = importInto(target, OTHER.tenant, await sealed([lines[0] ?? "", session, lines[2] ?? "", erased, end]));

    await expect(importing).rejects.toThrow(/^line 2: the log: is not the whole log/);
    expect(target.runtime.exists).toBe(false);
    expect(target.sql.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'events'")).toEqual([]);
  });
});
