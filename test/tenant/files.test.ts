/** The registry of files: what may be read, what refers to it, and what is removed when. */
import { describe, expect, it } from "vitest";
import type { FileStore } from "../../src/app/file-api";
import type { FileId } from "../../src/domain/ids";
import { ok } from "../../src/lib/result";
import { createFileRemoval } from "../../src/tenant/files/file-removal";
import { createFiles } from "../../src/tenant/files/files";
import { tenantCalls } from "../../src/tenant/tenant-calls";
import { createMigratedSql } from "./memory-sql";
import { ACT, newMemoryTenant } from "./memory-tenant";
import { createTestClock, makeId } from "./support";

const HOUR = 60 * 60 * 1_000;
const [SESSION, OTHER] = [makeId("ses", 1), makeId("ses", 2)];
const STORED = { sha256: "ab".repeat(32), tokens: 1_600 };

function world() {
  const sql = createMigratedSql();
  const clock = createTestClock();
  const files = createFiles(sql);
  const held = new Set<string>();
  const set: { alarm: number | null; away: boolean } = { alarm: null, away: false };
  const store: FileStore = {
    put: async () => ok(STORED),
    open: async () => null,
    read: async () => null,
    has: async () => true,
    remove: async (file) => {
      if (set.away) throw new Error("R2 is away");
      held.delete(file);
    },
  };
  const alarm = { get: async () => set.alarm, set: (at: number) => void Object.assign(set, { alarm: at }) };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const removal = createFileRemoval({ sql, files, store: () => store, alarm, now: clock.now, log });
  const begin = (n: number, bytes = 10): FileId => {
    const file = makeId("fil", n);
    const begun = files.begin({ file, name: `file-${n}.png`, media_type: "image/png", bytes }, clock.now());
    if (!begun.ok) throw new Error(begun.error.code);
    held.add(file);
    return file;
  };
  const upload = (n: number): FileId => {
    const file = begin(n);
    files.finish({ file, stored: STORED, idempotency: null }, clock.now());
    return file;
  };
  return { sql, clock, files, held, set, removal, begin, upload };
}

describe("an upload", () => {
  it("can be read and referred to only when its last byte is stored", () => {
    const { files, begin, clock } = world();
    const file = begin(1);
    expect([files.find(file), files.use({ session: SESSION, files: [file] }, clock.now()).ok]).toEqual([null, false]);

    files.finish({ file, stored: STORED, idempotency: null }, clock.now());

    expect(files.find(file)).toMatchObject({ id: file, sha256: STORED.sha256, sessions: 0, expires_at: clock.now() + 24 * HOUR });
  });

  it("that was cut off is removed after an hour", async () => {
    const { files, begin, clock, removal, held } = world();
    const file = begin(1);
    clock.advance(HOUR);

    await removal.run();

    expect([held.size, files.nextDue()]).toEqual([0, null]);
    expect(files.finish({ file, stored: STORED, idempotency: null }, clock.now())).toMatchObject({ error: { code: "file_not_found" } });
  });

  it("that was given up and arrives all the same is removed again", async () => {
    const { files, begin, clock, removal, held } = world();
    const file = begin(1);
    clock.advance(HOUR);
    await removal.run();
    held.add(file);

    expect(files.finish({ file, stored: STORED, idempotency: null }, clock.now()).ok).toBe(false);
    await removal.run();

    expect([held.size, files.nextDue()]).toEqual([0, null]);
  });

  it("that arrives while its bytes are being removed is not forgotten by that removal", () => {
    const { files, begin, clock } = world();
    const file = begin(1);
    files.abandon(file, clock.now());
    const postponed = files.postpone(file, clock.now());
    files.finish({ file, stored: STORED, idempotency: null }, clock.now());

    files.forget(file, postponed);

    expect(files.takeDue(clock.now(), 10)).toEqual([file]);
  });

  it("that failed frees its bytes at once, and a stored file cannot be given up", () => {
    const { files, begin, upload, clock } = world();
    const [failed, stored] = [begin(1), upload(2)];
    for (const file of [failed, stored]) files.abandon(file, clock.now());

    expect(files.takeDue(clock.now(), 10)).toEqual([failed]);
    expect(files.find(stored)).not.toBeNull();
  });

  it("under a key that was used returns the first file, and its own bytes go", async () => {
    const { files, begin, clock, removal, held } = world();
    const [first, second] = [begin(1), begin(2)];
    const finish = (file: FileId) => files.finish({ file, stored: STORED, idempotency: { key: "k", digest: "d" } }, clock.now());

    expect(finish(first)).toMatchObject({ value: { file: { id: first }, replayed: false } });
    expect(finish(second)).toMatchObject({ value: { file: { id: first }, replayed: true } });
    await removal.run();

    expect([...held]).toEqual([first]);
  });

  it("beyond the tenant's bytes is refused before anything is stored", () => {
    const { files, begin, clock } = world();
    begin(1, 9_999_999_990);

    const refused = files.begin({ file: makeId("fil", 2), name: null, media_type: "image/png", bytes: 11 }, clock.now());

    expect(refused).toEqual({ ok: false, error: { code: "file_limit", of: "bytes", limit: 10_000_000_000 } });
  });
});

