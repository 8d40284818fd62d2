/**
 * Looks up the channels of one tenant in its object, for webhooks and chats in the isolate. Only the sealed form is cached; the opened secrets
 * live as long as the call. A name that is not there is remembered for a short time, so that a flood of made-up names does not reach the object.
 */

import type { OpenChannel } from "../../app/channels/chat-api";
import { type SealedChannel, type TenantChannelsApi, toChannelPlace } from "../../app/channels-api";
import { setNewest } from "../../app/known-answers";
import type { Background, Clock, Log } from "../../app/ports";
import type { ChannelType } from "../../contract/channel";
import type { TenantId } from "../../domain/ids";
import type { MasterKeys } from "../../lib/master-keys";
import { openCredential } from "../credentials/credential-seal";
import { readGeneration } from "../shared/changes";
import { createLookUpCache } from "./look-up-cache";

/** A new channel is found by every isolate within this time. */
const ABSENT_TTL_MS = 2_000;
const MAX_ABSENT = 1_000;
/** More than a tenant has, so that names that were removed meanwhile do not push others out. */
const MAX_KNOWN = 100;

interface ChannelDirectoryDeps {
  readonly tenant: TenantId;
  /** Must make a fresh stub for each call: a stub stays broken once its object was reset. */
  readonly stub: Pick<TenantChannelsApi, "sealedChannel">;
  readonly masterKeys: () => MasterKeys;
  /** The secrets as the adapter of the type reads them. Null: this build has no such adapter, or its secrets have another form by now. */
  readonly readSecrets: (type: ChannelType, value: unknown) => { readonly value: unknown } | null;
  readonly now: Clock;
  readonly log: Log;
  readonly background?: Background;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The names that were not there, until when that is believed, and under which generation. */
function createAbsent(now: Clock, generation: () => number) {
  const until = new Map<string, { readonly until: number; readonly generation: number }>();
  return {
    has: (name: string): boolean => {
      const known = until.get(name);
      return known !== undefined && known.until > now() && known.generation === generation();
    },
    note: (name: string): void => {
      setNewest(until, [name, { until: now() + ABSENT_TTL_MS, generation: generation() }], MAX_ABSENT);
    },
  };
}

export function createChannelDirectory(deps: ChannelDirectoryDeps): (name: string) => Promise<OpenChannel | null> {
  const { tenant, stub, masterKeys, readSecrets, now, log, background } = deps;
  const generation = (): number => readGeneration(tenant);
  const absent = createAbsent(now, generation);
  const find = createLookUpCache<SealedChannel>({
    ask: (name) => stub.sealedChannel(name),
    now,
    generation,
    max: MAX_KNOWN,
    ...(background && { background }),
  });

  async function open(name: string, { settings, sealed }: SealedChannel): Promise<OpenChannel | null> {
    const text = await openCredential(sealed, masterKeys(), toChannelPlace(tenant, name));
    const secrets = text === null ? null : readSecrets(settings.type, parseJson(text));
    if (!secrets) log.error("channel.unreadable", { tenant_id: tenant, channel: name, key_id: sealed.kid });
    return secrets && { settings, credentials: secrets.value };
  }
  return async (name) => {
    if (absent.has(name)) return null;
    const found = await find(name);
    if (!found) absent.note(name);
    return found && open(name, found);
  };
}
