import { describe, expect, it } from "vitest";
import type { TenantChange } from "../../src/app/tenant-api";
import { createProjectionOutbox, type ProjectionOutbox } from "../../src/tenant/core/projection-outbox";
import { createMigratedSql } from "./memory-sql";
import { createTestClock, makeId } from "./support";

/** A read model that fails while `down`, and whose writes wait for `release` while `slow`. */
function given() {
  const clock = createTestClock(0);
  const sql = createMigratedSql();
  const world = {
    name: "one",
    down: false,
    slow: false,
    alarmAt: null as number | null,
    written: [] as string[],
    lines: [] as string[],
    release: () => {},
  };
  const snapshot = (): TenantChange => ({
    tenant: makeId("ten", 1),
    created_at: 1,
    settings: { name: world.name, default_model: "embedded", default_policy: "oneclaw", allowed_origins: [] },
    models: [],
  });
  const write = async ({ settings }: TenantChange): Promise<void> => {
    if (world.slow) await new Promise<void>((resolve) => (world.release = resolve));
    if (world.down) throw new Error(`no such table, params: ${settings.name}`);
    world.written.push(settings.name);
  };
  const say = (event: string, fields?: object) => world.lines.push(JSON.stringify({ event, ...fields }));
  const alarm = { get: async () => world.alarmAt, set: (at: number) => (world.alarmAt = at), clear: () => (world.alarmAt = null) };
  const outbox: ProjectionOutbox = createProjectionOutbox({
    sql,
    snapshot,
    projection: { write },
    alarm,
    now: clock.now,
    log: { info: say, warn: say, error: say },
  });
  return { clock, world, outbox };
}

describe("a change", () => {
  it("is written at once, and no alarm is left", async () => {
    const { world, outbox } = given();
    outbox.touch();
    await outbox.drain();
    expect(world).toMatchObject({ written: ["one"], alarmAt: null });
  });

  it("has an alarm from the moment it is noted, so that a crash before the write loses nothing", () => {
    const { world, outbox } = given();
    outbox.touch();
    expect(world.alarmAt).toBe(30_000);
  });

  it("that was not written yet has an alarm again when the object is made again, and one that was keeps none", async () => {
    const { clock, world, outbox } = given();
    await outbox.resume();
    expect(world.alarmAt).toBeNull();
    outbox.touch();
    world.alarmAt = null; // the platform gave it up
    clock.advance(1_000);
    await outbox.resume();
    expect(world.alarmAt).toBe(31_000);
    clock.advance(1_000);
    await outbox.resume();
    expect(world.alarmAt).toBe(31_000);
  });

  it("that comes during a write is written after it, and the writes never overlap", async () => {
    const { world, outbox } = given();
    world.slow = true;
    outbox.touch();
    const draining = outbox.drain();
    await Promise.resolve();
    world.slow = false;
    world.name = "two";
    outbox.touch();
    expect(outbox.drain()).toBe(draining);
    world.release();
    await draining;
    expect(world).toMatchObject({ written: ["one", "two"], alarmAt: null });
  });

  it("without a change nothing is written", async () => {
    const { world, outbox } = given();
    await outbox.drain();
    outbox.touch();
    await outbox.drain();
    await outbox.drain();
    expect(world.written).toEqual(["one"]);
  });
});

describe("a read model that fails", () => {
  it("is tried again later and later, at most an hour apart", async () => {
    const { clock, world, outbox } = given();
    world.down = true;
    outbox.touch();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      await outbox.drain();
      waits.push((world.alarmAt ?? Number.NaN) - clock.now());
      clock.advance(waits.at(-1) ?? 0);
    }
    expect(waits.map((ms) => ms / 1000)).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
  });

  it("gets the present truth when it is back, once, and the next failure waits briefly again", async () => {
    const { world, outbox } = given();
    world.down = true;
    outbox.touch();
    await outbox.drain();
    world.name = "two";
    outbox.touch();
    await outbox.drain();
    world.down = false;
    await outbox.drain();
    expect(world).toMatchObject({ written: ["two"], alarmAt: null });
    world.down = true;
    outbox.touch();
    await outbox.drain();
    expect(world.alarmAt).toBe(30_000);
  });

  it("is logged with ids and numbers only", async () => {
    const { world, outbox } = given();
    world.down = true;
    world.name = "a private name";
    outbox.touch();
    await outbox.drain();
    expect(world.lines).toHaveLength(1);
    expect(world.lines[0]).not.toContain("private");
  });
});

describe("the deployment's models", () => {
  it("are projected again when they changed, and only then", async () => {
    const { world, outbox } = given();
    outbox.touchIfDeploymentChanged("a");
    await outbox.drain();
    outbox.touchIfDeploymentChanged("a");
    await outbox.drain();
    outbox.touchIfDeploymentChanged("b");
    await outbox.drain();
    expect(world.written).toHaveLength(2);
  });
});
