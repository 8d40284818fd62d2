/** A generic channel with its own model, and one person who writes to it: for the tests of chats in workerd. */

import { env, exports } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import { ulid } from "ulidx";
import { inject } from "vitest";
import { chatObjectName } from "../../src/app/object-name";
import type { ChannelView } from "../../src/contract/channel";
import type { PlatformScript, TakenReply } from "../support/stand-in/chat-platform";
import type { RemoteReply } from "../support/stand-in-setup";
import { Model, newTenant, readBody, type Tenant } from "./support";

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString("base64")}`;

interface Written {
  readonly id?: string;
  readonly text?: string;
  readonly user?: string;
  readonly conversation?: string;
  readonly files?: readonly object[];
  readonly language?: string;
  /** In a group with others. */
  readonly isGroup?: boolean;
  /** In place of a message. */
  readonly event?: object;
}

export class ChannelChat {
  readonly tenant: Tenant;
  readonly model: Model;
  readonly channel: ChannelView;
  readonly #platform: string;
  #written = 0;

  constructor(tenant: Tenant, model: Model, { channel, platform }: { readonly channel: ChannelView; readonly platform: string }) {
    this.tenant = tenant;
    this.model = model;
    this.channel = channel;
    this.#platform = platform;
  }

  get stub() {
    return env.CHATS.getByName(chatObjectName(this.tenant.id, this.channel.name, "chat:room-1"));
  }

  /** Of the channel, as they were put. */
  get credentials() {
    return { signature: "standard_webhooks", secret: SECRET, reply_url: this.#platform };
  }

  get fileUrl(): string {
    return `${this.#platform}/file`;
  }

  /** One signed webhook. The same id is the same delivery. */
  async write({
    id = `w${++this.#written}`,
    text = "Hello.",
    user = "ada",
    conversation = "room-1",
    files,
    language = "en",
    isGroup = false,
    event,
  }: Written): Promise<number> {
    const said = event ?? { message: { id: `m-${id}`, text, ...(files && { files }) } };
    const body = JSON.stringify({ id, conversation, private: !isGroup, user: { id: user, name: "Ada", language }, ...said });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac("sha256", KEY).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
    const url = `https://longhand.test${this.channel.webhook_path}`;
    // No API documents what platforms send.
    const response = await exports.default.fetch(new Request<unknown, IncomingRequestCfProperties>(url, { method: "POST", headers, body }));
    await response.body?.cancel();
    return response.status;
  }

  /** What the platform took, once there are so many. */
  async taken(atLeast: number): Promise<readonly TakenReply[]> {
    return readBody(await fetch(`${this.#platform}/log?at_least=${atLeast}`));
  }

  /** Resolves once the platform has refused so many. */
  async refused(atLeast: number): Promise<void> {
    await readBody(await fetch(`${this.#platform}/log?refused=${atLeast}`));
  }

  async platformSays(...script: PlatformScript[]): Promise<void> {
    await readBody(await fetch(`${this.#platform}/script`, { method: "POST", body: JSON.stringify(script) }));
  }

  async says(...replies: RemoteReply[]): Promise<void> {
    await this.model.says(...replies);
  }
}

export async function newChannelChat(settings: object = {}): Promise<ChannelChat> {
  const tenant = await newTenant();
  const name = `m-${ulid()}`;
  const spec = { provider: "openai-compatible", base_url: inject("standIn").baseUrl, context_window: 16_000, max_output: 1_000 };
  await readBody(await tenant.call("PUT", `/v1/models/${name}`, spec));
  const platform = `${inject("chatPlatform")}/${name}`;
  const credentials = { signature: "standard_webhooks", secret: SECRET, reply_url: platform };
  const put = await tenant.call("PUT", "/v1/channels/desk", { type: "generic", credentials, model: name, ...settings });
  return new ChannelChat(tenant, new Model(name), { channel: await readBody<ChannelView>(put), platform });
}
