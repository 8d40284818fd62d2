/** Webhooks of chat platforms: who is refused, what is stored before the answer, and what a platform is answered. */
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import type { ChannelAdapter, Delivery, ParsedWebhook } from "../../src/app/channels/channel";
import type { ChatAddress, OpenChannel } from "../../src/app/channels/chat-api";
import { createGenericAdapter } from "../../src/channels/generic/generic";
import type { ChannelSettings } from "../../src/contract/channel";
import type { HttpDeps } from "../../src/http/deps";
import { readWebhookTenant, toWebhookTenant } from "../../src/tenant/channels/webhook-address";
import { FakeSchedule } from "../support/fake-schedule";
import { CHANNEL_SECRETS, FOREIGN_TENANT, NOW, readProblem, TENANT, world } from "./support";

const peppers = { current: "a-pepper-for-tests-only", previous: null };
const settings: ChannelSettings = {
  type: "generic",
  session_per: "thread",
  model: null,
  policy: null,
  system: null,
  tools: null,
  commands: [],
  access: { mode: "open" },
  groups: "addressed",
  streaming: true,
  language: null,
};
const open: OpenChannel = { settings, credentials: CHANNEL_SECRETS };

interface Input {
  readonly deps?: Partial<HttpDeps["channels"]>;
  readonly countFlood?: HttpDeps["countFlood"];
  readonly schedule?: HttpDeps["schedule"];
}

function webhooks({ deps = {}, countFlood = null, schedule = new FakeSchedule().schedule }: Input = {}) {
  const stored: { readonly address: ChatAddress; readonly deliveries: readonly Delivery[] }[] = [];
  const counted: string[] = [];
  const looked: string[] = [];
  const channels: HttpDeps["channels"] = {
    findAdapter: () => createGenericAdapter(() => NOW),
    find: async ({ tenant, name }) => {
      looked.push(`${tenant}/${name}`);
      return tenant === TENANT && name === "support" ? open : null;
    },
    chats: () => ({
      receive: async (address, deliveries) => {
        stored.push({ address, deliveries });
        return { claimed: deliveries.map(({ id }) => id) };
      },
    }),
    isSuspended: async () => false,
    toWebhookTenant: (tenant) => toWebhookTenant(tenant, peppers),
    readWebhookTenant: (text) => readWebhookTenant(text, peppers),
    makePairingCode: async () => ({ code: "", hash: "" }),
    count: ({ channel, kind, reason }) => void counted.push(`${channel} ${kind} ${reason}`),
    ...deps,
  };
  const { app, asked, log } = world({ deps: { channels, countFlood, schedule } });
  const send = async (
    body: string,
    { path = "support", tenant = TENANT, headers = {}, secret = CHANNEL_SECRETS.secret, method = "POST" }: Sent = {},
  ) => {
    const id = "msg_1";
    const signed = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(NOW / 1_000)),
      "webhook-signature": new Webhook(secret).sign(id, new Date(NOW), body),
    };
    const named = typeof tenant === "string" ? await toWebhookTenant(tenant, peppers) : tenant.written;
    const init = { method, headers: { ...signed, ...headers }, ...(method === "POST" && { body }) };
    return app.request(`/webhooks/${named}/${path}`, init);
  };
  return { send, stored, counted, looked, asked, log, app };
}

