/**
 * How often a turn asks its tenant's object, where nothing is known of the tenant, and where it is. Here the Worker and the objects know apart what
 * they know, as in isolates of their own.
 */
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../src/app/object-name";
import { NO_LIMITS } from "../../src/contract/limits";
import { noteChange } from "../../src/tenant/shared/changes";
import { type Chat, migrate, newChat, newTenant, readBody } from "./support";
import { watchTenant } from "./tenant-watch";

beforeAll(migrate);
afterEach(() => {
  vi.restoreAllMocks();
});

async function givenChat(): Promise<Chat> {
  const tenant = await newTenant();
  await readBody(await tenant.call("PUT", "/v1/credentials/own", { api_key: "sk-1" }));
  return newChat({ tenant, credential: "own", replies: Array.from({ length: 20 }, () => ({ text: "Hi" })) });
}

/** The calls of the work in an isolate that has heard of a change of everything. */
async function countCalls({ tenant }: Chat, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const { calls } = watchTenant(tenant);
  noteChange(tenant.id);
  await work();
  // One call follows the answer.
  await vi.waitFor(() => expect(calls.get("endThrowaway") ?? calls.get("brief")).toBe(WARM.endThrowaway ?? 2));
  const cold = Object.fromEntries(calls);
  calls.clear();
  await work();
  await vi.waitFor(() => expect(Object.fromEntries(calls)).toEqual(WARM));
  return cold;
}

let WARM: Record<string, number> = {};

async function askStateless({ tenant }: Chat, model: string): Promise<void> {
  const messages = [{ role: "user", content: "hello" }];
  const body = JSON.stringify({ model, messages });
  const headers = { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" };
  await readBody(await exports.default.fetch(new Request("https://longhand.test/v1/chat/completions", { method: "POST", headers, body })));
}

describe("a turn asks the tenant's object", () => {
  it("once for its key, once for all else, and once behind the turn for its webhooks, and then not at all", async () => {
    WARM = {};
    const chat = await givenChat();

    expect(await countCalls(chat, () => chat.say("hello"))).toEqual({ authenticate: 1, brief: 2 });
  });

  it("with limits, once more for each kind of limit", async () => {
    const chat = await givenChat();
    const most = { requests_per_minute: 60_000, model_calls_per_minute: 60_000, concurrent_turns: 1_000 };
    await env.TENANTS.getByName(tenantObjectName(chat.tenant.id)).setLimits({ limits: { ...NO_LIMITS, tenant: most }, revision: 1 });
    WARM = {};

    expect(await countCalls(chat, () => chat.say("hello"))).toEqual({ authenticate: 1, brief: 2, takeRates: 2, takeSlots: 1 });
  });

  it("without a session, once in its Worker and once in its object, and once more for its usage", async () => {
    const chat = await givenChat();
    WARM = { endThrowaway: 1 };
    const { model } = await chat.describe();

    expect(await countCalls(chat, () => askStateless(chat, model))).toEqual({ authenticate: 1, brief: 2, endThrowaway: 1 });
  });
});
