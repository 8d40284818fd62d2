/** Exports and imports over HTTP, with the bucket, the objects and the alarms that workerd brings. */

import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { ExportView, ImportEntry, ImportReport, ImportView } from "../../../src/contract/export";
import type { FileView } from "../../../src/contract/file";
import { NO_LIMITS } from "../../../src/contract/limits";
import type { List } from "../../../src/contract/page";
import { daily } from "../../support/daily-budget";
import { ringNow } from "../../workers/alarms";
import { advanceClock } from "../../workers/clock";
import { png, upload } from "../../workers/files";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request, Tenant } from "../../workers/support";
import { Hook, newHook, verify } from "../../workers/webhooks";

beforeAll(migrate);

const ring = (tenant: Tenant) => ringNow(env.TENANTS.getByName(tenantObjectName(tenant.id)));
const read = async (tenant: Tenant, id: string) => readBody<ExportView>(await tenant.call("GET", `/v1/exports/${id}`));
const begin = async (tenant: Tenant, subject: object) => readBody<ExportView>(await tenant.call("POST", "/v1/exports", subject), 202);

/** The export once it is ready: each alarm goes on with it. */
async function make(tenant: Tenant, subject: object): Promise<ExportView> {
  const { id } = await begin(tenant, subject);
  for (let rings = 0; rings < 50; rings++) {
    const found = await read(tenant, id);
    if (found.status !== "running") return found;
    await ring(tenant);
  }
  throw new Error("The export does not end");
}

async function download({ download_url }: ExportView): Promise<Uint8Array> {
  const path = (download_url ?? "").slice("https://longhand.test".length);
  const answer = await request("GET", path, {});
  if (answer.status !== 200) throw new Error(await answer.text());
  return new Uint8Array(await answer.arrayBuffer());
}

const bring = async (tenant: Tenant, bytes: Uint8Array, query = "") =>
  readBody<ImportReport>(await tenant.call("POST", `/v1/imports${query}`, bytes));
const readLines = (bytes: Uint8Array) =>
  new TextDecoder()
    .decode(bytes)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

async function chatWithFile(tenant?: Tenant): Promise<{ readonly chat: Chat; readonly file: FileView }> {
  const chat = await newChat({ replies: [{ text: "A planted reply" }], ...(tenant && { tenant }) });
  const file = await upload(chat.tenant, png("planted"));
  const content = [
    { type: "text", text: "A planted question" },
    { type: "image", file_id: file.id },
  ];
  const sent = await chat.call("POST", "/messages", { content, run: false });
  if (!sent.ok) throw new Error(await sent.text());
  return { chat, file };
}

