import { type TelegramMishap, TelegramStandIn } from "../../support/stand-in/telegram/telegram";
import type { ChannelDriver, SendTrouble } from "./driver";

const TROUBLES: Readonly<Record<SendTrouble, TelegramMishap>> = {
  limit: { type: "refuse", status: 429, description: "Too Many Requests: retry after 2", parameters: { retry_after: 2 } },
  broken: { type: "gateway", status: 502 },
  refuse: { type: "refuse", status: 403, description: "Forbidden: bot was blocked by the user" },
  lose_answer: { type: "lose_answer" },
};
const SECRET = "a-secret-of-this-test-only";

export const telegramDriver: ChannelDriver = {
  type: "telegram",
  can: {
    groups: true,
    overhear: true,
    reportEdits: true,
    reportDeletions: false,
    growReplies: true,
    recogniseRepetitions: false,
    redeliver: true,
    checkAddress: false,
  },
  signature: { header: "x-telegram-bot-api-secret-token", wrong: "another-secret-altogether", isTimed: false },
  // Telegram names no time in its documents.
  deadlineMs: 10_000,
  longest: 4_096,
  limitMs: 2_000,
  shown: "bold & 1 < 2",
  start: async () => {
    const telegram = await new TelegramStandIn().listen();
    return {
      credentials: {
        bot_token: telegram.token,
        secret_token: SECRET,
        bot_username: telegram.bot.username,
        api_url: telegram.url,
      },
      receiveAt: (url) => {
        telegram.updates.hook = { url, secret: SECRET };
      },
      open: (kind) => {
        const people = { asker: telegram.addPerson("Ada"), other: telegram.addPerson("Ben") };
        const group = kind === "group" ? telegram.addGroup("Tea") : null;
        const room = group ?? people.asker;
        return {
          say: async ({ text, by = "asker", file, isAside }) => {
            const typed = group && !isAside ? `@${telegram.bot.username} ${text}` : text;
            const id = file && telegram.putFile(file.bytes);
            const document = file && { file_id: id, file_unique_id: `unique-${id}`, file_name: file.name, mime_type: file.type };
            const extra = document ? { document, caption: typed } : undefined;
            const from = people[by];
            telegram.say({ from, ...(group && { chat: group }), ...(extra ? { extra } : { text: typed }) });
            const message = telegram.seen(room).findLast((seen) => seen.from.id === from.id)?.message_id;
            await telegram.updates.settled();
            return String(message);
          },
          command: (name) => {
            telegram.say({ from: people.asker, text: `/${name}` });
            return telegram.updates.settled();
          },
          replies: () =>
            telegram
              .seen(room)
              .filter(({ from }) => from.is_bot)
              .map(({ message_id, text, keys, edits }) => ({
                id: String(message_id),
                text,
                edits,
                buttons: keys.flat().map((key) => key.text),
              })),
          press: (_, label, by) => {
            telegram.press(people[by], label, room);
            return telegram.updates.settled();
          },
          edit: (_, text) => {
            telegram.rewrite(people.asker, text);
            return telegram.updates.settled();
          },
          delete: () => Promise.reject(new Error("Telegram reports no deletions.")),
        };
      },
      verifyAddress: () => Promise.reject(new Error("Telegram checks no address.")),
      trouble: (trouble) => telegram.mishap(TROUBLES[trouble]),
      setClock: () => undefined,
      close: () => telegram.close(),
    };
  },
};
