/** Budgets through the running Worker: many turns at once, with the tenant's object lost at random, and what each API answers on 402. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { createRandom } from "../../../scripts/support/random.ts";
import { sessionObjectName, tenantObjectName } from "../../../src/app/object-name";
import type { BudgetView } from "../../../src/contract/budget";
import { type Budget, NO_LIMITS } from "../../../src/contract/limits";
import type { Page } from "../../../src/contract/page";
import type { TenantEvent } from "../../../src/contract/tenant-event";
import type { SessionId } from "../../../src/domain/ids";
import { daily } from "../../support/daily-budget";
import { sized } from "../../support/effort";
import { ringNow } from "../../workers/alarms";
import { advanceClock } from "../../workers/clock";
import { type Headers_, migrate, newTenant, readBody, request, type Tenant } from "../../workers/support";

beforeAll(migrate);

const findStub = ({ id }: Tenant) => env.TENANTS.getByName(tenantObjectName(id));
let revision = 0;
const setBudgets = (tenant: Tenant, ...budgets: readonly Budget[]) =>
  findStub(tenant).setLimits({ limits: NO_LIMITS, revision: ++revision, budgets });

const readBudget = async (tenant: Tenant, query = ""): Promise<BudgetView> => {
  const { data } = await readBody<{ data: BudgetView[] }>(await tenant.call("GET", `/v1/budgets${query}`));
  if (!data[0]) throw new Error("no budget");
  return data[0];
};

/** A tenant with a small model that answers by itself. */
async function newChatty(): Promise<Tenant> {
  const tenant = await newTenant();
  await readBody(await tenant.call("PUT", "/v1/models/small", { provider: "embedded", context_window: 16_000, max_output: 20 }));
  return tenant;
}

async function open(tenant: Tenant): Promise<SessionId> {
  return (await readBody<{ id: SessionId }>(await tenant.call("POST", "/v1/sessions", { model: "small" }), 201)).id;
}

const send = (tenant: Tenant, session: SessionId): Promise<Response> =>
  tenant.call("POST", `/v1/sessions/${session}/messages`, { content: "Tell me about the river." });

/** Sessions that the tenant's directory lists and that were not erased. */
const countSessions = (tenant: Tenant): Promise<number> =>
  runInDurableObject(findStub(tenant), (_, { storage }) => Number(storage.sql.exec("SELECT count(*) AS n FROM sessions").one().n));

/** For what the OpenAPI document does not describe. */
function callUndocumented(
  { key }: Tenant,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: object; readonly headers?: Headers_ } = {},
): Promise<Response> {
  const sent = new Headers({ ...headers, authorization: `Bearer ${key}`, "content-type": "application/json" });
  const asked = { method, headers: sent, ...(body && { body: JSON.stringify(body) }) };
  return exports.default.fetch(new Request(`https://longhand.test${path}`, asked));
}

/** What the ledgers of the sessions have. */
async function sumLedgers(tenant: Tenant, sessions: readonly SessionId[]): Promise<number> {
  const pages = await Promise.all(
    sessions.map(async (id) => readBody<Page<{ input: number; output: number }>>(await tenant.call("GET", `/v1/sessions/${id}/usage`))),
  );
  return pages.flatMap(({ data }) => data).reduce((sum, { input, output }) => sum + input + output, 0);
}

/** Lets every session report and return what it holds, as its alarm does. */
async function comeToRest(tenant: Tenant, sessions: readonly SessionId[], query = ""): Promise<void> {
  advanceClock(120_000);
  for (let looks = 0; looks < 20 && (await readBudget(tenant, query)).reserved > 0; looks++)
    await Promise.all(sessions.map((id) => ringNow(env.SESSIONS.getByName(sessionObjectName(tenant.id, id)))));
}

/** The object is lost in the middle of whatever it does. Its callers see an error. */
async function kill(tenant: Tenant): Promise<void> {
  await runInDurableObject(findStub(tenant), (_, state) => state.abort("killed by a test")).catch(() => undefined);
}

/** Ten times as many turns as the budget is for. */
const TURNS = sized({ whole: 500, small: 100 });

