/** A tenant of a backend in workerd between one platform's stand-in and a model's, over HTTP. */
import { expect, vi } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { openTenant } from "../../support/shared-server";
import { type StandIn, startStandIn } from "../../support/stand-in/stand-in";
import { startToolServer, type ToolServer } from "../../support/stand-in/tool-server";
import type { ChannelDriver, ContractChat, ContractPlatform, SeenReply } from "./driver";
import { HookRelay } from "./hook-relay";

const MODEL = "bot-model";
const CHANNEL = "desk";
/** How long a test waits for what must happen. */
const PATIENCE_MS = 20_000;

const logEntries = z.object({
  data: z.array(z.object({ kind: z.string(), reason: z.string().nullish(), count: z.number().nullish() })),
});

/** `driver`: of the platform. `asked`: the requests to the model, without those for summaries. */
export class ChannelStage {
  readonly driver: ChannelDriver;
  readonly platform: ContractPlatform;
  readonly provider: StandIn;
  readonly tools: ToolServer;
  readonly relay: HookRelay;
  readonly connection: Connection;
  readonly #closing: readonly (() => Promise<void>)[];

  constructor(driver: ChannelDriver, parts: StageParts) {
    this.driver = driver;
    this.platform = parts.platform;
    this.provider = parts.provider;
    this.tools = parts.tools;
    this.relay = parts.relay;
    this.connection = parts.connection;
    this.#closing = parts.closing;
  }

  get asked(): readonly string[] {
    return this.provider.log.filter(({ kind }) => kind === "turn").map(({ raw }) => raw);
  }

  /** Resolves with what people see of the bot, once there is so much of it. */
  async until(chat: ContractChat, isThere: (replies: readonly SeenReply[]) => boolean): Promise<readonly SeenReply[]> {
    await vi.waitFor(() => expect(isThere(chat.replies()) || chat.replies()).toBe(true), { timeout: PATIENCE_MS, interval: 20 });
    return chat.replies();
  }

  /** Resolves with the message that contains the words. */
  async hear(chat: ContractChat, words: string): Promise<SeenReply> {
    const replies = await this.until(chat, (seen) => seen.some(({ text }) => text.includes(words)));
    const heard = replies.findLast(({ text }) => text.includes(words));
    if (!heard) throw new Error(`"${words}" is gone again.`);
    return heard;
  }

  /** A message that the model answers with this text, once people see it. */
  async exchange(chat: ContractChat, text: string, answer: string): Promise<string> {
    this.provider.enqueue({ text: answer });
    const message = await chat.say({ text });
    await this.hear(chat, answer);
    return message;
  }

  /** The reasons that the channel's log has for entries of this kind. */
  async reasons(kind: string): Promise<readonly string[]> {
    const read = await callApi(this.connection, { method: "GET", path: `/v1/channels/${CHANNEL}/log` });
    return logEntries.parse(read).data.flatMap((entry) => (entry.kind === kind && entry.reason ? [entry.reason] : []));
  }

  async untilLogged(kind: string, reason: RegExp): Promise<void> {
    const read = async () => expect(await this.reasons(kind)).toContainEqual(expect.stringMatching(reason));
    await vi.waitFor(read, { timeout: PATIENCE_MS });
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }
}

type StageParts = Pick<ChannelStage, "platform" | "provider" | "tools" | "relay" | "connection"> & {
  readonly closing: readonly (() => Promise<void>)[];
};

export async function openChannelStage(driver: ChannelDriver, settings: object = {}): Promise<ChannelStage> {
  const [provider, tools, relay, platform] = await Promise.all([
    startStandIn(),
    startToolServer(),
    new HookRelay().listen(),
    driver.start(),
  ]);
  const connection = await openTenant();
  const upstream = { provider: "openai-compatible", upstream_id: "stand-in", base_url: provider.baseUrl };
  const model = { ...upstream, context_window: 32_000, max_output: 4_096 };
  await callApi(connection, { method: "PUT", path: `/v1/models/${MODEL}`, body: model });
  const weather = { url: `${tools.url}/text`, description: "The weather", parameters: { type: "object" }, needs_approval: true };
  await callApi(connection, { method: "PUT", path: "/v1/tools/weather", body: weather });
  const body = { type: driver.type, credentials: platform.credentials, model: MODEL, tools: ["weather"], language: "en", ...settings };
  const channel = await callApi(connection, { method: "PUT", path: `/v1/channels/${CHANNEL}`, body });
  relay.passTo(connection.url + z.object({ webhook_path: z.string() }).parse(channel).webhook_path);
  await platform.receiveAt(relay.url);
  const closing = [platform, relay, provider, tools].map((each) => () => each.close());
  return new ChannelStage(driver, { platform, provider, tools, relay, connection, closing });
}
