/** The calls about channels that a tenant's object answers. */
import { type Act, toAuditSubject } from "../app/audit-chain";
import { toPersonName } from "../app/channels/chat-api";
import { type ChannelEntry, type Pairing, type TenantChannelsApi, toChannelEtag } from "../app/channels-api";
import { type Condition, refuseUnmet } from "../app/conditions";
import type { TenantError, TenantOutcome } from "../app/tenant-api";
import { findPolicyFault } from "../context/policy-check";
import { chainChoices, parseLevel } from "../context/policy-choice";
import type { ChannelSettings } from "../contract/channel";
import { err, ok } from "../lib/result";
import type { Tenant } from "./core/tenant";
import { type Calls, type Existing, existing, lookUpExisting, served } from "./existing-tenant";

/** The person who sends a code is no key of the tenant. */
const BY_CODE: Act = { actor: { kind: "system", id: null }, request_id: null };

const gone = (channel: string): TenantOutcome<never> => err({ code: "channel_not_found", channel });

/** The first setting that names what the tenant does not have. `missing`: tools that are not registered are no fault. */
export function findChannelFault(tenant: Tenant, { model, policy, tools }: ChannelSettings): TenantError | null {
  const invalid = (field: string, detail: string): TenantError => ({ code: "invalid", field, detail });
  if (model !== null && !tenant.isKnownModel(model)) return invalid("model", "no such model");
  const level = parseLevel(tenant.settings.read().default_policy);
  const fault = policy && findPolicyFault(chainChoices(tenant.deploymentPolicy, level, policy), policy);
  if (fault) return invalid(`policy.${fault.field}`, fault.detail);
  const known = new Set([...tenant.tools.tools(tools ?? []), ...tenant.tools.servers(tools ?? [])].map(({ name }) => name));
  const unknown = (tools ?? []).findIndex((name) => !known.has(name));
  return unknown < 0 ? null : invalid(`tools.${unknown}`, "no such tool or MCP server");
}

/** Makes a change in one transaction with the comparison of etags. */
function change<T>(tenant: Tenant, { name, condition }: Conditional, body: () => TenantOutcome<T>): TenantOutcome<T> {
  const etag = (): string | null => toTag(tenant.channels.find(name));
  return tenant.announce(tenant.transaction(() => refuseUnmet(condition, etag()) ?? body()));
}

interface Conditional {
  readonly name: string;
  readonly condition: Condition | undefined;
}

const toTag = (found: ChannelEntry | null): string | null => found && toChannelEtag(found);

const putChannel: Existing<"putChannel"> = (tenant, act, input) => {
  const { name, settings, secrets, condition } = input;
  const fields = [...Object.keys(settings), ...(secrets ? ["credentials"] : [])];
  const describe = () => toAuditSubject("channel.put", "channel", { id: name, fields });
  return change(
    tenant,
    { name, condition },
    tenant.audited({ act, describe }, () => {
      const fault = findChannelFault(tenant, settings);
      if (fault) return err(fault);
      const before = tenant.channels.find(name);
      const stored = tenant.channels.put(input, Date.now());
      // Conversations of another platform may have the same keys.
      if (stored.ok && before && before.type !== settings.type) tenant.upkeep.chats.leave(name);
      return stored;
    }),
  );
};

const deleteChannel: Existing<"deleteChannel"> = (tenant, act, name, condition) => {
  const describe = () => toAuditSubject("channel.deleted", "channel", { id: name });
  const conditional = { name, condition: tenant.channels.find(name) ? condition : undefined };
  return change(
    tenant,
    conditional,
    tenant.audited({ act, describe }, () => {
      const removed = tenant.channels.remove(name);
      if (removed.ok) tenant.upkeep.chats.leave(name);
      return removed;
    }),
  );
};

const addPairingCode: Existing<"addPairingCode"> = (tenant, act, { channel, hash }) => {
  const describe = () => toAuditSubject("channel.code_made", "channel", { id: channel });
  return tenant.transaction(
    tenant.audited({ act, describe }, () => {
      const { access } = tenant.channels.find(channel) ?? {};
      if (!access) return gone(channel);
      return access.mode === "pairing"
        ? tenant.pairing.addCode(channel, hash, Date.now())
        : err<TenantError>({ code: "pairing_off", mode: access.mode });
    }),
  );
};

/** The audit log keeps its entries for years, so that the entry does not name the person. */
const pairUser: Existing<"pairUser"> = (tenant, input) => {
  const { channel, user } = input;
  const wasPaired = tenant.pairing.list(channel).some(({ user_id }) => user_id === user);
  const describe = (pairing: Pairing) =>
    pairing === "paired" && !wasPaired ? toAuditSubject("channel.user_paired", "channel", { id: channel }) : null;
  return tenant.announce(
    tenant.transaction(
      tenant.audited({ act: BY_CODE, describe }, () => {
        const { access } = tenant.channels.find(channel) ?? {};
        if (!access) return gone(channel);
        return ok(access.mode === "pairing" ? tenant.pairing.pair(input, Date.now()) : "wrong");
      }),
    ),
  );
};

const unpairUser: Existing<"unpairUser"> = (tenant, act, { channel, user }) => {
  const describe = () => toAuditSubject("channel.user_unpaired", "channel", { id: channel });
  return tenant.announce(
    tenant.transaction(
      tenant.audited({ act, describe }, () => (tenant.channels.find(channel) ? tenant.pairing.unpair(channel, user) : gone(channel))),
    ),
  );
};

/** The channel for those who serve it. */
function findSealed({ channels, pairing }: Tenant, name: string) {
  const found = channels.sealed(name);
  if (found?.settings.access.mode !== "pairing") return found;
  const { access, ...settings } = found.settings;
  const users = [...new Set([...access.users, ...pairing.list(name).map(({ user_id }) => user_id)])];
  return { ...found, settings: { ...settings, access: { ...access, users } } };
}

/** A note of a channel that was deleted meanwhile is dropped. */
const noting = (tenant: Tenant, channel: string, note: (found: ChannelEntry) => void): TenantOutcome<null> =>
  tenant.transaction(() => {
    const found = tenant.channels.find(channel);
    if (found) note(found);
    return ok(null);
  });

export const channelCalls = {
  listChannels: served(({ channels }) => ok(channels.list())),
  getChannel: served(({ channels }, name) => {
    const found = channels.find(name);
    return found ? ok(found) : gone(name);
  }),
  putChannel: served(putChannel),
  deleteChannel: served(deleteChannel),
  sealedChannel: lookUpExisting(findSealed),
  addPairingCode: served(addPairingCode),
  pairUser: served(pairUser),
  listPairedUsers: served(({ channels, pairing }, channel) => (channels.find(channel) ? ok(pairing.list(channel)) : gone(channel))),
  unpairUser: served(unpairUser),
  listChannelLog: served(({ channels, channelLog }, channel, query) =>
    channels.find(channel) ? ok(channelLog.read(channel, query, Date.now())) : gone(channel),
  ),
  noteChannelLog: existing((tenant, channel, entries) =>
    noting(tenant, channel, ({ type }) => {
      const digest = (user: string): string => tenant.digestEndUser(toPersonName(type, user));
      tenant.channelLog.note(channel, entries, { now: Date.now(), digest });
    }),
  ),
  countChannelEvents: existing((tenant, channel, counts) =>
    noting(tenant, channel, () => tenant.channelLog.count(channel, counts, Date.now())),
  ),
} satisfies Pick<Calls, keyof TenantChannelsApi>;
