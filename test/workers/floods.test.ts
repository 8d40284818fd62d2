/** Floods, counted by the platform's rate-limit binding as workerd has it. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../src/index";
import { migrate, newChat, newTenant, readBody, request } from "./support";

beforeAll(migrate);

/** The Worker with a counter of five requests a minute. */
const counted = { ...env, FLOODS: env.TEST_FLOODS };
const ask = (key: string, address: string, path = "/v1/policies") =>
  request("GET", path, {
    key,
    headers: { "cf-connecting-ip": address },
    send: (asked) => worker.fetch(asked, counted, createExecutionContext()),
  });
async function askMany(requests: number, key: string, address: string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < requests; n++) statuses.push((await ask(key, address)).status);
  return statuses;
}

describe("a flood", () => {
  it("of one key is refused, and the other keys of its address are not", async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const address = "192.0.2.1";

    expect(await askMany(7, one.key, address)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect((await ask(other.key, address)).status).toBe(200);
  });

  it("of one browser is refused, and the other end users and sessions of its key are not", async () => {
    const { tenant, id } = await newChat();
    const mint = async (reach: object): Promise<string> =>
      (
        await readBody<{ readonly token: string }>(
          await tenant.call("POST", "/v1/tokens", { scopes: ["sessions:read"], expires_in: 600, ...reach }),
          201,
        )
      ).token;
    const [ada, again, bob, one] = [{ end_user: "ada" }, { end_user: "ada" }, { end_user: "bob" }, { session_id: id }];
    const tokens = await Promise.all([ada, again, bob, one].map(mint));
    const path = `/v1/sessions/${id}`;
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await ask(tokens[n % 2] ?? "", "192.0.2.9", path)).status);
    const others = await Promise.all([tokens[2], tokens[3], tenant.key].map((key) => ask(key ?? "", "192.0.2.9", path)));

    expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
    expect(others.map(({ status }) => status)).toEqual([404, 200, 200]);
  });

  it("of made-up keys is refused by its address, and a valid key of that address is not", async () => {
    const tenant = await newTenant();
    const address = "192.0.2.2";
    const statuses: number[] = [];
    for (let n = 0; n < 7; n++) statuses.push((await ask(`lh_test_made-up-${n}`, address)).status);

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect((await ask("lh_test_made-up", "192.0.2.3")).status).toBe(401);
    expect((await ask(tenant.key, address)).status).toBe(200);
  });

  it("is told when to come again", async () => {
    const tenant = await newTenant();
    await askMany(5, tenant.key, "192.0.2.4");

    const refused = await ask(tenant.key, "192.0.2.4");

    expect(refused.headers.get("retry-after")).toBe("10");
    expect(await refused.json()).toMatchObject({ type: "urn:longhand:problem:rate_limited", limit: "flood", of: "key", max: null });
  });

  it("of guessed admin keys is refused by its address, without locking out the admin or another address", async () => {
    const path = "/v1/admin/tenants";
    const address = "192.0.2.5";
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await ask(`guess-${n}`, address, path)).status);
    const refused = await ask("guess", address, path);

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(refused.headers.get("retry-after")).toBe("10");
    expect(await refused.json()).toMatchObject({ type: "urn:longhand:problem:rate_limited", limit: "flood", of: "address", max: null });
    expect((await ask("guess", "192.0.2.6", path)).status).toBe(401);
    expect((await ask(env.ADMIN_KEY, address, path)).status).toBe(200);
  });

  it("of an admin who is valid is not counted", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 7; n++) statuses.push((await ask(env.ADMIN_KEY, "192.0.2.7", "/v1/admin/tenants")).status);

    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
