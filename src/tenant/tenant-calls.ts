/** The calls that a tenant's object answers: one table, from which the object takes its methods. */
import { toAuditSubject } from "../app/audit-chain";
import { findKeySource } from "../app/key-source";
import type { TenantBrief, TenantOutcome } from "../app/tenant-api";
import type { AssignedLimits } from "../app/tenant-limits-api";
import type { ImportTenant } from "../app/transfer/import-target";
import type { FileId } from "../domain/ids";
import { err, ok } from "../lib/result";
import { auditCalls } from "./audit-calls";
import { auditedCalls, getModel } from "./audited-calls";
import { budgetCalls } from "./budget-calls";
import { channelCalls } from "./channel-calls";
import type { Tenant } from "./core/tenant";
import { erasureCalls } from "./erasure-calls";
import { type Calls, existing, lasting, lookUpExisting, prices, served } from "./existing-tenant";
import { importCalls } from "./import-calls";
import { listLimitUse } from "./limit-use";
import { placementCalls } from "./placement-calls";
import { restoreSettings } from "./restore-settings";
import { retentionCalls } from "./retention-calls";
import { webhookCalls } from "./webhook-calls";

/** A revision that the object does not know yet makes one entry, however often it is sent. */
function keepLimits({ limits, audit, settings }: Tenant, assigned: AssignedLimits): { readonly revision: number } {
  const before = limits.readAssigned()?.revision ?? 0;
  const revision = limits.write(assigned);
  const { act, plan = null } = assigned;
  if (act && revision > before) {
    const { tenant: id } = settings.identity();
    audit.append(act, toAuditSubject("limits.changed", "tenant", { id, plan, version: revision }), act.at);
  }
  return { revision };
}
/** Null or undefined: no limit. */
const readMostSessions = ({ limits }: Tenant) => {
  const known = limits.read();
  return { tenant: known?.tenant.sessions, end_user: known?.end_user.sessions };
};

async function readBrief(tenant: Tenant, model: string | null): Promise<TenantBrief> {
  const { standings, settings, limits, budgets, upkeep, placement, registry, credentials } = tenant;
  const spec = model === null ? null : registry.resolve(model, await prices());
  const source = spec && findKeySource(spec);
  const sealed = source?.from === "tenant" ? credentials.sealed(source.credential) : null;
  return {
    standing: standings.read(),
    settings: settings.read(),
    limits: limits.read(),
    budgets: budgets.known(),
    interest: upkeep.webhooks.endpoints.interest(),
    placement: placement.read(),
    model: spec && { spec, credential: source?.from === "tenant" && sealed ? { name: source.credential, sealed } : null },
  };
}

const noFile = (file: FileId): TenantOutcome<never> => err({ code: "file_not_found", file });