describe("an export", () => {
  it("of a session is read by its signed address, and restored with its files in another tenant", async () => {
    const { chat, file } = await chatWithFile();
    await readBody(await chat.call("PATCH", "", { end_user: "ada" }));
    const [before, other] = [await readBody<Record<string, unknown>>(await chat.call("GET", "")), await newTenant()];

    const bytes = await download(await make(chat.tenant, { of: "session", session_id: chat.id }));
    const report = await bring(other, bytes);

    expect(readLines(bytes)[0]).toMatchObject({ type: "header", format: "longhand.export", version: 1, of: "session" });
    expect(report).toEqual({
      settings: [],
      sessions: [{ line: 2, id: chat.id, status: "restored", detail: null }],
      has_more: false,
      next_cursor: null,
    });
    const after = await readBody<Record<string, unknown>>(await other.call("GET", `/v1/sessions/${chat.id}`));
    const own = ({ title, end_user, metadata, policy, created_at, epoch, messages }: Record<string, unknown>) =>
      JSON.stringify({ title, end_user, metadata, policy, created_at, epoch, messages });
    expect(own(after)).toBe(own(before));
    const items = async (tenant: Tenant) => readBody(await tenant.call("GET", `/v1/sessions/${chat.id}/messages`));
    expect(await items(other)).toEqual(await items(chat.tenant));
    const content = await other.call("GET", `/v1/files/${file.id}/content`);
    expect(new Uint8Array(await content.arrayBuffer())).toEqual(png("planted"));
    const again = await download(await make(other, { of: "session", session_id: chat.id }));
    const listContent = (all: Uint8Array) => readLines(all).filter(({ type }) => type === "body" || type === "file" || type === "content");
    expect(listContent(again)).toEqual(listContent(bytes));
    expect(await bring(other, bytes)).toMatchObject({ sessions: [{ id: chat.id, status: "exists" }] });
  });

  it("of an end user has that user's sessions, one of the tenant has all", async () => {
    const tenant = await newTenant();
    const ids = { ada: "", bob: "" };
    for (const user of ["ada", "bob"] as const) {
      ids[user] = (await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", { end_user: user }), 201)).id;
    }
    const listExported = async (subject: object) =>
      readLines(await download(await make(tenant, subject)))
        .filter(({ type }) => type === "session")
        .map(({ id }) => id);

    expect(await listExported({ of: "end_user", end_user: "ada" })).toEqual([ids.ada]);
    expect(new Set(await listExported({ of: "tenant" }))).toEqual(new Set([ids.ada, ids.bob]));
    const listed = await readBody<List<ExportView>>(await tenant.call("GET", "/v1/exports"));
    expect(listed.data.map(({ of, sessions_done }) => [of, sessions_done])).toEqual([
      ["tenant", 2],
      ["end_user", 1],
    ]);
  });

  it("ends when a session of it is erased: its address opens nothing, and the bucket has nothing of it", async () => {
    const { chat } = await chatWithFile();
    const made = await make(chat.tenant, { of: "session", session_id: chat.id });

    await readBody(await chat.call("DELETE", ""));

    expect((await chat.tenant.call("GET", `/v1/exports/${made.id}`)).status).toBe(404);
    expect((await request("GET", (made.download_url ?? "").slice("https://longhand.test".length), {})).status).toBe(404);
    await ring(chat.tenant);
    expect((await env.FILES?.list({ prefix: `${chat.tenant.id}/` }))?.objects).toEqual([]);
  });

  it("is its tenant's alone, opens by its own signature only, and is gone when it is deleted", async () => {
    const { chat, file } = await chatWithFile();
    const made = await make(chat.tenant, { of: "session", session_id: chat.id });
    const stranger = await newTenant();
    const path = (made.download_url ?? "").slice("https://longhand.test".length);

    for (const method of ["GET", "DELETE"]) expect((await stranger.call(method, `/v1/exports/${made.id}`)).status).toBe(404);
    expect((await stranger.call("GET", `/v1/exports/${made.id}/content`)).status).toBe(404);
    expect((await stranger.call("POST", "/v1/exports", { of: "session", session_id: chat.id })).status).toBe(404);
    expect((await request("GET", path.replace(made.id, newId("exp")), {})).status).toBe(403);
    const { url } = await readBody<{ url: string }>(await chat.tenant.call("POST", `/v1/files/${file.id}/url`, {}));
    const foreign = new URL(url).search.replaceAll(file.id.slice(4), made.id.slice(4));
    expect((await request("GET", `/v1/exports/${made.id}/content${foreign}`, {})).status).toBe(403);
    expect((await chat.tenant.call("GET", `/v1/exports/${made.id}/content`)).status).toBe(200);
    expect(await readBody(await chat.tenant.call("DELETE", `/v1/exports/${made.id}`))).toEqual({ id: made.id, status: "removed" });
    expect((await request("GET", path, {})).status).toBe(404);
  });

  it("is refused when the tenant keeps as many as it may", async () => {
    const tenant = await newTenant();
    for (let n = 0; n < 20; n++) await begin(tenant, { of: "tenant" });

    const refused = await tenant.call("POST", "/v1/exports", { of: "tenant" });

    expect([refused.status, await refused.json()]).toMatchObject([409, { type: "urn:longhand:problem:export_limit", limit: 20 }]);
  });
});

/** A key of the tenant with these scopes alone. */
async function hold(tenant: Tenant, scopes: readonly string[]): Promise<Tenant> {
  const { key } = await readBody<{ key: string }>(await tenant.call("POST", "/v1/keys", { name: "held", scopes }), 201);
  return new Tenant(tenant.id, key);
}

describe("the settings of a tenant", () => {
  const model = { provider: "openai", max_output: 4_096, credential: "openai" };
  const tool = { parameters: { type: "object" }, url: "https://api.example.com/weather" };
  async function newSettledTenant(): Promise<Tenant> {
    const tenant = await newTenant();
    await readBody(await tenant.call("PUT", "/v1/credentials/openai", { api_key: "sk-planted" }));
    await readBody(await tenant.call("PUT", "/v1/models/gpt", model));
    await readBody(await tenant.call("PUT", "/v1/tools/weather", tool));
    await readBody(await tenant.call("PATCH", "/v1/tenant", { name: "Settled", default_model: "gpt", default_policy: "verbatim" }));
    await readBody(await tenant.call("PUT", "/v1/retention", { erase_sessions_after_days: 90 }));
    return tenant;
  }

  it("are restored in another tenant with its sessions, and no secret leaves", async () => {
    const [tenant, other] = [await newSettledTenant(), await newTenant()];
    const bytes = await download(await make(tenant, { of: "tenant" }));

    const report = await bring(other, bytes);

    expect(new TextDecoder().decode(bytes)).not.toContain("planted");
    expect(report.settings.map(({ kind, name, status }) => `${kind} ${name.slice(0, 4)} ${status}`)).toEqual([
      "credential open needs_credential",
      "model gpt needs_credential",
      "tool weat created",
      "tenant defa created",
      "tenant defa created",
      "tenant name differs",
      "retention rule created",
      "key key_ needs_key",
    ]);
    const shown = async (of: Tenant) => {
      const { id: _, name: __, ...rest } = await readBody<Record<string, unknown>>(await of.call("GET", "/v1/tenant"));
      return rest;
    };
    expect(await shown(other)).toEqual(await shown(tenant));
    expect(await readBody(await other.call("GET", "/v1/models/gpt"))).toMatchObject({ credential: "openai", max_output: 4_096 });
    expect((await bring(other, bytes, "?settings=replace")).settings.map(({ status }) => status)).toEqual([
      "needs_credential",
      "exists",
      "exists",
      "exists",
      "exists",
      "replaced",
      "exists",
      "needs_key",
    ]);
    expect((await bring(other, bytes, "?settings=skip")).settings).toEqual([]);
  });

  it("have endpoints of webhooks without secrets: one that is restored is sent what waited once its secret is made", async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const hook = await newHook(tenant, { events: ["turn.completed"], metadata: { team: "desk" } });
    const bytes = await download(await make(tenant, { of: "tenant" }));
    const { settings } = await bring(other, bytes);
    const restored = new Hook(other, hook.receiver, { id: hook.id, secret: "" });
    const chat = await newChat({ tenant: other });
    const turn = await chat.say("Hello");
    await restored.until(({ last_failure }) => last_failure === "secret_unavailable");

    expect(new TextDecoder().decode(bytes)).not.toContain(hook.secret.slice("whsec_".length));
    expect(settings.find(({ kind }) => kind === "webhook_endpoint")).toMatchObject({ name: hook.id, status: "needs_credential" });
    expect(await restored.describe()).toMatchObject({ url: hook.receiver.url, metadata: { team: "desk" }, status: "enabled" });
    expect(await hook.receiver.received()).toEqual([]);
    const { secret } = await readBody<{ secret: string }>(await other.call("POST", `${hook.path}/rotate`, {}));
    advanceClock(6_000);
    await restored.settled("delivered");
    const event = await verify(await hook.receiver.nth(1), secret);
    expect([secret === hook.secret, event.data]).toMatchObject([false, { id: turn.id }]);
  });

  it("are exported, read and restored as far as the key's own scopes go", async () => {
    const [tenant, other] = [await newSettledTenant(), await newTenant()];
    const plain = await hold(tenant, ["exports:write"]);
    const whole = await make(tenant, { of: "tenant" });

    expect((await make(plain, { of: "tenant" })).settings).toEqual(["model", "tenant"]);
    expect((await make(tenant, { of: "tenant", settings: false })).settings).toEqual([]);
    expect((await read(plain, whole.id)).download_url).toBeNull();
    const refused = await plain.call("GET", `/v1/exports/${whole.id}/content`);
    expect([refused.status, await refused.json()]).toMatchObject([403, { type: "urn:longhand:problem:forbidden" }]);

    const bytes = await download(whole);
    const report = await bring(await hold(other, ["exports:write", "models:write"]), bytes);
    expect(report.settings.filter(({ status }) => status !== "forbidden")).toMatchObject([{ kind: "model" }]);
    expect((await readBody<List<object>>(await other.call("GET", "/v1/tools"))).data).toEqual([]);
  });
});

