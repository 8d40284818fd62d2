/** Clients that upload, send, redact, fork, delete and erase. Each request has a worker of its own, which may die at any await. */
import { copySession } from "../../src/app/branch/copy-session";
import { eraseSession } from "../../src/app/erase-session";
import type { FileFacts } from "../../src/app/file-api";
import type { TenantOutcome } from "../../src/app/tenant-api";
import type { FileId, ItemId, SessionId } from "../../src/domain/ids";
import { storeFile } from "../../src/http/store-file";
import { ok } from "../../src/lib/result";
import { id, TENANT } from "../support/builders";
import { type FileWorld, ResetError, releaseFiles } from "./file-world";
import { Scope } from "./scheduler";
import { BucketAwayError } from "./sim-bucket";

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const ACTIONS = { upload: 6, send: 8, redact: 2, fork: 1.5, delete: 1, erase: 1, open: 1, pause: 1 } as const;

export interface SentMessage {
  readonly session: SessionId;
  readonly message: ItemId;
  readonly file: FileId;
}

export class FileClients {
  readonly uploaded: FileId[] = [];
  /** Files that a client asked to delete, whether or not it was answered. */
  readonly deleted = new Set<FileId>();
  /** Files that ended, with the source of a copy, after the copy was read and before it could refer to them. */
  readonly endedBefore = new Set<FileId>();
  readonly sent: SentMessage[] = [];
  readonly redacted = new Set<ItemId>();
  readonly open = new Set<SessionId>();
  readonly workers = new Set<Scope>();
  closing = false;
  #made = 0;
  #forks = 500;

  readonly world: FileWorld;

  constructor(world: FileWorld) {
    this.world = world;
  }

  /** One client. Its next request follows the end of the one before, or the death of its worker. */
  async sit(): Promise<void> {
    const clients = new Scope("client");
    while (!this.closing) {
      await this.world.scheduler.gate(clients, "thinks", { weight: 0.5 });
      if (this.closing) return;
      const action = this.world.random.weighted(ACTIONS);
      this.world.stats.count(`client: ${action}`);
      await this.#run(action);
    }
  }

