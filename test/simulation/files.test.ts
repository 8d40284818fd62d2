/**
 * Files with everything going wrong around them (docs/simulated-tenants.md): clients upload, send, redact, fork, delete and erase, while workers,
 * sessions and the tenant's object die and the bucket fails. Then everything works, a few days pass, and the bucket must hold what the
 * sessions refer to and nothing else.
 */
import { expect, test } from "vitest";
import type { FileId } from "../../src/domain/ids";
import { readFileReferences } from "../../src/session/log/file-references";
import { FileClients } from "./file-clients";
import { FileWorld } from "./file-world";
import { testSeeds } from "./test-seeds";

/** A run takes longer than one of a session alone, so there are fewer. */
const SEEDS_IN_TESTS = 80;
const MOST_SEEDS = 200;
const ACTIVE_STEPS = 600;
const CALM_STEPS = 6_000;

interface Row {
  readonly [column: string]: string | number | null;
  readonly id: FileId;
  readonly state: string;
  readonly bytes: number;
}

const listRows = ({ sql }: FileWorld): readonly Row[] => sql.rows<Row>("SELECT id, state, bytes FROM files");

/** Each step: a file that can be read has its bytes. */
function checkReadable(world: FileWorld): void {
  for (const { id, state } of listRows(world))
    world.violations.check(state !== "stored" || world.bucket.objects.has(id), "I36", () => `${id} is stored and has no bytes`);
}

/** The files that each open session's messages name. */
function listNamed(world: FileWorld, clients: FileClients): Map<FileId, number> {
  const named = new Map<FileId, number>();
  for (const { object } of world.sessions.values()) {
    const { runtime } = object.wake();
    if (runtime.state.lifecycle !== "open") continue;
    for (const file of readFileReferences(runtime.deps.sql, runtime.state).files) named.set(file, (named.get(file) ?? 0) + 1);
  }
  for (const { session, message, file } of clients.sent) {
    if (!clients.open.has(session) || clients.redacted.has(message)) continue;
    world.violations.check(named.has(file), "I37", () => `the message ${message} lost its file ${file}`);
  }
  return named;
}

/** At rest: the bucket holds what the entries name, and the entries are what live messages name, but for what a client deleted. */
function checkAtRest(world: FileWorld, clients: FileClients): void {
  const { violations, bucket, tenant } = world;
  const rows = listRows(world);
  const ids = new Set<string>(rows.map(({ id }) => id));
  for (const file of bucket.objects.keys()) violations.check(ids.has(file), "I36", () => `no entry names the bytes of ${file}`);
  for (const { id, state } of rows) violations.check(state === "stored", "I36", () => `${id} is ${state} for ever`);
  const named = listNamed(world, clients);
  const mayBeGone = (file: FileId): boolean => clients.deleted.has(file) || clients.endedBefore.has(file);
  for (const file of named.keys())
    violations.check(ids.has(file) || mayBeGone(file), "I37", () => `a live message names ${file}, which is gone`);
  const { files } = tenant.wake();
  for (const { id, bytes } of rows) {
    const shown = files.find(id);
    violations.check(named.get(id) === shown?.sessions, "I37", () => `${id} counts ${shown?.sessions} sessions, not ${named.get(id)}`);
    violations.check(bytes === bucket.objects.get(id)?.byteLength, "I36", () => `${id} counts ${bytes} bytes`);
  }
}

/** Requests while things fail. */
async function act(world: FileWorld, clients: FileClients): Promise<void> {
  const { random, faults, violations } = world;
  for (let step = 0; step < ACTIVE_STEPS && violations.found.length === 0; step++) {
    if (!(await world.step())) return;
    if (random.chance(faults.tenantCrashes)) world.tenant.crash();
    if (random.chance(faults.sessionCrashes)) for (const { object } of world.sessions.values()) object.crash();
    if (random.chance(faults.clientCrashes)) clients.crash();
    checkReadable(world);
  }
}

async function rest(world: FileWorld): Promise<void> {
  const { violations } = world;
  for (let step = 0; violations.found.length === 0 && (await world.step()); step++) {
    checkReadable(world);
    violations.check(step < CALM_STEPS, "I14", () => "it never comes to rest");
  }
}

async function simulate(seed: number): Promise<{ readonly world: FileWorld; readonly violation: string | null }> {
  const world = new FileWorld(seed);
  const clients = new FileClients(world);
  const { violations } = world;
  for (let n = 0; n < 4; n++) void clients.sit();
  await act(world, clients);
  clients.closing = true;
  world.calm();
  await rest(world);
  // The object may have died between a commit and its alarm. The tenant's next request wakes it, and it goes on by itself.
  world.tenant.wake();
  await rest(world);
  if (violations.found.length === 0) checkAtRest(world, clients);
  return { world, violation: violations.found[0]?.message ?? null };
}

const TRIED = [
  "upload: stored",
  "upload: file_store_unavailable",
  "upload: invalid_request",
  "send: done",
  "redact: done",
  "fork: done",
  "erased",
  "late puts",
  "tenant crashes",
  "session crashes",
  "worker crashes",
  "client: delete",
];

testSeeds({
  title: "files hold their invariants, whatever fails",
  file: "test/simulation/files.test.ts",
  simulate,
  seeds: SEEDS_IN_TESTS,
  mostSeeds: MOST_SEEDS,
  tried: TRIED,
});

test("a seed of the files' simulation replays exactly", async () => {
  for (const seed of [3, 119]) {
    const [first, again] = [await simulate(seed), await simulate(seed)];
    expect(again.world.scheduler.trace).toEqual(first.world.scheduler.trace);
    expect(first.world.stats.counts.has("fork: done")).toBe(true);
  }
});
