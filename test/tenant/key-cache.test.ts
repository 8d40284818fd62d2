import { describe, expect, it, vi } from "vitest";
import type { Principal } from "../../src/app/principal";
import { createKeyCache, KEY_CACHE_NEGATIVE_TTL_MS, KEY_CACHE_TTL_MS } from "../../src/tenant/look-ups/key-cache";
import { FakeSchedule } from "../support/fake-schedule";
import { createTestClock, makeId } from "./support";

const TENANT = makeId("ten", 1);

function principal(changes: Partial<Principal> = {}): Principal {
  return { tenant: makeId("ten", 1), key: makeId("key", 1), scopes: ["sessions:read"], expires_at: null, ...changes };
}

function given({ max = 10 }: { max?: number } = {}) {
  const clock = createTestClock();
  const cache = createKeyCache<Principal>({ ttlMs: KEY_CACHE_TTL_MS, max, now: clock.now });
  const answers = new Map<string, Principal>();
  const ask = vi.fn(async (hash: string) => answers.get(hash) ?? null);
  return { clock, answers, ask, find: (hash: string) => cache.find(hash, TENANT, () => ask(hash)), cache };
}

describe("a valid key", () => {
  it("is asked for once within its time", async () => {
    const { clock, answers, ask, find } = given();
    answers.set("a", principal());
    await find("a");
    clock.advance(KEY_CACHE_TTL_MS - 1);
    expect(await find("a")).toEqual(principal());
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it("is read again once the isolate learned of a change of its tenant, even one during the read", async () => {
    let generation = 1;
    const { now } = createTestClock();
    const cache = createKeyCache<Principal>({ ttlMs: KEY_CACHE_TTL_MS, max: 10, now, readGeneration: () => generation });
    const find = (answer: Principal | null) => cache.find("a", TENANT, async () => answer);
    expect(await find(principal())).toEqual(principal());
    expect(await find(null)).toEqual(principal());

    generation = 2;
    expect(await find(principal({ scopes: [] }))).toMatchObject({ scopes: [] });

    await cache.find("b", TENANT, async () => {
      generation = 3;
      return principal();
    });
    expect(await cache.find("b", TENANT, async () => null)).toBeNull();
  });

  it("that was revoked is refused when its time is over", async () => {
    const { clock, answers, find } = given();
    answers.set("a", principal());
    await find("a");
    answers.delete("a");
    clock.advance(KEY_CACHE_TTL_MS);
    expect(await find("a")).toBeNull();
  });

  it("holds from the question, not from a slow answer", async () => {
    const { clock, cache, ask, find } = given();
    await cache.find("a", TENANT, async () => {
      clock.advance(KEY_CACHE_TTL_MS);
      return principal();
    });
    expect(await find("a")).toBeNull();
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it("is not served past its own expiry", async () => {
    const { clock, answers, find } = given();
    answers.set("a", principal({ expires_at: clock.now() + 10_000 }));
    await find("a");
    answers.delete("a");
    clock.advance(9_999);
    expect(await find("a")).not.toBeNull();
    clock.advance(1);
    expect(await find("a")).toBeNull();
  });
});

describe("a valid key in constant use", () => {
  function givenInUse() {
    const clock = createTestClock();
    const work: Promise<unknown>[] = [];
    const background = (each: Promise<unknown>) => void work.push(each);
    const cache = createKeyCache<Principal>({ ttlMs: KEY_CACHE_TTL_MS, max: 10, now: clock.now, background });
    const ask = vi.fn(async (): Promise<Principal | null> => principal());
    return { clock, ask, find: () => cache.find("a", TENANT, ask), done: () => Promise.all(work) };
  }

  it("is asked for in the background from half of its time on, by one request of many, and refused from that answer on", async () => {
    const { clock, ask, find, done } = givenInUse();
    await find();
    clock.advance(KEY_CACHE_TTL_MS / 2);
    ask.mockResolvedValue(null);

    expect(await Promise.all([find(), find(), find()])).toEqual([principal(), principal(), principal()]);
    await done();

    expect(await find()).toBeNull();
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it("is refused when its time is over, though the look-up in the background is lost", async () => {
    const { clock, ask, find } = givenInUse();
    await find();
    clock.advance(KEY_CACHE_TTL_MS / 2);
    ask.mockReturnValueOnce(new Promise(() => undefined));
    await find();
    ask.mockResolvedValue(null);

    clock.advance(KEY_CACHE_TTL_MS / 2);
    expect(await find()).toBeNull();
  });

  it("that opens nothing for now is asked for by its own request", async () => {
    const { clock, ask, find } = givenInUse();
    ask.mockResolvedValue(principal({ suspended: true }));
    await find();
    clock.advance(KEY_CACHE_NEGATIVE_TTL_MS);
    ask.mockResolvedValue(principal());

    expect(await find()).toEqual(principal());
  });
});

describe("a key while its tenant's object is out of reach", () => {
  function givenAway(how: "fails" | "hangs") {
    const time = new FakeSchedule();
    let generation = 1;
    const cache = createKeyCache<Principal>({
      ttlMs: KEY_CACHE_TTL_MS,
      max: 10,
      now: time.now,
      schedule: time.schedule,
      readGeneration: () => generation,
    });
    const away = (): Promise<Principal | null> => (how === "fails" ? Promise.reject(new Error("away")) : new Promise(() => {}));
    /** Waits as long as the cache does. */
    const find = async (ask: () => Promise<Principal | null>): Promise<Principal | null> => {
      const found = cache.find("a", TENANT, ask).catch(() => "thrown" as never);
      await new Promise(setImmediate);
      time.advance(10_000);
      return found;
    };
    return { time, away, find, change: () => void generation++ };
  }

  it.each(["fails", "hangs"] as const)("opens for an hour if it was valid: the object %s", async (how) => {
    const { time, away, find } = givenAway(how);
    await find(async () => principal());
    for (let minutes = 0; minutes < 55; minutes += 5) {
      time.advance(5 * 60_000 - 10_000);
      expect(await find(away), `after ${minutes} minutes`).toEqual(principal());
    }
    time.advance(5 * 60_000);

    expect(await find(away)).toBe("thrown");
    expect(await find(async () => principal())).toEqual(principal());
  });

  it.each(["fails", "hangs"] as const)("opens nothing if this isolate knows of a change, or never saw it: the object %s", async (how) => {
    const { away, find, change } = givenAway(how);
    expect(await find(away)).toBe("thrown");
    await find(async () => principal());
    change();

    expect(await find(away)).toBe("thrown");
  });

  it("opens nothing past its own expiry", async () => {
    const { time, away, find } = givenAway("hangs");
    const expires_at = time.now() + 5 * 60_000;
    await find(async () => principal({ expires_at }));
    time.advance(4 * 60_000);
    expect(await find(away)).not.toBe("thrown");
    time.advance(60_000);

    expect(await find(away)).toBe("thrown");
  });
});

describe("a refused key", () => {
  it("is asked for again after the short time only", async () => {
    const { clock, answers, ask, find } = given();
    expect(await find("a")).toBeNull();
    answers.set("a", principal());
    clock.advance(KEY_CACHE_NEGATIVE_TTL_MS - 1);
    expect(await find("a")).toBeNull();
    expect(ask).toHaveBeenCalledTimes(1);
    clock.advance(1);
    expect(await find("a")).toEqual(principal());
  });
});

describe("the cache", () => {
  it("keeps the keys of different callers apart", async () => {
    const { answers, find } = given();
    answers.set("a", principal({ tenant: makeId("ten", 1) }));
    answers.set("b", principal({ tenant: makeId("ten", 2) }));
    await find("a");
    expect((await find("b"))?.tenant).toBe(makeId("ten", 2));
    expect((await find("a"))?.tenant).toBe(makeId("ten", 1));
  });

  it("forgets the least recently used when it is full", async () => {
    const { answers, ask, find } = given({ max: 2 });
    for (const hash of ["a", "b", "c"]) answers.set(hash, principal());
    for (const hash of ["a", "b", "a", "c"]) await find(hash);
    ask.mockClear();
    await find("a");
    expect(ask).not.toHaveBeenCalled();
    await find("b");
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it("loses no good key to a flood of bad ones", async () => {
    const { answers, ask, find } = given({ max: 2 });
    answers.set("good", principal());
    await find("good");
    for (let i = 0; i < 100; i++) await find(`bad-${i}`);
    ask.mockClear();
    expect(await find("good")).toEqual(principal());
    expect(ask).not.toHaveBeenCalled();
  });

  it("does not remember that the tenant was out of reach", async () => {
    const { answers, find, cache } = given();
    await expect(cache.find("a", TENANT, () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    answers.set("a", principal());
    expect(await find("a")).toEqual(principal());
  });
});
