/** Limits of concurrent turns and of messages through the running Worker. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { createRandom } from "../../../scripts/support/random";
import { tenantObjectName } from "../../../src/app/object-name";
import type { LimitUse } from "../../../src/contract/limit-use";
import { type LimitSet, NO_LIMITS } from "../../../src/contract/limits";
import type { SessionDescription } from "../../../src/contract/session";
import type { TurnId } from "../../../src/domain/ids";
import { sized } from "../../support/effort";
import { Chat, migrate, newChat, readBody, type Tenant } from "../../workers/support";

beforeAll(migrate);

let revision = 0;

const AT_ONCE = sized({ whole: 200, small: 60 });

function limit({ id }: Tenant, limits: Partial<LimitSet>) {
  revision += 1;
  return env.TENANTS.getByName(tenantObjectName(id)).setLimits({ limits: { ...NO_LIMITS, ...limits }, revision });
}

/** One more session with the same model. */
async function newSession({ tenant, model }: Chat, more: object = {}): Promise<Chat> {
  const made = await tenant.call("POST", "/v1/sessions", { model: model.upstream, policy: "oneclaw", ...more });
  return new Chat(tenant, (await readBody<SessionDescription>(made, 201)).id, model);
}

const gated = (count: number) => Array.from({ length: count }, (_, n) => ({ text: `reply ${n}`, gate: "go" }));

async function readUsed(tenant: Tenant, of = "tenant"): Promise<number | null | undefined> {
  const { data } = await readBody<{ data: LimitUse[] }>(await tenant.call("GET", "/v1/limits"));
  return data.find((use) => use.of === of && use.limit.startsWith("concurrent"))?.used;
}

const start = (chat: Chat, more: object = {}) => chat.send("hello", more, { prefer: "respond-async" });

describe("a limit of concurrent turns", () => {
  it("refuses one more before anything is appended, says when to come back, and lets it run once another has ended", async () => {
    const one = await newChat({ replies: [...gated(1), { text: "second" }] });
    const two = await newSession(one);
    await limit(one.tenant, { tenant: { concurrent_turns: 1 } });
    const { turn_id } = await one.post("hello");
    const before = await two.events();

    const refused = await start(two);

    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await readBody(refused, 429)).toMatchObject({
      type: "urn:longhand:problem:rate_limited",
      limit: "concurrent_turns",
      of: "tenant",
      max: 1,
    });
    expect(await two.events()).toEqual(before);
    expect(await readUsed(one.tenant)).toBe(1);
    await one.model.open("go");
    await one.ended(turn_id);
    expect((await two.say("hello")).status).toBe("completed");
  });

  it("queues a message to the session whose turn runs, which keeps its slot for it", async () => {
    const chat = await newChat({ replies: [...gated(1), { text: "second" }] });
    await limit(chat.tenant, { tenant: { concurrent_turns: 1 } });
    await chat.post("hello");
    const queued = await chat.post("and then");
    await chat.model.open("go");

    expect((await chat.ended(queued.turn_id)).status).toBe("completed");
    expect((await start(await newSession(chat))).status).toBe(202);
  });

  it("counts each key and each end user alone", async () => {
    const one = await newChat({ replies: gated(4) });
    await limit(one.tenant, { end_user: { concurrent_turns: 1 } });
    const [ada, adas, bob] = [
      await newSession(one, { end_user: "ada" }),
      await newSession(one, { end_user: "ada" }),
      await newSession(one, { end_user: "bob" }),
    ];

    const answers = [await start(ada), await start(adas), await start(bob), await start(one)];

    expect(answers.map(({ status }) => status)).toEqual([202, 429, 202, 202]);
    await one.model.open("go");
  });

  it("is of no other tenant", async () => {
    const [one, other] = [await newChat({ replies: gated(1) }), await newChat({ replies: [{ text: "hi" }] })];
    await limit(one.tenant, { tenant: { concurrent_turns: 0 } });

    expect((await start(one)).status).toBe(429);
    expect((await other.say("hello")).status).toBe("completed");
  });

  it("answers a repeated request although no slot is left, and refuses a new one in another vendor's words", async () => {
    const one = await newChat({ replies: gated(1) });
    await limit(one.tenant, { tenant: { concurrent_turns: 1 } });
    const key = { prefer: "respond-async", "idempotency-key": "once" };
    const first = await readBody(await one.send("hello", {}, key), 202);

    expect(await readBody(await one.send("hello", {}, key), 202)).toEqual(first);
    const body = { model: one.model.upstream, messages: [{ role: "user", content: "hello" }] };
    const refused = await one.tenant.call("POST", "/v1/chat/completions", body);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await readBody(refused, 429)).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    await one.model.open("go");
  });

  it.each(["stop", "erase"] as const)("has the slot again after %s", async (how) => {
    const one = await newChat({ replies: gated(2) });
    await limit(one.tenant, { tenant: { concurrent_turns: 1 } });
    await one.post("hello");
    await one.model.heard(1);

    await readBody(how === "stop" ? await one.call("POST", "/stop", {}) : await one.call("DELETE"));

    expect((await start(await newSession(one))).status).toBe(202);
    await one.model.open("go");
  });

  it("has the slot while a turn waits for its client, and takes one again with the results", async () => {
    const tools = [{ name: "weather", description: "Weather", parameters: { type: "object" } }];
    const call = { tool_calls: [{ id: "call_1", name: "weather", arguments: "{}" }] };
    const one = await newChat({ tools, replies: [call, ...gated(1), { text: "after" }] });
    const two = await newSession(one);
    await limit(one.tenant, { tenant: { concurrent_turns: 1 } });
    const waiting = await one.say("hello");
    expect(waiting.status).toBe("awaiting_tools");
    const results = { results: [{ execution_id: waiting.open_calls[0]?.id, output: "sunny" }] };

    expect((await start(two)).status).toBe(202);
    const before = await one.events();
    expect((await one.call("POST", "/tool_results", results)).status).toBe(429);
    expect(await one.events()).toEqual(before);
    await one.model.open("go");
    await two.model.heard(2);
    await two.call("POST", "/stop", {});
    expect((await one.call("POST", "/tool_results", results, { prefer: "respond-async" })).status).toBe(202);
  });

  it(`never lets more run than the limit of ${AT_ONCE} that start at once, and has all slots again at the end`, async () => {
    const MOST = 20;
    const one = await newChat({ replies: gated(AT_ONCE + 2 * MOST) });
    const chats = [one];
    while (chats.length < AT_ONCE) chats.push(...(await Promise.all(Array.from({ length: 20 }, () => newSession(one)))));
    await limit(one.tenant, { tenant: { concurrent_turns: MOST } });

    const answers = await Promise.all(chats.slice(0, AT_ONCE).map((chat) => start(chat)));
    const admitted = answers.filter(({ status }) => status === 202).length;
    const heard = await one.model.heard(MOST);

    expect([admitted, answers.filter(({ status }) => status === 429).length]).toEqual([MOST, AT_ONCE - MOST]);
    expect(heard).toHaveLength(MOST);
    await one.model.open("go");
    await Promise.all(
      chats.slice(0, AT_ONCE).map(async (chat, n) => {
        if (answers[n]?.status === 202) await chat.ended((await readBody<{ turn_id: TurnId }>(answers[n], 202)).turn_id);
      }),
    );
    const again = await Promise.all(chats.slice(0, MOST).map((chat) => start(chat)));
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 202));
  });

  it("holds while all objects are lost again and again", async () => {
    const MOST = 3;
    const random = createRandom(inject("seed") + 57);
    const one = await newChat({ replies: gated(200) });
    const chats = [one, ...(await Promise.all(Array.from({ length: 11 }, () => newSession(one))))];
    await limit(one.tenant, { tenant: { concurrent_turns: MOST } });
    const running = new Set<Chat>();
    const stop = async (chat: Chat): Promise<void> => {
      await readBody(await chat.call("POST", "/stop", {}));
      running.delete(chat);
    };
    const seen: number[] = [];
    for (let round = 0; round < 10; round++) {
      const idle = chats.filter((chat) => !running.has(chat)).slice(0, random.between(1, 6));
      const statuses = await Promise.all(idle.map(async (chat) => (await start(chat)).status));
      expect(statuses.filter((status) => status !== 202 && status !== 429)).toEqual([]);
      for (const chat of idle.filter((_, n) => statuses[n] === 202)) running.add(chat);
      seen.push(running.size);
      if (random.between(0, 1) === 0) await abortAllDurableObjects();
      for (const chat of [...running].filter(() => random.between(0, 2) === 0)) await stop(chat);
    }
    expect(Math.max(...seen)).toBe(MOST);
    for (const chat of [...running]) await stop(chat);
    const again = await Promise.all(chats.slice(0, MOST + 1).map((chat) => start(chat)));
    expect(again.filter(({ status }) => status === 202)).toHaveLength(MOST);
  });
});