describe(`${TURNS} turns at once against a budget for ${TURNS / 10}`, () => {
  it.each([
    ["", 0],
    [", while the tenant's object is killed at random", 10],
  ])("never exceed it, and come to exactly what the ledgers have%s", { timeout: 240_000 }, async (_, kills) => {
    const random = createRandom(inject("seed"));
    const tenant = await newChatty();
    await setBudgets(tenant, daily(1_000_000));
    const first = await open(tenant);
    await readBody(await send(tenant, first));
    const each = await sumLedgers(tenant, [first]);
    await comeToRest(tenant, [first]);
    const amount = (TURNS / 10 + 1) * each;
    await setBudgets(tenant, daily(amount));
    const sessions: SessionId[] = [];
    while (sessions.length < TURNS) sessions.push(...(await Promise.all(Array.from({ length: 20 }, () => open(tenant)))));

    let killed = 0;
    const answers = await Promise.all(
      sessions.map(async (id) => {
        const sent = send(tenant, id);
        if (random.between(1, TURNS) <= kills) {
          killed += 1;
          await kill(tenant);
        }
        const { status } = await sent;
        const { spent, reserved } = await readBudget(tenant).catch(() => ({ spent: 0, reserved: 0 }));
        expect(spent + reserved).toBeLessThanOrEqual(amount);
        return status;
      }),
    );

    expect(new Set(answers.filter((status) => ![200, 202, 402, 503].includes(status)))).toEqual(new Set());
    expect(answers.filter((status) => status === 402).length).toBeGreaterThan(TURNS * 0.8);
    expect(killed > 0).toBe(kills > 0);
    await comeToRest(tenant, sessions);
    const before = await readBudget(tenant);
    expect(before).toMatchObject({ spent: await sumLedgers(tenant, [first, ...sessions]), reserved: 0 });
    expect(before.spent).toBeLessThanOrEqual(amount);

    let status = 200;
    for (let next = 0; status === 200 && next < sessions.length; next++) {
      const fresh = await open(tenant);
      status = (await send(tenant, fresh)).status;
      sessions.push(fresh);
    }
    await comeToRest(tenant, sessions.slice(TURNS));
    const after = await readBudget(tenant);
    expect(status).toBe(402);
    expect(after).toMatchObject({ spent: await sumLedgers(tenant, [first, ...sessions]), reserved: 0 });
    expect(after.spent).toBeLessThanOrEqual(amount);
    // What is left is less than one more call may use.
    expect(after.remaining).toBeLessThan(3 * each);
    const { data } = await readBody<Page<TenantEvent>>(await tenant.call("GET", "/v1/events"));
    expect(data.filter(({ type }) => type === "budget.reached")).toHaveLength(1);
  });
});

