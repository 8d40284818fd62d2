/** The settings of a tenant as an export has them, and what a key needs to read and to restore each kind. Secrets are in none. */

import type { PolicyChoice } from "../context/policy-choice";
import { toPerMillion } from "../context/price-units";
import type { ChannelSettings } from "../contract/channel";
import type { ImportedSetting, LineOf } from "../contract/export";
import type { HttpTool, McpServer } from "../contract/registered-tool";
import type { RetentionSetting } from "../contract/retention";
import type { KeyView } from "../contract/tenant";
import { SETTING_KINDS, type SettingKind, type SettingsMode } from "../domain/export-format";
import type { WebhookEndpointId } from "../domain/ids";
import type { Scope } from "../domain/scopes";
import { assertNever } from "../lib/assert-never";
import type { Result } from "../lib/result";
import type { Act } from "./audit-chain";
import { toEtag } from "./conditions";
import type { ModelOverride } from "./model-entry";
import type { McpListing } from "./tool-entry";
import type { ExportedEndpoint } from "./webhook-api";

/** A field of the tenant itself. */
type TenantField =
  | { readonly name: "name" | "default_model"; readonly value: string }
  | { readonly name: "default_policy"; readonly value: PolicyChoice }
  | { readonly name: "allowed_origins"; readonly value: readonly string[] };

export type Setting =
  /** Its name alone: the secret is put again. */
  | { readonly kind: "credential"; readonly name: string }
  | { readonly kind: "model"; readonly name: string; readonly value: ModelOverride }
  | { readonly kind: "tool"; readonly name: string; readonly value: HttpTool }
  | { readonly kind: "mcp_server"; readonly name: string; readonly value: McpServer; readonly listing: McpListing }
  | ({ readonly kind: "tenant" } & TenantField)
  | { readonly kind: "retention"; readonly name: "rules"; readonly value: RetentionSetting }
  /** Without its secrets and without who is paired: it is not served until its secrets are put again. */
  | { readonly kind: "channel"; readonly name: string; readonly value: ChannelSettings }
  /** Without its secrets and its log: nothing is sent before a rotation makes a new secret. */
  | { readonly kind: "webhook_endpoint"; readonly name: WebhookEndpointId; readonly value: ExportedEndpoint }
  /** What was said of the key. It opens nothing, and is not restored. `value`: absent in a setting that is being restored. */
  | { readonly kind: "key"; readonly name: string; readonly value?: Omit<KeyView, "id"> };

type SettingLine = LineOf<"setting">;

/** The line that a setting is, or why it is none. */
export type ParseSetting = (line: SettingLine) => Result<Setting, string>;

export type RestoredSetting = Omit<ImportedSetting, "line">;

export interface RestoreInput {
  readonly act: Act;
  readonly mode: Exclude<SettingsMode, "skip">;
  /** The kinds that the calling key may write. */
  readonly allowed: readonly SettingKind[];
  readonly settings: readonly Setting[];
}

/** What a key needs to read a kind by the API. Null: nothing but to be valid. */
const READ_SCOPES: Readonly<Record<SettingKind, Scope | null>> = {
  credential: "credentials:write",
  model: null,
  tool: "tools:read",
  mcp_server: "tools:read",
  tenant: null,
  retention: "retention:write",
  key: "keys:write",
  channel: "channels:read",
  webhook_endpoint: "webhooks:read",
};

/** What a key needs to write a kind, and to be told whether there is one of its name. */
export const WRITE_SCOPES: Readonly<Record<SettingKind, Scope>> = {
  credential: "credentials:write",
  model: "models:write",
  tool: "tools:write",
  mcp_server: "tools:write",
  tenant: "settings:write",
  retention: "retention:write",
  key: "keys:write",
  channel: "channels:write",
  webhook_endpoint: "webhooks:write",
};

export const listReadable = (scopes: readonly Scope[]): readonly SettingKind[] =>
  SETTING_KINDS.filter((kind) => {
    const scope = READ_SCOPES[kind];
    return scope === null || scopes.includes(scope);
  });

export const listWritable = (scopes: readonly Scope[]): readonly SettingKind[] =>
  SETTING_KINDS.filter((kind) => scopes.includes(WRITE_SCOPES[kind]));

/** The first scope that a reader of these kinds lacks. */
export function findLackingScope(kinds: readonly SettingKind[], scopes: readonly Scope[]): Scope | null {
  const readable = listReadable(scopes);
  const kind = kinds.find((each) => !readable.includes(each));
  return kind === undefined ? null : READ_SCOPES[kind];
}

/** Settings sort by this, in a file as in a tenant. No two of a tenant have the same. */
export const toSettingKey = ({ kind, name }: Pick<SettingLine, "kind" | "name">): string => `${SETTING_KINDS.indexOf(kind)}/${name}`;

/** A model as a client would put it. */
function toModelValue({ prices, ...model }: ModelOverride): object {
  return { ...model, ...(prices && { prices: toPerMillion(prices) }) };
}

function toValue(setting: Setting): unknown {
  switch (setting.kind) {
    case "credential":
      return {};
    case "model":
      return toModelValue(setting.value);
    case "mcp_server":
      return { ...setting.value, listing: setting.listing };
    case "tool":
    case "tenant":
    case "retention":
    case "channel":
    case "webhook_endpoint":
      return setting.value;
    case "key":
      return setting.value ?? {};
    default:
      return assertNever(setting);
  }
}

export const toSettingLine = (setting: Setting): SettingLine => ({
  type: "setting",
  kind: setting.kind,
  name: setting.name,
  value: toValue(setting),
});

/** Settings that mean the same have the same tag. What a server listed is known of it, and not said. */
export const toSettingTag = (setting: Setting): string =>
  toEtag({ value: setting.kind === "mcp_server" ? setting.value : toValue(setting) });

/** Restores the lines that are settings, and reports the others as refused. The report has the order of the lines. */
export async function parseSettings(
  lines: readonly SettingLine[],
  parse: ParseSetting,
  restore: (settings: readonly Setting[]) => Promise<readonly RestoredSetting[]>,
): Promise<readonly RestoredSetting[]> {
  const parsed = lines.map((line) => ({ line, setting: parse(line) }));
  const settings = parsed.flatMap(({ setting }) => (setting.ok ? [setting.value] : []));
  const restored = settings.length === 0 ? [] : [...(await restore(settings))];
  return parsed.map(({ line, setting }) => {
    const done = setting.ok ? restored.shift() : undefined;
    return done ?? reportSetting(line, "refused", setting.ok ? null : setting.error);
  });
}

export const reportSetting = (
  { kind, name }: Pick<SettingLine, "kind" | "name">,
  status: ImportedSetting["status"],
  detail: string | null = null,
): RestoredSetting => ({ kind, name, status, detail });
