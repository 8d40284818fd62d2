/** A tenant's settings in an export: what comes back in another tenant, what never does, and what a file may not bring. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listReadable, parseSettings, type RestoreInput, toSettingLine } from "../../src/app/exported-settings";
import { EXPORT_START, type ExportCursor, PartBuilder } from "../../src/app/transfer/build-part";
import { FileImport } from "../../src/app/transfer/import-file";
import { PartWriter } from "../../src/app/transfer/part-writer";
import type { ImportReport, LineOf } from "../../src/contract/export";
import { SETTING_KINDS, type SettingKind } from "../../src/domain/export-format";
import { parseExportLine } from "../../src/http/import-sessions";
import { createSettingParser } from "../../src/http/schemas/setting";
import { recordCheck } from "../../src/http/schemas/stored-record";
import { err, ok } from "../../src/lib/result";
import { listSettings } from "../../src/tenant/core/list-settings";
import type { Tenant } from "../../src/tenant/core/tenant";
import { restoreSettings } from "../../src/tenant/restore-settings";
import { drawn } from "../support/effort";
import { drawnSettings } from "./drawn-settings";
import { ACT, listAllSettings, newMemoryTenant } from "./memory-tenant";
import { makeId } from "./support";

const parse = createSettingParser({ allowPrivateModelUrls: false, allowPrivateToolUrls: false });
type Lines = readonly LineOf<"setting">[];
type Options = Partial<Pick<RestoreInput, "mode" | "allowed">>;

const restore = (tenant: Tenant, lines: Lines, { mode = "keep", allowed = SETTING_KINDS }: Options = {}) =>
  parseSettings(lines, parse, (settings) => restoreSettings(tenant, { act: ACT, mode, allowed, settings }));

async function exportTenant(
  tenant: Tenant,
  settings: readonly SettingKind[] = SETTING_KINDS,
  size = 200_000,
): Promise<Uint8Array<ArrayBuffer>> {
  const source = {
    listSettings: (kinds: readonly SettingKind[]) => listSettings(tenant, kinds),
    next: () => null,
    read: async () => "gone" as const,
    listFiles: () => [],
    readFile: async () => null,
  };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [cursor, previous]: [ExportCursor, string] = [EXPORT_START, ""];
  while (!cursor.ended) {
    const builder = new PartBuilder({ cursor, previous, size }, { of: "tenant", end_user: null, settings, made_at: 1 }, source);
    let step = await builder.step();
    while (step === "more") step = await builder.step();
    const sealed = await builder.seal(step === "done");
    parts.push(sealed.bytes);
    [cursor, previous] = [builder.cursor, sealed.sha256];
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function importFile(tenant: Tenant, bytes: Uint8Array<ArrayBuffer>, options: Options = {}): Promise<ImportReport> {
  const none = async () => err({ code: "session_not_found" as const });
  const target = {
    tenant: tenant.settings.identity().tenant,
    parse: parseExportLine,
    check: recordCheck,
    restoreSettings: (lines: Lines) => restore(tenant, lines, options),
    stage: none,
    finish: none,
    drop: async () => {},
    register: async () => ok(null),
    forget: async () => {},
    storeFile: async () => ok(null),
  };
  return new FileImport(target, { maxFile: 1_000 }).run(new Blob([bytes]).stream());
}

async function seal(lines: readonly object[]): Promise<Uint8Array<ArrayBuffer>> {
  const writer = new PartWriter("");
  for (const line of lines) writer.add(JSON.stringify(line));
  return (await writer.seal({ sessions: 0, lines: lines.length })).bytes;
}
const HEADER = { type: "header", format: "longhand.export", version: 1, of: "tenant", made_at: 1, settings: SETTING_KINDS };
const toLines = (tenant: Tenant): Lines => listAllSettings(tenant).map(toSettingLine);
const setting = (kind: SettingKind, name: string, value: unknown): LineOf<"setting"> => ({ type: "setting", kind, name, value });
const ENDPOINT = {
  url: "https://example.com/hooks",
  events: ["turn.completed"],
  description: "Desk",
  metadata: { team: "a" },
  enabled: true,
};
const MODEL = { provider: "openai", upstream_id: "gpt-5", base_url: null, context_window: 128_000, max_output: 8_192 };
const countBy = (report: readonly { readonly status: string }[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(report, ({ status }) => status)].map(([status, found]) => [status, found.length]));
/** Keys are not restored, credentials are put again, and a tenant has a name already. */
const isRestorable = ({ kind, name }: { readonly kind: string; readonly name: string }): boolean =>
  kind !== "key" && kind !== "credential" && !(kind === "tenant" && name === "name");

