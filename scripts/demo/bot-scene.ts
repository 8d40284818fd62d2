/** A bot in its own sandbox: the real backend, a stand-in of Telegram, and one of a model's provider whose replies are scripted. */
import { z } from "zod";
import { type StandIn, startStandIn } from "../../test/support/stand-in/stand-in.ts";
import { TelegramStandIn } from "../../test/support/stand-in/telegram/telegram.ts";
import { type Connection, callApi } from "../support/api-client.ts";
import { startBackend } from "../support/backend.ts";

const MODEL = "bot-model";
const SECRET = "a-secret-of-this-demo-only";

export interface BotScene {
  readonly telegram: TelegramStandIn;
  readonly provider: StandIn;
  readonly connection: Connection;
  /** The webhook's address. */
  readonly hook: string;
  close(): Promise<void>;
}

/** The steps of docs/channels/telegram.md: put the channel, then tell Telegram its webhook. */
export async function openBotScene(settings: object = {}): Promise<BotScene> {
  const telegram = await new TelegramStandIn().listen();
  const provider = await startStandIn();
  const model = {
    provider: "openai-compatible",
    upstream_id: "stand-in",
    base_url: provider.baseUrl,
    context_window: 32_000,
    max_output: 4_096,
  };
  const backend = await startBackend({
    MODELS: JSON.stringify({ [MODEL]: model }),
    OPENAI_COMPATIBLE_API_KEY: "none",
    ALLOW_PRIVATE_MODEL_URLS: "true",
    ALLOW_PRIVATE_TOOL_URLS: "true",
  });
  const { connection } = backend;
  const credentials = { bot_token: telegram.token, secret_token: SECRET, bot_username: telegram.bot.username, api_url: telegram.url };
  const body = { type: "telegram", credentials, model: MODEL, ...settings };
  const channel = await callApi(connection, { method: "PUT", path: "/v1/channels/assistant", body });
  const hook = connection.url + z.object({ webhook_path: z.string() }).parse(channel).webhook_path;
  await fetch(`${telegram.url}/bot${telegram.token}/setWebhook`, {
    method: "POST",
    body: new URLSearchParams({ url: hook, secret_token: SECRET }),
  });
  return {
    telegram,
    provider,
    connection,
    hook,
    close: async () => {
      await telegram.close();
      await backend.close();
      await provider.close();
    },
  };
}
