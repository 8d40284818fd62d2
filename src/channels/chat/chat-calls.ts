/** What may be asked of a chat's object. */
import type { Chat } from "../../app/channels/chat";
import type { ChatApi } from "../../app/channels/chat-api";

type ServedChat = { readonly [M in keyof ChatApi]: (chat: Chat, ...args: Parameters<ChatApi[M]>) => ReturnType<ChatApi[M]> };

export const chatCalls = {
  receive: async (chat, address, deliveries) => chat.receive(address, deliveries),
  forgetSession: async (chat, _, session) => chat.forgetSession(session),
  empty: async (chat, _, at) => chat.empty(at),
  scrub: async (chat) => chat.scrub(),
  follow: async (chat, _, turn) => chat.follow(turn),
} satisfies ServedChat;