describe("references", () => {
  it("keep a file that would have ended; a file that none has ends after a day", async () => {
    const { files, upload, clock, removal, held } = world();
    const [used, unused] = [upload(1), upload(2)];
    files.use({ session: SESSION, files: [used] }, clock.now());
    files.keep({ session: SESSION, files: [used], gone: [], seq: 1 }, clock.now());
    clock.advance(24 * HOUR);

    await removal.run();

    expect([...held]).toEqual([used]);
    expect([files.find(used)?.expires_at, files.find(unused)]).toEqual([null, null]);
  });

  it("are taken for all files of a message or for none", () => {
    const { files, upload, clock } = world();
    const file = upload(1);

    const refused = files.use({ session: SESSION, files: [file, makeId("fil", 9)] }, clock.now());

    expect(refused).toEqual({ ok: false, error: { code: "file_not_found", file: makeId("fil", 9) } });
    expect(files.find(file)?.sessions).toBe(0);
  });

  it("a file ends with its last session, not with the first of two", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    for (const session of [SESSION, OTHER, OTHER]) files.keep({ session, files: [file], gone: [], seq: 1 }, clock.now());
    expect(files.find(file)?.sessions).toBe(2);

    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 1 }, clock.now())).toEqual([]);
    expect(files.find(file)?.sessions).toBe(1);
    expect(files.keep({ session: OTHER, files: [], gone: [], seq: 1 }, clock.now())).toEqual([file]);
    expect([files.find(file), files.listRemovedFor(OTHER)]).toEqual([null, [file]]);
  });
});

describe("what a session says of its files", () => {
  it("is not taken back by what it said before and what arrives later", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    files.keep({ session: SESSION, files: [file], gone: [], seq: 7 }, clock.now());

    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 6 }, clock.now())).toEqual([]);
    expect(files.find(file)?.sessions).toBe(1);
    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 7 }, clock.now())).toEqual([file]);
  });

  it("leaves a file of a refused message to its own day", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    const { expires_at } = files.find(file) ?? {};
    files.use({ session: SESSION, files: [file] }, clock.now());
    clock.advance(2 * HOUR);

    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 1 }, clock.now())).toEqual([]);
    expect(files.find(file)).toMatchObject({ sessions: 0, expires_at });
  });

  it("ends a file that another session's refused message still notes, once the note is over", async () => {
    const { files, upload, clock, removal, held } = world();
    const file = upload(1);
    files.keep({ session: SESSION, files: [file], gone: [], seq: 1 }, clock.now());
    files.use({ session: OTHER, files: [file] }, clock.now());
    files.release(SESSION, clock.now());
    expect(files.find(file)).toMatchObject({ sessions: 0, expires_at: clock.now() + HOUR });

    clock.advance(HOUR);
    await removal.run();

    expect([held.size, files.nextDue()]).toEqual([0, null]);
  });

  it("is all that an access token may name", () => {
    const { files, upload, clock } = world();
    const [own, other] = [upload(1), upload(2)];
    files.keep({ session: SESSION, files: [own], gone: [], seq: 1 }, clock.now());

    const use = (file: FileId) => files.use({ session: SESSION, files: [file], sessionsOnly: true }, clock.now());
    expect([use(own).ok, use(other)]).toEqual([true, { ok: false, error: { code: "file_not_found", file: other } }]);
  });

  it("is not referred to by a session that only asks about it", () => {
    const { files, upload, clock } = world();
    const file = upload(1);

    expect(files.use({ session: SESSION, files: [file], asksOnly: true }, clock.now())).toMatchObject({ value: [{ file_id: file }] });
    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 1 }, clock.now())).toEqual([]);
    expect(files.find(file)?.sessions).toBe(0);
  });

  it("leaves out what is missing for a copy", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    const used = files.use({ session: SESSION, files: [makeId("fil", 9), file], skipMissing: true }, clock.now());
    expect(used).toMatchObject({ ok: true, value: [{ file_id: file }] });
  });
});

