import { startWhatsApp, type WhatsAppMishap, type WhatsAppStandIn } from "../../support/stand-in/whatsapp/whatsapp";
import type { ChannelDriver, ContractPlatform, SendTrouble } from "./driver";

const TROUBLES: Readonly<Record<SendTrouble, WhatsAppMishap>> = {
  limit: { type: "error", code: 131_056, status: 400 },
  broken: { type: "error", code: 131_000, status: 500 },
  refuse: { type: "error", code: 131_026, status: 400 },
  lose_answer: { type: "lose_answer" },
};

export function toWhatsAppPlatform(whatsapp: WhatsAppStandIn): ContractPlatform {
  let people = 0;
  const { appSecret: app_secret, accessToken: access_token, verifyToken: verify_token, phoneNumberId: phone_number_id } = whatsapp;
  return {
    credentials: { app_secret, access_token, verify_token, phone_number_id, api_url: whatsapp.apiUrl },
    receiveAt: (url) => whatsapp.receiveAt(url),
    open: () => {
      const number = ++people;
      const persons = { asker: `4915100${number}`, other: `4915200${number}` };
      const send = async (content: object): Promise<string> => (await whatsapp.write(persons.asker, [content])).ids[0] ?? "";
      return {
        say: ({ text, file }) => {
          if (!file) return send({ type: "text", text: { body: text } });
          const media = { id: `media${number}`, mime_type: file.type, filename: file.name, caption: text };
          whatsapp.addMedia(media.id, file.type, file.bytes);
          return send({ type: "document", document: media });
        },
        command: (name) => whatsapp.say(persons.asker, `/${name}`),
        replies: () =>
          whatsapp.seen(persons.asker).map(({ id, text, choices }) => ({ id, text, edits: 0, buttons: choices.map(({ title }) => title) })),
        press: ({ id }, title, by) => {
          if (by === "asker") return whatsapp.press(persons.asker, { id, title });
          const choice = whatsapp
            .seen(persons.asker)
            .find((each) => each.id === id)
            ?.choices.find((each) => each.title === title);
          const interactive = { type: "button_reply", button_reply: choice };
          return whatsapp.write(persons.other, [{ type: "interactive", context: { id }, interactive }]);
        },
        edit: () => Promise.reject(new Error("WhatsApp reports no edits.")),
        delete: () => Promise.reject(new Error("WhatsApp reports no deletions.")),
      };
    },
    verifyAddress: () => whatsapp.verifyUrl("1158201444"),
    trouble: (trouble) => whatsapp.mishap(TROUBLES[trouble]),
    setClock: () => undefined,
    close: () => whatsapp.close(),
  };
}

export const whatsappDriver: ChannelDriver = {
  type: "whatsapp",
  can: {
    groups: false,
    overhear: false,
    reportEdits: false,
    reportDeletions: false,
    growReplies: false,
    recogniseRepetitions: false,
    redeliver: true,
    checkAddress: true,
  },
  signature: { header: "x-hub-signature-256", wrong: `sha256=${"0".repeat(64)}`, isTimed: false },
  // Meta names no time in its documents.
  deadlineMs: 10_000,
  longest: 4_096,
  limitMs: 6_000,
  shown: "*bold* & 1 < 2",
  start: async () => toWhatsAppPlatform(await startWhatsApp()),
};
