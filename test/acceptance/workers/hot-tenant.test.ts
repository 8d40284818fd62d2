/**
 * A minute of turns in many sessions of one tenant, with limits on: the calls to the tenant's object, by method. Once the isolate knows the
 * tenant, its object answers nothing until the turns have ended, so a turn that waited for it would never end.
 */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import { NO_LIMITS } from "../../../src/contract/limits";
import type { SessionDescription } from "../../../src/contract/session";
import type { TurnReport } from "../../../src/contract/turn";
import type { SessionId } from "../../../src/domain/ids";
import { advanceClock } from "../../workers/clock";
import { type Chat, migrate, newChat, newTenant, readBody } from "../../workers/support";
import { watchTenant } from "../../workers/tenant-watch";

const SESSIONS = 8;
/** The clock moves by this time from round to round, so that a standing is asked for long before it must be waited for. */
const ROUND_MS = 1_500;
/** The last round begins so long before the end of the minute, since the next one needs a new block of requests. */
const LAST_MS = 10_000;
const MINUTE_MS = 60_000;

beforeAll(migrate);
afterEach(() => {
  vi.restoreAllMocks();
});

/** Further sessions with the model of the chat. */
async function openMore(chat: Chat, count: number): Promise<readonly SessionId[]> {
  const { model } = await chat.describe();
  const opened = Array.from({ length: count }, async () => {
    const made = await chat.tenant.call("POST", "/v1/sessions", { model });
    return (await readBody<SessionDescription>(made, 201)).id;
  });
  return Promise.all(opened);
}

const sayIn = async ({ tenant }: Chat, session: SessionId): Promise<string> =>
  (await readBody<TurnReport>(await tenant.call("POST", `/v1/sessions/${session}/messages`, { content: "hello" }))).status;

async function newHotTenant(): Promise<{ readonly chat: Chat; readonly others: readonly SessionId[] }> {
  const tenant = await newTenant();
  await readBody(await tenant.call("PUT", "/v1/credentials/own", { api_key: "sk-1" }));
  const chat = await newChat({ tenant, credential: "own", replies: Array.from({ length: SESSIONS * 50 }, () => ({ text: "Hi" })) });
  const limits = { ...NO_LIMITS, tenant: { requests_per_minute: 100_000, model_calls_per_minute: 100_000 } };
  await env.TENANTS.getByName(tenantObjectName(chat.tenant.id)).setLimits({ limits, revision: 1 });
  return { chat, others: await openMore(chat, SESSIONS - 1) };
}

it("no turn of a known tenant waits for the tenant's object, and an isolate asks it a few times a minute for all sessions together", async () => {
  const { chat, others } = await newHotTenant();
  advanceClock(MINUTE_MS - (Date.now() % MINUTE_MS));
  const { calls, hold } = watchTenant(chat.tenant);
  await sayIn(chat, chat.id);
  const before = new Map(calls);

  const ended: string[] = [];
  while (MINUTE_MS - (Date.now() % MINUTE_MS) > LAST_MS) {
    const release = hold();
    ended.push(...(await Promise.all(others.map((session) => sayIn(chat, session)))));
    await release();
    advanceClock(ROUND_MS);
  }

  expect(new Set(ended)).toEqual(new Set(["completed"]));
  const more = (method: string): number => (calls.get(method) ?? 0) - (before.get(method) ?? 0);
  expect([...calls.keys()].toSorted()).toEqual(["authenticate", "brief", "takeRates"]);
  expect(more("takeRates")).toBe(0);
  expect(more("brief")).toBeLessThanOrEqual(MINUTE_MS / 5_000);
  expect(more("authenticate")).toBeLessThanOrEqual(4);
}, 120_000);
