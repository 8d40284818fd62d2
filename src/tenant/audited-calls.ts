/**
 * The calls by which a tenant is changed. Each makes its entry in the audit log in the same transaction, so that nothing is done without an
 * entry, and no entry says what was not done.
 */

import { type Act, toAuditSubject } from "../app/audit-chain";
import { readChannelPlace } from "../app/channels-api";
import { type Condition, refuseUnmet, toEtag } from "../app/conditions";
import { runOnce } from "../app/idempotency";
import type { Resealed, TenantError, TenantOutcome } from "../app/tenant-api";
import { toServerEtag } from "../app/tool-entry";
import type { WholeTenantApi } from "../app/whole-tenant-api";
import { findPolicyFault } from "../context/policy-check";
import { chainChoices, mergeChoices, type PolicyChoice, parseLevel, toPolicyText } from "../context/policy-choice";
import type { Standing } from "../domain/tenant-status";
import { err, ok } from "../lib/result";
import type { Tenant } from "./core/tenant";
import { type Calls, type Existing, existing, prices, served, withActsDelivered } from "./existing-tenant";
import { DEFAULT_MODEL } from "./settings/settings";

/** The names of the fields that a request named. */
const listNames = (input: object): readonly string[] =>
  Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]));

export async function getModel({ registry }: Tenant, id: string): ReturnType<WholeTenantApi["getModel"]> {
  const found = registry.find(id, await prices());
  return found ? ok(found) : err({ code: "model_not_found", model: id });
}

const create: Calls["create"] = async (tenant, act, { tenant: id, name, database, idempotency }) => {
  const now = Date.now();
  const createOnce = () =>
    runOnce<string, TenantError>(tenant.requests, { idempotency, now }, () => {
      if (tenant.isCreated) return err({ code: "tenant_exists" });
      tenant.settings.insert({ tenant: id, name, at: now });
      if (database !== undefined) tenant.placement.place({ after: 0, placement: { database, version: 1, move: null } });
      tenant.audit.append(act, toAuditSubject("tenant.created", "tenant", { id }));
      return ok(id);
    });
  const made = await withActsDelivered(tenant, () => (tenant.isCreated ? createOnce() : tenant.create(createOnce)));
  if (!made.ok) return made;
  return made.value.outcome === id ? ok({ replayed: made.value.replayed }) : err({ code: "tenant_exists" });
};

/** A change of what the path names, if the request's condition holds. */
interface Conditional {
  readonly name: string;
  readonly condition: Condition | undefined;
}

/** Makes a change in one transaction with the comparison of etags. */
function changeTool<T>(tenant: Tenant, { name, condition }: Conditional, change: () => TenantOutcome<T>): TenantOutcome<T> {
  const etag = (): string | null => toTag(tenant.tools.tools([name])[0]);
  return tenant.announce(tenant.transaction(() => refuseUnmet(condition, etag()) ?? change()));
}

function changeServer<T>(tenant: Tenant, { name, condition }: Conditional, change: () => TenantOutcome<T>): TenantOutcome<T> {
  const etag = (): string | null => {
    const [server] = tenant.tools.servers([name]);
    return server ? toServerEtag(server) : null;
  };
  return tenant.announce(tenant.transaction(() => refuseUnmet(condition, etag()) ?? change()));
}

const toTag = (found: object | null | undefined): string | null => (found ? toEtag(found) : null);

const putModel: Existing<"putModel"> = async (tenant, act, id, model, condition) => {
  const known = await prices();
  const describe = () => toAuditSubject("model.put", "model", { id, fields: listNames(model) });
  const put = tenant.change(
    tenant.audited(
      { act, describe },
      () => refuseUnmet(condition, toTag(tenant.registry.find(id, known))) ?? tenant.registry.put(id, model),
    ),
  );
  return put.ok ? getModel(tenant, id) : put;
};

const deleteModel: Existing<"deleteModel"> = async (tenant, act, id, condition) => {
  const known = await prices();
  const found = tenant.registry.find(id, known);
  const refused = found && refuseUnmet(condition, toEtag(found));
  if (refused) return refused;
  const isDefault = tenant.settings.read().default_model === id && tenant.registry.isOnlyOwn(id);
  if (isDefault) return err({ code: "model_is_default", model: id });
  const describe = () => toAuditSubject("model.deleted", "model", { id });
  return tenant.change(tenant.audited({ act, describe }, () => tenant.registry.remove(id)));
};

