/** A whole tenant, exported and imported in the background by objects that are lost at any moment: the same settings, sessions and files, each once. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { ExportStore } from "../../src/app/export-api";
import { parseSettings } from "../../src/app/exported-settings";
import type { TenantFileStore } from "../../src/app/file-api";
import type { Caller } from "../../src/app/session-api";
import { SETTING_KINDS } from "../../src/domain/export-format";
import type { ExportId, FileId, SessionId, TenantId } from "../../src/domain/ids";
import { createSettingParser } from "../../src/http/schemas/setting";
import { ok } from "../../src/lib/result";
import { sha256 } from "../../src/lib/sha256";
import type { Tenant } from "../../src/tenant/core/tenant";
import { restoreSettings } from "../../src/tenant/restore-settings";
import { CALLER, Life } from "../session/life";
import { acts, Story } from "../session/story";
import { newLife, ROOMY } from "../session/talk";
import { drawnSettings } from "./drawn-settings";
import { createEmptySql } from "./memory-sql";
import { ACT, type MemorySessions, newMemoryTenant, openMemoryTenant } from "./memory-tenant";
import { makeId } from "./support";

const [SOURCE, TARGET] = [makeId("ten", 1), makeId("ten", 2)];
const [EXPORT, AGAIN, IMPORT, FILE] = [makeId("exp", 1), makeId("exp", 2), makeId("imp", 1), makeId("fil", 1)];
const sessionId = (n: number): SessionId => makeId("ses", 100 + n);
const NEVER = new Promise<never>(() => {});

/** One bucket of all tenants. `step`: called before each access. */
class Bucket {
  readonly objects = new Map<string, Uint8Array<ArrayBuffer>>();
  step: () => Promise<void> = async () => {};

  exports(tenant: TenantId): ExportStore {
    const parts = new Map<number, Uint8Array>();
    const slice = async (id: ExportId | FileId, { offset, length }: { readonly offset: number; readonly length: number }) => {
      await this.step();
      return this.objects.get(`${tenant}/${id}`)?.slice(offset, offset + length) ?? null;
    };
    return {
      begin: async () => "upload",
      putPart: async (_, { number, bytes }) => {
        parts.set(number, bytes.slice());
        return { number, etag: `etag-${number}` };
      },
      finish: async (id, input) => {
        const all = input.parts.map(({ number }) => new Uint8Array(parts.get(number) ?? []));
        this.objects.set(`${tenant}/${id}`, new Uint8Array(await new Blob(all).arrayBuffer()));
      },
      open: async () => null,
      remove: async (id) => void this.objects.delete(`${tenant}/${id}`),
      readFile: slice,
      readRange: slice,
    };
  }

  files(tenant: TenantId): TenantFileStore {
    return {
      put: async (file, { body }) => {
        await this.step();
        const content = new Uint8Array(await new Response(body).arrayBuffer());
        this.objects.set(`${tenant}/${file}`, content);
        return ok({ sha256: await sha256(content), tokens: 1 });
      },
      open: async () => null,
      has: async (file) => this.objects.has(`${tenant}/${file}`),
      read: async () => null,
      remove: async (file) => void this.objects.delete(`${tenant}/${file}`),
      removeAll: async () => {},
    };
  }
}

const unused = (): never => {
  throw new Error("not asked here");
};

/** The sessions of the source: one life under several ids. */
function sourceSessions(life: Life): MemorySessions {
  return ({ session }) => ({
    ...{ erase: unused, describe: unused, formerEndUsers: unused, forgetEndUsers: unused, retain: unused },
    ...{ stageRestore: unused, finishRestore: unused, dropRestore: unused },
    exportLines: async (_, input) => {
      const page = await life.service.exportLines(CALLER, input);
      if (!page.ok || "moved" in page.value) return page;
      const lines = page.value.lines.map(({ text, place }) => ({ text: text.replaceAll(CALLER.session, session), place }));
      return ok({ ...page.value, lines });
    },
  });
}

/** The objects of the target's sessions, which outlive the tenant's. */
class TargetSessions {
  readonly lives = new Map<SessionId, Life>();
  step: () => Promise<void> = async () => {};

