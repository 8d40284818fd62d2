import { describe, expect, it } from "vitest";
import { takeCall, withCallLimit } from "../../../src/app/models/limit-calls";
import type { ChatModel, ModelRequest, ModelStreamPart } from "../../../src/app/ports";
import { windowEnd } from "../../../src/app/rate-grants";
import { createRateMeter } from "../../../src/app/rate-meter";
import { type LimitSet, NO_LIMITS } from "../../../src/contract/limits";
import type { KeyId } from "../../../src/domain/ids";
import { createRateWindows } from "../../../src/tenant/limits/rate-windows";
import { makeId } from "../../http/support";
import { createMigratedSql } from "../../tenant/memory-sql";

const NOW = 1_795_000_000_000;
const TENANT = makeId("ten");
const CHUNK: ModelStreamPart = { type: "text", text: "Hello" } as ModelStreamPart;

function setUp(limits: LimitSet | null) {
  const sql = createMigratedSql();
  const called = { model: 0, rates: 0 };
  const rates = createRateMeter({
    ask: async (_, asks) => {
      called.rates += 1;
      return createRateWindows(sql).grant(asks, NOW);
    },
    now: () => NOW,
    background: () => {},
    max: 10,
  });
  const model = {
    async *stream() {
      called.model += 1;
      yield CHUNK;
      yield CHUNK;
    },
    render: async () => {
      throw new Error("not rendered");
    },
  } satisfies ChatModel;
  const ports = { limits: async () => limits, rates, now: () => NOW };
  const take = (end_user: string | null = null, key: KeyId | null = null) => takeCall({ tenant: TENANT, key, end_user }, ports);
  const limited = withCallLimit(model, () => take());
  const call = async () => {
    const chunks: ModelStreamPart[] = [];
    for await (const chunk of limited.stream({} as ModelRequest, { signal: new AbortController().signal })) chunks.push(chunk);
    return chunks;
  };
  return { call, take, called, limited, ports };
}

describe("a limit of model calls a minute", () => {
  it("lets as many calls pass unchanged, and fails the next as a rate limit that names its wait", async () => {
    const { call, called } = setUp({ ...NO_LIMITS, tenant: { model_calls_per_minute: 2 } });

    expect([await call(), await call()]).toEqual([
      [CHUNK, CHUNK],
      [CHUNK, CHUNK],
    ]);
    expect(await call()).toEqual([
      { type: "failure", failure: { kind: "rate_limit", status: null, retry_after_ms: windowEnd(NOW) - NOW } },
    ]);
    expect(called.model).toBe(2);
  });

  it("of end users counts each of them alone, and no session without one", async () => {
    const { take } = setUp({ ...NO_LIMITS, end_user: { model_calls_per_minute: 1 } });

    expect([await take("ada"), await take("bob"), await take(), await take()]).toEqual([null, null, null, null]);
    expect(await take("ada")).toBeGreaterThan(0);
  });

  it("of keys counts each of them alone, and no call without one", async () => {
    const { take } = setUp({ ...NO_LIMITS, key: { model_calls_per_minute: 1 } });
    const [one, other] = [makeId("key"), makeId("key", 2)];

    expect([await take("ada", one), await take("ada", other), await take(), await take()]).toEqual([null, null, null, null]);
    expect(await take("bob", one)).toBeGreaterThan(0);
  });

  it("that is not there asks no rate", async () => {
    const { call, called } = setUp(null);

    expect(await call()).toHaveLength(2);
    expect(called).toEqual({ model: 1, rates: 0 });
  });

  it("stops no call while nothing is known of the limits", async () => {
    const { ports } = setUp(null);
    const limits = () => Promise.reject(new Error("out of reach"));

    expect(await takeCall({ tenant: TENANT, key: null, end_user: null }, { ...ports, limits })).toBeNull();
  });

  it("calls no model once its reader has gone", async () => {
    const { limited, called } = setUp(null);
    const chunks = limited.stream({} as ModelRequest, { signal: new AbortController().signal })[Symbol.asyncIterator]();
    await chunks.return?.();

    expect((await chunks.next()).done).toBe(true);
    expect(called.model).toBe(0);
  });
});
