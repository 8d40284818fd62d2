/** The channels of a workspace, and what its people see in them. */
import type { SlackBlock } from "./block-check.ts";

export interface SlackChannel {
  readonly id: string;
  readonly type: "im" | "mpim" | "channel" | "group";
  readonly hasBot: boolean;
  readonly isArchived: boolean;
}

export interface SeenMessage {
  readonly ts: string;
  readonly thread_ts: string | null;
  readonly user: string;
  /** What Slack stores: the text of the blocks in mrkdwn, or the text of a message without blocks. */
  text: string;
  /** Empty: a message without blocks. */
  blocks: readonly SlackBlock[];
  edits: number;
}

export interface NewMessage {
  readonly channel: string;
  readonly thread_ts: string | null;
  readonly user: string;
  readonly text: string;
  readonly blocks?: readonly SlackBlock[];
}

export class Conversations {
  readonly #channels = new Map<string, SlackChannel>();
  readonly #messages = new Map<string, SeenMessage[]>();
  #last = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(channel: Partial<SlackChannel> & Pick<SlackChannel, "id">): void {
    const type = channel.id.startsWith("D") ? "im" : "channel";
    this.#channels.set(channel.id, { type, hasBot: true, isArchived: false, ...channel });
  }

  find(id: string): SlackChannel | undefined {
    return this.#channels.get(id);
  }

  list(channel: string): readonly SeenMessage[] {
    return this.#messages.get(channel) ?? [];
  }

  findMessage(channel: string, ts: string): SeenMessage | undefined {
    return this.list(channel).find((message) => message.ts === ts);
  }

  post({ channel, thread_ts, user, text, blocks = [] }: NewMessage): SeenMessage {
    const message: SeenMessage = {
      ts: this.nextTs(),
      thread_ts,
      user,
      text: blocks.length > 0 ? toShownText(blocks) : text,
      blocks,
      edits: 0,
    };
    this.#messages.set(channel, [...this.list(channel), message]);
    return message;
  }

  change(message: SeenMessage, { text, blocks = [] }: Pick<NewMessage, "text" | "blocks">): void {
    message.text = blocks.length > 0 ? toShownText(blocks) : text;
    message.blocks = blocks;
    message.edits++;
  }

  remove(channel: string, ts: string): void {
    this.#messages.set(
      channel,
      this.list(channel).filter((message) => message.ts !== ts),
    );
  }

  /** Seconds and six decimals, which differ for each message. */
  nextTs(): string {
    this.#last = Math.max(this.#last + 1, this.#now() * 1_000);
    return `${Math.floor(this.#last / 1_000_000)}.${String(this.#last % 1_000_000).padStart(6, "0")}`;
  }
}

const toShownText = (blocks: readonly SlackBlock[]): string =>
  blocks.flatMap((block) => (block.type === "section" ? [block.text.text] : [])).join("\n");