describe("a request without a budget for it", () => {
  const REFUSED = { type: "urn:longhand:problem:budget_exhausted", budget: "daily", of: "tenant", unit: "tokens", amount: 10, spent: 0 };

  it("is refused by every operation that asks a model, and nothing is stored", async () => {
    const tenant = await newChatty();
    const session = await open(tenant);
    const path = `/v1/sessions/${session}`;
    const { message_id } = await readBody<{ message_id: string }>(
      await tenant.call("POST", `${path}/messages`, { content: "Hello.", run: false }),
      201,
    );
    for (let n = 0; n < 4; n++)
      await readBody(await tenant.call("POST", `${path}/messages`, { content: `${n} river `.repeat(400), run: false }), 201);
    await setBudgets(tenant, daily(10));
    const before = await readBody<Page<unknown>>(await tenant.call("GET", `${path}/events`));
    const message = { content: "Tell me." };

    const answers = [
      await tenant.call("POST", `${path}/messages`, message),
      await tenant.call("POST", `${path}/respond`, { messages: [{ role: "user", ...message }] }),
      await tenant.call("POST", `${path}/messages/${message_id}/edit`, message),
      await tenant.call("POST", `${path}/messages/${message_id}/regenerate`, {}),
      await tenant.call("POST", `${path}/retry`, {}),
      await tenant.call("POST", `${path}/compactions`, { keep_recent: 100 }),
    ];

    for (const answer of answers) expect(await readBody(answer, 402)).toMatchObject(REFUSED);
    expect((await readBody<Page<unknown>>(await tenant.call("GET", `${path}/events`))).data).toHaveLength(before.data.length);
  });

  const FIGURES = expect.stringContaining(
    "The budget daily of the tenant has too little left for the model's next call: 0 tokens are spent and",
  );
  const OPENAI = { error: { type: "insufficient_quota", code: "insufficient_quota", message: FIGURES } };
  const NATIVE = { ...REFUSED, detail: FIGURES };
  const messages = [{ role: "user", content: "Hello." }];
  const uiMessage = { id: "m1", role: "user", parts: [{ type: "text", text: "Hello." }] };
  const ANTHROPIC = { "anthropic-version": "2023-06-01" };
  const SURFACES: readonly { readonly path: string; readonly body: object; readonly answer: object; readonly headers?: Headers_ }[] = [
    { path: "/v1/chat/completions", body: { messages }, answer: OPENAI },
    { path: "/v1/chat/completions", body: { messages, stream: true }, answer: OPENAI },
    { path: "/v1/responses", body: { input: "Hello." }, answer: OPENAI },
    { path: "/v1/responses", body: { input: "Hello.", stream: true }, answer: OPENAI },
    { path: "/v1/responses", body: { input: "Hello.", store: false }, answer: OPENAI },
    {
      path: "/v1/messages",
      body: { max_tokens: 10, messages },
      answer: { type: "error", error: { type: "billing_error", message: FIGURES } },
      headers: ANTHROPIC,
    },
    {
      path: "/v1/messages",
      body: { max_tokens: 10, messages, stream: true },
      answer: { type: "error", error: { type: "billing_error", message: FIGURES } },
      headers: ANTHROPIC,
    },
  ];

  it.each(SURFACES)("is refused by $path in its vendor's words with the figures, and no session is left: $body", async (surface) => {
    const { path, body, answer, headers } = surface;
    const tenant = await newChatty();
    await setBudgets(tenant, daily(10));

    const refused = await tenant.call("POST", path, { model: "small", ...body }, headers);

    expect(await readBody(refused, 402)).toMatchObject(answer);
    expect(await countSessions(tenant)).toBe(0);
  });

  it("leaves an empty session where it has an idempotency key, in which the same request is answered once a budget pays for it", async () => {
    const tenant = await newChatty();
    await setBudgets(tenant, daily(10));
    const asked = { body: { model: "small", input: "Hello." }, headers: { "idempotency-key": "order-1" } };
    const send = () => callUndocumented(tenant, "POST", "/v1/responses", asked);

    await readBody(await send(), 402);
    expect(await countSessions(tenant)).toBe(1);
    await setBudgets(tenant, daily(1_000_000));
    advanceClock(61_000);

    expect(await readBody(await send())).toMatchObject({ object: "response", error: null });
    expect(await countSessions(tenant)).toBe(1);
  });

  it("is refused by the AI SDK's route as a problem that names the figures, and its chat has nothing to show", async () => {
    const tenant = await newChatty();
    await readBody(await tenant.call("PATCH", "/v1/tenant", { default_model: "small" }));
    await setBudgets(tenant, daily(10));

    const body = { id: "chat-1", trigger: "submit-message", messages: [uiMessage] };

    const refused = await callUndocumented(tenant, "POST", "/api/chat", { body });

    expect(await readBody(refused, 402)).toMatchObject(NATIVE);
    expect(await readBody(await callUndocumented(tenant, "GET", "/api/chat/chat-1/messages"))).toMatchObject({ messages: [] });
  });

  it("is refused by the tool of the MCP server as an error that a model reads", async () => {
    const tenant = await newChatty();
    const session = await open(tenant);
    await setBudgets(tenant, daily(10));
    const params = { name: "send_message", arguments: { session_id: session, text: "Hello." } };

    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
    const answered = await callUndocumented(tenant, "POST", "/mcp", { body: call, headers });

    const text = await answered.text();
    expect(text).toContain('"isError":true');
    expect(text).toContain("urn:longhand:problem:budget_exhausted");
    expect((await readBody<Page<unknown>>(await tenant.call("GET", `/v1/sessions/${session}/messages`))).data).toEqual([]);
    expect(await countSessions(tenant)).toBe(1);
  });

  it.each([{}, { store: false }])("is refused on a WebSocket of responses, which stays open, and no session is left: %j", async (more) => {
    const tenant = await newChatty();
    await setBudgets(tenant, daily(10));
    const { webSocket: socket } = await callUndocumented(tenant, "GET", "/v1/responses", { headers: { upgrade: "websocket" } });
    if (!socket) throw new Error("no socket");
    socket.accept();
    const ask = () =>
      new Promise<object>((resolve) => {
        socket.addEventListener("message", ({ data }) => resolve(JSON.parse(String(data))), { once: true });
        socket.send(JSON.stringify({ type: "response.create", model: "small", input: "Hello.", ...more }));
      });

    for (const refused of [await ask(), await ask()])
      expect(refused).toMatchObject({ type: "error", status: 402, error: { code: "insufficient_quota", message: FIGURES } });
    expect(await countSessions(tenant)).toBe(0);
    socket.close();
  });
});