  readonly open: MemorySessions = ({ session }) => {
    const { service } = this.find(session);
    return {
      ...{ erase: unused, describe: unused, formerEndUsers: unused, forgetEndUsers: unused, retain: unused },
      exportLines: (caller: Caller, input) => service.exportLines(caller, input),
      stageRestore: async (caller, input) => {
        await this.step();
        return service.stageRestore(caller, input);
      },
      finishRestore: async (caller, input) => {
        const finished = await service.finishRestore(caller, input);
        await this.step();
        return finished;
      },
      dropRestore: (caller) => service.dropRestore(caller),
    };
  };

  find(session: SessionId): Life {
    const life = this.lives.get(session) ?? new Life(createNodeSql(), "life-2");
    life.models = { resolve: async () => ROOMY };
    this.lives.set(session, life);
    return life;
  }
}

const parse = createSettingParser({ allowPrivateModelUrls: false, allowPrivateToolUrls: false });

async function exportAll(tenant: Tenant, id: ExportId): Promise<void> {
  await tenant.upkeep.exports.begin({ id, subject: { of: "tenant" }, settings: SETTING_KINDS }, () => {});
  for (let rings = 0; rings < 100; rings++) {
    await tenant.upkeep.exports.run();
    const found = tenant.upkeep.exports.get(id);
    if (found.ok && found.value.status === "ready") return;
  }
  throw new Error("The export does not end");
}

async function newSource({
  bucket,
  life,
  sessions,
  settings,
}: {
  bucket: Bucket;
  life: Life;
  sessions: number;
  settings: Parameters<typeof parseSettings>[0];
}) {
  const tenant = newMemoryTenant(1, { exportStore: (tenant: TenantId) => bucket.exports(tenant), sessions: sourceSessions(life) });
  const put = (restored: Parameters<Parameters<typeof parseSettings>[2]>[0]) =>
    restoreSettings(tenant, { act: ACT, mode: "replace", allowed: SETTING_KINDS, settings: restored });
  await parseSettings(settings, parse, put);
  for (let n = 1; n <= sessions; n++) tenant.directory.restore({ session: sessionId(n), external_id: null, end_user: null, created_at: n });
  const content = new Uint8Array(new TextEncoder().encode("文件 planted"));
  bucket.objects.set(`${SOURCE}/${FILE}`, content);
  const facts = { file: FILE, name: "名.txt", media_type: "text/plain", bytes: content.byteLength };
  tenant.transaction(() => {
    tenant.files.begin(facts, Date.now());
    return ok(null);
  });
  const stored = { sha256: await sha256(content), tokens: 1 };
  tenant.transaction(() => {
    tenant.files.finish({ file: FILE, stored, idempotency: null }, Date.now());
    return tenant.files.use({ session: sessionId(1), files: [FILE] }, Date.now());
  });
  await exportAll(tenant, EXPORT);
  return tenant;
}

