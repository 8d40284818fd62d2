/** Channels as clients put them and as they are shown. */
import { z } from "@hono/zod-openapi";
import { type ChannelEntry, toWebhookPath } from "../../app/channels-api";
import { CHAT_COMMANDS, type ChannelSettings, type ChannelView, channelSettings } from "../../contract/channel";

/** It is a part of the webhook's path. */
export const channelName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, "1 to 32 letters, digits, _ or -, a letter or digit first");

const MAX_SYSTEM = 65_536;
const MAX_TOOLS = 128;
const MAX_NAME = 256;
const { shape } = channelSettings;

export const channelInput = z
  .strictObject({
    type: shape.type,
    credentials: z.record(z.string(), z.unknown()).optional().openapi({
      writeOnly: true,
      description:
        "The secrets of the platform, by the names that the page of the type has. Stored sealed and never shown again. Absent: the stored ones stay; another type needs new ones",
    }),
    session_per: shape.session_per.default("chat"),
    model: z
      .string()
      .min(1)
      .max(MAX_NAME)
      .nullable()
      .default(null)
      .openapi({ description: shape.model.description ?? "" }),
    policy: shape.policy.default(null),
    system: z.string().min(1).max(MAX_SYSTEM).nullable().default(null),
    tools: z
      .array(z.string().min(1).max(MAX_NAME))
      .max(MAX_TOOLS)
      .nullable()
      .default(null)
      .openapi({ description: "Names of registered HTTP tools, and of MCP servers, which offer all of their tools. Null: none" }),
    commands: z
      .array(z.enum(CHAT_COMMANDS))
      .max(CHAT_COMMANDS.length)
      .default([...CHAT_COMMANDS]),
    access: shape.access.default({ mode: "open" }),
    groups: shape.groups.default("addressed"),
    streaming: shape.streaming.default(true),
    language: z
      .string()
      .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/, "a language tag such as pt-BR")
      .nullable()
      .default(null),
  })
  .openapi("PutChannel");

type Input = Omit<z.infer<typeof channelInput>, "credentials"> & { readonly credentials?: unknown };
export const toChannelSettings = ({ credentials: _, ...settings }: Input): ChannelSettings => settings;

export const toChannelView = (entry: ChannelEntry, tenant: string): ChannelView => ({
  ...entry,
  webhook_path: toWebhookPath(tenant, entry.name),
});
