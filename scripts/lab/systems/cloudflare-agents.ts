/**
 * Cloudflare Agents (cloudflare/agents, `truncateOlderMessages`, which its chat agents apply to each request): in all
 * but the newest four messages, counted as in the chat interface, tool outputs above 500 characters and texts above
 * 10,000 show only their beginning. The rule does not bound a request: a long conversation of short messages is sent
 * until the provider refuses it.
 */
import { messageText } from "../../../src/evaluate/segments";
import { exchanges, isResult, type Moment, reduceResult, type Show, type System, type SystemMessage } from "./system.ts";

const KEPT = 4;
const OUTPUT_CHARS = 500;
const TEXT_CHARS = 10_000;

function decide({ all }: Moment): Show {
  const found = exchanges(all);
  const older = found.slice(0, -KEPT).flat().map(truncate);
  return { kind: "show", isEpoch: false, messages: [...older, ...found.slice(-KEPT).flat()] };
}

export function truncate(message: SystemMessage): SystemMessage {
  const text = messageText(message.parts);
  const most = isResult(message) ? OUTPUT_CHARS : TEXT_CHARS;
  if (text.length <= most) return message;
  const shown = `${text.slice(0, most)}... [truncated ${text.length - most} chars]`;
  if (isResult(message)) return reduceResult(message, shown, most);
  const parts = message.parts.map((part) => (part.type === "text" ? { ...part, text: shown } : part));
  return { ...message, parts, shows: most };
}

export const cloudflareAgents: System = {
  name: "cloudflare agents",
  source: "cloudflare/agents: truncation of older messages at read time",
  recovers: false,
  decide,
};
