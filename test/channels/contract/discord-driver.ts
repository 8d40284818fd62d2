import { type DiscordStandIn, startDiscord } from "../../support/stand-in/discord/discord";
import type { DiscordMishap } from "../../support/stand-in/discord/mishaps";
import type { ChannelDriver, ContractPlatform, SendTrouble } from "./driver";

const TROUBLES: Readonly<Record<SendTrouble, DiscordMishap>> = {
  limit: { type: "limit", seconds: 2 },
  broken: { type: "error", status: 502 },
  refuse: { type: "error", status: 400, code: 50_035 },
  lose_answer: { type: "lose_answer" },
};
const USERS = { asker: "501", other: "502" } as const;
/** The type of an option that is a text. */
const TEXT = 3;

/** `setClock`: moves the clock that the stand-in was started with. */
export function toDiscordPlatform(discord: DiscordStandIn, setClock: (aheadMs: number) => void = () => undefined): ContractPlatform {
  let channels = 1_000;
  return {
    credentials: {
      application_id: discord.application,
      public_key: discord.keys.publicKey,
      bot_token: discord.token,
      api_url: discord.apiUrl,
    },
    receiveAt: (url) => discord.receiveAt(url),
    open: (kind) => {
      const channel = String(++channels);
      discord.addChannel({ id: channel, type: kind === "private" ? "dm" : "server" });
      return {
        say: async ({ text, by = "asker", file }) => {
          const attachments = file ? [discord.addFile(file.name, file.type, file.bytes)] : [];
          const options = [{ name: "message", type: TEXT, value: text }];
          return (await discord.command({ channel, user: USERS[by], name: "ask", options, attachments })).id;
        },
        command: (name) => discord.command({ channel, user: USERS.asker, name }),
        replies: () =>
          discord
            .seen(channel)
            .filter(({ isThinking }) => !isThinking)
            .map(({ id, content, components, edits }) => ({
              id,
              text: content,
              edits,
              buttons: components.flatMap((row) => row.components.map(({ label }) => label)),
            })),
        press: ({ id }, label, by) => discord.press(channel, USERS[by], { message: id, label }),
        edit: () => Promise.reject(new Error("Discord reports no edits to a bot without a connection.")),
        delete: () => Promise.reject(new Error("Discord reports no deletions to a bot without a connection.")),
      };
    },
    verifyAddress: () => discord.verifyEndpoint(),
    trouble: (trouble) => discord.mishap(TROUBLES[trouble]),
    setClock,
    close: () => discord.close(),
  };
}

export const discordDriver: ChannelDriver = {
  type: "discord",
  can: {
    groups: true,
    overhear: false,
    reportEdits: false,
    reportDeletions: false,
    growReplies: true,
    recogniseRepetitions: true,
    redeliver: false,
    checkAddress: true,
  },
  signature: { header: "x-signature-ed25519", wrong: "0".repeat(128), isTimed: true },
  deadlineMs: 3_000,
  longest: 2_000,
  limitMs: 2_000,
  shown: "**bold** & 1 \\< 2",
  start: async () => {
    let ahead = 0;
    const discord = await startDiscord({ now: () => Date.now() + ahead });
    const setClock = (aheadMs: number): void => {
      ahead = aheadMs;
    };
    return toDiscordPlatform(discord, setClock);
  },
};