describe("a message on its way", () => {
  it("keeps its file until the session confirms it, whatever the session says of others meanwhile", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    files.use({ session: SESSION, files: [file] }, clock.now());

    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 1 }, clock.now())).toEqual([]);
    expect(files.keep({ session: SESSION, files: [file], gone: [], seq: 1 }, clock.now())).toEqual([]);
    expect(files.keep({ session: SESSION, files: [], gone: [], seq: 1 }, clock.now())).toEqual([file]);
  });

  it("that was refused leaves the file to end as if it had not been named", async () => {
    const { files, upload, clock, removal, held } = world();
    const file = upload(1);
    clock.advance(24 * HOUR - 1);
    files.use({ session: SESSION, files: [file] }, clock.now());
    clock.advance(HOUR);
    await removal.run();

    expect([held.size, files.find(file)]).toEqual([0, null]);
  });

  it("and was redacted before the session could confirm it ends its file at once", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    files.use({ session: SESSION, files: [file] }, clock.now());

    expect(files.keep({ session: SESSION, files: [], gone: [file], seq: 1 }, clock.now())).toEqual([file]);
  });

  it("and names a file again keeps it, while the message that named it before is redacted", async () => {
    const { files, upload, clock, removal, held } = world();
    const file = upload(1);
    files.use({ session: SESSION, files: [file] }, clock.now());
    files.keep({ session: SESSION, files: [file], gone: [], seq: 1 }, clock.now());
    files.use({ session: SESSION, files: [file] }, clock.now());
    expect(files.keep({ session: SESSION, files: [], gone: [file], seq: 2 }, clock.now())).toEqual([]);
    files.keep({ session: SESSION, files: [file], gone: [], seq: 3 }, clock.now());
    clock.advance(48 * HOUR);
    await removal.run();

    expect(held.size).toBe(1);
    files.use({ session: SESSION, files: [file] }, clock.now());
    files.keep({ session: SESSION, files: [], gone: [file], seq: 4 }, clock.now());
    clock.advance(HOUR);
    await removal.run();
    // Without that message the file ends with the hold.
    expect([held.size, files.find(file)]).toEqual([0, null]);
  });

  it("of an erased session is released with it", () => {
    const { files, upload, clock } = world();
    const file = upload(1);
    files.use({ session: SESSION, files: [file] }, clock.now());

    files.release(SESSION, clock.now());

    expect(files.listRemovedFor(SESSION)).toEqual([file]);
  });
});

describe("a removal", () => {
  it("that the store refuses is repeated by the alarm until the bytes are gone; the file cannot be read meanwhile", async () => {
    const { files, upload, clock, removal, held, set } = world();
    const file = upload(1);
    set.away = true;
    expect(files.remove(file, clock.now())).toBe(true);

    expect(await removal.remove([file])).toBe(1);
    expect([held.size, files.find(file), set.alarm]).toEqual([1, null, clock.now() + 15_000]);

    set.away = false;
    clock.advance(15_000);
    await removal.run();
    expect([held.size, files.nextDue()]).toEqual([0, null]);
  });

  it("of a file that is not there says so", () => {
    const { files, clock } = world();
    expect(files.remove(makeId("fil", 1), clock.now())).toBe(false);
  });

  it("leaves no name of the file", async () => {
    const { sql, files, upload, clock, removal, set } = world();
    const file = upload(1);
    set.away = true;
    files.remove(file, clock.now());
    await removal.remove([file]);

    expect(JSON.stringify(sql.rows("SELECT * FROM files"))).not.toContain("file-1");
  });
});

it("the list shows stored files by pages, newest first", () => {
  const { files, upload, begin } = world();
  const [first, second, third] = [upload(1), upload(2), upload(3)];
  begin(4);

  const page = files.list({ after: null, limit: 2, order: "desc" });

  expect([page.data.map(({ id }) => id), page.has_more]).toEqual([[third, second], true]);
  expect(files.list({ after: second, limit: 2, order: "desc" }).data.map(({ id }) => id)).toEqual([first]);
  expect(files.list({ after: first, limit: 2, order: "asc" }).data.map(({ id }) => id)).toEqual([second, third]);
});

it("an upload as such leaves one entry in the audit log, and one with a message none", async () => {
  const tenant = newMemoryTenant(1);
  const stored = { sha256: "0".repeat(64), tokens: 1 };
  const upload = async (n: number, act: object) => {
    const file = makeId("fil", n);
    await tenantCalls.beginFile(tenant, { file, name: null, media_type: "text/plain", bytes: 1 });
    await tenantCalls.finishFile(tenant, { file, stored, idempotency: { key: "once", digest: "same" }, ...act });
  };

  await upload(1, { act: ACT });
  await upload(2, { act: ACT });
  await upload(3, {});

  const uploads = tenant.audit
    .read({ after: 0, limit: 100, order: "asc", action: null, actor: null, target: null, from: null, to: null })
    .data.filter(({ action }) => action === "file.uploaded");
  expect(uploads).toMatchObject([{ target: { type: "file", id: makeId("fil", 1) } }]);
});
