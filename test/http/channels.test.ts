/** The routes of channels: what a client may put, and what it is shown. */
import { describe, expect, it } from "vitest";
import type { PutChannel } from "../../src/app/channels-api";
import { findAdapter } from "../../src/channels/adapters";
import { channelView } from "../../src/contract/channel";
import { channelExample } from "../../src/http/examples/channels";
import { ok } from "../../src/lib/result";
import { toWebhookTenant } from "../../src/tenant/channels/webhook-address";
import { CHANNEL_SECRETS, NOW, readProblem, TENANT, world } from "./support";

const input = { type: "generic", credentials: CHANNEL_SECRETS };
const { webhook_path: _, ...entry } = channelView.parse(channelExample);
const peppers = { current: "a-pepper-for-tests-only", previous: null };

describe("a channel", () => {
  it("is put with defaults, and shown without its secrets, with the address of its webhooks", async () => {
    const put: PutChannel[] = [];
    const tenant = {
      putChannel: async (_act: unknown, asked: PutChannel) => {
        put.push(asked);
        return ok({ name: asked.name, ...asked.settings, credentials: asked.secrets?.names ?? [], created_at: NOW, updated_at: NOW });
      },
    };
    const response = await world({ tenant }).call("PUT", "/v1/channels/support", { body: input });

    expect(await response.json()).toEqual({
      name: "support",
      type: "generic",
      session_per: "chat",
      model: null,
      policy: null,
      system: null,
      tools: null,
      commands: ["start", "reset", "compact", "context", "undo", "forget", "help"],
      access: { mode: "open" },
      groups: "addressed",
      streaming: true,
      language: null,
      credentials: ["signature", "secret", "reply_url"],
      webhook_path: `/webhooks/${await toWebhookTenant(TENANT, peppers)}/support`,
      created_at: NOW,
      updated_at: NOW,
    });
    expect(put[0]?.secrets?.sealed).toEqual({ kid: "k1", wrapped_key: "wrapped", sealed: "sealed" });
    expect(JSON.stringify(put[0]?.settings)).not.toContain(CHANNEL_SECRETS.secret);
  });

  it("without secrets asks the tenant's object to keep the stored ones, also where the deployment can seal none", async () => {
    const put: PutChannel[] = [];
    const tenant = {
      putChannel: async (_act: unknown, asked: PutChannel) => {
        put.push(asked);
        return ok(entry);
      },
    };
    const { call } = world({ tenant, deps: { sealer: null } });

    expect((await call("PUT", "/v1/channels/support", { body: { type: "generic" } })).status).toBe(200);
    expect(put[0]?.secrets).toBeNull();
    expect((await call("PUT", "/v1/channels/support", { body: input })).status).toBe(501);
  });

  it.each<[string, string, object, string]>([
    ["a name that no path takes", "a%20b", {}, "channel_name"],
    ["a name that is too long", "x".repeat(33), {}, "channel_name"],
    ["a type that there is not", "support", { type: "irc" }, "type"],
    ["a field that it has not", "support", { prompt: "x" }, "prompt"],
    ["a secret that is none", "support", { credentials: { ...CHANNEL_SECRETS, secret: "short" } }, "credentials.secret"],
    ["a secret of another name", "support", { credentials: { ...CHANNEL_SECRETS, token: "x" } }, "credentials.token"],
    ["no secret", "support", { credentials: {} }, "credentials.signature"],
    [
      "a reply address inside",
      "support",
      { credentials: { ...CHANNEL_SECRETS, reply_url: "https://169.254.169.254/" } },
      "credentials.reply_url",
    ],
    [
      "a reply address without https",
      "support",
      { credentials: { ...CHANNEL_SECRETS, reply_url: "http://example.com/" } },
      "credentials.reply_url",
    ],
    ["secrets without end", "support", { credentials: { secret: "x".repeat(20_000) } }, "credentials"],
    ["an access list without a list", "support", { access: { mode: "allow_list" } }, "access.users"],
    ["a command that there is not", "support", { commands: ["dance"] }, "commands.0"],
    ["a language that is none", "support", { language: "in German" }, "language"],
    ["a policy that there is not", "support", { policy: "none" }, "policy"],
  ])("is refused for %s, and no object is asked", async (_title, name, fault, field) => {
    const { call, asked } = world();

    const response = await call("PUT", `/v1/channels/${name}`, { body: { ...input, ...fault } });

    const problem = await readProblem(response);
    expect([response.status, problem.errors?.map((error) => error.field)]).toEqual([400, [field]]);
    expect(JSON.stringify(problem)).not.toContain("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    expect(asked.tenants).toEqual([]);
  });

  it("may reply to a local address where the deployment allows it", async () => {
    const { call } = world({ config: { allowPrivateToolUrls: true } });
    const credentials = { ...CHANNEL_SECRETS, reply_url: "http://127.0.0.1:8802/replies" };

    expect((await call("PUT", "/v1/channels/support", { body: { ...input, credentials } })).status).toBe(200);
  });

  it("is read and listed under its etag, which the address of its webhooks does not change", async () => {
    const tenant = { getChannel: async () => ok(entry), listChannels: async () => ok([entry]) };
    const { call } = world({ tenant });
    const rotated = world({ tenant, deps: { channels: { ...(await readChannels()), toWebhookTenant: async () => "ten_other" } } });

    const read = await call("GET", "/v1/channels/support");
    const other = await rotated.call("GET", "/v1/channels/support");

    expect(await read.json()).toMatchObject(entry);
    expect(await other.json()).toMatchObject({ webhook_path: "/webhooks/ten_other/support" });
    expect(other.headers.get("etag")).toBe(read.headers.get("etag"));
    expect(await (await call("GET", "/v1/channels")).json()).toMatchObject({ data: [entry], has_more: false });
  });
});

/** Those of the fakes, which the app keeps to itself. */
async function readChannels() {
  const none = async () => null;
  return {
    findAdapter,
    find: none,
    chats: () => ({ receive: async () => ({ claimed: [] }) }),
    isSuspended: async () => false,
    readWebhookTenant: none,
    makePairingCode: async () => ({ code: "7KQ2MX9D", hash: "hash" }),
    count: () => {},
  };
}

describe("a pairing code", () => {
  it("is shown once, and the tenant's object has its hash alone", async () => {
    const added: unknown[] = [];
    const tenant = {
      addPairingCode: async (_act: unknown, asked: unknown) => {
        added.push(asked);
        return ok({ expires_at: NOW + 1 });
      },
    };

    const made = await world({ tenant }).call("POST", "/v1/channels/support/pairing-codes");

    expect([made.status, await made.json()]).toEqual([201, { code: "7KQ2MX9D", expires_at: NOW + 1 }]);
    expect(added).toEqual([{ channel: "support", hash: "hash of 7KQ2MX9D" }]);
  });
});

describe("the log", () => {
  it("is a list with a cursor, and does not show its places", async () => {
    const row = {
      seq: 7,
      id: "e",
      at: NOW,
      kind: "reply_failed",
      reason: "x",
      count: 1,
      delivery: null,
      session_id: null,
      turn_id: null,
    } as const;
    const asked: unknown[] = [];
    const tenant = {
      listChannelLog: async (channel: string, query: unknown) => {
        asked.push([channel, query]);
        return ok({ data: [row], has_more: true });
      },
    };
    const { seq: _seq, ...shown } = row;

    const page = await world({ tenant }).call("GET", "/v1/channels/support/log?limit=1&after=9");

    expect(await page.json()).toEqual({ data: [shown], has_more: true, next_cursor: "7" });
    expect(asked).toEqual([["support", { limit: 1, after: 9, order: "desc" }]]);
  });
});