describe("a limit of messages of a session", () => {
  it("refuses one more before anything is appended, however it comes, and not what the model says", async () => {
    const chat = await newChat({ replies: [{ text: "one" }, { text: "two" }] });
    await limit(chat.tenant, { tenant: { messages_per_session: 3 } });
    await chat.say("hello");
    await chat.say("again");
    const before = await chat.events();
    const [first] = await chat.items();

    const refused = [
      await chat.send("and again"),
      await chat.send("noted", { run: false }),
      await chat.call("POST", "/messages/batch", { items: [{ role: "user", content: "imported" }] }),
      await chat.call("POST", "/respond", { messages: [{ role: "user", content: "asked" }] }),
    ];

    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 409));
    expect(await readBody(refused[0] ?? new Response(), 409)).toMatchObject({ type: "urn:longhand:problem:message_limit", limit: 3 });
    expect(await chat.events()).toEqual(before);
    // An edit goes back first.
    expect((await chat.call("POST", `/messages/${first?.id}/edit`, { content: "hi" })).status).toBe(200);
    await limit(chat.tenant, { tenant: { messages_per_session: 0 } });
    const [edited] = await chat.items();
    expect((await chat.call("POST", `/messages/${edited?.id}/edit`, { content: "hi" })).status).toBe(409);
  });
});

describe("a limit of sessions of an end user", () => {
  it("refuses one more, by whatever request, and counts a session for whom it was given to", async () => {
    const chat = await newChat();
    await limit(chat.tenant, { end_user: { sessions: 1 } });
    const adas = await newSession(chat, { end_user: "ada" });
    const create = (end_user: string) => chat.tenant.call("POST", "/v1/sessions", { model: chat.model.upstream, end_user });

    const refused = [await create("ada"), await adas.call("POST", "/fork", {}), await chat.call("PATCH", "", { end_user: "ada" })];

    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409]);
    expect(await readBody(refused[0] ?? new Response(), 409)).toMatchObject({ type: "urn:longhand:problem:session_limit", of: "end_user" });
    await readBody(await adas.call("PATCH", "", { end_user: "bob" }));
    expect([(await create("bob")).status, (await create("ada")).status]).toEqual([409, 201]);
  });

  it("lets exactly as many be made, of many at once", async () => {
    const chat = await newChat();
    await limit(chat.tenant, { end_user: { sessions: 3 } });
    const make = () => chat.tenant.call("POST", "/v1/sessions", { model: chat.model.upstream, end_user: "ada" });

    const answers = await Promise.all(Array.from({ length: 12 }, make));

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  });
});
