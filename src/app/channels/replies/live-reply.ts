/** Shows a turn while it runs: that the bot types, and the text so far in a message that is edited. What is shown here is never the last word. */
import type { StreamFrame } from "../../../contract/frame";
import { toErrorName } from "../../../lib/error-name";
import { sha256Sync } from "../../../lib/sha256-sync";
import type { OutboundAct } from "../channel";
import type { ChatHost, ChatRoom } from "../chat-ports";
import type { ChatTurn, LiveMessage } from "../chat-store";
import { type Delivered, deliver } from "./deliver";
import { findFreeTime, noteSent } from "./pace";
import { splitReply, toFirstOperation } from "./reply";
import { noteInLog } from "./say";

/** How long the first text is gathered before it is shown. */
const GATHER_MS = 700;

export class LiveReply {
  readonly #chat: ChatHost;
  readonly #room: ChatRoom;
  readonly #followed: ChatTurn;
  #live: LiveMessage | null;
  /** The text of the newest reply of the turn, and the message that it becomes. */
  #text = "";
  #message: string | undefined;
  #shown = "";
  /** The markdown that the message has. */
  #part = "";
  /** The message takes no more of the text, so that nothing is cut or sent while the rest of it comes. */
  #isFull = false;
  /** No edit before this time. */
  #freeAt = 0;
  #isStopped = false;
  #canGrow: boolean;
  #work: Promise<void> = Promise.resolve();
  #cancelFlush: (() => void) | null = null;
  #cancelTyping: (() => void) | null = null;

  constructor(chat: ChatHost, room: ChatRoom, followed: ChatTurn) {
    this.#chat = chat;
    this.#room = room;
    this.#followed = followed;
    this.#live = followed.live;
    const { streaming } = room.channel.settings;
    this.#canGrow = streaming && room.adapter.traits.edits !== null && (followed.live === null || followed.live.message !== null);
  }

  hear(frame: StreamFrame): void {
    switch (frame.type) {
      case "turn.started":
      case "turn.resumed":
        this.#beginText(this.#message);
        return this.#type();
      case "text.delta":
        if (frame.message_id !== this.#message) this.#beginText(frame.message_id);
        this.#text += frame.text;
        return this.#flushSoon();
      default:
        return;
    }
  }

  #beginText(message: string | undefined): void {
    this.#text = "";
    this.#isFull = false;
    this.#message = message;
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelFlush?.();
    this.#cancelTyping?.();
    await this.#work;
  }

  #type(): void {
    const { typing } = this.#room.adapter.traits;
    if (!typing || this.#cancelTyping) return;
    const again = (): void => {
      if (this.#isStopped) return;
      this.#cancelTyping = this.#chat.deps.schedule(typing.every_ms, again);
      if (this.#live === null) this.#chat.deps.background(this.#deliver({ type: "typing", place: this.#followed.place }));
    };
    again();
  }

  #flushSoon(): void {
    if (!this.#canGrow || this.#isFull || this.#isStopped || this.#cancelFlush) return;
    const { now, schedule } = this.#chat.deps;
    const wait = Math.max(this.#live ? 0 : GATHER_MS, this.#freeAt - now());
    this.#cancelFlush = schedule(wait, () => {
      this.#work = this.#flush()
        .catch((error: unknown) => this.#stopGrowing(error))
        .finally(() => {
          this.#cancelFlush = null;
          if (this.#text !== this.#shown) this.#flushSoon();
        });
    });
  }

  /** A write failed. What is stored says what is known, and the turn's end goes by it. */
  #stopGrowing(error: unknown): void {
    this.#canGrow = false;
    this.#chat.deps.log.warn("chat.reply_not_shown", { turn: this.#followed.turn, error: toErrorName(error) });
  }

  async #flush(): Promise<void> {
    const { traits } = this.#room.adapter;
    const [first, ...rest] = splitReply(this.#room.adapter, this.#text);
    this.#shown = this.#text;
    if (this.#isStopped || first === undefined || !traits.edits) return;
    if (this.#live === null) await this.#begin(first);
    else if (this.#live.message !== null && first !== this.#part) await this.#edit(this.#live.message, first);
    // No text behind the second message moves the place where the first one was cut.
    this.#isFull = this.#live !== null && rest.length > 1 && this.#part === first;
    this.#freeAt = Math.max(this.#freeAt, this.#chat.deps.now() + traits.edits.every_ms);
  }

  /** The first message is stored before it is sent, as every part is. What waits to be sent goes before it. */
  async #begin(markdown: string): Promise<void> {
    const { store, now } = this.#chat.deps;
    const { traits } = this.#room.adapter;
    this.#freeAt = findFreeTime(store, traits);
    if (store.parts.first() !== null || this.#freeAt > now() || !store.turns.find(this.#followed.turn)) return;
    const operation = toFirstOperation(this.#followed);
    const begun = { operation, ...toBeginning(this.#text, markdown) };
    this.#note({ ...begun, state: "sending", message: null }, true);
    const said = { operation, place: this.#followed.place, text: this.#room.adapter.render(markdown), buttons: [], is_plain: false };
    await this.#settle(await this.#deliver({ type: "send", ...said, is_first: !this.#followed.is_answered }), begun);
    this.#part = markdown;
  }

  async #settle(outcome: Delivered, begun: Pick<LiveMessage, "operation" | "units" | "digest">): Promise<void> {
    const { session, turn } = this.#followed;
    if (outcome.kind === "done") {
      this.#note({ ...begun, state: "shown", message: outcome.message });
      this.#canGrow = outcome.message !== null;
    } else if (outcome.kind === "unknown" && this.#room.adapter.traits.is_idempotent) {
      // The reply's parts begin with the same operation.
      this.#canGrow = false;
    } else if (outcome.kind === "unknown") {
      this.#canGrow = false;
      await noteInLog(this.#chat, { id: begun.operation, kind: "reply_failed", reason: `in doubt: ${outcome.reason}`, session, turn });
      this.#note({ ...begun, state: "lost", message: null });
    } else {
      // The message is not there. The whole reply says the rest, in the way that every part does.
      this.#note(null);
      this.#canGrow = outcome.kind === "rate_limited";
      if (outcome.kind === "rate_limited") this.#freeAt = this.#chat.deps.now() + outcome.retry_in_ms;
    }
  }

  async #edit(message: string, markdown: string): Promise<void> {
    const operation = `${this.#followed.turn}.live`;
    const said = { operation, place: this.#followed.place, text: this.#room.adapter.render(markdown), buttons: [], is_plain: false };
    const outcome = await this.#deliver({ type: "edit", message, ...said });
    if (outcome.kind === "done") this.#part = markdown;
    if (outcome.kind === "rate_limited") this.#freeAt = this.#chat.deps.now() + outcome.retry_in_ms;
  }

  #note(live: LiveMessage | null, isSent = false): void {
    const { store, now } = this.#chat.deps;
    store.transaction(() => {
      store.turns.show(this.#followed.turn, live);
      if (isSent) noteSent(store, this.#room.adapter.traits, now());
    });
    this.#live = live;
  }

  #deliver(act: OutboundAct): Promise<Delivered> {
    return deliver(this.#chat, this.#room, act);
  }
}

/** What of the text is in the message: all of the message but what closes a block that was cut. */
function toBeginning(text: string, message: string): Pick<LiveMessage, "units" | "digest"> {
  const source = text.trimStart();
  let units = Math.min(source.length, message.length);
  while (!source.startsWith(message.slice(0, units))) units -= 1;
  return { units, digest: sha256Sync(source.slice(0, units)) };
}