describe("the settings of any tenant", () => {
  it("come back in an empty tenant by a file in any parts, and export as the same lines", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(drawnSettings, fc.integer({ min: 40_000, max: 400_000 }), async (drawn, size) => {
        const [source, target] = [newMemoryTenant(1), newMemoryTenant(2)];
        const put = await restore(source, drawn);
        expect(put.filter(({ status }) => status === "refused")).toEqual([]);

        const report = await importFile(target, await exportTenant(source, SETTING_KINDS, size));

        expect(toLines(target).filter(isRestorable)).toEqual(toLines(source).filter(isRestorable));
        expect(report.settings.map(({ kind, name }) => ({ kind, name }))).toHaveLength(toLines(source).length);
        const again = await importFile(target, await exportTenant(source));
        expect(countBy(again.settings.filter(isRestorable))).toEqual(
          report.settings.filter(isRestorable).length === 0 ? {} : { exists: report.settings.filter(isRestorable).length },
        );
      }),
      { numRuns: drawn(60) },
    );
  });
});

describe("a setting that the tenant has otherwise", () => {
  const changed = setting("model", "gpt", { ...MODEL, max_output: 4_096 });

  it("is left as it is, and replaced only on request", async () => {
    const tenant = newMemoryTenant();
    expect(await restore(tenant, [setting("model", "gpt", MODEL)])).toMatchObject([{ status: "created" }]);

    expect(await restore(tenant, [changed])).toMatchObject([{ status: "differs" }]);
    expect(tenant.registry.find("gpt", () => null)).toMatchObject({ max_output: 8_192 });
    expect(await restore(tenant, [changed], { mode: "replace" })).toMatchObject([{ status: "replaced" }]);
    expect(tenant.registry.find("gpt", () => null)).toMatchObject({ max_output: 4_096 });
    expect(await restore(tenant, [changed], { mode: "replace" })).toMatchObject([{ status: "exists" }]);
  });

  it("makes an entry in the audit log for each change, and none for what is left", async () => {
    const tenant = newMemoryTenant();
    const list = () =>
      tenant.audit.read({ after: 0, limit: 100, order: "asc", action: null, actor: null, target: null, from: null, to: null }).data;
    const before = list().length;

    await restore(tenant, [
      setting("model", "gpt", MODEL),
      setting("tenant", "default_model", "gpt"),
      setting("retention", "rules", { erase_sessions_after_days: 9 }),
    ]);
    await restore(tenant, [setting("model", "gpt", MODEL), changed]);

    expect(
      list()
        .slice(before)
        .map(({ action, target }) => `${action} ${target.id === makeId("ten", 1) ? "tenant" : target.id}`),
    ).toEqual(["model.put gpt", "retention.changed tenant", "settings.changed tenant"]);
  });
});

describe("a key", () => {
  it.each(SETTING_KINDS)("restores a setting of the kind %s only with the scope that puts it", async (kind) => {
    const tenant = newMemoryTenant();
    const samples: Record<SettingKind, LineOf<"setting">> = {
      credential: setting("credential", "openai", {}),
      model: setting("model", "gpt", MODEL),
      tool: setting("tool", "weather", { parameters: { type: "object" }, url: "https://api.example.com" }),
      mcp_server: setting("mcp_server", "git", { url: "https://mcp.example.com", listing: { tools: [], skipped: [], truncated: false } }),
      tenant: setting("tenant", "allowed_origins", ["https://app.example.com"]),
      retention: setting("retention", "rules", { erase_sessions_after_days: 30 }),
      key: setting("key", makeId("key", 9), {}),
      channel: setting("channel", "support", { type: "generic" }),
      webhook_endpoint: setting("webhook_endpoint", makeId("whk", 1), ENDPOINT),
    };
    const before = toLines(tenant);

    const refused = await restore(tenant, [samples[kind]], { allowed: SETTING_KINDS.filter((other) => other !== kind), mode: "replace" });

    expect(refused).toMatchObject([{ status: "forbidden", detail: expect.stringMatching(/^needs the scope \w+:write$/) }]);
    expect(toLines(tenant)).toEqual(before);
    expect(await restore(tenant, [samples[kind]])).not.toMatchObject([{ status: "forbidden" }]);
  });

  it("without scopes of its own reads only what every key may read", () => {
    expect(listReadable(["exports:write"])).toEqual(["model", "tenant"]);
    expect(listReadable(["exports:write", "tools:read", "retention:write"])).toEqual([
      "model",
      "tool",
      "mcp_server",
      "tenant",
      "retention",
    ]);
  });
});

