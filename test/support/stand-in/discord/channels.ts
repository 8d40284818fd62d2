/** Channels of a server, threads and direct messages, and what people see in them. */
import type { CheckedContent, DiscordRow } from "./message-check.ts";

export interface DiscordChannel {
  readonly id: string;
  readonly type: "dm" | "group_dm" | "server" | "thread";
  /** A thread's. */
  readonly parent: string | null;
  /** The bot sees the channel. */
  readonly hasBot: boolean;
  readonly maySend: boolean;
}

export interface SeenMessage {
  readonly id: string;
  readonly author: string;
  content: string;
  components: readonly DiscordRow[];
  edits: number;
  /** It says that the bot is thinking. */
  isThinking: boolean;
  /** Only this person sees it. */
  readonly onlyFor: string | null;
  /** The mentions that notify a person. */
  mentions: readonly string[];
}

const EPOCH = 1_420_070_400_000;
export const FIRST_ID_BITS = 22n;

export class Channels {
  readonly #channels = new Map<string, DiscordChannel>();
  readonly #messages = new Map<string, SeenMessage[]>();
  readonly #now: () => number;
  #count = 0n;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(channel: Partial<DiscordChannel> & Pick<DiscordChannel, "id">): void {
    this.#channels.set(channel.id, { type: "server", parent: null, hasBot: true, maySend: true, ...channel });
  }

  find(id: string): DiscordChannel | undefined {
    return this.#channels.get(id);
  }

  list(channel: string): readonly SeenMessage[] {
    return this.#messages.get(channel) ?? [];
  }

  findMessage(channel: string, id: string): SeenMessage | undefined {
    return this.list(channel).find((message) => message.id === id);
  }

  post(channel: string, message: Partial<SeenMessage> & Pick<SeenMessage, "author">): SeenMessage {
    const id = this.nextId();
    const posted = { id, content: "", components: [], edits: 0, isThinking: false, onlyFor: null, mentions: [], ...message };
    this.#messages.set(channel, [...this.list(channel), posted]);
    return posted;
  }

  change(message: SeenMessage, checked: CheckedContent): void {
    message.edits += message.isThinking ? 0 : 1;
    message.isThinking = false;
    message.content = checked.content;
    message.components = checked.components;
    message.mentions = findMentions(checked);
  }

  remove(channel: string, id: string): void {
    this.#messages.set(
      channel,
      this.list(channel).filter((message) => message.id !== id),
    );
  }

  /** A time in milliseconds since 2015, and 22 bits that differ. */
  nextId(): string {
    this.#count += 1n;
    return String((BigInt(this.#now() - EPOCH) << FIRST_ID_BITS) | (this.#count % (1n << FIRST_ID_BITS)));
  }
}

/** Without `allowed_mentions`, each mention in the content notifies. */
export function findMentions({ content, allowed_mentions }: CheckedContent): readonly string[] {
  const allowed = allowed_mentions?.parse ?? ["everyone", "roles", "users"];
  const kinds = { everyone: /@everyone|@here/g, users: /<@!?\d+>/g, roles: /<@&\d+>/g } as const;
  return allowed.flatMap((kind) => content.match(kinds[kind]) ?? []);
}
