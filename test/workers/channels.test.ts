/** A tenant's channels over HTTP, in workerd: every answer and refusal, sealed secrets at rest and in a rotation, pairing, the log, and the audit log. */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { PAIRING_CODE_MS, toChannelPlace } from "../../src/app/channels-api";
import { tenantObjectName } from "../../src/app/object-name";
import { pairUserFor } from "../../src/channel-wiring";
import type { AuditEntry } from "../../src/contract/audit";
import type { ChannelLogView, ChannelView, PairedUserView } from "../../src/contract/channel";
import type { RotationReport } from "../../src/contract/credential";
import type { List } from "../../src/contract/page";
import { sealCredential } from "../../src/tenant/credentials/credential-seal";
import { CHANNEL_SECRETS } from "../http/support";
import { ACT } from "../support/act";
import { migrate, newTenant, readBody, request, type Tenant } from "./support";

const OLD_KEY = { kid: "old", bytes: new Uint8Array(32).fill(1) };
const INPUT = { type: "generic", credentials: CHANNEL_SECRETS, access: { mode: "pairing" } };
const PATH = "/v1/channels/support";
const toUserPath = (user: string): string => `/v1/channels/support/users/${user}`;

beforeAll(migrate);

const findStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));
const put = async (tenant: Tenant, changes: object = {}, path = PATH) =>
  readBody<ChannelView>(await tenant.call("PUT", path, { ...INPUT, ...changes }));
const readCode = async (response: Promise<Response>): Promise<string> => {
  const sent = await response;
  const { type } = await sent.json<{ type: string }>();
  return `${sent.status} ${type.replace("urn:longhand:problem:", "")}`;
};
const sendWebhook = (path: string, init: RequestInit<IncomingRequestCfProperties> = {}) =>
  exports.default.fetch(new Request(`https://longhand.test${path}`, { method: "POST", body: "{}", ...init }));

describe("a channel", () => {
  it("is put, read, listed, changed under its etag, and removed", async () => {
    const tenant = await newTenant();
    const made = await put(tenant);
    const read = await tenant.call("GET", PATH);
    const etag = read.headers.get("etag") ?? "";

    expect(await readBody(read)).toEqual(made);
    expect(await readBody(await tenant.call("GET", "/v1/channels"))).toMatchObject({ data: [made], has_more: false });
    expect(made.webhook_path).toMatch(new RegExp(`^/webhooks/${tenant.id}_[0-9A-Za-z]{11}/support$`));
    expect(await readCode(tenant.call("PUT", PATH, INPUT, { "If-Match": '"stale"' }))).toBe("412 precondition_failed");
    const kept = { type: "generic", system: "Be brief." };
    expect(await readBody(await tenant.call("PUT", PATH, kept, { "If-Match": etag }))).toMatchObject({
      system: "Be brief.",
      credentials: ["signature", "secret", "reply_url"],
    });
    expect((await tenant.call("DELETE", PATH)).status).toBe(204);
    expect(await readCode(tenant.call("GET", PATH))).toBe("404 channel_not_found");
  });

  it("refuses what it cannot do, by name", async () => {
    const tenant = await newTenant();

    for (const [method, path] of [
      ["DELETE", PATH],
      ["POST", `${PATH}/pairing-codes`],
      ["GET", `${PATH}/users`],
      ["DELETE", toUserPath("4711")],
      ["GET", `${PATH}/log`],
    ] as const)
      expect(await readCode(tenant.call(method, path))).toBe("404 channel_not_found");
    expect(await readCode(tenant.call("PUT", PATH, { type: "generic" }))).toBe("400 invalid_request");
    expect(await readCode(tenant.call("PUT", PATH, { ...INPUT, model: "none" }))).toBe("400 invalid_request");
    await put(tenant);
    expect(await readCode(tenant.call("DELETE", toUserPath("4711")))).toBe("404 paired_user_not_found");
    for (let n = 1; n < 32; n++) await put(tenant, {}, `/v1/channels/c${n}`);
    expect(await readCode(tenant.call("PUT", "/v1/channels/more", INPUT))).toBe("409 channel_limit");
    for (let n = 0; n < 50; n++) await readBody(await tenant.call("POST", `${PATH}/pairing-codes`), 201);
    expect(await readCode(tenant.call("POST", `${PATH}/pairing-codes`))).toBe("409 pairing_code_limit");
    await put(tenant, { access: { mode: "open" } });
    expect(await readCode(tenant.call("POST", `${PATH}/pairing-codes`))).toBe("409 pairing_off");
  });

  it("keeps no secret in the clear, and its secrets are sealed anew by a rotation", async () => {
    const tenant = await newTenant();
    await put(tenant);
    const place = toChannelPlace(tenant.id, "support");
    const sealed = await sealCredential(JSON.stringify(CHANNEL_SECRETS), OLD_KEY, place);
    const { credentials: _, webhook_path: __, created_at: ___, updated_at: ____, name, ...settings } = await put(tenant);
    await findStub(tenant).putChannel(ACT, { name, settings, secrets: { names: ["secret"], sealed } });

    const path = `/v1/admin/tenants/${tenant.id}/credentials/rotate`;
    const report = await readBody<RotationReport>(await request("POST", path, { key: env.ADMIN_KEY }));

    expect(report).toMatchObject({ key_id: "new", total: 1, resealed: 1, unreadable: [] });
    expect(await findStub(tenant).sealedChannel("support")).toMatchObject({ sealed: { kid: "new" } });
    const stored = await runInDurableObject(findStub(tenant), (_object, { storage }) =>
      JSON.stringify([storage.sql.exec("SELECT * FROM channels").toArray(), storage.sql.exec("SELECT * FROM audit").toArray()]),
    );
    expect(stored).not.toContain(CHANNEL_SECRETS.secret);
    expect(stored).not.toContain(CHANNEL_SECRETS.reply_url);
  });

  it("leaves entries in the audit log, from who did it", async () => {
    const tenant = await newTenant();
    await put(tenant);
    const { code } = await readBody<{ code: string }>(await tenant.call("POST", `${PATH}/pairing-codes`), 201);
    await pairUserFor(env)({ tenant: tenant.id, channel: "support", code, user: "planted-user" });
    await tenant.call("DELETE", toUserPath("planted-user"));
    await tenant.call("DELETE", PATH);

    const { data } = await readBody<List<AuditEntry>>(await tenant.call("GET", "/v1/audit?target=support"));

    expect(data.map(({ action, actor }) => `${action} ${actor.kind}`)).toEqual([
      "channel.deleted key",
      "channel.user_unpaired key",
      "channel.user_paired system",
      "channel.code_made key",
      "channel.put key",
    ]);
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`planted|${code}|whsec`));
  });
});

