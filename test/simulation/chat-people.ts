/**
 * People in simulated chats: they write, change and delete messages, use commands, press buttons that are theirs or not, and set reminders. What
 * they did is kept, for the rules.
 */
import type { ChatEvent, ChatPlace, Delivery } from "../../src/app/channels/channel";
import { toConversationKey } from "../../src/app/channels/chat-api";
import { TENANT } from "../http/support";
import type { ChatWorld } from "./chat-world";

const PEOPLE = ["u1", "u2", "u3"] as const;
/** What one person does. */
const ACTS = 9;

interface Written {
  readonly mark: string;
  readonly place: ChatPlace;
  readonly user: string;
  readonly conversation: string;
}

export class People {
  /** The messages that were sent, in order. */
  readonly written: Written[] = [];
  /** By the mark of a message: the mark of its new text. */
  readonly edits = new Map<string, string>();
  readonly deleted = new Set<string>();
  /** By the mark of a reminder: the session that has it. */
  readonly reminders = new Map<string, Parameters<ChatWorld["findSession"]>[0]>();
  /** Marks of conversations that a person may have erased since. */
  readonly forgotten = new Set<string>();
  readonly world: ChatWorld;
  readonly #answered = new Set<string>();
  #last = 0;

  constructor(world: ChatWorld) {
    this.world = world;
  }

  begin(): void {
    for (const name of PEOPLE) void this.#sit(name);
  }

  async #sit(name: string): Promise<void> {
    const { scheduler, random, platform } = this.world;
    for (let n = 0; n < ACTS; n++) {
      await scheduler.sleep(platform.scope, random.pick([0, 500, 8_000, 60_000]), `${name} thinks`);
      await this.#act(name);
    }
  }

  async #act(name: string): Promise<void> {
    const { random, platform, acts } = this.world;
    switch (random.weighted(acts)) {
      case "write":
        return void platform.deliver([this.#write(name)]);
      case "write_twice":
        return void platform.deliver([this.#write(name), this.#write(name)]);
      case "command":
        return this.#command(name, random.weighted({ help: 1, context: 1, reset: 2, undo: 1, forget: 1.5 }));
      case "edit":
        return this.#edit(name);
      case "delete":
        return this.#delete(name);
      case "press":
        return this.#press(name);
      case "remind":
        return this.#remind();
    }
  }

  #next(): string {
    return String(++this.#last);
  }

  #deliver(mark: string, { place, user }: { readonly place: ChatPlace; readonly user: string }, event: ChatEvent): Delivery {
    return { id: `d${mark}`, place, user: { id: user, name: user, language: "en" }, at: this.world.scheduler.now, event };
  }

  #write(user: string): Delivery {
    const mark = this.#next();
    const place = this.#drawPlace(user);
    const conversation = this.#toConversation(place, user);
    this.written.push({ mark, place, user, conversation });
    const event = {
      type: "message",
      message: `m${mark}`,
      text: `What is #${mark}?`,
      files: [],
      command: null,
      is_addressed: true,
    } as const;
    return this.#deliver(mark, { place, user }, event);
  }

  #toConversation(place: ChatPlace, user: string): string {
    return toConversationKey(this.world.settings, place, { id: user, name: user, language: "en" });
  }

  #command(user: string, name: string): void {
    const { platform, stats } = this.world;
    const mark = this.#next();
    stats.count(`command ${name}`);
    const place = this.#drawPlace(user);
    const command = { name, args: "" };
    const event = { type: "message", message: `m${mark}`, text: `/${name}`, files: [], command, is_addressed: true } as const;
    void platform.deliver([this.#deliver(mark, { place, user }, event)]);
    if (name === "forget") void this.#answer(user, place);
  }

  /** Who asks for an erasure mostly answers the question. */
  async #answer(user: string, { chat }: ChatPlace): Promise<void> {
    const { platform, scheduler, random } = this.world;
    await scheduler.sleep(platform.scope, random.pick([5_000, 20_000, 60_000]), `${user} reads the question`);
    const question = platform.seen.findLast(({ place, buttons }) => place.chat === chat && buttons.length > 0);
    if (question) this.#pressOne(user, question);
  }

  /** A message is edited once, at any time before it is deleted. */
  #edit(name: string): void {
    const { random, platform, stats } = this.world;
    const own = this.written.filter(({ user, mark }) => user === name && !this.edits.has(mark) && !this.deleted.has(mark));
    if (own.length === 0) return;
    const message = random.chance(0.6) ? own.at(-1) : random.pick(own);
    if (!message) return;
    const mark = this.#next();
    this.edits.set(message.mark, mark);
    stats.count("edits");
    void platform.deliver([this.#deliver(mark, message, { type: "edit", message: `m${message.mark}`, text: `What is #${mark}?` })]);
  }

  #delete(name: string): void {
    const { random, platform, stats } = this.world;
    const own = this.written.filter(({ user, mark }) => user === name && !this.deleted.has(mark));
    if (own.length === 0) return;
    const message = random.pick(own);
    this.deleted.add(message.mark);
    stats.count("deletions");
    void platform.deliver([this.#deliver(this.#next(), message, { type: "deletion", message: `m${message.mark}` })]);
  }

  #press(user: string): void {
    const { random, platform } = this.world;
    const asked = platform.seen.filter(({ buttons }) => buttons.length > 0);
    if (asked.length > 0) this.#pressOne(user, random.pick(asked));
  }

  #pressOne(user: string, { id, place, buttons }: ChatWorld["platform"]["seen"][number]): void {
    const { random, platform, stats } = this.world;
    const { data } = random.pick(buttons);
    stats.count("buttons pressed");
    const conversation = this.#toConversation(place, user);
    const forget = (): void => {
      for (const each of this.written) if (each.conversation === conversation) this.forgotten.add(each.mark);
    };
    forget();
    // A press that comes late erases what was written after it and came before it.
    void platform.deliver([this.#deliver(this.#next(), { place, user }, { type: "button", message: id, data })]).then(forget);
  }

  /** Once nothing fails any more, every question is answered. Returns how many new ones there were. */
  answerAll(): number {
    const asked = this.world.platform.seen.filter(({ id, buttons }) => buttons.length > 0 && !this.#answered.has(id));
    for (const message of asked) {
      this.#answered.add(message.id);
      for (const user of PEOPLE) this.#pressOne(user, message);
    }
    return asked.length;
  }

  async #remind(): Promise<void> {
    const { world } = this;
    const { random, platform, scheduler, stats } = world;
    const open = [...world.sessions.keys()];
    if (open.length === 0) return;
    const session = random.pick(open);
    const mark = this.#next();
    const input = { name: `r${mark}`, time: { at: scheduler.now + random.int(60_000, 300_000) }, message: `Remind me of #${mark}.` };
    const { object } = world.findSession(session);
    const set = await object
      .call(platform.scope, "setSchedule", ({ service }) => service.setSchedule({ tenant: TENANT, session }, input))
      .catch(() => null);
    if (!set?.ok) return;
    this.reminders.set(mark, session);
    stats.count("reminders");
  }

  #drawPlace(name: string): ChatPlace {
    const { random } = this.world;
    const chat = random.pick(["group", `private ${name}`]);
    const thread = chat === "group" && random.chance(0.3) ? "t1" : null;
    return { chat, thread, is_private: chat !== "group", target: { chat, thread } };
  }
}
