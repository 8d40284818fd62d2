/** The calls that a tenant's object answers: one table, from which the object takes its methods. */
import { type Condition, refuseUnmet, toEtag } from "../app/conditions";
import type { TenantErasureApi } from "../app/erasure-api";
import type { TenantExportsApi } from "../app/export-api";
import type { TenantFilesApi } from "../app/file-api";
import { runOnce } from "../app/idempotency";
import type { TenantApi, TenantError, TenantMaintenance, TenantOutcome } from "../app/tenant-api";
import { toServerEtag } from "../app/tool-entry";
import { findPolicyFault } from "../context/policy-check";
import { chainChoices, mergeChoices, type PolicyChoice, parseLevel, toPolicyText } from "../context/policy-choice";
import type { FileId } from "../domain/ids";
import { err, ok } from "../lib/result";
import { sha256 } from "../lib/sha256";
import { erasureCalls } from "./erasure-calls";
import { existing, lasting } from "./existing-tenant";
import { listLimitUse } from "./limit-use";
import { loadPrices } from "./price-package";
import { DEFAULT_MODEL } from "./settings";
import type { Tenant } from "./tenant";

type Api = TenantApi & TenantErasureApi & TenantExportsApi & TenantFilesApi & TenantMaintenance;
type Call<A extends readonly unknown[], T> = (tenant: Tenant, ...args: A) => Promise<T>;
type Calls = { readonly [Name in keyof Api]: Api[Name] extends (...args: infer A) => Promise<infer T> ? Call<A, T> : never };

/** A call to an existing tenant, before it is one of the table. */
type Existing<Name extends keyof Api> = (
  tenant: Tenant,
  ...args: Parameters<Api[Name]>
) => ReturnType<Api[Name]> | Awaited<ReturnType<Api[Name]>>;

/** A look-up. It returns null for a tenant that was never created. */
const lookUp =
  <A extends readonly unknown[], T>(find: (tenant: Tenant, ...args: A) => T | null | Promise<T | null>): Call<A, T | null> =>
  async (tenant, ...args) =>
    tenant.isOpen ? find(tenant, ...args) : null;

const prices = () => loadPrices(Date.now);

const noFile = (file: FileId): TenantOutcome<never> => err({ code: "file_not_found", file });

async function getModel({ registry }: Tenant, id: string): ReturnType<Api["getModel"]> {
  const found = registry.find(id, await prices());
  return found ? ok(found) : err({ code: "model_not_found", model: id });
}

