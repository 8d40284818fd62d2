/** A body of JSON that drips ends after a stated time, and streams of one tenant have a bound where no limit of its own counts them. */
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Principal } from "../../src/app/principal";
import { NO_LIMITS } from "../../src/contract/limits";
import type { HttpDeps, HttpEnv } from "../../src/http/deps";
import { limitStreams, openStreamSlot, STREAMS_OF_TENANT } from "../../src/http/stream-limits";
import { BODY_SECONDS } from "../../src/lib/bounded-body";
import { id } from "../support/builders";
import { KEY, readProblem, world } from "./support";

describe("a body that drips", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  /** One byte every three seconds, for as long as it is read. */
  function drip(text: string) {
    let sent = 0;
    const state = { isLeft: false };
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        return new Promise((resolve) => {
          setTimeout(() => {
            if (state.isLeft) return resolve();
            controller.enqueue(new TextEncoder().encode(text[sent % text.length]));
            sent += 1;
            if (sent === text.length) controller.close();
            resolve();
          }, 3_000);
        });
      },
      cancel() {
        state.isLeft = true;
      },
    });
    return { body, state };
  }

  const post = (path: string, body: ReadableStream) => {
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" };
    return Promise.resolve(world().app.request(new Request(`https://longhand.test${path}`, init)));
  };

  test.each(["/v1/sessions", "/v1/chat/completions", "/v1/responses"])(
    "ends after a minute at %s, and its stream is left",
    async (path) => {
      const { body, state } = drip(`{"metadata": {"${"a".repeat(60)}": "b"}}`);
      const answer = post(path, body);
      await vi.advanceTimersByTimeAsync(BODY_SECONDS * 1_000);
      const response = await answer;
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("did not arrive within 60 seconds");
      expect(state.isLeft).toBe(true);
    },
  );

  test("is answered where it is whole in time", async () => {
    const answer = post("/v1/sessions", drip("[]").body);
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await readProblem(await answer)).type).toBe("urn:longhand:problem:invalid_request");
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("streams that no limit of the tenant counts", () => {
  const open = (tenant: Principal["tenant"], limits?: Principal["limits"]) =>
    openStreamSlot({ tenant, key: "key_1", limits } as unknown as Principal, {} as HttpDeps);

  test("are bounded for each tenant alone, and one that ends makes room for one", async () => {
    const [full, other] = [id("ten", 901), id("ten", 902)];
    const opened = await Promise.all(Array.from({ length: STREAMS_OF_TENANT }, () => open(full)));
    expect(opened.every(({ ok }) => ok)).toBe(true);
    expect(await open(full)).toMatchObject({ ok: false, error: { code: "rate_limited", of: "tenant", max: STREAMS_OF_TENANT } });
    expect((await open(other)).ok).toBe(true);

    const [first] = opened;
    if (first?.ok) for (let twice = 0; twice < 2; twice++) await first.value.free();
    expect([(await open(full)).ok, (await open(full)).ok]).toEqual([true, false]);
  });

  test.each(["before its stream began", "while it ran"])("leave no slot behind of a client that left %s", async (when) => {
    const tenant = id("ten", when === "while it ran" ? 904 : 905);
    const client = new AbortController();
    const app = new Hono<HttpEnv>();
    app.use(async (c, next) => {
      c.set("principal", { tenant, key: "key_1" } as unknown as Principal);
      await next();
    });
    app.use(limitStreams({} as HttpDeps));
    app.get("/v1/sessions/:id/stream", () => {
      if (when !== "while it ran") client.abort();
      return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
    });
    const init = { signal: client.signal, headers: { accept: "text/event-stream" } };
    for (let n = 0; n < 3; n++) await app.request(new Request("https://longhand.test/v1/sessions/ses_1/stream", init));
    client.abort();
    const opened = await Promise.all(Array.from({ length: STREAMS_OF_TENANT }, () => open(tenant)));
    expect(opened.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("are not bounded where the tenant's limit is null", async () => {
    const tenant = id("ten", 903);
    const limits = { ...NO_LIMITS, tenant: { concurrent_streams: null } };
    const opened = await Promise.all(Array.from({ length: STREAMS_OF_TENANT + 1 }, () => open(tenant, limits)));
    expect(opened.every(({ ok }) => ok)).toBe(true);
  });
});
