import { describe, expect, test } from "vitest";
import type { Log, Projection, ProjectionBatch } from "../../../src/app/ports";
import { DRAIN_BUDGET, PAGE, type ProjectionSource, projectSession, retryDelay } from "../../../src/app/projection/project";
import { ProjectionGapError } from "../../../src/app/projection/projection-gap";
import { startTimer } from "../../../src/lib/timer";
import { LogBuilder, SESSION, TENANT } from "../../read-model/builders";

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** A session's log as its object would return it. */
function buildSource(log: LogBuilder, checkpoint = 0): ProjectionSource & { reads: number } {
  let at = checkpoint;
  return {
    reads: 0,
    checkpoint: () => at,
    setCheckpoint: (seq) => {
      at = seq;
    },
    read(after, limit) {
      this.reads += 1;
      return log.batch(after + 1, Math.min(after + limit.events, log.events.length));
    },
  };
}

/** A read model that stores what it receives, and fails or reports gaps when the test says so. */
class FakeProjection implements Projection {
  readonly written: number[] = [];
  readonly erased: number[] = [];
  failures = 0;
  onWrite: (batch: ProjectionBatch) => void = () => {};

  async write(batch: ProjectionBatch): Promise<void> {
    if (this.failures-- > 0) throw new Error("D1_ERROR: Network connection lost");
    this.onWrite(batch);
    this.written.push(...batch.events.map((event) => event.seq));
  }

  async erase(input: { readonly at: number }): Promise<{ readonly rows: number }> {
    this.erased.push(input.at);
    return { rows: 0 };
  }

  async forgetEndUsers(): Promise<boolean> {
    return true;
  }
}

const buildLog = (messages: number): LogBuilder => {
  const log = new LogBuilder().open();
  for (let i = 0; i < messages; i++) log.says("user", `message ${i}`);
  return log;
};