/** The lines of an export but for what is stated: times of the export, digests, tenants, and the first tenant's own name, keys and credentials. */
const toComparable = (bytes: Uint8Array | undefined): readonly string[] =>
  new TextDecoder()
    .decode(bytes)
    .replaceAll(TARGET, SOURCE)
    .replaceAll(CALLER.tenant, SOURCE)
    .replace(/"made_at":\d+/, "")
    .split("\n")
    .filter(
      (line) => !/^\{"type":"(checkpoint|end|file|content|session_end)"|"kind":"(key|credential)"|"kind":"tenant","name":"name"/.test(line),
    );

function newTarget(bucket: Bucket) {
  const sql = createEmptySql();
  const sessions = new TargetSessions();
  const world = {
    sql,
    exportStore: (tenant: TenantId) => bucket.exports(tenant),
    fileStore: () => bucket.files(TARGET),
    sessions: sessions.open,
  };
  return { sql, sessions, first: newMemoryTenant(2, world), reopen: () => openMemoryTenant(world) };
}

const begin = (tenant: Tenant, bytes: number, sessions = 3) =>
  tenant.upkeep.imports.begin(
    { id: IMPORT, source: { tenant: SOURCE, export: EXPORT }, bytes, sessions, mode: "keep", allowed: SETTING_KINDS },
    ACT,
    () => {},
  );

const report = (tenant: Tenant) => {
  const found = tenant.upkeep.imports.report(IMPORT, { after: 0, limit: 1_000 });
  return found.ok ? found.value.data : [];
};
const readSize = (bucket: Bucket) => bucket.objects.get(`${SOURCE}/${EXPORT}`)?.byteLength ?? 0;

/** Runs the import to its end. The object is lost at each of these numbers of accesses to the bucket and the sessions, in turn. */
async function runWithDeaths(
  { bucket, sessions, first, reopen }: { readonly bucket: Bucket } & Omit<ReturnType<typeof newTarget>, "sql">,
  cuts: readonly number[],
) {
  const left = [...cuts];
  let [tenant, deaths] = [first, 0];
  for (let lives = 0; lives < 50; lives++) {
    const death = Promise.withResolvers<void>();
    let steps = left.shift() ?? Number.POSITIVE_INFINITY;
    const step = async (): Promise<void> => {
      steps -= 1;
      if (steps > 0) return;
      death.resolve();
      await NEVER;
    };
    [bucket.step, sessions.step] = [step, step];
    await Promise.race([death.promise, tenant.upkeep.imports.run()]);
    [bucket.step, sessions.step] = [async () => {}, async () => {}];
    const found = tenant.upkeep.imports.get(IMPORT);
    if (found.ok && found.value.status !== "running") break;
    if (steps > 0) continue;
    deaths += 1;
    tenant = reopen();
  }
  return { tenant, deaths };
}

describe("any tenant", () => {
  it("is the same in another tenant, however often its object is lost, and exports as the same lines", { timeout: 240_000 }, async () => {
    let deaths = 0;
    await fc.assert(
      fc.asyncProperty(
        acts,
        drawnSettings,
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 6 }),
        async (script, settings, count, cuts) => {
          const bucket = new Bucket();
          const story = new Story(await newLife({}));
          for (const [n, act] of script.entries()) await story.do(act, n);
          await newSource({ bucket, life: story.life, sessions: count, settings });
          const { sessions, first, reopen } = newTarget(bucket);
          await begin(first, readSize(bucket), count);
          const { tenant, deaths: died } = await runWithDeaths({ bucket, sessions, first, reopen }, cuts);
          deaths += died;

          expect(tenant.upkeep.imports.get(IMPORT)).toMatchObject({
            value: { status: "done", error: null, sessions_done: count, bytes_read: readSize(bucket) },
          });
          expect(
            report(tenant)
              .filter(({ kind }) => kind === "session")
              .map(({ name }) => name),
          ).toEqual(Array.from({ length: count }, (_, index) => sessionId(count - index)));
          expect(bucket.objects.get(`${TARGET}/${FILE}`)).toEqual(bucket.objects.get(`${SOURCE}/${FILE}`));
          await exportAll(tenant, AGAIN);
          expect(toComparable(bucket.objects.get(`${TARGET}/${AGAIN}`))).toEqual(toComparable(bucket.objects.get(`${SOURCE}/${EXPORT}`)));
        },
      ),
      { numRuns: 15 },
    );
    expect(deaths).toBeGreaterThan(5);
  });
});

