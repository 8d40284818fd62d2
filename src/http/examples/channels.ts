import type { z } from "@hono/zod-openapi";
import type { channelLogView, channelView, pairedUserView, pairingCodeView } from "../../contract/channel";
import { AT, SECOND, SESSION, TENANT, TURN } from "./shared";

export const channelExample: z.input<typeof channelView> = {
  name: "support",
  type: "generic",
  session_per: "chat",
  model: null,
  policy: null,
  system: "You answer questions about orders.",
  tools: ["weather"],
  commands: ["start", "reset", "help"],
  access: { mode: "pairing", users: [] },
  groups: "addressed",
  streaming: true,
  language: null,
  credentials: ["signature", "secret", "reply_url"],
  webhook_path: `/webhooks/${TENANT}_8fXa91QmZ0c/support`,
  created_at: AT,
  updated_at: AT,
};

export const pairingCodeExample: z.input<typeof pairingCodeView> = { code: "7KQ2MX9D", expires_at: AT + 3_600 * SECOND };

export const pairedUserExample: z.input<typeof pairedUserView> = { user_id: "4711", paired_at: AT };

export const channelLogExample: z.input<typeof channelLogView> = {
  id: "reply-1",
  at: AT,
  kind: "reply_failed",
  reason: "status 410",
  count: 1,
  delivery: "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
  session_id: SESSION,
  turn_id: TURN,
};
