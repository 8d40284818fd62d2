/** Slack: the Events API, slash commands and buttons in, the Web API out. docs/channels/slack.md says how to set up an app. */
import type { ChannelAdapter } from "../../app/channels/channel";
import { readSlackAnswer, readSlackFile } from "./answers";
import { type SlackCredentials, slackCredentials } from "./credentials";
import { renderMrkdwn } from "./mrkdwn";
import { parseSlack } from "./parse";
import { buildSlackFileRequest, buildSlackRequest, MAX_SLACK_BUTTONS, SECTION_CHARS } from "./requests";
import { verifySlack } from "./signature";

export const slack: ChannelAdapter<SlackCredentials> = {
  credentials: slackCredentials,
  traits: {
    fits: (rendered) => rendered.length <= SECTION_CHARS,
    // chat.update is of tier 3, over 50 calls a minute for the whole workspace: https://docs.slack.dev/apis/web-api/rate-limits
    edits: { every_ms: 3_000 },
    // Slack removes the status after two minutes.
    typing: { every_ms: 90_000 },
    // "1 per second per channel": https://docs.slack.dev/reference/methods/chat.postMessage
    pace: { messages: 1, per_ms: 1_000 },
    // An app may turn on delayed events, which are repeated each hour for a day: https://docs.slack.dev/apis/events-api
    redelivers_for_ms: 25 * 3_600_000,
    // Slack documents no key of repetition. `client_msg_id` is for its own clients: github.com/slackapi/java-slack-sdk/issues/852
    is_idempotent: false,
    max_buttons: MAX_SLACK_BUTTONS,
  },
  verify: (request, { signing_secret }, now) => verifySlack(request, signing_secret, now),
  parse: (request, { bot_user_id }) => parseSlack(request, bot_user_id ?? null),
  render: renderMrkdwn,
  build: buildSlackRequest,
  read: readSlackAnswer,
  buildFileRequest: buildSlackFileRequest,
  readFile: readSlackFile,
};
