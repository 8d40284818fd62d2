/** Adapters of channels, built from the bindings: for the webhooks in the Worker, and for the chats in their objects. */
import { waitUntil } from "cloudflare:workers";
import type { ChatAddress, FindChannel } from "./app/channels/chat-api";
import type { PairUser } from "./app/channels-api";
import { chatObjectName } from "./app/object-name";
import { findAdapter } from "./channels/adapters";
import { type Config, type Env, readPeppers } from "./env";
import type { ChannelDeps } from "./http/channel-deps";
import { createLog } from "./lib/log";
import { tellRequest } from "./lib/request-scope";
import { startTimer } from "./lib/timer";
import { createChannelCounts } from "./tenant/channels/channel-counts";
import { hashesOfPairingCode, hashPairingCode, makePairingCode, readPairingCode } from "./tenant/channels/pairing-code";
import { readWebhookTenant, toWebhookTenant } from "./tenant/channels/webhook-address";
import { createChannelDirectory } from "./tenant/look-ups/channel-directory";
import { noteChange } from "./tenant/shared/changes";
import { configFor, isSuspended, perEnv, perTenant, tenantStub } from "./wiring";

export const chatStub = (env: Env, { tenant, channel, conversation }: ChatAddress) =>
  tellRequest(env.CHATS.getByName(chatObjectName(tenant, channel, conversation)));

const channelsFor = perTenant((env, tenant) =>
  createChannelDirectory({
    tenant,
    stub: { sealedChannel: (name) => tenantStub(env, tenant).sealedChannel(name) },
    masterKeys: () => configFor(env).CREDENTIALS_KEYS,
    readSecrets: (type, value) => {
      const parsed = findAdapter(type).credentials.safeParse(value);
      return parsed.success ? { value: parsed.data } : null;
    },
    now: Date.now,
    log: createLog({ component: "channels" }),
    background: waitUntil,
  }),
);

/** For webhooks and chats. Cached as the tools are. */
export const findChannelFor =
  (env: Env): FindChannel =>
  ({ tenant, name }) =>
    channelsFor(env, tenant)(name);

/** For chats: who is paired is known in this isolate at once, and in others within 30 seconds. */
export const pairUserFor =
  (env: Env): PairUser =>
  async ({ tenant, channel, code: sent, user }) => {
    const code = readPairingCode(sent);
    if (code === null) return "wrong";
    const hashes = await hashesOfPairingCode({ tenant, channel, code }, readPeppers(configFor(env)), Date.now());
    const paired = await tenantStub(env, tenant).pairUser({ channel, hashes, user });
    noteChange(tenant);
    return paired.ok ? paired.value : "wrong";
  };

const channelCountsFor = perEnv((env) =>
  createChannelCounts({
    report: (tenant, channel, counts) => tenantStub(env, tenant).countChannelEvents(channel, counts),
    now: Date.now,
    schedule: startTimer,
    background: waitUntil,
    log: createLog({ worker: "http" }),
  }),
);

export function buildChannels(env: Env, config: Config): ChannelDeps {
  const peppers = readPeppers(config);
  return {
    findAdapter,
    find: findChannelFor(env),
    chats: (address) => chatStub(env, address),
    isSuspended: (tenant) => isSuspended(env, tenant, createLog({ worker: "http" })),
    toWebhookTenant: (tenant) => toWebhookTenant(tenant, peppers),
    readWebhookTenant: (text) => readWebhookTenant(text, peppers),
    makePairingCode: async (tenant, channel) => {
      const code = makePairingCode();
      return { code, hash: await hashPairingCode({ tenant, channel, code }, peppers) };
    },
    count: channelCountsFor(env),
  };
}
