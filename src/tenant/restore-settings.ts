/** Restores a tenant's settings from a file. What is restored is what the same key could have put by the API. */
import { toAuditSubject } from "../app/audit-chain";

import {
  type RestoredSetting,
  type RestoreInput,
  reportSetting,
  type Setting,
  toSettingKey,
  toSettingTag,
  WRITE_SCOPES,
} from "../app/exported-settings";
import type { TenantError, TenantOutcome } from "../app/tenant-api";
import type { AuditSubject } from "../contract/audit";
import { assertNever } from "../lib/assert-never";
import { err, ok } from "../lib/result";
import { mergePolicy } from "./audited-calls";
import { findChannelFault } from "./channel-calls";
import { listSettings } from "./core/list-settings";
import type { Tenant } from "./core/tenant";

/** A change that is made, or the status of a setting that changes nothing. `subject`: of its entry in the audit log. */
type Restored = TenantOutcome<{ readonly subject: AuditSubject | null }>;

const done = (outcome: TenantOutcome<unknown>, subject: AuditSubject | null): Restored => (outcome.ok ? ok({ subject }) : outcome);

function putField(tenant: Tenant, field: Extract<Setting, { readonly kind: "tenant" }>): Restored {
  switch (field.name) {
    case "default_model":
      if (!tenant.isKnownModel(field.value)) return err({ code: "model_not_found", model: field.value });
      return done(ok(tenant.settings.change({ default_model: field.value })), null);
    case "default_policy": {
      const merged = mergePolicy(field.value, { present: "", deployment: tenant.deploymentPolicy });
      return merged.ok ? done(ok(tenant.settings.change({ default_policy: merged.value })), null) : merged;
    }
    case "name":
      return done(ok(tenant.settings.change({ name: field.value })), null);
    case "allowed_origins":
      return done(ok(tenant.settings.change({ allowed_origins: field.value })), null);
    default:
      return assertNever(field);
  }
}

/** One that is there keeps its secrets. */
function putEndpoint(tenant: Tenant, { name: id, value }: Extract<Setting, { readonly kind: "webhook_endpoint" }>): Restored {
  const { endpoints, disable } = tenant.upkeep.webhooks;
  const isNew = !endpoints.find(id).ok;
  const restored = endpoints.restore(id, value, Date.now());
  if (restored.ok && !value.enabled) disable(id, "requested");
  const action = isNew ? "webhook_endpoint.created" : "webhook_endpoint.changed";
  return done(restored, toAuditSubject(action, "webhook_endpoint", { id, fields: Object.keys(value) }));
}

function put(tenant: Tenant, setting: Exclude<Setting, { readonly kind: "credential" | "key" }>): Restored {
  const { registry, tools } = tenant.restored;
  const { name } = setting;
  const at = Date.now();
  switch (setting.kind) {
    case "model":
      return done(
        registry.put(name, setting.value),
        toAuditSubject("model.put", "model", { id: name, fields: Object.keys(setting.value) }),
      );
    case "tool":
      return done(
        tools.putTool(name, setting.value, at),
        toAuditSubject("tool.put", "tool", { id: name, fields: Object.keys(setting.value) }),
      );
    case "mcp_server": {
      const { value: server, listing } = setting;
      const subject = toAuditSubject("mcp_server.put", "mcp_server", { id: name, fields: Object.keys(server) });
      return done(tools.putServer({ name, server, listing }, at), subject);
    }
    case "channel": {
      const fault = findChannelFault(tenant, setting.value);
      const subject = toAuditSubject("channel.put", "channel", { id: name, fields: Object.keys(setting.value) });
      return fault ? err(fault) : done(tenant.channels.restore(name, setting.value, at), subject);
    }
    case "webhook_endpoint":
      return putEndpoint(tenant, setting);
    case "tenant":
      return putField(tenant, setting);
    case "retention": {
      const { tenant: id } = tenant.settings.identity();
      const fields = Object.entries(setting.value).flatMap(([rule, days]) => (days === null || rule === "by_policy" ? [] : [rule]));
      return done(ok(tenant.upkeep.retention.write(setting.value)), toAuditSubject("retention.changed", "tenant", { id, fields }));
    }
    default:
      return assertNever(setting);
  }
}

const toDetail = (error: TenantError): string => (error.code === "invalid" ? `value.${error.field}: ${error.detail}` : error.code);

/** What is to be stored before the setting has its effect. Null: nothing. */
function findMissing({ credentials, channels, upkeep }: Tenant, setting: Setting): string | null {
  if (setting.kind === "webhook_endpoint")
    return upkeep.webhooks.endpoints.hasSecret(setting.name) ? null : "is sent nothing before a rotation makes its secret";
  if (setting.kind === "channel")
    return channels.find(setting.name)?.credentials.length === 0 ? "is not served before its credentials are put" : null;
  const named =
    setting.kind === "model"
      ? setting.value.credential
      : setting.kind === "tool" || setting.kind === "mcp_server"
        ? setting.value.secret_header?.credential
        : undefined;
  return named === undefined || credentials.has(named) ? null : `is not called before the credential ${named} is stored`;
}

/** Restores one setting, and makes its entry in the audit log. */
function restoreOne(
  tenant: Tenant,
  setting: Setting,
  { act, mode, allowed, present }: RestoreInput & { readonly present: ReadonlyMap<string, string> },
): RestoredSetting {
  const { kind } = setting;
  const tag = present.get(toSettingKey(setting));
  if (!allowed.includes(kind)) return reportSetting(setting, "forbidden", `needs the scope ${WRITE_SCOPES[kind]}`);
  if (kind === "credential" || kind === "key") {
    if (tag !== undefined) return reportSetting(setting, "exists");
    return kind === "key"
      ? reportSetting(setting, "needs_key", "make a new key")
      : reportSetting(setting, "needs_credential", "store it again");
  }
  if (tag === toSettingTag(setting)) return reportSetting(setting, "exists");
  if (tag !== undefined && mode === "keep") return reportSetting(setting, "differs");
  const made = put(tenant, setting);
  if (!made.ok) return reportSetting(setting, "refused", toDetail(made.error));
  if (made.value.subject) tenant.audit.append(act, made.value.subject);
  const missing = findMissing(tenant, setting);
  return missing === null
    ? reportSetting(setting, tag === undefined ? "created" : "replaced")
    : reportSetting(setting, "needs_credential", `it is there, and ${missing}`);
}

const isChanged = ({ status }: RestoredSetting): boolean => status === "created" || status === "replaced";

/** Restores settings, in their order. Other changes of the tenant come before or behind all of them. */
export async function restoreSettings(tenant: Tenant, input: RestoreInput): Promise<readonly RestoredSetting[]> {
  const { act, settings } = input;
  const changed = tenant.change(() => {
    const kinds = [...new Set(settings.map(({ kind }) => kind))];
    const present = new Map(listSettings(tenant, kinds).map((setting) => [toSettingKey(setting), toSettingTag(setting)]));
    const report = settings.map((setting) => restoreOne(tenant, setting, { ...input, present }));
    const fields = report.filter((each) => each.kind === "tenant" && isChanged(each)).map(({ name }) => name);
    const { tenant: id } = tenant.settings.identity();
    if (fields.length > 0) {
      // One request may restore fields more than once, each time others.
      const nonce = act.nonce && { nonce: `${act.nonce}:${fields.join()}` };
      tenant.audit.append({ ...act, ...nonce }, toAuditSubject("settings.changed", "tenant", { id, fields }));
    }
    return ok(report);
  });
  await tenant.upkeep.retention.settle();
  return changed.ok ? changed.value : [];
}