const changeSettings: Existing<"changeSettings"> = (tenant, act, changes, condition) => {
  const { default_policy: policy, default_model: named, ...rest } = changes;
  const refused = refuseUnmet(condition, toEtag(tenant.settings.read()));
  if (refused) return refused;
  const model = named === null ? DEFAULT_MODEL : named;
  if (model !== undefined && !tenant.isKnownModel(model)) return err({ code: "model_not_found", model });
  const change = model === undefined ? rest : { ...rest, default_model: model };
  const { tenant: id } = tenant.settings.identity();
  const describe = () => toAuditSubject("settings.changed", "tenant", { id, fields: listNames(changes) });
  const store = (merged: typeof change & { readonly default_policy?: string }) =>
    tenant.change(tenant.audited({ act, describe }, () => ok(tenant.settings.change(merged))));
  if (policy === undefined) return store(change);
  const merged = mergePolicy(policy, { present: tenant.settings.read().default_policy, deployment: tenant.deploymentPolicy });
  return merged.ok ? store({ ...change, default_policy: merged.value }) : merged;
};

const addKey: Existing<"addKey"> = (tenant, act, key) => {
  const { id, scopes, restriction, expires_at } = key;
  return tenant.transaction(
    tenant.audited(
      // A repeated request returns the key that the first one made.
      {
        act,
        describe: (made) =>
          made.id === id
            ? toAuditSubject("key.created", "key", { id, scopes, expires_at, ...(restriction && { fields: ["restriction"] }) })
            : null,
      },
      () => tenant.keys.add({ ...key, at: Date.now() }),
    ),
  );
};

const rotateKey: Existing<"rotateKey"> = (tenant, act, rotation) => {
  const { from, id, overlap_ms } = rotation;
  const entry = toAuditSubject("key.rotated", "key", { id: from, replaced_by: id, overlap_ms });
  return tenant.announce(
    tenant.transaction(
      tenant.audited({ act, describe: (made) => (made.id === id ? entry : null) }, () =>
        tenant.keys.rotate({ ...rotation, at: Date.now() }),
      ),
    ),
  );
};

const revokeKey: Existing<"revokeKey"> = (tenant, act, id, by) => {
  const wasRevoked = tenant.keys.list().some((key) => key.id === id && key.revoked_at !== null);
  const describe = () => (wasRevoked ? null : toAuditSubject("key.revoked", "key", { id }));
  return tenant.announce(tenant.transaction(tenant.audited({ act, describe }, () => tenant.keys.revoke(id, { by, at: Date.now() }))));
};

const putCredential: Existing<"putCredential"> = (tenant, act, { name, sealed }) => {
  const describe = () => toAuditSubject("credential.put", "credential", { id: name });
  const put = tenant.announce(
    tenant.transaction(tenant.audited({ act, describe }, () => tenant.credentials.put(name, sealed, Date.now()))),
  );
  if (!put.ok) return put;
  const view = tenant.credentialViews().find((credential) => credential.name === name);
  return view ? ok(view) : err({ code: "credential_not_found", credential: name });
};

const deleteCredential: Existing<"deleteCredential"> = (tenant, act, name) => {
  const describe = () => toAuditSubject("credential.deleted", "credential", { id: name });
  return tenant.announce(tenant.transaction(tenant.audited({ act, describe }, () => tenant.credentials.remove(name))));
};

/** The secrets of channels and of webhooks are among them, under their places. */
function replaceAll({ credentials, channels, upkeep }: Tenant, resealed: readonly Resealed[]): number {
  const isOfChannel = ({ name }: Resealed): boolean => readChannelPlace(name) !== null;
  const ofWebhooks = resealed.reduce((sum, each) => sum + upkeep.webhooks.endpoints.reseal(each), 0);
  return credentials.replace(resealed.filter((each) => !isOfChannel(each))) + channels.replace(resealed.filter(isOfChannel)) + ofWebhooks;
}

const replaceSealed: Existing<"replaceSealed"> = (tenant, act, resealed) => {
  const { tenant: id } = tenant.settings.identity();
  return tenant.transaction(
    tenant.audited(
      { act, describe: ({ replaced: number }) => (number === 0 ? null : toAuditSubject("credentials.resealed", "tenant", { id, number })) },
      () => ok({ replaced: replaceAll(tenant, resealed) }),
    ),
  );
};

const putTool: Existing<"putTool"> = (tenant, act, name, tool, condition) => {
  const describe = () => toAuditSubject("tool.put", "tool", { id: name, fields: listNames(tool) });
  return changeTool(
    tenant,
    { name, condition },
    tenant.audited({ act, describe }, () => tenant.tools.putTool(name, tool, Date.now())),
  );
};

const deleteTool: Existing<"deleteTool"> = (tenant, act, name, condition) => {
  const describe = () => toAuditSubject("tool.deleted", "tool", { id: name });
  const conditional = { name, condition: tenant.tools.tools([name])[0] && condition };
  return changeTool(
    tenant,
    conditional,
    tenant.audited({ act, describe }, () => tenant.tools.removeTool(name)),
  );
};