describe("an import in the background", () => {
  async function newWorld(sessions = 2) {
    const bucket = new Bucket();
    const life = await newLife({});
    await life.send("hello");
    await life.answer("Good day.");
    const source = await newSource({ bucket, life, sessions, settings: [] });
    return { bucket, life, source, ...newTarget(bucket) };
  }
  const finish = async (tenant: Tenant) => {
    for (let rings = 0; rings < 20; rings++) await tenant.upkeep.imports.run();
    return tenant.upkeep.imports.get(IMPORT);
  };
  const change = (bucket: Bucket, edit: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>) => {
    const key = `${SOURCE}/${EXPORT}`;
    bucket.objects.set(key, edit(bucket.objects.get(key) ?? new Uint8Array()));
  };

  it("that is lost once, at any access, restores each session with its file", async () => {
    for (let cut = 1; cut <= 8; cut++) {
      const { bucket, first, sessions, reopen } = await newWorld(1);
      await begin(first, readSize(bucket), 1);

      const { tenant } = await runWithDeaths({ bucket, sessions, first, reopen }, [cut]);

      const [session] = report(tenant).filter(({ kind }) => kind === "session");
      expect(["restored", "exists"]).toContain(session?.status);
      expect(bucket.objects.get(`${TARGET}/${FILE}`)).toEqual(bucket.objects.get(`${SOURCE}/${FILE}`));
    }
  });

  it("of a file that is cut off fails with what is wrong, and restores nothing of its last stretch", async () => {
    const { bucket, first } = await newWorld();
    change(bucket, (bytes) => bytes.slice(0, bytes.byteLength - 40));
    await begin(first, readSize(bucket));

    expect(await finish(first)).toMatchObject({
      value: { status: "failed", sessions_done: 0, error: { detail: expect.stringContaining("cut off") } },
    });
    expect(report(first)).toEqual([]);
  });

  it("of a file that was changed fails with the line of the digest", async () => {
    const { bucket, first } = await newWorld();
    change(bucket, (bytes) => new Uint8Array(new TextEncoder().encode(new TextDecoder().decode(bytes).replace("hello", "jello"))));
    await begin(first, readSize(bucket));

    expect(await finish(first)).toMatchObject({
      value: { status: "failed", error: { line: expect.any(Number), detail: "sha256: is another digest" } },
    });
  });

  it("of a line without end stops behind a stretch, whatever the file's size", async () => {
    const { bucket, first } = await newWorld();
    let asked = 0;
    const endless = {
      readRange: async (_: ExportId, { length }: { readonly length: number }) => new Uint8Array(length).fill(++asked > 0 ? 120 : 0),
    };
    Object.assign(bucket, { exports: () => endless });
    await begin(first, 1_000_000_000);

    expect(await finish(first)).toMatchObject({
      value: { status: "failed", error: { line: 1, detail: expect.stringContaining("longer than") } },
    });
    expect(asked).toBeLessThan(12);
  });

  it("whose export ends meanwhile fails, and says so", async () => {
    const { bucket, first } = await newWorld();
    await begin(first, readSize(bucket));
    bucket.objects.clear();

    expect(await finish(first)).toMatchObject({
      value: { status: "failed", error: { line: null, detail: "the export is not there any more" } },
    });
  });

  it("that is deleted restores no further session, and its report is gone", async () => {
    const { bucket, first, sessions } = await newWorld(3);
    await begin(first, readSize(bucket));
    sessions.step = async () => void (await first.upkeep.imports.remove(IMPORT, () => {}));

    expect(await finish(first)).toMatchObject({ ok: false, error: { code: "import_not_found" } });
    expect([...sessions.lives.values()].filter(({ runtime }) => runtime.exists).length).toBeLessThan(2);
    expect(first.upkeep.imports.nextDue()).toBeNull();
  });

  it("brings no session that was erased in the tenant, though its object had forgotten it", async () => {
    const { bucket, first, sessions, sql } = await newWorld(2);
    sql.rows("INSERT INTO erased_sessions (session, erasure) VALUES (?, ?)", sessionId(1), makeId("era", 1));
    await begin(first, readSize(bucket));

    await finish(first);

    expect(report(first).filter(({ kind }) => kind === "session")).toMatchObject([
      { name: sessionId(2), status: "restored" },
      { name: sessionId(1), status: "erased" },
    ]);
    expect(first.directory.has(sessionId(1))).toBe(false);
    expect(sessions.find(sessionId(1)).runtime.exists).toBe(false);
  });

  it("does nothing while the tenant is suspended, and goes on after", async () => {
    const { bucket, first } = await newWorld();
    await begin(first, readSize(bucket));
    first.standings.suspend("unpaid", Date.now());
    expect(await finish(first)).toMatchObject({ value: { status: "running", sessions_done: 0 } });
    expect(report(first)).toEqual([]);
  });

  it("is refused when the tenant keeps as many reports as it may", async () => {
    const { bucket, first } = await newWorld();
    for (let n = 2; n <= 21; n++) {
      const input = {
        id: makeId("imp", n),
        source: { tenant: SOURCE, export: EXPORT },
        bytes: 1,
        sessions: 1,
        mode: "skip" as const,
        allowed: [],
      };
      expect(await first.upkeep.imports.begin(input, ACT, () => {})).toMatchObject({ ok: true });
    }

    expect(await begin(first, readSize(bucket))).toMatchObject({ ok: false, error: { code: "import_limit", limit: 20 } });
  });
});
