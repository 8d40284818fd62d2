/** The tenant's object makes exports in parts: it goes on after a loss at any moment, and nothing that was erased is in a ready one. */
import { describe, expect, it } from "vitest";
import type { ExportStore } from "../../src/app/export-api";
import { readChunks, readExport } from "../../src/app/transfer/read-export";
import type { SessionLines } from "../../src/app/transfer-api";
import type { SessionId } from "../../src/domain/ids";
import { parseExportLine } from "../../src/http/import-sessions";
import { err, ok } from "../../src/lib/result";
import { createDirectory } from "../../src/tenant/shared/directory";
import { tenantCalls } from "../../src/tenant/tenant-calls";
import { createExports } from "../../src/tenant/transfer/exports";
import { createMigratedSql } from "./memory-sql";
import { ACT, newMemoryTenant } from "./memory-tenant";
import { createTestClock, makeId } from "./support";

const TENANT = makeId("ten", 1);
const EXPORT = makeId("exp", 1);
const PART_BYTES = 4_000;
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000;

function newWorld(sessions: number) {
  const sql = createMigratedSql();
  const clock = createTestClock();
  const directory = createDirectory(sql);
  const erased = new Set<SessionId>();
  const parts = new Map<number, Uint8Array>();
  const files: Uint8Array<ArrayBuffer>[] = [];
  /** Runs when a page is read, before a part is stored, and before the export is removed. */
  const hooks = { read: (_: SessionId): void => {}, put: (_: number): void => {}, remove: (): void => {} };
  for (let n = 1; n <= sessions; n++) directory.restore({ session: makeId("ses", n), external_id: null, end_user: null, created_at: n });

  function readLines(session: SessionId): SessionLines {
    const first = { type: "session", id: session, created_at: 1, external_id: null, end_user: null, seq: 1 };
    const event = { type: "event", seq: 1, at: 1, event: "ForkCompleted", version: 1, data: {} };
    const body = { type: "body", id: session.replace("ses", "bod"), part: 0, text: "x".repeat(700) };
    const toLine = (line: object, place: SessionLines["lines"][number]["place"]) => ({ text: JSON.stringify(line), place });
    const lines = [
      toLine(first, { kind: "event", seq: 0 }),
      toLine(event, { kind: "event", seq: 1 }),
      toLine(body, { kind: "body", id: body.id, part: 0 }),
    ];
    return { seq: 1, end_user: null, lines, done: true };
  }
  const store: ExportStore = {
    begin: async () => "upload",
    putPart: async (_, { number, bytes }) => {
      hooks.put(number);
      parts.set(number, bytes.slice());
      return { number, etag: `etag-${number}` };
    },
    finish: async (_, input) => {
      const all = input.parts.map(({ number }) => parts.get(number) ?? new Uint8Array());
      expect(all.slice(0, -1).every((part) => part.byteLength === PART_BYTES)).toBe(true);
      files.push(new Uint8Array(await new Blob(all.map((part) => new Uint8Array(part))).arrayBuffer()));
    },
    open: async () => null,
    remove: async () => {
      hooks.remove();
      files.splice(0);
    },
    readFile: async () => null,
    readRange: async () => null,
  };
  const start = () =>
    createExports({
      sql,
      directory,
      tenant: () => TENANT,
      sessions: () => ({
        exportLines: async ({ session }, { after }) => {
          const page = readLines(session);
          const from = after ? page.lines.findIndex(({ place }) => JSON.stringify(place) === JSON.stringify(after)) + 1 : 0;
          hooks.read(session);
          return erased.has(session) ? err({ code: "session_erased" }) : ok({ ...page, lines: page.lines.slice(from) });
        },
      }),
      listFiles: () => [],
      listSettings: () => [],
      store: () => store,
      isDeleted: () => false,
      alarm: { get: async () => null, set: () => {} },
      now: clock.now,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      partBytes: PART_BYTES,
    });
  return { sql, clock, start, hooks, files, erased };
}

/** The ids of the sessions in a file that is checked as an import checks it. */
async function listSessions(file: Uint8Array<ArrayBuffer> | undefined): Promise<readonly string[]> {
  const ids: string[] = [];
  const body = new Blob(file ? [file] : []).stream();
  for await (const { lines } of readExport(readChunks(body), parseExportLine)) {
    for (const { line } of lines) if (line.type === "session") ids.push(line.id);
  }
  return ids;
}

const newest = (count: number): string[] => Array.from({ length: count }, (_, index) => makeId("ses", count - index));

