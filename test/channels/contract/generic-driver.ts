import { createHmac } from "node:crypto";
import { type PlatformScript, startChatPlatform } from "../../support/stand-in/chat-platform";
import type { ChannelDriver, SendTrouble } from "./driver";

const TROUBLES: Readonly<Record<SendTrouble, PlatformScript>> = {
  limit: { status: 429, headers: { "retry-after": "2" } },
  broken: { status: 503 },
  refuse: { status: 400 },
  lose_answer: { lost: true },
};
const KEY = Buffer.alloc(32, 7);
const TRIES = 3;

/** Posts until there is an answer, as the receiver's sender would. */
async function postSigned(url: string, now: number, { id, body }: { readonly id: string; readonly body: string }): Promise<void> {
  const timestamp = String(Math.floor(now / 1_000));
  const signature = createHmac("sha256", KEY).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  for (let tries = 0; tries < TRIES; tries++) {
    const response = await fetch(url, { method: "POST", headers, body }).catch(() => null);
    await response?.body?.cancel();
    if (response) return;
  }
}

export const genericDriver: ChannelDriver = {
  type: "generic",
  can: {
    groups: true,
    overhear: true,
    reportEdits: true,
    reportDeletions: true,
    growReplies: false,
    recogniseRepetitions: true,
    redeliver: true,
    checkAddress: false,
  },
  signature: { header: "webhook-signature", wrong: `v1,${Buffer.alloc(32).toString("base64")}`, isTimed: true },
  deadlineMs: 3_000,
  longest: 32_000,
  limitMs: 2_000,
  shown: "**bold** & 1 < 2",
  start: async () => {
    const desk = await startChatPlatform();
    // All stand-ins of a process share their rooms.
    const room = `replies-${new URL(desk.url).port}`;
    let [url, ahead, ids] = ["", 0, 0];
    return {
      credentials: { signature: "standard_webhooks", secret: `whsec_${KEY.toString("base64")}`, reply_url: `${desk.url}/${room}` },
      receiveAt: (hook) => {
        url = hook;
      },
      open: (kind) => {
        const conversation = `room-${++ids}`;
        const write = async (event: object, user = "asker"): Promise<string> => {
          const id = `w${++ids}`;
          const about = { id, conversation, private: kind === "private", user: { id: user, name: user, language: "en" } };
          await postSigned(url, Date.now() + ahead, { id, body: JSON.stringify({ ...about, ...event }) });
          return id;
        };
        const replies = () => {
          const taken = desk.taken(room).filter((reply) => reply.conversation === conversation);
          return [...new Map(taken.map((reply) => [reply.operation, reply])).values()];
        };
        return {
          say: async ({ text, by, file, isAside = false }) => {
            const files = file ? [{ url: desk.addFile(file.bytes, file.type), name: file.name, media_type: file.type }] : [];
            const id = `m${++ids}`;
            await write({ message: { id, text, files, addressed: !isAside } }, by);
            return id;
          },
          command: (name) => write({ message: { id: `m${++ids}`, text: `/${name}` } }),
          replies: () =>
            replies().map(({ operation, text, buttons }) => ({
              id: operation,
              text,
              edits: 0,
              buttons: buttons.map(({ label }) => label),
            })),
          press: ({ id }, label, by) => {
            const data = replies()
              .find(({ operation }) => operation === id)
              ?.buttons.find((button) => button.label === label)?.data;
            return write({ button: { message: id, data } }, by);
          },
          edit: (id, text) => write({ edit: { id, text } }),
          delete: (id) => write({ deletion: { id } }),
        };
      },
      verifyAddress: () => Promise.reject(new Error("A generic channel's address is not checked.")),
      trouble: (trouble) => desk.script(room, TROUBLES[trouble]),
      setClock: (aheadMs) => {
        ahead = aheadMs;
      },
      close: () => desk.close(),
    };
  },
};
