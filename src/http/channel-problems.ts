/** Refusals about channels: part of the table in `problem`. */
import type { ChannelError } from "../app/channel-error";
import { conflict, type RouteAnswer, unknown } from "./answer";

/** The answer to a webhook that is none of ours. A made-up tenant, a made-up channel and a wrong signature are not told apart. */
export interface WebhookRefused {
  readonly code: "webhook_refused";
}

type Answered = ChannelError | WebhookRefused;

export const channelAnswers: { readonly [E in Answered as E["code"]]: (error: E) => RouteAnswer } = {
  channel_not_found: () => unknown("channel", "channel_name"),
  channel_limit: ({ limit }) => conflict("Too many channels", `A tenant has at most ${limit} channels; delete one first.`, { limit }),
  pairing_off: ({ mode }) =>
    conflict("No pairing", `Codes pair people with a channel whose access.mode is pairing. The mode of this one is ${mode}.`, { mode }),
  pairing_code_limit: ({ limit }) =>
    conflict("Too many pairing codes", `At most ${limit} codes of a channel wait at a time. Each ends after an hour.`, { limit }),
  paired_user_not_found: () => unknown("paired user", "user_id"),
  webhook_refused: () => ({
    status: 401,
    title: "Webhook refused",
    detail: "There is no such channel, or the request is not signed as the channel expects.",
    headers: { "WWW-Authenticate": "Signature" },
  }),
};