describe("an import", () => {
  it("of another file is refused with the line, and makes nothing", async () => {
    const tenant = await newTenant();

    const refused = await tenant.call("POST", "/v1/imports", new TextEncoder().encode('{"type":"header","format":"other"}\n'));

    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { errors: [{ field: "body", detail: expect.stringMatching(/^line 1: /) }] },
    ]);
    expect((await readBody<List<object>>(await tenant.call("GET", "/v1/sessions"))).data).toEqual([]);
  });

  it("is made under an exhausted budget, because it asks no model, and counts for the limit of its end user", async () => {
    const [{ chat }, other] = [await chatWithFile(), await newTenant()];
    const second = await newChat({ tenant: chat.tenant });
    for (const each of [chat, second]) await readBody(await each.call("PATCH", "", { end_user: "ada" }));
    const [first, next] = [chat, second].map(async ({ id }) => download(await make(chat.tenant, { of: "session", session_id: id })));
    const limits = { ...NO_LIMITS, end_user: { sessions: 1 } };
    await env.TENANTS.getByName(tenantObjectName(other.id)).setLimits({ limits, revision: 1, budgets: [daily(1)] });
    const small = { provider: "embedded", context_window: 16_000, max_output: 20 };
    await readBody(await other.call("PUT", `/v1/models/${chat.model.upstream}`, small));

    expect((await bring(other, (await first) ?? new Uint8Array())).sessions).toMatchObject([{ id: chat.id, status: "restored" }]);
    expect((await bring(other, (await next) ?? new Uint8Array())).sessions).toMatchObject([
      { id: second.id, status: "refused", detail: "session_limit" },
    ]);
    const refused = await other.call("POST", `/v1/sessions/${chat.id}/messages`, { content: "Go on." });
    expect(await readBody(refused, 402)).toMatchObject({ type: "urn:longhand:problem:budget_exhausted", spent: 0 });
  });

  it("refuses an erased session, and one whose external id is another session's", async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const session = { external_id: "order-1" };
    const { id } = await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", session), 201);
    const bytes = await download(await make(tenant, { of: "session", session_id: id }));
    await readBody(await other.call("POST", "/v1/sessions", session), 201);

    expect(await bring(other, bytes)).toMatchObject({ sessions: [{ id, status: "external_id_taken" }] });
    expect((await other.call("GET", `/v1/sessions/${id}`)).status).toBe(404);
    await readBody(await tenant.call("DELETE", `/v1/sessions/${id}`));
    expect(await bring(tenant, bytes)).toMatchObject({ sessions: [{ id, status: "erased" }] });
  });
});

