/** Discord: interactions in, its HTTP API out. docs/channels/discord.md says how to set up an application. */
import type { ChannelAdapter } from "../../app/channels/channel";
import { readDiscordAnswer, readDiscordFile } from "./answers";
import { type DiscordCredentials, discordCredentials } from "./credentials";
import { renderDiscord } from "./markdown";
import { parseDiscord } from "./parse";
import { buildDiscordFileRequest, buildDiscordRequest, fitsDiscord, MAX_DISCORD_BUTTONS } from "./requests";
import { verifyDiscord } from "./signature";

export const discord: ChannelAdapter<DiscordCredentials> = {
  credentials: discordCredentials,
  traits: {
    fits: fitsDiscord,
    // Discord documents no numbers, and asks to follow its answers. A channel was seen to take five messages or edits in 5 s.
    edits: { every_ms: 2_000 },
    // Typing is shown for ten seconds: https://docs.discord.com/developers/resources/channel#trigger-typing-indicator
    typing: { every_ms: 9_000 },
    pace: { messages: 5, per_ms: 5_000 },
    // An interaction is sent once. Its token, which a repetition would have to use, is valid for 15 minutes.
    redelivers_for_ms: 15 * 60_000,
    // The first message fills another, and later ones have a nonce. Follow-ups do not: they are for channels where the bot may not write.
    is_idempotent: true,
    max_buttons: MAX_DISCORD_BUTTONS,
  },
  verify: (request, { public_key }, now) => verifyDiscord(request, public_key, now),
  parse: (request, { application_id }) => parseDiscord(request, application_id),
  render: renderDiscord,
  build: buildDiscordRequest,
  read: readDiscordAnswer,
  buildFileRequest: buildDiscordFileRequest,
  readFile: readDiscordFile,
};