  async #run(action: keyof typeof ACTIONS): Promise<void> {
    const worker = new Scope(`worker ${++this.#made}`);
    this.workers.add(worker);
    const died = Promise.withResolvers<void>();
    this.#ends.set(worker, () => died.resolve());
    const work = this.#act(action, worker).catch((error: unknown) => {
      if (error instanceof ResetError || error instanceof BucketAwayError) return this.world.stats.count("requests failed");
      this.world.violations.report("harness", `${action}: ${error instanceof Error ? error.stack : String(error)}`);
    });
    await Promise.race([work, died.promise]);
    this.workers.delete(worker);
    this.#ends.delete(worker);
  }

  readonly #ends = new Map<Scope, () => void>();

  /** The worker of a request dies. What it had sent may still arrive. */
  crash(): void {
    const [worker] = this.workers;
    if (!worker) return;
    this.world.stats.count("worker crashes");
    this.world.scheduler.kill(worker);
    this.#ends.get(worker)?.();
  }

  #act(action: keyof typeof ACTIONS, worker: Scope): Promise<unknown> {
    const { random, scheduler } = this.world;
    switch (action) {
      case "upload":
        return this.#upload(worker);
      case "send":
        return this.#send(worker);
      case "redact":
        return this.#redact(worker);
      case "fork":
        return this.#fork(worker);
      case "delete":
        return this.#delete(worker);
      case "erase":
        return this.#erase(worker);
      case "open":
        return this.#open(worker);
      case "pause":
        return scheduler.sleep(worker, random.int(0, 2 * 60 * 60_000), "a pause");
    }
  }

  #pick<T>(from: Iterable<T>): T | null {
    const all = [...from];
    return all.length === 0 ? null : this.world.random.pick(all);
  }

  async #upload(worker: Scope): Promise<void> {
    const { tenant, bucket, newId, scheduler, sql } = this.world;
    const api = {
      beginFile: (input: Parameters<ReturnType<typeof tenant.wake>["files"]["begin"]>[0]) =>
        tenant.call(worker, "begin", async ({ files, removal }) => {
          const begun = sql.transaction(() => files.begin(input, scheduler.now));
          await removal.resume();
          return begun;
        }),
      abandonFile: (file: FileId) =>
        tenant.call(worker, "abandon", async ({ files, removal }) => {
          sql.transaction(() => files.abandon(file, scheduler.now));
          await removal.run();
          return ok(null);
        }),
      finishFile: (input: Parameters<ReturnType<typeof tenant.wake>["files"]["finish"]>[0]) =>
        tenant.call(worker, "finish", async ({ files, removal }) => {
          const finished = sql.transaction(() => files.finish(input, scheduler.now));
          await removal.resume();
          return finished;
        }),
    };
    const deps = {
      files: () => bucket.reachedBy(worker),
      tenants: () => api,
      newId,
      schedule: (ms: number, work: () => void) => scheduler.timer(worker, { ms, label: "the upload is late" }, work),
      log: SILENT,
    };
    const bytes = this.world.random.chance(0.1) ? PNG.byteLength + 1 : PNG.byteLength;
    const idempotency = this.world.random.chance(0.3) ? { key: `k${this.world.random.int(1, 5)}`, digest: "d" } : null;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(PNG);
        controller.close();
      },
    });
    const stored = await storeFile(deps, TENANT, {
      field: "body",
      name: "a.png",
      declared: null,
      body,
      bytes,
      identify: async () => idempotency,
    });
    this.world.stats.count(`upload: ${stored.ok ? "stored" : stored.error.code}`);
    if (stored.ok) this.uploaded.push(stored.value.file.id);
  }

  async #open(worker: Scope): Promise<void> {
    if (this.open.size >= 4) return;
    const session = id("ses", ++this.#forks);
    await this.#register(worker, session);
    const input = { model: "big", policy: "oneclaw", system: null, tools: null, title: null, metadata: {} };
    const opened = await this.world.callSession(worker, session, "open", (service, caller) => service.open(caller, input));
    if (opened.ok) this.open.add(session);
  }

  #register(worker: Scope, session: SessionId) {
    const { tenant, sql, scheduler } = this.world;
    return tenant.call(worker, "register", ({ directory }) =>
      sql.transaction(() => directory.register({ session, idempotency: null, at: scheduler.now })),
    );
  }

  async #send(worker: Scope): Promise<void> {
    const { tenant, sql, scheduler } = this.world;
    const [session, file] = [this.#pick(this.open), this.#pick(this.uploaded)];
    if (!session || !file) return;
    const used = await tenant.call(worker, "use", ({ files, directory }) =>
      sql.transaction(() => (directory.has(session) ? files.use({ session, files: [file] }, scheduler.now) : null)),
    );
    if (!used?.ok) return this.world.stats.count("send: no such file");
    const part = { type: "image" as const, file_id: file, media_type: "image/png", bytes: PNG.byteLength, tokens: 1_600 };
    const input = { role: "user", parts: [part], run: false, onBusy: "queue", tools: null, idempotency: null } as const;
    const sent = await this.world.callSession(worker, session, "submit", (service, caller) => service.submit(caller, input));
    this.world.stats.count(`send: ${sent.ok ? "done" : sent.error.code}`);
    if (sent.ok) this.sent.push({ session, message: sent.value.message_id, file });
  }

  async #redact(worker: Scope): Promise<void> {
    const sent = this.#pick(this.sent);
    if (!sent || !this.open.has(sent.session)) return;
    this.redacted.add(sent.message);
    const done = await this.world.callSession(worker, sent.session, "redact", (service, caller) => service.redact(caller, sent.message));
    this.world.stats.count(`redact: ${done.ok ? "done" : done.error.code}`);
  }

  async #fork(worker: Scope): Promise<void> {
    const from = this.#pick(this.open);
    if (!from || this.open.size >= 6) return;
    const to = id("ses", ++this.#forks);
    await this.#register(worker, to);
    const { tenant, sql, scheduler } = this.world;
    const hashing = this.world.hashing.begin(worker);
    const copied = await copySession({
      source: (work) => hashing(() => this.world.callSession(worker, from, "fork", work)),
      target: (work) => hashing(() => this.world.callSession(worker, to, "copy", work)),
      hold: (files) =>
        hashing(() =>
          tenant.call(worker, "hold", ({ files: registry, directory }) =>
            sql.transaction(
              () => this.#noteMissing(files, registry.use({ session: to, files, skipMissing: true }, scheduler.now)) && directory.has(to),
            ),
          ),
        ),
      from,
      to,
      at: null,
      title: null,
    }).finally(() => hashing.end());
    this.world.stats.count(`fork: ${copied.ok ? "done" : copied.error.code}`);
    if (copied.ok) this.open.add(to);
  }

  #noteMissing(files: readonly FileId[], held: TenantOutcome<readonly FileFacts[]>): true {
    const found = new Set(held.ok ? held.value.map(({ file_id }) => file_id) : []);
    for (const file of files) if (!found.has(file)) this.endedBefore.add(file);
    return true;
  }

  async #delete(worker: Scope): Promise<void> {
    const { tenant, sql, scheduler } = this.world;
    const file = this.#pick(this.uploaded);
    if (!file) return;
    this.deleted.add(file);
    await tenant.call(worker, "delete", async ({ files, removal }) => {
      if (sql.transaction(() => files.remove(file, scheduler.now))) await removal.remove([file]);
    });
  }

  async #erase(worker: Scope): Promise<void> {
    const { tenant } = this.world;
    const session = this.#pick(this.open);
    if (!session) return;
    this.open.delete(session);
    await eraseSession(
      { session },
      {
        tenant: {
          beginErasure: (input) =>
            tenant.call(worker, "begin erasure", async ({ erasures }) => {
              const begun = erasures.begin(input);
              await erasures.resume();
              return ok(begun);
            }),
          releaseFiles: (erased) =>
            tenant.call(worker, "release", async (life) => ok({ ...(await releaseFiles(this.world, life, erased)), exports: 0, chats: 0 })),
          noteErasure: (erased, pending) => tenant.call(worker, "note erasure", ({ erasures }) => ok(erasures.report(erased, pending))),
          endErasure: (erased) => tenant.call(worker, "end erasure", ({ erasures }) => ok(erasures.end(erased))),
        },
        erase: (isNoted) => this.world.callSession(worker, session, "erase", (service, caller) => service.erase(caller, isNoted)),
        isListed: async () => ok(false),
      },
    );
    this.world.stats.count("erased");
  }
}
