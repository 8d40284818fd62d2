/** What the people of WhatsApp wrote, and what they see of the bot. */
import type { WhatsAppMessage } from "./message-check.ts";

export interface SeenWhatsApp {
  readonly id: string;
  readonly text: string;
  readonly choices: readonly { readonly id: string; readonly title: string }[];
}

const DAY_MS = 86_400_000;
const PAIR_MS = 6_000;
const TYPING_MS = 25_000;

export class People {
  readonly #now: () => number;
  readonly #burst: number;
  readonly #seen = new Map<string, readonly SeenWhatsApp[]>();
  /** When each person last wrote. */
  readonly #wrote = new Map<string, number>();
  readonly #writers = new Map<string, string>();
  readonly #sentAt = new Map<string, readonly number[]>();
  readonly #typingUntil = new Map<string, number>();
  #ids = 0;

  /** `burst`: how many messages one person takes at once. Afterwards it is one every 6 s. */
  constructor(now: () => number, burst: number) {
    this.#now = now;
    this.#burst = burst;
  }

  list(person: string): readonly SeenWhatsApp[] {
    return this.#seen.get(person) ?? [];
  }

  isTyping(person: string): boolean {
    return (this.#typingUntil.get(person) ?? 0) > this.#now();
  }

  write(person: string): string {
    const id = `wamid.IN${++this.#ids}`;
    this.#wrote.set(person, this.#now());
    this.#writers.set(id, person);
    return id;
  }

  /** False: there is no such message. */
  showTyping(message: string): boolean {
    const person = this.#writers.get(message);
    if (person) this.#typingUntil.set(person, this.#now() + TYPING_MS);
    return person !== undefined;
  }

  /** The error's code, or the id of the message that the person sees. */
  take(message: WhatsAppMessage): number | string {
    const person = message.to ?? message.recipient ?? "";
    const now = this.#now();
    if (now - (this.#wrote.get(person) ?? 0) > DAY_MS) return 131_047;
    // A burst borrows from the time to come.
    const sent = (this.#sentAt.get(person) ?? []).filter((at) => now - at < PAIR_MS * this.#burst);
    if (sent.length >= this.#burst) return 131_056;
    this.#sentAt.set(person, [...sent, now]);
    const id = `wamid.OUT${++this.#ids}`;
    this.#seen.set(person, [...this.list(person), { id, ...toSeen(message) }]);
    this.#typingUntil.delete(person);
    return id;
  }
}

function toSeen(message: WhatsAppMessage): Omit<SeenWhatsApp, "id"> {
  if (message.type === "text") return { text: message.text.body, choices: [] };
  const { interactive } = message;
  const choices =
    interactive.type === "button"
      ? interactive.action.buttons.map(({ reply }) => reply)
      : interactive.action.sections.flatMap(({ rows }) => rows.map(({ id, title }) => ({ id, title })));
  return { text: interactive.body.text, choices };
}
