/** Writes the text and reasoning of replies as items, delta by delta. */
import type { StreamFrame } from "../../../contract/frame";
import type { DisplayItem } from "../../../contract/item";
import type { ItemId, SessionId } from "../../../domain/ids";
import { toItemName } from "../items/item-names";
import { buildOutput, type ItemWriter, readText } from "./events";

type Deltas = Extract<StreamFrame, { type: "text.delta" | "reasoning.delta" }>;

/** A reply that is being written. */
interface OpenReply {
  readonly id: ItemId;
  readonly items: ReturnType<ItemWriter["open"]>[];
}

export class ReplyWriter {
  readonly #writer: ItemWriter;
  readonly #session: SessionId;
  #reply: OpenReply | null = null;

  constructor(writer: ItemWriter, session: SessionId) {
    this.#writer = writer;
    this.#session = session;
  }

  append({ type, message_id, text }: Deltas): void {
    if (this.#reply?.id !== message_id) this.abandon();
    this.#reply ??= { id: message_id, items: [] };
    const { items } = this.#reply;
    const kind = type === "text.delta" ? "text" : "reasoning";
    const last = items.at(-1);
    if (last?.kind === kind) return this.#writer.append(last, text);
    if (last) this.#writer.close(last, "completed");
    const nth = items.filter((item) => item.kind === kind).length + 1;
    const prefix = kind === "text" ? "msg" : "rs";
    const next = this.#writer.open(kind, toItemName({ prefix, session: this.#session, id: message_id, nth }));
    items.push(next);
    this.#writer.append(next, text);
  }

  abandon(): void {
    for (const item of this.#reply?.items ?? []) this.#writer.close(item, "incomplete");
    this.#reply = null;
  }

  /** A frame that is too long leaves the text out, which was told before. */
  fillIn(message: DisplayItem): DisplayItem {
    const told = this.#reply?.id === message.id ? this.#reply.items : [];
    return { ...message, content: told.map(({ kind, text }) => ({ type: kind, text })) };
  }

  finish(message: DisplayItem): void {
    const begun = this.#reply?.id === message.id ? this.#reply.items : [];
    if (this.#reply?.id !== message.id) this.abandon();
    const said = buildOutput([message], { session: this.#session, ranHere: new Set(), approvals: new Map() }).filter(
      ({ type }) => type === "message" || type === "reasoning",
    );
    for (const [index, item] of said.entries()) {
      const open = begun[index];
      const whole = readText(item);
      if (!open) this.#writer.write(item);
      else if (open.isOpen && whole.startsWith(open.text)) this.#writer.append(open, whole.slice(open.text.length));
      // Some of the text was not heard. The event that ends the item has all of it.
      else if (open.isOpen) open.text = whole;
    }
    for (const open of begun) this.#writer.close(open, message.incomplete ? "incomplete" : "completed");
    this.#reply = null;
  }
}