const putMcpServer: Existing<"putMcpServer"> = (tenant, act, { condition, ...input }) => {
  const { name, server, unchanged } = input;
  const at = Date.now();
  return changeServer(
    tenant,
    { name, condition },
    tenant.audited(
      {
        act,
        describe: ({ listed_at }) => {
          if (unchanged === undefined) return toAuditSubject("mcp_server.put", "mcp_server", { id: name, fields: listNames(server) });
          // The server was put or removed meanwhile: the refresh changed nothing.
          return listed_at === at ? toAuditSubject("mcp_server.refreshed", "mcp_server", { id: name }) : null;
        },
      },
      () => tenant.tools.putServer(input, at),
    ),
  );
};

const deleteMcpServer: Existing<"deleteMcpServer"> = (tenant, act, name, condition) => {
  const describe = () => toAuditSubject("mcp_server.deleted", "mcp_server", { id: name });
  const conditional = { name, condition: tenant.tools.servers([name])[0] && condition };
  return changeServer(
    tenant,
    conditional,
    tenant.audited({ act, describe }, () => tenant.tools.removeServer(name)),
  );
};

const deleteFile: Existing<"deleteFile"> = async (tenant, act, file) => {
  const wasThere = tenant.files.find(file) !== null;
  const describe = () => (wasThere ? toAuditSubject("file.deleted", "file", { id: file }) : null);
  const removed = tenant.transaction(
    tenant.audited({ act, describe }, () => {
      if (!tenant.files.remove(file, Date.now())) return err<TenantError>({ code: "file_not_found", file });
      tenant.upkeep.scrub.note();
      return ok(null);
    }),
  );
  if (!removed.ok) return removed;
  const pending = await tenant.upkeep.fileRemoval.remove([file]);
  return ok({ id: file, status: pending > 0 ? ("pending" as const) : ("erased" as const) });
};

const projectAgain: Existing<"projectAgain"> = async (tenant, act) => {
  const { tenant: id } = tenant.settings.identity();
  tenant.transaction(() => {
    tenant.upkeep.outbox.touch();
    tenant.audit.append(act, toAuditSubject("tenant.rebuilt", "tenant", { id }));
  });
  await tenant.upkeep.outbox.drain();
  return ok(null);
};

/** A change of the status: the deployment's list is told behind the write to the read model. Repeating it leaves no entry. */
const changeStatus = (tenant: Tenant, act: Act, change: () => Standing): TenantOutcome<Standing> => {
  const { tenant: id } = tenant.settings.identity();
  const before = tenant.standings.read().status;
  const describe = ({ status }: Standing) =>
    status === before ? null : toAuditSubject(status === "active" ? "tenant.resumed" : "tenant.suspended", "tenant", { id });
  return tenant.change(tenant.audited({ act, describe }, () => ok(change())));
};

export const auditedCalls = {
  create,
  suspend: existing((tenant, act, reason) => changeStatus(tenant, act, () => tenant.standings.suspend(reason, Date.now()))),
  resume: existing(async (tenant, act) => {
    const resumed = changeStatus(tenant, act, () => tenant.standings.resume());
    // What was held back while it was suspended.
    tenant.upkeep.webhooks.start();
    return resumed;
  }),
  changeSettings: served(changeSettings),
  addKey: existing(addKey),
  rotateKey: served(rotateKey),
  revokeKey: existing(revokeKey),
  putModel: served(putModel),
  deleteModel: served(deleteModel),
  putCredential: served(putCredential),
  deleteCredential: served(deleteCredential),
  replaceSealed: existing(replaceSealed),
  putTool: served(putTool),
  deleteTool: served(deleteTool),
  putMcpServer: served(putMcpServer),
  deleteMcpServer: served(deleteMcpServer),
  deleteFile: served(deleteFile),
  projectAgain: existing(projectAgain),
} satisfies Partial<Calls>;

interface PolicyLevels {
  /** The tenant's stored choice. Empty: none. */
  readonly present: string;
  readonly deployment: PolicyChoice;
}

/**
 * The text to store. It leaves out the deployment's own choice, so that a new deployment default reaches this tenant.
 * `named` null removes the tenant's choice.
 */
export function mergePolicy(named: PolicyChoice | null, { present, deployment }: PolicyLevels): TenantOutcome<string> {
  if (named === null) return ok("");
  const before = parseLevel(present);
  const choice = before === null ? named : mergeChoices(before, named);
  const fault = findPolicyFault(chainChoices(deployment, choice), named);
  if (fault) return err({ code: "invalid", field: `default_policy.${fault.field}`, detail: fault.detail });
  return ok(toPolicyText(choice));
}