describe("secrets", () => {
  it("are in no export: a credential is its name, a key what is said of it", async () => {
    const tenant = newMemoryTenant();
    tenant.credentials.put("openai", { kid: "planted-kid", wrapped_key: "planted-wrapped", sealed: "planted-sealed" }, 1);
    const id = makeId("key", 3);
    const restriction = { models: null, end_users: ["ada"], metadata: null };
    tenant.keys.add({
      id,
      hash: "planted-hash",
      name: "north",
      scopes: ["sessions:read"],
      restriction,
      clients: null,
      expires_at: null,
      by: null,
      idempotency: null,
      at: 1,
    });

    const text = new TextDecoder().decode(await exportTenant(tenant));

    expect(text).not.toContain("planted");
    expect(text).toContain('{"type":"setting","kind":"credential","name":"openai","value":{}}');
    expect(text).toContain(`"name":"${id}","value":{"name":"north"`);
    expect(await importFile(newMemoryTenant(2), await exportTenant(tenant))).toMatchObject({
      settings: [
        { kind: "credential", name: "openai", status: "needs_credential" },
        { kind: "tenant", name: "name", status: "differs" },
        { kind: "key", name: id, status: "needs_key" },
      ],
    });
  });

  const addEndpoint = (tenant: Tenant, n: number, sealed: string) =>
    tenant.transaction(() => {
      const { enabled: _, events, ...said } = ENDPOINT;
      const place = { kid: "k", wrapped_key: "w", sealed };
      const endpoint = { ...said, events: ["turn.completed"] as const, id: makeId("whk", n), sealed: place, idempotency: null };
      return tenant.upkeep.webhooks.endpoints.add(endpoint, 1);
    });

  it("of an endpoint stay where they are: a restored endpoint has none, and says so", async () => {
    const [source, target] = [newMemoryTenant(1), newMemoryTenant(2)];
    addEndpoint(source, 1, "planted-sealed");
    const bytes = await exportTenant(source);
    const { settings } = await importFile(target, bytes);
    const { endpoints } = target.upkeep.webhooks;

    expect(new TextDecoder().decode(bytes)).not.toContain("planted");
    expect(settings.at(-1)).toMatchObject({ status: "needs_credential", detail: expect.stringMatching(/rotation makes its secret$/) });
    expect(endpoints.list()).toMatchObject([{ id: makeId("whk", 1), url: ENDPOINT.url, status: "enabled" }]);
    expect(endpoints.findTarget(makeId("whk", 1), 2)).toMatchObject({ secrets: [] });
    expect((await importFile(target, bytes)).settings.at(-1)).toMatchObject({ status: "exists" });
  });

  it("of an endpoint that the tenant has otherwise stay when a file replaces it", async () => {
    const tenant = newMemoryTenant();
    addEndpoint(tenant, 1, "own");
    const line = setting("webhook_endpoint", makeId("whk", 1), { ...ENDPOINT, events: null, enabled: false });
    expect(await restore(tenant, [line])).toMatchObject([{ status: "differs" }]);
    expect(await restore(tenant, [line], { mode: "replace" })).toMatchObject([{ status: "replaced" }]);

    const { endpoints } = tenant.upkeep.webhooks;
    expect(endpoints.list()).toMatchObject([{ events: null, status: "disabled", disabled_reason: "requested" }]);
    expect(endpoints.allSealed()).toMatchObject([{ sealed: { sealed: "own" } }]);
  });

  it("a file brings no more endpoints than a tenant may have", async () => {
    const tenant = newMemoryTenant();
    const lines = Array.from({ length: 21 }, (_, n) => setting("webhook_endpoint", makeId("whk", n), ENDPOINT));

    expect(countBy(await restore(tenant, lines))).toEqual({ needs_credential: 20, refused: 1 });
  });

  it("a model whose credential is missing is there, and is never called with the deployment's key", async () => {
    const tenant = newMemoryTenant();

    expect(await restore(tenant, [setting("model", "gpt", { ...MODEL, credential: "openai" })])).toMatchObject([
      { status: "needs_credential", detail: expect.stringContaining("openai") },
    ]);
    expect(tenant.registry.find("gpt", () => null)).toMatchObject({ credential: "openai", credential_missing: true });
  });
});

