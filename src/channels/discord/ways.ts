/** By which of Discord's ways an act is done, and by which instead where Discord refuses it. */
import type { ChatPlace, OutboundAct } from "../../app/channels/channel";
import { type DiscordTarget, readDiscordTarget, withDiscordTarget } from "./place";

/**
 * `original`: fills the message that shows that the bot is thinking. `follow_up`: the interaction's token. `channel`: the bot's own token, with a
 * nonce that makes a repetition harmless, so it goes before `follow_up` where the bot may write.
 */
type Way = "original" | "follow_up" | "channel";

export function chooseWay(act: Exclude<OutboundAct, { type: "acknowledge_button" | "withdraw" }>): Way {
  const { token, is_thinking, may_write } = readDiscordTarget(act.place);
  if (act.type === "send" && act.is_first && is_thinking && token !== null) return "original";
  return token !== null && !may_write ? "follow_up" : "channel";
}

const UNKNOWN_CHANNEL = 10_003;
const UNKNOWN_MESSAGE = 10_008;
export const UNKNOWN_WEBHOOK = 10_015;
const UNKNOWN_INTERACTION = 10_062;
const MISSING_ACCESS = 50_001;
const MISSING_PERMISSIONS = 50_013;
const INVALID_WEBHOOK_TOKEN = 50_027;

/** A token is valid for 15 minutes. Discord's answer says that it is over, so that no clock need be right. */
const TOKEN_OVER = new Set([UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION, INVALID_WEBHOOK_TOKEN]);
const NO_ACCESS = new Set([UNKNOWN_CHANNEL, MISSING_ACCESS, MISSING_PERMISSIONS]);

/** Nothing shows any more that the bot is thinking: a person deleted the message, or the token is over. */
export const isWithdrawn = (act: OutboundAct, code: number): boolean =>
  act.type === "withdraw" && (code === UNKNOWN_MESSAGE || TOKEN_OVER.has(code));

/** The place as another way leads to it. Null: there is none. Each step takes a way from the target, so that the steps end. */
export function findOtherWay(act: OutboundAct, code: number): ChatPlace | null {
  if (act.type !== "send" && act.type !== "edit") return null;
  const target = readDiscordTarget(act.place);
  const way = chooseWay(act);
  const change = (changes: Partial<DiscordTarget>): ChatPlace => withDiscordTarget(act.place, { ...target, ...changes });
  if (way === "channel") return NO_ACCESS.has(code) && target.token !== null ? change({ may_write: false }) : null;
  if (TOKEN_OVER.has(code)) return change({ token: null, is_thinking: false });
  // A person has deleted the message that showed that the bot was thinking.
  return way === "original" && code === UNKNOWN_MESSAGE ? change({ is_thinking: false }) : null;
}
