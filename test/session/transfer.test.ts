/** A session that is exported and restored is the same session, in another tenant. Random conversations, and hostile files. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import { NO_RETENTION } from "../../src/app/retention";
import type { Caller } from "../../src/app/session-api";
import { EXPORT_START, type ExportCursor, type ExportSource, PartBuilder } from "../../src/app/transfer/build-part";
import { FileImport, type ImportTarget } from "../../src/app/transfer/import-file";
import { PartWriter } from "../../src/app/transfer/part-writer";
import type { TenantId } from "../../src/domain/ids";
import { parseExportLine } from "../../src/http/import-sessions";
import { ok } from "../../src/lib/result";
import { drawn } from "../support/effort";
import { makeId } from "../tenant/support";
import { CALLER, Life } from "./life";
import { policies } from "./script";
import { acts, Story } from "./story";
import { buildRequestText, newLife, ROOMY, say } from "./talk";

const OTHER = { ...CALLER, tenant: makeId("ten", 7) };

/** The export of one session, in parts of this size. `cut`: loses the part under way once, after so many steps. */
async function exportSession(life: Life, caller: Caller, { size = 64_000, cut = -1 } = {}): Promise<Uint8Array<ArrayBuffer>> {
  const source: ExportSource = {
    listSettings: () => [],
    next: (after) => (after === null ? caller.session : null),
    read: async (_, input) => {
      const page = await life.service.exportLines(caller, input);
      if (!page.ok) return "gone";
      return "moved" in page.value ? "moved" : page.value;
    },
    listFiles: () => [],
    readFile: async () => null,
  };
  const facts = { of: "session", end_user: null, settings: [], made_at: 1 } as const;
  const parts: Uint8Array[] = [];
  let [cursor, previous, left]: [ExportCursor, string, number] = [EXPORT_START, "", cut];
  while (!cursor.ended) {
    const builder = new PartBuilder({ cursor, previous, size }, facts, source);
    let step = await builder.step();
    while (step === "more" && left !== 0) {
      left -= 1;
      step = await builder.step();
    }
    if (left === 0) {
      left = -1;
      continue;
    }
    expect(step).not.toBe("moved");
    const sealed = await builder.seal(step === "done");
    parts.push(sealed.bytes);
    [cursor, previous] = [builder.cursor, sealed.sha256];
  }
  expect(parts.slice(0, -1).every((part) => part.byteLength === size)).toBe(true);
  return new Uint8Array(await new Blob(parts.map((part) => new Uint8Array(part))).arrayBuffer());
}

function buildTarget(life: Life, tenant: TenantId): ImportTarget {
  return {
    tenant,
    parse: parseExportLine,
    restoreSettings: null,
    stage: (session, input) => life.service.stageRestore({ tenant, session }, input),
    finish: (session, seq) => life.service.finishRestore({ tenant, session }, { seq }),
    drop: async (session) => void (await life.service.dropRestore({ tenant, session })),
    register: async () => ok(null),
    forget: async () => {},
    storeFile: async () => ok(null),
  };
}

const toStream = (bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> => new Blob([bytes]).stream();
const importInto = (life: Life, tenant: TenantId, bytes: Uint8Array<ArrayBuffer>) =>
  new FileImport(buildTarget(life, tenant), { maxFile: 1_000 }).run(toStream(bytes));

const LOG_TABLES = ["events", "bodies", "items", "turns", "compactions", "executions", "views_before", "branches"];

/** All that is derived from the log, with the tenant taken out. */
function dump(life: Life): unknown {
  const rows = LOG_TABLES.map((table) => [table, life.sql.all(`SELECT * FROM ${table}`)] as const);
  return JSON.parse(JSON.stringify(Object.fromEntries(rows)).replaceAll(CALLER.tenant, "TENANT").replaceAll(OTHER.tenant, "TENANT"));
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const sealed = async (lines: readonly string[]): Promise<Uint8Array<ArrayBuffer>> => {
  const writer = new PartWriter("");
  for (const line of lines) writer.add(line);
  const sessions = lines.filter((line) => line.includes('"session_end"')).length;
  return (await writer.seal({ sessions, lines: lines.length })).bytes;
};

function newTarget(): Life {
  const life = new Life(createNodeSql(), "life-2");
  life.models = { resolve: async () => ROOMY };
  return life;
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
          expect({ ...target.runtime.committed, tenant: null }).toEqual({ ...story.life.runtime.committed, tenant: null });
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

  test("of a log that is not an open session's is refused as a whole", async () => {
    const lines = await exportedLines();
    const target = newTarget();
    const erased = '{"type":"event","seq":2,"at":1,"event":"SessionErased","version":1,"data":{}}';
    const end = JSON.stringify({ type: "session_end", id: CALLER.session, events: 2, bodies: 0, files: 0 });
    const session = (lines[1] ?? "").replace(/"seq":\d+/, '"seq":2');

    const done = await importInto(target, OTHER.tenant, await sealed([lines[0] ?? "", session, lines[2] ?? "", erased, end]));

    expect(done).toMatchObject({ sessions: [{ status: "refused", detail: expect.stringContaining("not the whole log") }] });
    expect(target.runtime.exists).toBe(false);
    expect(target.sql.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'events'")).toEqual([]);
  });
});