describe("a hostile file", () => {
  const url = { provider: "openai-compatible", upstream_id: "m", max_output: 100 };
  const tool = { parameters: { type: "object" }, url: "https://169.254.169.254/latest" };
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { properties: { a: deep(levels - 1) } });
  it.each([
    ["a model at a private address", setting("model", "m", { ...url, base_url: "https://10.0.0.1/v1" }), /^value.base_url: /],
    ["a model at a local name", setting("model", "m", { ...url, base_url: "http://localhost:1/v1" }), /^value.base_url: /],
    ["a model with an unknown field", setting("model", "m", { ...MODEL, admin: true }), /^value: /],
    ["a model with a hostile name", setting("model", "../m", MODEL), /^name: /],
    ["a tool at a metadata service", setting("tool", "t", tool), /^value.url: /],
    [
      "a tool that takes a header of the connection",
      setting("tool", "t", { ...tool, url: "https://example.com", secret_header: { name: "host", credential: "a" } }),
      /^value.secret_header.name: /,
    ],
    [
      "a schema without bounds",
      setting("tool", "t", { ...tool, parameters: { type: "object", ...Object(deep(40)) } }),
      /^value.parameters: /,
    ],
    [
      "an MCP server at a private address",
      setting("mcp_server", "s", { url: "https://[::1]/", listing: { tools: [], skipped: [], truncated: false } }),
      /^value.url: /,
    ],
    [
      "a listing beyond its bounds",
      setting("mcp_server", "s", {
        url: "https://example.com",
        listing: { tools: [{ name: "x".repeat(200), description: null, parameters: {} }], skipped: [], truncated: false },
      }),
      /^value.listing: /,
    ],
    ["a default model that is not there", setting("tenant", "default_model", "none"), /^model_not_found$/],
    ["an origin that is none", setting("tenant", "allowed_origins", ["https://a.example/path"]), /^tenant.value/],
    ["a field that a tenant has not", setting("tenant", "plan", "gold"), /^tenant.name: /],
    ["a policy without sense", setting("tenant", "default_policy", { preset: "none" }), /^tenant.value/],
    [
      "a rule of retention beyond its bounds",
      setting("retention", "rules", { erase_sessions_after_days: 0 }),
      /^value.erase_sessions_after_days: /,
    ],
    [
      "an endpoint at a private address",
      setting("webhook_endpoint", makeId("whk", 1), { ...ENDPOINT, url: "https://169.254.169.254/latest" }),
      /^value.url: /,
    ],
    ["an endpoint of a made-up id", setting("webhook_endpoint", "whk_1", ENDPOINT), /^name: /],
    ["an endpoint with a secret", setting("webhook_endpoint", makeId("whk", 1), { ...ENDPOINT, secret: "whsec_a" }), /^value: /],
    ["a credential whose name is none", setting("credential", "a b", {}), /^name: /],
  ])("does not bring %s: the setting is refused, and others are restored", async (_, line, detail) => {
    const tenant = newMemoryTenant();
    const before = toLines(tenant);

    const report = await restore(tenant, [line, setting("model", "zz", MODEL)], { mode: "replace" });

    expect(report).toMatchObject([{ status: "refused", detail: expect.stringMatching(detail) }, { status: "created" }]);
    expect(toLines(tenant)).toHaveLength(before.length + 1);
  });

  const [one, other] = [setting("model", "a", MODEL), setting("model", "b", MODEL)];
  it.each<[string, readonly object[], RegExp]>([
    ["settings in another order", [HEADER, other, one], /^line 3: settings come in order/],
    ["a setting twice", [HEADER, one, one], /^line 3: settings come in order/],
    ["a kind of a newer version", [HEADER, { ...one, kind: "webhook" }], /^line 2: kind/],
    ["a line of a newer version", [HEADER, { type: "webhook" }], /^line 2: type/],
    ["a setting with a property that no request may have", [HEADER, { ...one, value: JSON.parse('{"__proto__":{"a":1}}') }], /^line 2: /],
    ["a version that is not there yet", [{ ...HEADER, version: 2 }], /^line 1: version/],
  ])("is refused with the line: %s", async (_, lines, fault) => {
    const tenant = newMemoryTenant();
    const before = toLines(tenant);

    await expect(importFile(tenant, await seal(lines))).rejects.toThrow(fault);
    expect(toLines(tenant)).toEqual(before);
  });

  it("has nested values without end: they are a fault of the file, not of this service", async () => {
    const writer = new PartWriter("");
    writer.add(JSON.stringify(HEADER));
    writer.add(`{"type":"setting","kind":"model","name":"a","value":${"[".repeat(500_000)}${"]".repeat(500_000)}}`);
    const { bytes } = await writer.seal({ sessions: 0, lines: 2 });

    await expect(importFile(newMemoryTenant(), bytes)).rejects.toThrow(/^line 2: /);
  });
});
