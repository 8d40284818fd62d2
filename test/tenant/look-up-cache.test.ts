import { describe, expect, it, vi } from "vitest";
import { RETRY_AFTER_MS } from "../../src/app/known-answers";
import { createLookUpCache, LOOK_UP_TTL_MS } from "../../src/tenant/look-ups/look-up-cache";
import { noteChange, readGeneration } from "../../src/tenant/shared/changes";
import { FakeSchedule } from "../support/fake-schedule";
import { createTestClock } from "./support";

it("a cached value is read again once the isolate learned of a change", async () => {
  let value = "old";
  const tenant = "ten_heard";
  const find = createLookUpCache({ ask: async () => value, now: createTestClock().now, generation: () => readGeneration(tenant) });
  expect(await find("key")).toBe("old");
  value = "new";
  expect(await find("key")).toBe("old");

  noteChange("ten_another");
  expect(await find("key")).toBe("old");
  noteChange(tenant);
  expect(await find("key")).toBe("new");
});

it("the last known value is used while the tenant's object is unavailable, even after a change", async () => {
  let isAway = false;
  const tenant = "ten_away";
  const ask = async () => (isAway ? Promise.reject(new Error("away")) : "known");
  const find = createLookUpCache({ ask, now: createTestClock().now, generation: () => readGeneration(tenant) });
  await find("key");
  isAway = true;
  noteChange(tenant);
  expect(await find("key")).toBe("known");
});

function givenInUse() {
  const clock = createTestClock();
  const work: Promise<unknown>[] = [];
  const ask = vi.fn(async (): Promise<string | null> => "old");
  const find = createLookUpCache({ ask, now: clock.now, background: (each) => void work.push(each) });
  return { clock, work, ask, find, done: () => Promise.all(work) };
}

describe("a name in constant use", () => {
  it("is asked for in the background from half of its time on, by one caller of many", async () => {
    const { clock, ask, find, work, done } = givenInUse();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS / 2 - 1);
    await find("key");
    expect(work).toHaveLength(0);
    ask.mockResolvedValue("new");

    clock.advance(1);
    expect(await Promise.all(Array.from({ length: 100 }, () => find("key")))).toEqual(Array.from({ length: 100 }, () => "old"));
    await done();

    expect(await find("key")).toBe("new");
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it("is waited for once its time is over, even while it is asked for in the background", async () => {
    const { clock, ask, find } = givenInUse();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS / 2);
    ask.mockReturnValue(new Promise(() => undefined));
    await find("key");

    clock.advance(LOOK_UP_TTL_MS / 2 - 1);
    expect(await find("key")).toBe("old");
    ask.mockResolvedValue("new");
    clock.advance(1);
    expect(await find("key")).toBe("new");
  });

  it("that was removed is not found from the answer on", async () => {
    const { clock, ask, find, done } = givenInUse();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS / 2);
    ask.mockResolvedValue(null);
    await find("key");
    await done();

    expect(await find("key")).toBeNull();
  });

  it("is asked for again after a failed or lost look-up, which no caller sees", async () => {
    const { clock, ask, find, done } = givenInUse();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS / 2);
    ask.mockRejectedValueOnce(new Error("away"));
    expect([await find("key"), await find("key")]).toEqual(["old", "old"]);
    await done();
    expect(ask).toHaveBeenCalledTimes(2);
    ask.mockResolvedValue("new");

    clock.advance(RETRY_AFTER_MS);
    expect(await find("key")).toBe("old");
    await done();
    expect(await find("key")).toBe("new");
  });
});

describe("a look-up that hangs", () => {
  const never = (): Promise<string | null> => new Promise(() => {});

  it("is answered from memory after two seconds, and not asked for again for a while", async () => {
    const time = new FakeSchedule();
    const ask = vi.fn(async (): Promise<string | null> => "known");
    const find = createLookUpCache({ ask, now: time.now, schedule: time.schedule });
    await find("key");
    time.advance(LOOK_UP_TTL_MS);
    ask.mockImplementation(never);
    const found = find("key");
    time.advance(2_000);

    expect([await found, await find("key")]).toEqual(["known", "known"]);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it("fails after ten seconds where nothing is known", async () => {
    const time = new FakeSchedule();
    const found = createLookUpCache({ ask: never, now: time.now, schedule: time.schedule })("key");
    time.advance(10_000);

    await expect(found).rejects.toThrow("no answer within 10000 ms");
  });
});

describe("a name that is read without waiting", () => {
  it("is known while it is fresh, and asked for in the background from half of its time on", async () => {
    const { clock, ask, find, done } = givenInUse();
    expect(find.peek("key")).toBeNull();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS / 2);
    ask.mockResolvedValue("new");
    expect([find.peek("key"), find.peek("key")]).toEqual(["old", "old"]);
    await done();
    expect(find.peek("key")).toBe("new");
    expect(ask).toHaveBeenCalledTimes(2);

    clock.advance(LOOK_UP_TTL_MS);
    expect(find.peek("key")).toBeNull();
  });

  it("is what was learned another way, for the whole time from then on", async () => {
    const { clock, ask, find } = givenInUse();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS - 1);
    find.learn("key", "learned");
    clock.advance(LOOK_UP_TTL_MS - 1);

    expect(find.peek("key")).toBe("learned");
    clock.advance(1);
    expect(find.peek("key")).toBeNull();
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it("keeps what was learned while an older look-up was under way", async () => {
    const { clock, ask, find, done } = givenInUse();
    await find("key");
    clock.advance(LOOK_UP_TTL_MS / 2);
    let answer: (value: string) => void = () => undefined;
    ask.mockReturnValue(new Promise((resolve) => (answer = resolve)));
    find.peek("key");
    clock.advance(1);
    find.learn("key", "learned");
    answer("older");
    await done();

    expect(find.peek("key")).toBe("learned");
  });
});

it("a change is noticed however many other tenants change", () => {
  const tenant = "ten_first";
  const before = readGeneration(tenant);
  noteChange(tenant);
  for (let n = 0; n < 10_001; n++) noteChange(`ten_${n}`);
  expect(readGeneration(tenant)).toBeGreaterThan(before);
});
