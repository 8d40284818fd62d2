import { describe, expect, it } from "vitest";
import type { Principal } from "../../src/app/principal";
import type { RateAsk } from "../../src/app/rate-grants";
import { createRateMeter } from "../../src/app/rate-meter";
import { type LimitSet, NO_LIMITS } from "../../src/contract/limits";
import { createRateWindows } from "../../src/tenant/limits/rate-windows";
import { createMigratedSql } from "../tenant/memory-sql";
import { KEY, makeId, NOW, principal, readProblem, world } from "./support";

/** `NOW` is 20 seconds after the beginning of a minute. */
const LEFT = 60 - ((NOW / 1_000) % 60);

function limited(input: Partial<LimitSet>, caller: Partial<Principal> = {}) {
  const limits = { ...NO_LIMITS, ...input };
  const sql = createMigratedSql();
  const calls: (readonly RateAsk[])[] = [];
  const requestRates = createRateMeter({
    ask: async (_, asks) => {
      calls.push(asks);
      return createRateWindows(sql).grant(asks, NOW);
    },
    now: () => NOW,
    background: () => {},
    max: 100,
  });
  const isToken = caller.access_token !== undefined;
  const made = world({
    principal: { ...principal(), ...(!isToken && { limits }), ...caller },
    deps: { requestRates, limits: async () => limits },
  });
  return { ...made, calls };
}

const userToken = (end_user: string) => ({ access_token: { id: makeId("tok"), reach: { end_user } } });
const readFields = (response: Response) => [response.headers.get("ratelimit-policy"), response.headers.get("ratelimit")];

describe("a caller with a limit of requests a minute", () => {
  it("reads in each answer what the limit is, and what is left of it", async () => {
    const { call } = limited({ tenant: { requests_per_minute: 3 }, key: { requests_per_minute: 2 } });

    const answers = [await call("GET", "/v1/policies"), await call("GET", "/v1/sessions/odd")];

    expect(answers.map(({ status }) => status)).toEqual([200, 404]);
    expect(answers.map(readFields)).toEqual([
      ['"tenant";q=3;w=60, "key";q=2;w=60', `"tenant";r=2;t=${LEFT}, "key";r=1;t=${LEFT}`],
      ['"tenant";q=3;w=60, "key";q=2;w=60', `"tenant";r=1;t=${LEFT}, "key";r=0;t=${LEFT}`],
    ]);
  });

  it("is refused with 429 beyond it, and told when to come again", async () => {
    const { call, asked } = limited({ tenant: { requests_per_minute: 1 } });
    await call("GET", "/v1/policies");
    asked.tenants.length = 0;

    const refused = await call("GET", "/v1/models");

    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, String(LEFT)]);
    expect(readFields(refused)).toEqual(['"tenant";q=1;w=60', `"tenant";r=0;t=${LEFT}`]);
    expect(await readProblem(refused)).toMatchObject({
      type: "urn:longhand:problem:rate_limited",
      limit: "requests_per_minute",
      of: "tenant",
      max: 1,
    });
    expect(asked.tenants).toEqual([]);
  });

  it("counts a refused request for no limit", async () => {
    const { call } = limited({ tenant: { requests_per_minute: 2 }, key: { requests_per_minute: 0 } });

    const refused = await call("GET", "/v1/policies");

    expect(refused.headers.get("ratelimit")).toContain('"tenant";r=2');
  });
});

describe("a caller without a limit", () => {
  it("costs no call, and reads nothing of limits", async () => {
    const { call, calls } = limited({ end_user: { requests_per_minute: 1 }, tenant: { concurrent_turns: 1 } });

    const answer = await call("GET", "/v1/policies");

    expect(calls).toEqual([]);
    expect(readFields(answer)).toEqual([null, null]);
  });
});

describe("an end user's access token", () => {
  it("counts for its end user, and for the tenant and the key, and reads what is left of its own alone", async () => {
    const limits = { tenant: { requests_per_minute: 9 }, key: { requests_per_minute: 8 }, end_user: { requests_per_minute: 1 } };
    const { call } = limited(limits, userToken("ada"));
    const path = `/v1/sessions/${makeId("ses")}`;

    expect((await call("GET", path)).headers.get("ratelimit")).toBe(`"end_user";r=0;t=${LEFT}`);
    expect((await readProblem(await call("GET", path))).of).toBe("end_user");
  });
});

describe("a client of another vendor", () => {
  it("of OpenAI reads its own fields and its own refusal", async () => {
    const { call } = limited({ tenant: { requests_per_minute: 1 } });
    const first = await call("GET", "/v1/responses/resp_1");
    const refused = await call("GET", "/v1/responses/resp_1");

    expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, String(LEFT)]);
    expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("1");
    expect(refused.headers.get("x-ratelimit-reset-requests")).toBe(`${LEFT}s`);
    expect(await refused.json()).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limit_exceeded", param: null } });
  });

  it("of Anthropic reads its own fields and its own refusal", async () => {
    const { app } = limited({ tenant: { requests_per_minute: 0 } });

    const refused = await app.request("/v1/messages", { method: "POST", headers: { "x-api-key": KEY } });

    expect([refused.status, refused.headers.get("anthropic-ratelimit-requests-remaining")]).toEqual([429, "0"]);
    expect(refused.headers.get("anthropic-ratelimit-requests-limit")).toBe("0");
    expect(refused.headers.get("anthropic-ratelimit-requests-reset")).toBe(new Date(NOW + LEFT * 1_000).toISOString());
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
  });
});