describe("projectSession", () => {
  test("writes what comes after the checkpoint, in order, and moves it to the end", async () => {
    const log = buildLog(9);
    const source = buildSource(log, 4);
    const projection = new FakeProjection();

    expect(await projectSession({ source, projection, log: silent }, 0)).toEqual({ done: true });

    expect(projection.written).toEqual([5, 6, 7, 8, 9, 10]);
    expect(source.checkpoint()).toBe(10);
  });

  test("goes page by page through a long log", async () => {
    const log = buildLog(2 * PAGE.events);
    const source = buildSource(log);
    const projection = new FakeProjection();

    await projectSession({ source, projection, log: silent }, 0);

    expect(projection.written).toEqual(log.events.map((event) => event.seq));
    expect(source.reads).toBe(4);
  });

  test.each([
    { events: 40, pauses: 0 },
    { events: PAGE.events, pauses: 1 },
    { events: 3 * PAGE.events, pauses: 3 },
  ])("of $events events lets other work run $pauses times", async ({ events, pauses }) => {
    const [source, projection] = [buildSource(buildLog(events - 1)), new FakeProjection()];
    const writtenAt: number[] = [];
    const schedule = (ms: number, work: () => void) => {
      writtenAt.push(projection.written.length);
      return startTimer(ms, work);
    };

    await projectSession({ source, projection, log: silent, schedule }, 0);

    expect(projection.written).toHaveLength(events);
    expect(writtenAt).toEqual(Array.from({ length: pauses }, (_, n) => (n + 1) * PAGE.events));
  });

  test("ends when it has asked enough of the read model, and the next one goes on at once", async () => {
    const log = buildLog(DRAIN_BUDGET + PAGE.events);
    const source = buildSource(log);
    const projection = new FakeProjection();

    expect(await projectSession({ source, projection, log: silent }, 3)).toEqual({ done: false, retryInMs: 0, attempt: 0 });

    const written = projection.written.length;
    expect(written).toBeGreaterThan(DRAIN_BUDGET - 2 * PAGE.events);
    expect(written).toBeLessThan(DRAIN_BUDGET);
    expect(source.checkpoint()).toBe(written);
    expect(await projectSession({ source, projection, log: silent }, 0)).toEqual({ done: true });
    expect(projection.written).toEqual(log.events.map((event) => event.seq));
  });

  test("writes nothing when there is nothing new", async () => {
    const source = buildSource(buildLog(3), 4);
    const projection = new FakeProjection();

    expect(await projectSession({ source, projection, log: silent }, 0)).toEqual({ done: true });
    expect(projection.written).toEqual([]);
  });

  test("leaves the checkpoint where it was when the read model fails, and says when to come again", async () => {
    const source = buildSource(buildLog(3), 1);
    const projection = new FakeProjection();
    projection.failures = 1;

    expect(await projectSession({ source, projection, log: silent }, 2)).toEqual({ done: false, retryInMs: retryDelay(2), attempt: 3 });
    expect(source.checkpoint()).toBe(1);
  });

  test("catches up from there once it answers again", async () => {
    const source = buildSource(buildLog(3), 1);
    const projection = new FakeProjection();
    projection.failures = 1;
    await projectSession({ source, projection, log: silent }, 0);

    expect(await projectSession({ source, projection, log: silent }, 1)).toEqual({ done: true });
    expect(projection.written).toEqual([2, 3, 4]);
  });

  test("does not throw when the log itself cannot be read", async () => {
    const source: ProjectionSource = {
      checkpoint: () => 0,
      setCheckpoint: () => {},
      read: () => {
        throw new Error("event 3 has unknown type Future");
      },
    };
    expect(await projectSession({ source, projection: new FakeProjection(), log: silent }, 0)).toMatchObject({ done: false });
  });

  test("goes back to where the read model stands when that was dropped", async () => {
    const source = buildSource(buildLog(5), 4);
    const projection = new FakeProjection();
    projection.onWrite = ({ events }) => {
      if (projection.written.length === 0 && events[0]?.seq !== 1) throw new ProjectionGapError(0);
    };

    expect(await projectSession({ source, projection, log: silent }, 0)).toEqual({ done: true });
    expect(projection.written).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("goes back once only, so that a read model that always finds a gap does not keep it running", async () => {
    const source = buildSource(buildLog(5), 4);
    const projection = new FakeProjection();
    projection.onWrite = ({ events }) => {
      throw new ProjectionGapError((events[0]?.seq ?? 0) - 2);
    };

    expect(await projectSession({ source, projection, log: silent }, 0)).toEqual({ done: false, retryInMs: retryDelay(0), attempt: 1 });
    expect(projection.written).toEqual([]);
  });

  test("an erased session is neither written nor erased here: its rows go with what stays of its ledger", async () => {
    const log = buildLog(2).event({ type: "SessionErased" });
    const source = buildSource(log);
    const projection = new FakeProjection();

    await projectSession({ source, projection, log: silent }, 0);

    expect(projection.written).toEqual([]);
    expect(projection.erased).toEqual([]);
    expect(source.checkpoint()).toBe(0);
  });

  test("does not move the checkpoint of a log that was emptied while the read model answered", async () => {
    const log = buildLog(5);
    const source = buildSource(log, 2);
    const projection = new FakeProjection();
    projection.onWrite = () => {
      log.events.length = 0;
      source.setCheckpoint(0);
    };

    await projectSession({ source, projection, log: silent }, 0);

    expect(source.checkpoint()).toBe(0);
  });

  test("names the tenant and the session of the log in every write", async () => {
    const projection = new FakeProjection();
    const owners: unknown[] = [];
    projection.onWrite = ({ tenant, session }) => owners.push({ tenant, session });

    await projectSession({ source: buildSource(buildLog(1)), projection, log: silent }, 0);

    expect(owners).toEqual([{ tenant: TENANT, session: SESSION }]);
  });
});

describe("retryDelay", () => {
  test("doubles from one second and stays at a minute", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 1000].map(retryDelay)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
});