interface Sent {
  readonly path?: string;
  /** As it is written: in place of a genuine name. */
  readonly tenant?: typeof TENANT | { readonly written: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly secret?: string;
  readonly method?: string;
}

const toBody = (n: number, changes: object = {}): string =>
  JSON.stringify({ conversation: "c-1", thread: "t-1", user: { id: `u-${n}` }, message: { id: `m-${n}`, text: "Hello" }, ...changes });
const BODY = toBody(1);
const OTHER_SECRET = `whsec_${btoa("another secret of this test")}`;

/** What a client can tell of a refusal, but for the request's own id. */
async function describeAnswer(response: Response): Promise<unknown> {
  const { request_id: _, ...problem } = await readProblem(response);
  const headers = [...response.headers].filter(([name]) => name !== "x-request-id");
  return { status: response.status, headers, problem };
}

describe("a webhook", () => {
  it("that is signed is stored in the chat's object before the platform has its answer", async () => {
    const { send, stored } = webhooks();

    const response = await send(BODY);

    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    expect(stored).toMatchObject([
      {
        address: { tenant: TENANT, channel: "support", conversation: "thread:c-1:t-1" },
        deliveries: [{ id: "msg_1", event: { type: "message", text: "Hello" } }],
      },
    ]);
  });

  it.each<[string, Sent]>([
    ["whose signature is wrong", { secret: OTHER_SECRET }],
    ["without a signature", { headers: { "webhook-signature": "" } }],
    ["of a channel that is not there", { path: "none" }],
    ["of a name that no channel can have", { path: "a%20b" }],
    ["of a tenant that has none", { tenant: FOREIGN_TENANT }],
    ["of a made-up tenant", { tenant: { written: `${TENANT}_AAAAAAAAAAA` } }],
    ["of a tenant's bare id", { tenant: { written: TENANT } }],
  ])("%s is refused as every other, and nothing is stored", async (_, sent) => {
    const { send, stored } = webhooks();

    const answer = await describeAnswer(await send(BODY, sent));

    expect(answer).toEqual(await describeAnswer(await webhooks().send(BODY, { secret: OTHER_SECRET })));
    expect(answer).toMatchObject({ status: 401, problem: { type: "urn:longhand:problem:webhook_refused" } });
    expect(stored).toEqual([]);
  });

  it("of a made-up tenant asks nothing of anyone", async () => {
    const { app, looked, asked } = webhooks();

    for (const name of [`${TENANT}`, `${TENANT}_AAAAAAAAAAA`, "ten_x", "x".repeat(200)])
      expect((await app.request(`/webhooks/${name}/support`, { method: "POST", body: BODY })).status).toBe(401);

    expect(looked).toEqual([]);
    expect(asked).toEqual({ tenants: [], sessions: [] });
  });

  it("that is refused counts in the channel's log, if there is such a channel", async () => {
    const { send, counted } = webhooks();

    await send(BODY, { secret: OTHER_SECRET });
    await send(BODY, { headers: { "webhook-signature": "" } });
    await send(BODY, { headers: { "webhook-timestamp": "1" } });
    await send(BODY, { path: "none" });

    expect(counted).toEqual(["support signature_refused wrong", "support signature_refused unsigned", "support signature_refused wrong"]);
  });

  it("that is larger than 1 MB is refused before it is looked at", async () => {
    const { send, looked } = webhooks();

    expect((await send("x".repeat(1_048_577))).status).toBe(413);
    expect(looked).toEqual([]);
  });

  it("of another method is none", async () => {
    const { send } = webhooks();
    const refused = await send("", { method: "PUT" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });

  it("that cannot be read names the field at fault, and is counted", async () => {
    const { send, stored, counted } = webhooks();

    const response = await send(JSON.stringify({ conversation: "c-1", user: {}, message: { id: "m" } }));

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.[0]?.field).toBe("user.id");
    expect(counted).toEqual([expect.stringMatching(/^support delivery_malformed user\.id: /)]);
    expect(stored).toEqual([]);
  });
});

describe("what cannot be stored", () => {
  it("is answered 503, so that the platform delivers it again", async () => {
    const chats = () => ({
      receive: async () => {
        throw new Error("the object is out of reach");
      },
    });
    const { send, log } = webhooks({ deps: { chats } });

    const response = await send(BODY);

    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(log.map(({ event }) => event)).toContain("webhook.not_stored");
    expect(JSON.stringify(log)).not.toContain("Hello");
  });

  it("in time is answered 503 within the platform's three seconds", async () => {
    const schedule = new FakeSchedule();
    let begun = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const chats = () => ({
      receive: () => {
        begun();
        return new Promise<never>(() => undefined);
      },
    });
    const answer = webhooks({ deps: { chats }, schedule: schedule.schedule }).send(BODY);
    await asked;
    schedule.advance(2_500);

    expect((await answer).status).toBe(503);
  });

  it("because the channel cannot be looked up is not answered as unknown", async () => {
    const find = async () => {
      throw Object.assign(new Error("the tenant's object was reset"), { retryable: true });
    };
    expect((await webhooks({ deps: { find } }).send(BODY)).status).toBe(503);
  });

  it("is tried once more where the object was only moved", async () => {
    let calls = 0;
    const chats = () => ({
      receive: async (_: ChatAddress, deliveries: readonly Delivery[]) => {
        calls += 1;
        if (calls === 1) throw Object.assign(new Error("moved"), { retryable: true });
        return { claimed: deliveries.map(({ id }) => id) };
      },
    });

    expect((await webhooks({ deps: { chats } }).send(BODY)).status).toBe(200);
    expect(calls).toBe(2);
  });
});

describe("an adapter", () => {
  /** The generic one, which parses to `parsed`. */
  const withParsed = (parsed: ParsedWebhook): HttpDeps["channels"]["findAdapter"] => {
    const adapter: ChannelAdapter<unknown> = { ...createGenericAdapter(() => NOW), parse: () => parsed };
    return () => adapter;
  };
  const toDelivery = (n: number, chat: string): Delivery => ({
    id: `d-${n}`,
    place: { chat, thread: null, is_private: true, target: {} },
    user: { id: "u", name: null, language: null },
    at: n,
    event: { type: "deletion", message: `m-${n}` },
  });

  it("whose platform checks the address answers it, also for a suspended tenant", async () => {
    const findAdapter = withParsed({ kind: "handshake", answer: { status: 200, text: "challenge" } });
    const { send, stored } = webhooks({ deps: { findAdapter, isSuspended: async () => true } });

    expect(await (await send(BODY)).text()).toBe("challenge");
    expect(stored).toEqual([]);
  });

  it("that ignores a delivery gives its reason to the log", async () => {
    const findAdapter = withParsed({ kind: "ignored", reason: "own message", answer: { status: 204 } });
    const { send, stored, counted } = webhooks({ deps: { findAdapter } });

    expect((await send(BODY)).status).toBe(204);
    expect([stored, counted]).toEqual([[], ["support delivery_ignored own message"]]);
  });

  it("that brings several deliveries makes one call for each conversation, in their order", async () => {
    const deliveries = [toDelivery(1, "a"), toDelivery(2, "b"), toDelivery(3, "a")];
    const findAdapter = withParsed({ kind: "deliveries", deliveries, answer: { status: 200, json: { type: 5 } } });
    const { send, stored } = webhooks({ deps: { findAdapter } });

    expect(await (await send(BODY)).json()).toEqual({ type: 5 });
    expect(stored.map(({ address, deliveries: each }) => [address.conversation, ...each.map(({ id }) => id)])).toEqual([
      ["chat:a", "d-1", "d-3"],
      ["chat:b", "d-2"],
    ]);
  });
});

describe("a suspended tenant", () => {
  it("is answered 200, and nothing is stored", async () => {
    const { send, stored, counted } = webhooks({ deps: { isSuspended: async () => true } });

    const response = await send(BODY);

    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect([stored, counted]).toEqual([[], ["support delivery_ignored the tenant is suspended"]]);
  });
});

describe("a flood", () => {
  it("of refused webhooks counts by address, and one of good ones by channel: a platform sends all from few addresses", async () => {
    const sources: string[] = [];
    const countFlood = async (source: string) => {
      sources.push(source);
      return true;
    };
    const { send } = webhooks({ countFlood });
    const headers = { "cf-connecting-ip": "203.0.113.7" };

    await send(BODY, { headers });
    await send(BODY, { headers, secret: OTHER_SECRET });
    await send(BODY, { headers, path: "none" });

    expect(sources).toEqual([`channel ${TENANT}/support`, "address 203.0.113.7", "address 203.0.113.7"]);
  });

  it("is answered 429, and nothing is stored", async () => {
    const { send, stored } = webhooks({ countFlood: async () => false });

    expect(await describeAnswer(await send(BODY))).toMatchObject({ status: 429, problem: { limit: "flood", of: "channel" } });
    expect((await send(BODY, { secret: OTHER_SECRET })).status).toBe(429);
    expect(stored).toEqual([]);
  });

  it("is not seen where the counter fails", async () => {
    const countFlood = async () => {
      throw new Error("no counter");
    };
    expect((await webhooks({ countFlood }).send(BODY)).status).toBe(200);
  });
});