export const tenantCalls = {
  ...auditedCalls,
  ...auditCalls,
  ...budgetCalls,
  ...channelCalls,
  settings: existing(({ settings }) => ok(settings.read())),

  listKeys: served(({ keys }) => ok(keys.list())),
  ownKey: served(({ keys }, id) => keys.findActive(id, Date.now())),
  authenticate: lookUpExisting((tenant, hash, beside) => {
    const at = Date.now();
    const principal = tenant.keys.authenticate({ hash, beside, tenant: tenant.settings.identity().tenant, at });
    if (!principal) return null;
    tenant.afterAnswer(() => tenant.keys.noteUse(principal.key, at));
    const limits = tenant.limits.read();
    const isServed = tenant.standings.read().status === "active";
    return { ...principal, ...(limits && { limits }), ...(!isServed && { suspended: true as const }) };
  }),

  registerSession: served((tenant, { end_user, external_id, idempotency, chat, ...input }) => {
    const user = end_user ? tenant.digestEndUser(end_user) : null;
    return tenant.withExternalId(external_id ?? null, (external) => {
      const at = Date.now();
      const most = readMostSessions(tenant);
      const labels = { external_id: external, end_user: user };
      const registered = tenant.directory.register({ ...input, ...labels, idempotency, at, most });
      if (registered.ok && chat) tenant.upkeep.chats.note(registered.value.session, chat);
      return registered;
    });
  }),
  findExternalId: served((tenant, externalId) =>
    tenant.withExternalId(externalId, (external) => ok(external === null ? null : tenant.directory.findExternalId(external))),
  ),
  giveSession: existing((tenant, session, endUser) =>
    tenant.transaction(() => {
      const most = readMostSessions(tenant);
      return tenant.directory.give({ session, end_user: endUser === null ? null : tenant.digestEndUser(endUser), most });
    }),
  ),
  forgetSession: existing((tenant, session) => tenant.transaction(() => ok(tenant.directory.forget(session)))),
  ...erasureCalls,
  ...retentionCalls,
  listSessions: existing(({ directory }, page) => ok(directory.list(page))),
  keepUsage: lasting((tenant, { session, usage, cause }) =>
    tenant.transaction(() => {
      const { erasures } = tenant.upkeep;
      erasures.noteBegun(session, cause);
      const kept = tenant.erasedUsage.keep(session, usage);
      erasures.receipts.noteModels(session, [...new Set([...usage, ...kept].map(({ model }) => model))]);
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

  usageBound: existing(({ usageBound }) => ok(usageBound.read().wanted)),

  resolveModel: lookUpExisting(async ({ registry }, id) => registry.resolve(id, await prices())),
  listModels: existing(async ({ registry }) => ok(registry.list(await prices()))),
  getModel: existing(getModel),
  suggestLimit: existing((tenant, suggested) => tenant.transaction(() => tenant.registry.suggest(suggested, Date.now()))),

  listCredentials: served((tenant) => ok(tenant.credentialViews())),
  sealedCredential: lookUpExisting(({ credentials }, name) => credentials.sealed(name)),
  sealedCredentials: existing(({ credentials, channels, upkeep }) =>
    ok([...credentials.allSealed(), ...channels.allSealed(), ...upkeep.webhooks.endpoints.allSealed()]),
  ),

  listTools: existing(({ tools }, names) => ok(tools.tools(names))),
  listMcpServers: existing(({ tools }, names) => ok(tools.servers(names))),

  setLimits: lookUpExisting((tenant, input) => tenant.announce(tenant.transaction(() => keepLimits(tenant, input)))),
  brief: lookUpExisting(readBrief),
  limitUse: lookUpExisting((tenant, caller) => listLimitUse(tenant, caller, Date.now())),
  assigned: lookUpExisting(({ limits }) => limits.readAssigned()),
  takeSlots: lookUpExisting((tenant, call) => tenant.transaction(() => tenant.slots.take(call, Date.now()))),
  takeRates: lookUpExisting((tenant, asks) => tenant.transaction(() => tenant.rates.grant(asks, Date.now()))),

  beginFile: served(async (tenant, upload) => {
    const begun = tenant.transaction(() => tenant.files.begin(upload, Date.now(), tenant.limits.read()?.tenant));
    await tenant.upkeep.fileRemoval.resume();
    return begun;
  }),
  finishFile: existing(async (tenant, upload) => {
    const finished = tenant.transaction(() => {
      const done = tenant.files.finish(upload, Date.now());
      if (upload.act && done.ok && !done.value.replayed)
        tenant.audit.append(upload.act, toAuditSubject("file.uploaded", "file", { id: upload.file }));
      return done;
    });
    await tenant.upkeep.fileRemoval.resume();
    return finished;
  }),
  abandonFile: existing(async (tenant, file) => {
    tenant.transaction(() => tenant.files.abandon(file, Date.now()));
    await tenant.upkeep.fileRemoval.run();
    return ok(null);
  }),
  getFile: served(({ files }, file) => {
    const found = files.find(file);
    return found ? ok(found) : noFile(file);
  }),
  listFiles: served(({ files }, page) => ok(files.list(page))),
  useFiles: served((tenant, input) =>
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

  beginExport: existing(({ upkeep, audit }, act, input) => {
    const { id, subject } = input;
    const session = subject.of === "session" ? { session: subject.session_id } : {};
    return upkeep.exports.begin(input, () =>
      audit.append(act, toAuditSubject("export.created", "export", { id, of: subject.of, ...session })),
    );
  }),
  getExport: served(({ upkeep }, id) => upkeep.exports.get(id)),
  listExports: existing(({ upkeep }, page) => ok(upkeep.exports.list(page))),
  deleteExport: existing(({ upkeep, audit }, act, id) =>
    upkeep.exports.remove(id, () => audit.append(act, toAuditSubject("export.deleted", "export", { id }))),
  ),
  ...importCalls,
  restoreSettings: existing(async (tenant, input) => ok(await restoreSettings(tenant, input))),
  registerRestored: existing((tenant, act, input) => {
    const { tenant: id } = tenant.settings.identity();
    const describe = () => toAuditSubject("sessions.imported", "tenant", { id });
    const most = readMostSessions(tenant);
    const end_user = input.end_user === null ? null : tenant.digestEndUser(input.end_user);
    return tenant.withExternalId(input.external_id, (external_id) =>
      tenant.audited({ act, describe }, () => tenant.directory.restore({ ...input, external_id, end_user, most }))(),
    );
  }),

  identify: existing(({ settings, standings, placement }) => {
    const { tenant, created_at } = settings.identity();
    return ok({ id: tenant, name: settings.read().name, created_at, status: standings.read().status, database: placement.read().database });
  }),
  exportTenant: existing(async (tenant) => {
    const models = tenant.registry.list(await prices());
    return ok({ ...tenant.snapshot(), models, keys: tenant.keys.list(), standing: tenant.standings.read() });
  }),
  ...placementCalls,
  ...webhookCalls,
} satisfies Calls;

/** The calls by which an import in the object itself puts what it reads. */
export const bindImports = (tenant: () => Tenant): ImportTenant => ({
  registerRestored: (act, input) => tenantCalls.registerRestored(tenant(), act, input),
  forgetSession: (session) => tenantCalls.forgetSession(tenant(), session),
  restoreSettings: (input) => tenantCalls.restoreSettings(tenant(), input),
  getFile: (file) => tenantCalls.getFile(tenant(), file),
  beginFile: (upload) => tenantCalls.beginFile(tenant(), upload),
  finishFile: (upload) => tenantCalls.finishFile(tenant(), upload),
  abandonFile: (file) => tenantCalls.abandonFile(tenant(), file),
});
