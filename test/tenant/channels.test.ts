/** A tenant's channels in its object: settings, sealed secrets, pairing, and the log. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_CHANNELS, MAX_PAIRED_USERS, MAX_PAIRING_CODES, type PutChannel } from "../../src/app/channels-api";
import { toEtag } from "../../src/app/conditions";
import type { AuditEntry } from "../../src/contract/audit";
import type { ChannelSettings } from "../../src/contract/channel";
import { LOG_MS, MAX_LOG_ROWS } from "../../src/tenant/channels/channel-log";
import { MAX_WRONG_BY_CHANNEL, MAX_WRONG_BY_USER } from "../../src/tenant/channels/pairing";
import type { Tenant } from "../../src/tenant/core/tenant";
import { tenantCalls } from "../../src/tenant/tenant-calls";
import { ACT, newMemoryTenant } from "./memory-tenant";
import { makeId } from "./support";

const START = 1_795_000_000_000;
const HOUR = 3_600_000;
beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => void vi.useRealTimers());

const settings: ChannelSettings = {
  type: "generic",
  session_per: "chat",
  model: null,
  policy: null,
  system: null,
  tools: null,
  commands: ["start"],
  access: { mode: "pairing", users: ["listed"] },
  groups: "addressed",
  streaming: true,
  language: null,
};
const sealed = { kid: "k", wrapped_key: "w", sealed: "s" };
const secrets = { names: ["secret", "reply_url"], sealed };

const put = (tenant: Tenant, changes: Partial<PutChannel> = {}) =>
  tenantCalls.putChannel(tenant, ACT, { name: "support", settings, secrets, ...changes });
async function newChannel(): Promise<Tenant> {
  const tenant = newMemoryTenant();
  await put(tenant);
  return tenant;
}
const listActions = (tenant: Tenant): readonly AuditEntry[] =>
  tenant.audit
    .read({ after: 0, limit: 200, order: "asc", action: null, actor: null, target: null, from: null, to: null })
    .data.filter(({ target }) => target.type === "channel");

describe("a channel", () => {
  it("is shown with the names of its secrets, and opened only for those who serve it", async () => {
    const tenant = await newChannel();
    const shown = { name: "support", ...settings, credentials: ["secret", "reply_url"], created_at: START, updated_at: START };

    expect(await tenantCalls.getChannel(tenant, "support")).toEqual({ ok: true, value: shown });
    expect(await tenantCalls.listChannels(tenant)).toEqual({ ok: true, value: [shown] });
    expect(await tenantCalls.sealedChannel(tenant, "support")).toEqual({ settings, sealed });
    expect(await tenantCalls.sealedChannel(tenant, "other")).toBeNull();
  });

  it("keeps its secrets when it is put without any, and needs new ones when it is new or of another type", async () => {
    const tenant = newMemoryTenant();
    const fault = (detail: string) => ({
      ok: false,
      error: { code: "invalid", field: "credentials", detail: expect.stringContaining(detail) },
    });

    expect(await put(tenant, { secrets: null })).toEqual(fault("none are stored"));
    await put(tenant);
    vi.setSystemTime(START + 5);
    expect(await put(tenant, { secrets: null, settings: { ...settings, system: "Be brief." } })).toMatchObject({
      ok: true,
      value: { system: "Be brief.", credentials: ["secret", "reply_url"], created_at: START, updated_at: START + 5 },
    });
    expect(await put(tenant, { secrets: null, settings: { ...settings, type: "slack" } })).toEqual(fault("of another type"));
    expect(await tenantCalls.sealedChannel(tenant, "support")).toMatchObject({ sealed, settings: { system: "Be brief." } });
  });

  it.each<[string, Partial<ChannelSettings>, string]>([
    ["a model that is not there", { model: "none" }, "model"],
    ["a policy that contradicts itself", { policy: { keep: { ratio: 0.9 } } }, "policy.keep.ratio"],
    ["a tool that is not there", { tools: ["weather", "none"] }, "tools.1"],
  ])("with %s is refused by the name of the field, and stays as it was", async (_, changes, field) => {
    const tenant = await newChannel();
    const tool = {
      description: null,
      parameters: { type: "object" },
      url: "https://example.com/",
      method: "GET",
      secret_header: null,
    } as const;
    tenant.tools.putTool("weather", { ...tool, timeout_ms: 1_000, max_bytes: 1, needs_approval: false, files: null }, 1);

    expect(await put(tenant, { settings: { ...settings, ...changes } })).toMatchObject({ error: { code: "invalid", field } });
    expect(await tenantCalls.getChannel(tenant, "support")).toMatchObject({ value: settings });
    expect(await put(tenant, { settings: { ...settings, model: "embedded", policy: "verbatim", tools: ["weather"] } })).toMatchObject({
      ok: true,
    });
  });

  it("is changed and removed only as the condition asks", async () => {
    const tenant = await newChannel();
    const shown = await tenantCalls.getChannel(tenant, "support");
    const etag = shown.ok ? toEtag(shown.value) : "";
    const stale = { match: ['"stale"'], none_match: null };

    expect(await put(tenant, { condition: stale })).toMatchObject({ error: { code: "precondition_failed", etag } });
    expect(await put(tenant, { condition: { match: null, none_match: "*" } })).toMatchObject({ error: { code: "precondition_failed" } });
    expect(await tenantCalls.deleteChannel(tenant, ACT, "support", stale)).toMatchObject({ error: { code: "precondition_failed" } });
    expect(await tenantCalls.deleteChannel(tenant, ACT, "none", stale)).toMatchObject({ error: { code: "channel_not_found" } });
    expect(await tenantCalls.deleteChannel(tenant, ACT, "support", { match: [etag], none_match: null })).toMatchObject({ ok: true });
    expect(await tenantCalls.getChannel(tenant, "support")).toEqual({
      ok: false,
      error: { code: "channel_not_found", channel: "support" },
    });
  });

  it("is one of at most 32; one that is there can still be changed", async () => {
    const tenant = newMemoryTenant();
    for (let n = 0; n < MAX_CHANNELS; n++) await put(tenant, { name: `c${n}` });

    expect(await put(tenant, { name: "more" })).toEqual({ ok: false, error: { code: "channel_limit", limit: MAX_CHANNELS } });
    expect(await put(tenant, { name: "c0" })).toMatchObject({ ok: true });
  });

  it("has its secrets sealed anew with the tenant's credentials, unless they were put meanwhile", async () => {
    const tenant = await newChannel();
    tenant.credentials.put("support", sealed, 1);
    const listed = await tenantCalls.sealedCredentials(tenant);
    const before = listed.ok ? listed.value : [];
    const after = { kid: "new", wrapped_key: "new", sealed: "s" };
    const reseal = () =>
      tenantCalls.replaceSealed(
        tenant,
        ACT,
        before.map(({ name, sealed: each }) => ({ name, before: each, after })),
      );

    expect(before.map(({ name }) => name)).toEqual(["support", "channels/support"]);
    expect(await reseal()).toEqual({ ok: true, value: { replaced: 2 } });
    expect(await tenantCalls.sealedChannel(tenant, "support")).toMatchObject({ sealed: after });
    expect(await reseal()).toEqual({ ok: true, value: { replaced: 0 } });
  });

  it("leaves entries in the audit log without secrets, and none where nothing changed", async () => {
    const tenant = await newChannel();
    await put(tenant, { settings: { ...settings, model: "none" } });
    await tenantCalls.addPairingCode(tenant, ACT, { channel: "support", hash: "h" });
    await tenantCalls.pairUser(tenant, { channel: "support", hashes: ["wrong"], user: "u" });
    await tenantCalls.pairUser(tenant, { channel: "support", hashes: ["h"], user: "u" });
    await tenantCalls.pairUser(tenant, { channel: "support", hashes: ["h"], user: "u" });
    await tenantCalls.unpairUser(tenant, ACT, { channel: "support", user: "u" });
    await tenantCalls.unpairUser(tenant, ACT, { channel: "support", user: "u" });
    await tenantCalls.deleteChannel(tenant, ACT, "support");

    expect(listActions(tenant).map(({ action, actor, target }) => `${action} ${target.id} by ${actor.kind}`)).toEqual([
      "channel.put support by key",
      "channel.code_made support by key",
      "channel.user_paired support by system",
      "channel.user_unpaired support by key",
      "channel.deleted support by key",
    ]);
    expect(listActions(tenant)[0]?.details.fields).toEqual([...Object.keys(settings), "credentials"]);
  });

  it("is not there for a suspended tenant's keys, and is found by those who serve it", async () => {
    const tenant = await newChannel();
    await tenantCalls.suspend(tenant, ACT, "unpaid");

    expect(await tenantCalls.getChannel(tenant, "support")).toMatchObject({ error: { code: "tenant_suspended" } });
    expect(await tenantCalls.sealedChannel(tenant, "support")).not.toBeNull();
  });

  it("goes with the tenant, with its users, codes and log", async () => {
    const tenant = await newChannel();
    await tenantCalls.addPairingCode(tenant, ACT, { channel: "support", hash: "h" });
    await tenantCalls.eraseTenant(tenant, ACT);

    expect(await tenantCalls.sealedChannel(tenant, "support")).toBeNull();
    expect(tenant.channels.list()).toEqual([]);
    expect(tenant.pairing.pair({ channel: "support", hashes: ["h"], user: "u" }, START)).toBe("wrong");
  });
});

describe("pairing", () => {
  const addCode = (tenant: Tenant, hash: string) => tenantCalls.addPairingCode(tenant, ACT, { channel: "support", hash });
  const pair = async (tenant: Tenant, hash: string, user = "u-1") => {
    const paired = await tenantCalls.pairUser(tenant, { channel: "support", hashes: [hash, `${hash} under the other pepper`], user });
    return paired.ok ? paired.value : paired.error.code;
  };
  const listUsers = async (tenant: Tenant) => {
    const found = await tenantCalls.sealedChannel(tenant, "support");
    return found?.settings.access.mode === "open" ? [] : found?.settings.access.users;
  };

  it("by a code adds one person to the access list; the code is used up", async () => {
    const tenant = await newChannel();
    expect(await addCode(tenant, "h")).toEqual({ ok: true, value: { expires_at: START + HOUR } });

    expect(await pair(tenant, "h")).toBe("paired");
    expect(await pair(tenant, "h", "u-2")).toBe("wrong");
    expect(await listUsers(tenant)).toEqual(["listed", "u-1"]);
    expect(await tenantCalls.listPairedUsers(tenant, "support")).toEqual({ ok: true, value: [{ user_id: "u-1", paired_at: START }] });
    expect(await tenantCalls.getChannel(tenant, "support")).toMatchObject({ value: { access: { users: ["listed"] } } });
  });

  it("is repeated without harm, and a person who is paired consumes no other code", async () => {
    const tenant = await newChannel();
    await addCode(tenant, "h");
    await addCode(tenant, "other");
    await pair(tenant, "h");

    expect(await pair(tenant, "h")).toBe("paired");
    expect(await pair(tenant, "other")).toBe("paired");
    expect(await pair(tenant, "other", "u-2")).toBe("paired");
  });

  it("takes a code under the other pepper of a rotation, and none of another channel", async () => {
    const tenant = await newChannel();
    await put(tenant, { name: "second" });
    await addCode(tenant, "h under the other pepper");
    await tenantCalls.addPairingCode(tenant, ACT, { channel: "second", hash: "of second" });

    expect(await pair(tenant, "of second")).toBe("wrong");
    expect(await pair(tenant, "h")).toBe("paired");
  });

  it("ends with the code's hour", async () => {
    const tenant = await newChannel();
    await addCode(tenant, "h");
    vi.setSystemTime(START + HOUR);

    expect(await pair(tenant, "h")).toBe("wrong");
  });

  it("locks a person out after five wrong codes for an hour, and a channel after a hundred", async () => {
    const tenant = await newChannel();
    await addCode(tenant, "h");
    for (let n = 0; n < MAX_WRONG_BY_USER; n++) expect(await pair(tenant, `guess ${n}`)).toBe("wrong");
    expect(await pair(tenant, "h")).toBe("locked");
    expect(await pair(tenant, "h", "u-2")).toBe("paired");

    for (let n = MAX_WRONG_BY_USER; n < MAX_WRONG_BY_CHANNEL; n++) expect(await pair(tenant, "guess", `other ${n}`)).toBe("wrong");
    await addCode(tenant, "later");
    expect(await pair(tenant, "later", "u-3")).toBe("locked");
    vi.setSystemTime(START + HOUR);
    await addCode(tenant, "next");
    expect(await pair(tenant, "next")).toBe("paired");
  });

  it("is off where the access is not by pairing: no code is made, and no code is taken", async () => {
    const tenant = await newChannel();
    await addCode(tenant, "h");
    await put(tenant, { settings: { ...settings, access: { mode: "allow_list", users: ["listed"] } } });

    expect(await addCode(tenant, "more")).toEqual({ ok: false, error: { code: "pairing_off", mode: "allow_list" } });
    expect(await pair(tenant, "h")).toBe("wrong");
    expect(await listUsers(tenant)).toEqual(["listed"]);
  });

  it("outlives a change of the settings, and ends with another type", async () => {
    const tenant = await newChannel();
    await addCode(tenant, "h");
    await pair(tenant, "h");
    await put(tenant, { secrets: null, settings: { ...settings, system: "Be brief." } });
    expect(await listUsers(tenant)).toEqual(["listed", "u-1"]);
    await put(tenant, { settings: { ...settings, type: "slack" } });

    expect(await listUsers(tenant)).toEqual(["listed"]);
  });

  it("is bounded in codes and in people", async () => {
    const tenant = await newChannel();
    for (let n = 0; n < MAX_PAIRING_CODES; n++) await addCode(tenant, `h${n}`);
    expect(await addCode(tenant, "more")).toEqual({ ok: false, error: { code: "pairing_code_limit", limit: MAX_PAIRING_CODES } });
    for (let n = 0; n < MAX_PAIRED_USERS; n++) {
      tenant.pairing.pair({ channel: "support", hashes: [`h${n}`], user: `u-${n}` }, START);
      tenant.pairing.addCode("support", `h${n + MAX_PAIRING_CODES}`, START);
    }

    expect(await pair(tenant, `h${MAX_PAIRED_USERS}`, "one more")).toBe("full");
  });

  it("is ended by unpairing, for people who were paired", async () => {
    const tenant = await newChannel();
    await addCode(tenant, "h");
    await pair(tenant, "h");
    const unpair = (user: string, channel = "support") => tenantCalls.unpairUser(tenant, ACT, { channel, user });

    expect(await unpair("u-1")).toEqual({ ok: true, value: null });
    expect(await listUsers(tenant)).toEqual(["listed"]);
    expect(await unpair("listed")).toEqual({ ok: false, error: { code: "paired_user_not_found", user: "listed" } });
    expect(await unpair("u-1", "none")).toEqual({ ok: false, error: { code: "channel_not_found", channel: "none" } });
  });
});

describe("the log of a channel", () => {
  const entry = (n: number, at = START) => ({ id: `e${n}`, at, kind: "reply_failed", reason: "status 410" }) as const;
  const read = async (
    tenant: Tenant,
    query: { readonly after?: number; readonly limit?: number; readonly order?: "asc" | "desc" } = {},
  ) => {
    const page = await tenantCalls.listChannelLog(tenant, "support", { after: null, limit: 200, order: "desc", ...query });
    if (!page.ok) throw new Error(page.error.code);
    return page.value;
  };

  it("has each entry once, however often it is noted, the newest first", async () => {
    const tenant = await newChannel();
    const named = { ...entry(2), delivery: "d-1", session: makeId("ses", 1), turn: makeId("trn", 1) };
    await tenantCalls.noteChannelLog(tenant, "support", [entry(1), named]);
    await tenantCalls.noteChannelLog(tenant, "support", [entry(1), { ...entry(2), reason: "other" }]);

    const none = { delivery: null, session_id: null, turn_id: null };
    expect(await read(tenant)).toEqual({
      data: [
        {
          seq: 2,
          id: "e2",
          at: START,
          kind: "reply_failed",
          reason: "status 410",
          count: 1,
          delivery: "d-1",
          session_id: named.session,
          turn_id: named.turn,
        },
        { seq: 1, id: "e1", at: START, kind: "reply_failed", reason: "status 410", count: 1, ...none },
      ],
      has_more: false,
    });
  });

  it("counts what a sender can cause at will by the hour and the reason", async () => {
    const tenant = await newChannel();
    const counted = (reason: string, at: number, number: number) => ({ kind: "signature_refused", reason, at, number }) as const;
    await tenantCalls.countChannelEvents(tenant, "support", [counted("wrong", START, 2), counted("expired", START, 1)]);
    await tenantCalls.countChannelEvents(tenant, "support", [counted("wrong", START + 1, 3)]);
    await tenantCalls.countChannelEvents(tenant, "support", [counted("wrong", START + HOUR, 1)]);

    expect((await read(tenant, { order: "asc" })).data.map(({ reason, count, at }) => [reason, count, at])).toEqual([
      ["wrong", 5, START + 1],
      ["expired", 1, START],
      ["wrong", 1, START + HOUR],
    ]);
  });

  it("is read in pages, in either order", async () => {
    const tenant = await newChannel();
    await tenantCalls.noteChannelLog(
      tenant,
      "support",
      [1, 2, 3, 4, 5].map((n) => entry(n)),
    );
    const ids = async (query: Parameters<typeof read>[1]) => (await read(tenant, query)).data.map(({ id }) => id);

    expect(await ids({ limit: 2 })).toEqual(["e5", "e4"]);
    expect(await ids({ limit: 2, after: 4 })).toEqual(["e3", "e2"]);
    expect(await ids({ limit: 2, after: 4, order: "asc" })).toEqual(["e5"]);
    expect((await read(tenant, { limit: 4 })).has_more).toBe(true);
    expect((await read(tenant, { limit: 5 })).has_more).toBe(false);
  });

  it("keeps the newest 1,000 entries of a channel, and 30 days", async () => {
    const tenant = await newChannel();
    await put(tenant, { name: "second" });
    await tenantCalls.noteChannelLog(tenant, "second", [entry(0)]);
    await tenantCalls.noteChannelLog(
      tenant,
      "support",
      Array.from({ length: MAX_LOG_ROWS + 5 }, (_, n) => entry(n)),
    );
    expect((await read(tenant, { order: "asc", limit: 1 })).data.map(({ id }) => id)).toEqual(["e5"]);
    expect(tenant.channelLog.read("second", { after: null, limit: 5, order: "asc" }, START).data).toHaveLength(1);

    vi.setSystemTime(START + LOG_MS);
    expect((await read(tenant)).data).toEqual([]);
    await tenantCalls.noteChannelLog(tenant, "support", [entry(9_999, START + LOG_MS)]);
    expect((await read(tenant)).data.map(({ id }) => id)).toEqual(["e9999"]);
  });

  it("takes what is too long cut, and nothing of a channel that is gone", async () => {
    const tenant = await newChannel();
    await tenantCalls.noteChannelLog(tenant, "support", [
      { ...entry(1), id: "x".repeat(999), reason: "y".repeat(999), delivery: "z".repeat(999) },
    ]);
    const [kept] = (await read(tenant)).data;
    expect([kept?.id.length, kept?.reason.length, kept?.delivery?.length]).toEqual([256, 200, 256]);

    expect(await tenantCalls.noteChannelLog(tenant, "none", [entry(1)])).toEqual({ ok: true, value: null });
    await tenantCalls.deleteChannel(tenant, ACT, "support");
    await put(tenant);
    expect((await read(tenant)).data).toEqual([]);
  });
});