describe("an export of an erased session", () => {
  it("counts as left while its bytes cannot be removed", async () => {
    const { start, files, hooks } = newWorld(2);
    const exports = start();
    await exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    for (let rings = 0; rings < 50 && files.length === 0; rings++) await exports.run();
    hooks.remove = () => {
      throw new Error("gone");
    };

    exports.takeOut(makeId("ses", 1), null);
    expect(await exports.removeHeld(makeId("ses", 1))).toBe(1);
    expect(exports.get(EXPORT)).toMatchObject({ ok: false });

    hooks.remove = () => {};
    expect(await exports.removeHeld(makeId("ses", 1))).toBe(0);
    expect(files).toEqual([]);
  });

  it("that has failed holds nothing: its bytes went before it failed", async () => {
    const { start, sql, hooks, clock } = newWorld(30);
    let removed = 0;
    hooks.remove = () => void removed++;
    hooks.put = (number) => {
      if (number > 1) throw new Error("gone");
    };
    const exports = start();
    await exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    for (let rings = 0; rings < 40; rings++) {
      await exports.run();
      clock.advance(60 * 60 * 1_000);
    }

    expect(exports.get(EXPORT)).toMatchObject({ ok: true, value: { status: "failed", bytes: 0 } });
    expect(removed).toBe(1);
    expect(sql.rows("SELECT * FROM export_sessions")).toEqual([]);
  });
});

describe("an export", () => {
  it("of a thousand sessions is made in parts, each session once", async () => {
    const { start, files } = newWorld(1_000);
    const exports = start();
    await exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});

    for (let rings = 0; rings < 2_000 && files.length === 0; rings++) await exports.run();

    expect(exports.get(EXPORT)).toMatchObject({ ok: true, value: { status: "ready", sessions_done: 1_000, sessions_total: 1_000 } });
    expect(await listSessions(files[0])).toEqual(newest(1_000));
  });

  it("is the same when the object is lost at any part", async () => {
    const { start, hooks, files, clock } = newWorld(30);
    const lost = new Set<number>();
    hooks.put = (number) => {
      if (lost.has(number)) return;
      lost.add(number);
      throw new Error("the object is lost");
    };
    await start().begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});

    for (let rings = 0; rings < 200 && files.length === 0; rings++) {
      await start().run();
      clock.advance(WEEK_MS / 1_000);
    }

    expect(lost.size).toBeGreaterThan(4);
    expect(await listSessions(files[0])).toEqual(newest(30));
  });

  it.each([1, 9, 15, 29])("has nothing of a session that is erased while session %i is read, wherever it was", async (moment) => {
    for (const victim of [2, 9, 15, 28]) {
      const { start, hooks, files, erased, sql } = newWorld(30);
      const exports = start();
      hooks.read = (session) => {
        if (session !== makeId("ses", moment) || erased.size > 0) return;
        erased.add(makeId("ses", victim));
        sql.rows("INSERT INTO erasures (session, asked_at, due_at, attempts) VALUES (?, 1, 1, 0)", makeId("ses", victim));
        exports.takeOut(makeId("ses", victim), null);
      };
      await exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});

      for (let rings = 0; rings < 200 && files.length === 0; rings++) await exports.run();

      expect(erased.size).toBe(1);
      expect(await listSessions(files[0])).toEqual(newest(30).filter((id) => id !== makeId("ses", victim)));
    }
  });

  it("that is ready ends when a session of it is erased or redacted, and stays when it has the redacted state", async () => {
    const { start, files } = newWorld(2);
    const exports = start();
    await exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    while (files.length === 0) await exports.run();

    exports.takeOut(makeId("ses", 1), 1);
    expect(exports.get(EXPORT)).toMatchObject({ ok: true, value: { status: "ready" } });
    exports.takeOut(makeId("ses", 1), 2);

    expect(exports.get(EXPORT)).toMatchObject({ ok: false, error: { code: "export_not_found" } });
    await exports.run();
    expect([files, exports.nextDue()]).toEqual([[], null]);
  });

  it("is removed after seven days", async () => {
    const { start, files, clock } = newWorld(1);
    const exports = start();
    await exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    while (files.length === 0) await exports.run();
    await exports.run();
    expect(files).toHaveLength(1);

    clock.advance(WEEK_MS + 1);
    await exports.run();

    expect(files).toEqual([]);
    expect(exports.list({ after: null, limit: 10 }).data).toEqual([]);
  });
});

it("of a suspended tenant is read by no address and by no import", async () => {
  const tenant = newMemoryTenant(1);
  await tenantCalls.beginExport(tenant, ACT, { id: EXPORT, subject: { of: "tenant" }, settings: [] });
  expect(await tenantCalls.getExport(tenant, EXPORT)).toMatchObject({ ok: true });

  await tenantCalls.suspend(tenant, ACT, "unpaid");

  expect(await tenantCalls.getExport(tenant, EXPORT)).toMatchObject({ error: { code: "tenant_suspended" } });
});