describe("a session under a budget", () => {
  const readCounters = (tenant: Tenant) =>
    runInDurableObject(findStub(tenant), (_, { storage }) =>
      storage.sql.exec<{ spent: number; held: number }>("SELECT spent, held FROM budget_counters").toArray(),
    );
  const ringSession = (tenant: Tenant, id: SessionId) => ringNow(env.SESSIONS.getByName(sessionObjectName(tenant.id, id)));

  it("that is forked has a wallet of its own: the fork has spent nothing, and what it spends is not its source's", async () => {
    const tenant = await newChatty();
    await setBudgets(tenant, daily(50_000, { of: "session" }));
    const source = await open(tenant);
    await readBody(await send(tenant, source));
    await comeToRest(tenant, [source], `?session_id=${source}`);
    const { id: fork } = await readBody<{ id: SessionId }>(await tenant.call("POST", `/v1/sessions/${source}/fork`, {}), 201);
    expect(await readBudget(tenant, `?session_id=${fork}`)).toMatchObject({ spent: 0, reserved: 0 });

    await readBody(await send(tenant, fork));
    await comeToRest(tenant, [fork], `?session_id=${fork}`);

    const spent = await sumLedgers(tenant, [source]);
    expect(await readBudget(tenant, `?session_id=${source}`)).toMatchObject({ spent, reserved: 0 });
    expect((await readBudget(tenant, `?session_id=${fork}`)).spent).toBeGreaterThan(0);
  });

  it("of a suspended tenant reports what it spent, and returns what it holds", async () => {
    const tenant = await newChatty();
    await setBudgets(tenant, daily(1_000_000));
    const session = await open(tenant);
    await readBody(await send(tenant, session));
    const spent = await sumLedgers(tenant, [session]);
    expect((await readBudget(tenant)).reserved).toBeGreaterThan(0);
    await readBody(await request("POST", `/v1/admin/tenants/${tenant.id}/suspend`, { key: env.ADMIN_KEY, body: { reason: "unpaid" } }));

    advanceClock(120_000);
    for (let looks = 0; looks < 20 && (await readCounters(tenant))[0]?.held !== 0; looks++) await ringSession(tenant, session);

    expect(await readCounters(tenant)).toEqual([{ spent, held: 0 }]);
  });
});

describe("the list of budgets", () => {
  it("shows what an end user and a session have left", async () => {
    const tenant = await newChatty();
    await setBudgets(tenant, daily(100_000, { name: "each", of: "end_user" }), daily(50_000, { name: "one", of: "session" }));
    const { id } = await readBody<{ id: SessionId }>(await tenant.call("POST", "/v1/sessions", { model: "small", end_user: "ada" }), 201);
    await readBody(await send(tenant, id));
    await comeToRest(tenant, [id], "?end_user=ada");
    const used = await sumLedgers(tenant, [id]);

    const figures = { spent: used, reserved: 0 };
    expect(await readBudget(tenant, "?end_user=ada")).toMatchObject({ name: "each", ...figures, remaining: 100_000 - used });
    expect(await readBudget(tenant, `?session_id=${id}`)).toMatchObject({ name: "one", ...figures, remaining: 50_000 - used });
    expect(await readBudget(tenant, "?end_user=bob")).toMatchObject({ name: "each", spent: 0, remaining: 100_000 });
  });
});
