import type { ChatPlace } from "../../app/channels/channel";

interface SlackTarget {
  readonly channel: string;
  readonly thread_ts: string | null;
}

/** Ids of direct messages begin with D. `channel_type` is not sent with every event. */
export const isDirectMessage = (channel: string, type?: string | null): boolean => (type ? type === "im" : channel.startsWith("D"));

export function toPlace({ channel, thread_ts }: SlackTarget, isPrivate: boolean): ChatPlace {
  return { chat: channel, thread: thread_ts, is_private: isPrivate, target: { channel, thread_ts } };
}

/**
 * The thread that a person's message belongs to. In a channel each message outside of a thread opens one, so that the reply is below it. In a
 * direct message the reply is beside it. A message that others replied to names its own `ts` as its thread.
 */
export function findThread(
  message: { readonly ts: string; readonly thread_ts?: string | null | undefined },
  isPrivate: boolean,
): string | null {
  if (isPrivate) return message.thread_ts && message.thread_ts !== message.ts ? message.thread_ts : null;
  return message.thread_ts ?? message.ts;
}

export function readTarget({ chat, target }: ChatPlace): SlackTarget {
  const { channel, thread_ts } = target;
  return { channel: typeof channel === "string" ? channel : chat, thread_ts: typeof thread_ts === "string" ? thread_ts : null };
}

/** Slack's timestamps are seconds with six decimals, and name a message within its channel. */
export const toMilliseconds = (ts: string): number => Math.round(Number(ts) * 1_000);
