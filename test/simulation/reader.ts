/**
 * A client that listens to the live stream, is cut off, and comes back with the last offset it knows. What it has heard
 * in the end, after every rewind, is what is stored.
 */
import { CALLER, type Life, type World } from "./world";

/** One server-sent event. */
interface Heard {
  readonly offset: number;
  readonly type: string;
  readonly data: string;
}

function parseEvents(text: string): Heard[] {
  return text.split("\n\n").flatMap((block) => {
    const match = /^id: (\d+)\nevent: (.+)\ndata: (.*)$/s.exec(block);
    return match ? [{ offset: Number(match[1]), type: match[2] ?? "", data: match[3] ?? "" }] : [];
  });
}

/** What was ever shown at an offset, to anyone, in any life. */
export class Shown {
  readonly #at = new Map<number, string>();

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  note({ offset, type, data }: Heard): void {
    const text = `${type} ${data}`;
    const known = this.#at.get(offset);
    this.world.violations.check(
      known === undefined || known === text,
      "I12",
      () => `offset ${offset} was given twice:\n    ${known}\n    ${text}`,
    );
    this.#at.set(offset, text);
  }
}

export class Reader {
  closing = false;
  /** By offset; what a rewind took back is gone. */
  readonly #heard = new Map<number, string>();
  #last: number | null = null;
  /** Nothing is known of what lies before. */
  #from = 0;

  readonly world: World;
  readonly shown: Shown;

  constructor(world: World, shown: Shown) {
    this.world = world;
    this.shown = shown;
  }

  async listen(): Promise<void> {
    const { world } = this;
    while (!this.closing) {
      await world.scheduler.gate(world.clients, "reader attaches", { weight: 0.5 });
      if (this.closing) return;
      try {
        await this.#attach();
      } catch {
        world.stats.count("reader cut off");
      }
    }
  }

  async #attach(): Promise<void> {
    const { world } = this;
    const after = this.#last;
    const opened = await world.call(world.clients, "stream", async (service) => {
      const stream = await service.stream(CALLER, { after, turn: null });
      return { stream, life: world.life };
    });
    if (!opened.stream.ok || !opened.life) return;
    const reader = opened.stream.value.getReader();
    const leavesAfter = world.random.int(3, 40);
    for (let n = 0; n < leavesAfter && !this.closing; n++) {
      const chunk = await this.#read(reader, opened.life);
      if (chunk === null) return;
      for (const event of parseEvents(chunk)) this.#hear(event);
    }
    if (opened.life.scope.alive) await reader.cancel();
  }

  /** Null: the stream is over. Throws when the object dies, with what was on its way. */
  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, life: Life): Promise<string | null> {
    const { world } = this;
    let failed: (error: Error) => void = () => {};
    const death = new Promise<never>((_, reject) => {
      failed = reject;
    });
    life.calls.add(failed);
    this.leave = () => failed(new Error("closing"));
    try {
      const { done, value } = await Promise.race([reader.read(), death]);
      await Promise.race([world.scheduler.gate(life.scope, "stream chunk"), death]);
      return done ? null : new TextDecoder().decode(value);
    } catch (cause) {
      if (life.scope.alive) await reader.cancel();
      throw cause;
    } finally {
      life.calls.delete(failed);
    }
  }

  /** Stops waiting for the next chunk. */
  leave: () => void = () => {};

  #hear(event: Heard): void {
    const { violations, stats } = this.world;
    if (event.type === "stream.rewind" || event.type === "stream.gap") {
      stats.count(event.type);
      violations.check(this.#last !== null, "I12", () => `a client without an offset heard ${event.type}`);
      for (const offset of this.#heard.keys()) if (offset > event.offset) this.#heard.delete(offset);
      if (event.type === "stream.gap") this.#from = event.offset;
      this.#last = event.offset;
      return;
    }
    this.shown.note(event);
    const last = this.#last;
    violations.check(last === null || event.offset > last, "I12", () => `offset ${event.offset} came after ${last}`);
    if (last === null) this.#from = event.offset - 1;
    this.#last = event.offset;
    this.#heard.set(event.offset, `${event.type} ${event.data}`);
  }

  /** What was heard against what is stored, over the stretch that the reader has listened to. */
  compare(life: Life): void {
    const last = this.#last ?? 0;
    const stored = new Map<number, string>();
    // What a redaction has burnt since it was heard is compared with nothing.
    const { kind, offset: oldest } = life.runtime.buffer.locate(this.#from);
    if (kind === "pruned") this.#from = oldest;
    for (let at = this.#from; at < last; ) {
      const lines = life.runtime.buffer.read(at, 500);
      for (const line of lines) if (line.offset <= last) stored.set(line.offset, `${line.type} ${line.json}`);
      at = lines.at(-1)?.offset ?? last;
    }
    const located = life.runtime.buffer.locate(last);
    // Still ahead of what is stored: the next attach will rewind it.
    const kept = [...this.#heard].filter(([offset]) => offset > this.#from && (located.kind !== "rewind" || offset <= located.offset));
    const missing = [...stored.keys()].filter((offset) => !this.#heard.has(offset));
    const foreign = kept.filter(([offset, text]) => stored.get(offset) !== text).map(([offset]) => offset);
    this.world.violations.check(
      missing.length + foreign.length === 0,
      "I12",
      () => `heard but not stored: ${foreign}; stored but not heard: ${missing}`,
    );
  }
}