describe("pairing", () => {
  it("adds the person who sends the code, as people write it, and shows who is paired", async () => {
    const tenant = await newTenant();
    await put(tenant);
    const made = await readBody<{ code: string; expires_at: number }>(await tenant.call("POST", `${PATH}/pairing-codes`), 201);
    const pair = (code: string, user: string) => pairUserFor(env)({ tenant: tenant.id, channel: "support", code, user });

    expect(made.expires_at).toBeGreaterThan(Date.now() + PAIRING_CODE_MS - 60_000);
    expect(await pair("22222222", "eve")).toBe("wrong");
    expect(await pair(` ${made.code.slice(0, 4)}-${made.code.slice(4).toLowerCase()}`, "ada")).toBe("paired");
    expect(await pair(made.code, "eve")).toBe("wrong");
    const { data } = await readBody<List<PairedUserView>>(await tenant.call("GET", `${PATH}/users`));
    expect(data.map(({ user_id }) => user_id)).toEqual(["ada"]);
    expect((await tenant.call("DELETE", toUserPath("ada"))).status).toBe(204);
    expect(await findStub(tenant).sealedChannel("support")).toMatchObject({ settings: { access: { users: [] } } });
  });
});

describe("a webhook", () => {
  it("with a wrong signature is 401 and counted in the channel's log", async () => {
    const tenant = await newTenant();
    const { webhook_path } = await put(tenant);

    const refused = await sendWebhook(webhook_path);

    expect(await readCode(Promise.resolve(refused))).toBe("401 webhook_refused");
    await vi.waitFor(async () => {
      const { data } = await readBody<List<ChannelLogView>>(await tenant.call("GET", `${PATH}/log`));
      expect(data).toMatchObject([{ kind: "signature_refused", reason: "unsigned", count: 1, delivery: null, session_id: null }]);
    });
  });

  it("of a made-up tenant is 401, and makes no object", async () => {
    const { id } = await newTenant();
    const before = (await listDurableObjectIds(env.TENANTS)).length;

    for (const name of [id, `${id}_AAAAAAAAAAA`, "ten_01JD8Z3V6Q4N7R2T5W9X0Y1ABC_00000000000"])
      expect((await sendWebhook(`/webhooks/${name}/support`)).status).toBe(401);

    expect(await listDurableObjectIds(env.TENANTS)).toHaveLength(before);
  });
});
