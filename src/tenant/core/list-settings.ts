/** Lists the settings of a tenant as an export has them. */

import { type Setting, toSettingTag } from "../../app/exported-settings";
import { NO_RETENTION } from "../../app/retention";
import { parseLevel } from "../../context/policy-choice";
import type { SettingKind } from "../../domain/export-format";
import type { ChannelStore } from "../channels/channel-store";
import type { CredentialStore } from "../credentials/credential-store";
import type { Retention } from "../erasure/retention";
import type { Keys } from "../keys/keys";
import type { Registry } from "../settings/registry";
import { DEFAULT_MODEL, type Settings } from "../settings/settings";
import type { ToolRegistry } from "../settings/tool-registry";
import type { Webhooks } from "../webhooks/webhooks";

/** A tenant's stores of what it put. */
interface SettingStores {
  readonly settings: Settings;
  readonly credentials: CredentialStore;
  readonly registry: Registry;
  readonly tools: ToolRegistry;
  readonly keys: Keys;
  readonly channels: ChannelStore;
  readonly upkeep: { readonly retention: Retention; readonly webhooks: Pick<Webhooks, "endpoints"> };
}

/** The tenant's own fields. One that it has not chosen is absent. */
function listFields({ settings }: SettingStores): readonly Setting[] {
  const { name, default_model, default_policy, allowed_origins } = settings.read();
  const policy = parseLevel(default_policy);
  return [
    { kind: "tenant", name: "name", value: name },
    ...(default_model === DEFAULT_MODEL ? [] : [{ kind: "tenant", name: "default_model", value: default_model } as const]),
    ...(policy === null ? [] : [{ kind: "tenant", name: "default_policy", value: policy } as const]),
    ...(allowed_origins.length === 0 ? [] : [{ kind: "tenant", name: "allowed_origins", value: allowed_origins } as const]),
  ];
}

function listTools({ tools }: SettingStores): readonly Setting[] {
  return tools
    .tools(null)
    .map(({ name, created_at: _, updated_at: __, credential_missing: ___, ...value }) => ({ kind: "tool", name, value }));
}

function listServers({ tools }: SettingStores): readonly Setting[] {
  return tools
    .servers(null)
    .map(({ name, created_at: _, updated_at: __, credential_missing: ___, listed_at: ____, listing, ...value }) => ({
      kind: "mcp_server",
      name,
      value,
      listing,
    }));
}

function listRetention({ upkeep }: SettingStores): readonly Setting[] {
  const { starts_at: _, ...value } = upkeep.retention.read();
  const setting: Setting = { kind: "retention", name: "rules", value };
  return toSettingTag(setting) === toSettingTag({ ...setting, value: NO_RETENTION }) ? [] : [setting];
}

function listEndpoints({ upkeep }: SettingStores): readonly Setting[] {
  return upkeep.webhooks.endpoints.list().map(({ id: name, url, events, description, metadata, status }) => ({
    kind: "webhook_endpoint",
    name,
    value: { url, events, description, metadata, enabled: status === "enabled" },
  }));
}

const LISTS: Readonly<Record<SettingKind, (tenant: SettingStores) => readonly Setting[]>> = {
  credential: ({ credentials }) => credentials.list().map(({ name }) => ({ kind: "credential", name })),
  model: ({ registry }) => registry.listOwn().map(({ id: name, model: value }) => ({ kind: "model", name, value })),
  tool: listTools,
  mcp_server: listServers,
  tenant: listFields,
  retention: listRetention,
  channel: ({ channels }) =>
    channels.list().map(({ name, credentials: _, created_at: __, updated_at: ___, ...value }) => ({ kind: "channel", name, value })),
  webhook_endpoint: listEndpoints,
  key: ({ keys }) => keys.list().map(({ id: name, ...value }) => ({ kind: "key", name, value })),
};

export const listSettings = (tenant: SettingStores, kinds: readonly SettingKind[]): readonly Setting[] =>
  kinds.flatMap((kind) => LISTS[kind](tenant));