const create: Calls["create"] = async (tenant, { tenant: id, name, idempotency }) => {
  const now = Date.now();
  const createOnce = () =>
    runOnce<string, TenantError>(tenant.requests, { idempotency, now }, () => {
      if (tenant.isCreated) return err({ code: "tenant_exists" });
      tenant.settings.insert({ tenant: id, name, at: now });
      return ok(id);
    });
  const made = tenant.isCreated ? createOnce() : tenant.create(createOnce);
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

const putModel: Existing<"putModel"> = async (tenant, id, model, condition) => {
  const known = await prices();
  const put = tenant.change(() => refuseUnmet(condition, toTag(tenant.registry.find(id, known))) ?? tenant.registry.put(id, model));
  return put.ok ? getModel(tenant, id) : put;
};

const deleteModel: Existing<"deleteModel"> = async (tenant, id, condition) => {
  const known = await prices();
  const found = tenant.registry.find(id, known);
  const refused = found && refuseUnmet(condition, toEtag(found));
  if (refused) return refused;
  const isDefault = tenant.settings.read().default_model === id && tenant.registry.isOnlyOwn(id);
  return isDefault ? err({ code: "model_is_default", model: id }) : tenant.change(() => tenant.registry.remove(id));
};

const changeSettings: Existing<"changeSettings"> = (tenant, { default_policy: policy, default_model: named, ...rest }, condition) => {
  const refused = refuseUnmet(condition, toEtag(tenant.settings.read()));
  if (refused) return refused;
  const model = named === null ? DEFAULT_MODEL : named;
  if (model !== undefined && !tenant.isKnownModel(model)) return err({ code: "model_not_found", model });
  const changes = model === undefined ? rest : { ...rest, default_model: model };
  if (policy === undefined) return tenant.change(() => ok(tenant.settings.change(changes)));
  const merged = mergePolicy(policy, { present: tenant.settings.read().default_policy, deployment: tenant.deploymentPolicy });
  if (!merged.ok) return merged;
  return tenant.change(() => ok(tenant.settings.change({ ...changes, default_policy: merged.value })));
};

export const tenantCalls = {
  create,
  settings: existing(({ settings }) => ok(settings.read())),
  changeSettings: existing(changeSettings),

  addKey: existing((tenant, key) => tenant.transaction(() => tenant.keys.add({ ...key, at: Date.now() }))),
  rotateKey: existing((tenant, rotation) => tenant.announce(tenant.transaction(() => tenant.keys.rotate({ ...rotation, at: Date.now() })))),
  listKeys: existing(({ keys }) => ok(keys.list())),
  revokeKey: existing((tenant, id, by) => tenant.announce(tenant.transaction(() => tenant.keys.revoke(id, { by, at: Date.now() })))),
  ownKey: existing(({ keys }, id) => keys.findActive(id, Date.now())),
  authenticate: lookUp((tenant, hash, beside) => {
    const at = Date.now();
    const principal = tenant.keys.authenticate({ hash, beside, tenant: tenant.settings.identity().tenant, at });
    if (!principal) return null;
    tenant.afterAnswer(() => tenant.keys.noteUse(principal.key, at));
    const limits = tenant.limits.read();
    return limits ? { ...principal, limits } : principal;
  }),

  registerSession: existing(async (tenant, { end_user, idempotency, ...input }) => {
    const user = end_user ? await tenant.digestEndUser(end_user) : null;
    // The key stays for a day, longer than an erased session, and is in the client's own words.
    const hidden = idempotency && { ...idempotency, key: `sha256:${await sha256(idempotency.key)}` };
    return tenant.transaction(() => {
      const at = Date.now();
      // A key that an earlier build stored.
      const isStored = idempotency !== null && tenant.requests.find(idempotency.key, at) !== null;
      const most = tenant.limits.read()?.tenant.sessions;
      return tenant.directory.register({ ...input, end_user: user, idempotency: isStored ? idempotency : hidden, at, most });
    });
  }),
  findExternalId: existing(({ directory }, externalId) => ok(directory.findExternalId(externalId))),
  unlabelSession: existing((tenant, session) => {
    tenant.directory.unlabel(session);
    return ok(null);
  }),
  forgetSession: existing((tenant, session) => tenant.transaction(() => ok(tenant.directory.forget(session)))),
  ...erasureCalls,
  listSessions: existing(({ directory }, page) => ok(directory.list(page))),
  keepUsage: lasting((tenant, { session, usage }) =>
    tenant.transaction(() => {
      const { erasures } = tenant.upkeep;
      erasures.noteBegun(session);
      const kept = tenant.erasedUsage.keep(session, usage);
      erasures.receipts.noteModels(session, [...new Set(kept.map(({ model }) => model))]);
      return ok(kept);
    }),
  ),
  endThrowaway: lasting(async (tenant, ended) => {
    await tenant.endThrowaway(ended);
    return ok(null);
  }),
  listErasedUsage: existing(async ({ erasedUsage, upkeep }, page) => {
    await upkeep.usageOutbox.sendAgain();
    return ok(erasedUsage.list(page));
  }),

  resolveModel: lookUp(async ({ registry }, id) => registry.resolve(id, await prices())),
  listModels: existing(async ({ registry }) => ok(registry.list(await prices()))),
  getModel: existing(getModel),
  putModel: existing(putModel),
  deleteModel: existing(deleteModel),
  suggestLimit: existing((tenant, suggested) => tenant.transaction(() => tenant.registry.suggest(suggested, Date.now()))),

  putCredential: existing((tenant, { name, sealed }) => {
    const put = tenant.announce(tenant.transaction(() => tenant.credentials.put(name, sealed, Date.now())));
    if (!put.ok) return put;
    const view = tenant.credentialViews().find((credential) => credential.name === name);
    return view ? ok(view) : err({ code: "credential_not_found", credential: name });
  }),
  listCredentials: existing((tenant) => ok(tenant.credentialViews())),
  deleteCredential: existing((tenant, name) => tenant.announce(tenant.credentials.remove(name))),
  sealedCredential: lookUp(({ credentials }, name) => credentials.sealed(name)),
  sealedCredentials: existing(({ credentials }) => ok(credentials.allSealed())),
  replaceSealed: existing((tenant, resealed) => ok({ replaced: tenant.transaction(() => tenant.credentials.replace(resealed)) })),

  listTools: existing(({ tools }, names) => ok(tools.tools(names))),
  putTool: existing((tenant, name, tool, condition) =>
    changeTool(tenant, { name, condition }, () => tenant.tools.putTool(name, tool, Date.now())),
  ),
  deleteTool: existing((tenant, name, condition) =>
    changeTool(tenant, { name, condition: tenant.tools.tools([name])[0] && condition }, () => tenant.tools.removeTool(name)),
  ),
  listMcpServers: existing(({ tools }, names) => ok(tools.servers(names))),
  putMcpServer: existing((tenant, { condition, ...input }) =>
    changeServer(tenant, { name: input.name, condition }, () => tenant.tools.putServer(input, Date.now())),
  ),
  deleteMcpServer: existing((tenant, name, condition) =>
    changeServer(tenant, { name, condition: tenant.tools.servers([name])[0] && condition }, () => tenant.tools.removeServer(name)),
  ),

  setLimits: lookUp((tenant, input) => tenant.announce(tenant.transaction(() => ({ revision: tenant.limits.write(input) })))),
  limits: lookUp(({ limits }) => limits.read()),
  limitUse: lookUp((tenant, caller) => listLimitUse(tenant, caller, Date.now())),
  takeRates: lookUp((tenant, asks) => tenant.transaction(() => tenant.rates.grant(asks, Date.now()))),

  beginFile: existing(async (tenant, upload) => {
    const begun = tenant.transaction(() => tenant.files.begin(upload, Date.now(), tenant.limits.read()?.tenant));
    await tenant.upkeep.fileRemoval.resume();
    return begun;
  }),
  finishFile: existing(async (tenant, upload) => {
    const finished = tenant.transaction(() => tenant.files.finish(upload, Date.now()));
    await tenant.upkeep.fileRemoval.resume();
    return finished;
  }),
  abandonFile: existing(async (tenant, file) => {
    tenant.transaction(() => tenant.files.abandon(file, Date.now()));
    await tenant.upkeep.fileRemoval.run();
    return ok(null);
  }),
  getFile: existing(({ files }, file) => {
    const found = files.find(file);
    return found ? ok(found) : noFile(file);
  }),
  listFiles: existing(({ files }, page) => ok(files.list(page))),
  deleteFile: existing(async (tenant, file) => {
    if (!tenant.transaction(() => tenant.files.remove(file, Date.now()))) return noFile(file);
    const pending = await tenant.upkeep.fileRemoval.remove([file]);
    return ok({ id: file, status: pending > 0 ? ("pending" as const) : ("erased" as const) });
  }),
  useFiles: existing((tenant, input) =>
    tenant.transaction(() =>
      input.throwaway || tenant.directory.has(input.session) ? tenant.files.use(input, Date.now()) : err({ code: "session_erased" }),
    ),
  ),
  keepFiles: lasting(async (tenant, input) => {
    // An erased session keeps nothing, and its references end with its erasure.
    if (!tenant.directory.has(input.session)) return ok(null);
    const { redacted_at } = input;
    if (redacted_at !== undefined) tenant.transaction(() => tenant.upkeep.exports.takeOut(input.session, redacted_at));
    await tenant.upkeep.exports.resume();
    await tenant.upkeep.fileRemoval.remove(tenant.transaction(() => tenant.files.keep(input, Date.now())));
    return ok(null);
  }),
  releaseFiles: lasting(async ({ upkeep }, session) => ok(await upkeep.releaseFiles(session))),

  beginExport: existing(({ upkeep }, input) => upkeep.exports.begin(input)),
  getExport: existing(({ upkeep }, id) => upkeep.exports.get(id)),
  listExports: existing(({ upkeep }, page) => ok(upkeep.exports.list(page))),
  deleteExport: existing(({ upkeep }, id) => upkeep.exports.remove(id)),
  registerRestored: existing((tenant, input) =>
    tenant.transaction(() => tenant.directory.restore({ ...input, most: tenant.limits.read()?.tenant.sessions })),
  ),

  identify: existing(({ settings }) => {
    const { tenant, created_at } = settings.identity();
    return ok({ id: tenant, name: settings.read().name, created_at });
  }),
  exportTenant: existing(async (tenant) => {
    const models = tenant.registry.list(await prices());
    return ok({ ...tenant.snapshot(), models, keys: tenant.keys.list() });
  }),
  projectAgain: existing(async (tenant) => {
    tenant.transaction(() => tenant.upkeep.outbox.touch());
    await tenant.upkeep.outbox.drain();
    return ok(null);
  }),
} satisfies Calls;

interface PolicyLevels {
  /** The tenant's stored choice. Empty: none. */
  readonly present: string;
  readonly deployment: PolicyChoice;
}

/**
 * The text to store. It leaves out the deployment's own choice, so that a new deployment default reaches this tenant.
 * `named` null removes the tenant's choice.
 */
function mergePolicy(named: PolicyChoice | null, { present, deployment }: PolicyLevels): TenantOutcome<string> {
  if (named === null) return ok("");
  const before = parseLevel(present);
  const choice = before === null ? named : mergeChoices(before, named);
  const fault = findPolicyFault(chainChoices(deployment, choice), named);
  if (fault) return err({ code: "invalid", field: `default_policy.${fault.field}`, detail: fault.detail });
  return ok(toPolicyText(choice));
}