describe("an import in the background", () => {
  async function follow(tenant: Tenant, input: object): Promise<ImportView> {
    let found = await readBody<ImportView>(await tenant.call("POST", "/v1/imports/background", input), 202);
    for (let rings = 0; rings < 20 && found.status === "running"; rings++) {
      await ring(tenant);
      found = await readBody<ImportView>(await tenant.call("GET", `/v1/imports/${found.id}`));
    }
    return found;
  }
  const refuse = async (tenant: Tenant, input: object) => {
    const refused = await tenant.call("POST", "/v1/imports/background", input);
    return [refused.status, ((await refused.json()) as { type: string }).type];
  };

  it("restores another tenant's export by its signed address, with its files, progress and a report by line", async () => {
    const [{ chat, file }, other] = [await chatWithFile(), await newTenant()];
    const made = await make(chat.tenant, { of: "tenant" });

    const done = await follow(other, { url: made.download_url });

    expect(done).toMatchObject({
      status: "done",
      export_id: made.id,
      bytes_read: made.bytes,
      bytes_total: made.bytes,
      sessions_done: 1,
      sessions_restored: 1,
      sessions_total: 1,
      error: null,
    });
    const { data } = await readBody<List<ImportEntry>>(await other.call("GET", `/v1/imports/${done.id}/report`));
    expect(data.filter(({ kind }) => kind === "session")).toMatchObject([{ name: chat.id, status: "restored", line: expect.any(Number) }]);
    expect(data.filter(({ kind }) => kind === "key")).toMatchObject([{ status: "needs_key" }]);
    const content = await other.call("GET", `/v1/files/${file.id}/content`);
    expect(new Uint8Array(await content.arrayBuffer())).toEqual(png("planted"));
    const items = async (tenant: Tenant) => readBody(await tenant.call("GET", `/v1/sessions/${chat.id}/messages`));
    expect(await items(other)).toEqual(await items(chat.tenant));
    const acts = async (tenant: Tenant) =>
      (await readBody<List<{ action: string }>>(await tenant.call("GET", "/v1/audit"))).data.map(({ action }) => action);
    expect(await acts(other)).toEqual(expect.arrayContaining(["import.begun", "sessions.imported"]));
    expect(await acts(chat.tenant)).toContain("export.opened");
    expect((await readBody<List<ImportView>>(await other.call("GET", "/v1/imports"))).data.map(({ id }) => id)).toEqual([done.id]);
    expect((await follow(other, { url: made.download_url })).sessions_restored).toBe(0);
    expect(await readBody(await other.call("DELETE", `/v1/imports/${done.id}`))).toEqual({ id: done.id, deleted: true });
    expect((await other.call("GET", `/v1/imports/${done.id}/report`)).status).toBe(404);
  });

  it("of the tenant's own export brings back no session that was erased, and its export is gone with the erasure", async () => {
    const { chat } = await chatWithFile();
    const kept = await newTenant();
    const made = await make(chat.tenant, { of: "tenant" });
    const bytes = await download(made);
    await readBody(await chat.call("DELETE", ""));

    expect(await refuse(chat.tenant, { export_id: made.id })).toEqual([404, "urn:longhand:problem:export_not_found"]);
    expect(await refuse(kept, { url: made.download_url })).toEqual([404, "urn:longhand:problem:export_not_found"]);
    expect((await bring(chat.tenant, bytes)).sessions).toMatchObject([{ id: chat.id, status: "erased" }]);
  });

  it("is refused for what is no export of the caller, or lies elsewhere", async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const made = await make(tenant, { of: "tenant" });
    const signed = new URL(made.download_url ?? "");

    expect(await refuse(other, { export_id: made.id })).toEqual([404, "urn:longhand:problem:export_not_found"]);
    expect(await refuse(other, { url: "http://169.254.169.254/latest" })).toEqual([400, "urn:longhand:problem:invalid_request"]);
    expect(await refuse(other, { url: `https://evil.example${signed.pathname}?signature=a.b.1.c` })).toEqual([
      403,
      "urn:longhand:problem:signature_not_valid",
    ]);
    expect(await refuse(other, { export_id: made.id, url: signed.href })).toEqual([400, "urn:longhand:problem:invalid_request"]);
    const plain = await hold(tenant, ["exports:write"]);
    expect(await refuse(plain, { export_id: made.id })).toEqual([403, "urn:longhand:problem:forbidden"]);
  });

  it("is refused when the tenant keeps as many reports as it may", async () => {
    const tenant = await newTenant();
    const { id } = await make(tenant, { of: "tenant", settings: false });
    for (let n = 0; n < 20; n++) await readBody(await tenant.call("POST", "/v1/imports/background", { export_id: id }), 202);

    expect(await refuse(tenant, { export_id: id })).toEqual([409, "urn:longhand:problem:import_limit"]);
  });
});
