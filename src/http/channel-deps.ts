/** What the routes of channels and of their webhooks need. */
import type { ChannelAdapter } from "../app/channels/channel";
import type { ChatAddress, ChatApi, FindChannel } from "../app/channels/chat-api";
import type { CountChannelEvent } from "../app/channels-api";
import type { ChannelType } from "../contract/channel";
import type { TenantId } from "../domain/ids";

export interface ChannelDeps {
  findAdapter(type: ChannelType): ChannelAdapter<unknown>;
  readonly find: FindChannel;
  /** Returns a fresh stub at each call. */
  chats(address: ChatAddress): Pick<ChatApi, "receive">;
  /** From the isolate's cache. False while it cannot be found out. */
  isSuspended(tenant: TenantId): Promise<boolean>;
  /** The tenant as a webhook's path names it. */
  toWebhookTenant(tenant: TenantId): Promise<string>;
  /** Null: this deployment made no such name. No object is asked. */
  readWebhookTenant(text: string): Promise<TenantId | null>;
  /** Makes a code, which is shown once. Only its hash is kept. */
  makePairingCode(tenant: TenantId, channel: string): Promise<{ readonly code: string; readonly hash: string }>;
  readonly count: CountChannelEvent;
}
