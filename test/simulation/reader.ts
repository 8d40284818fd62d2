/**
 * A client that listens to the live stream, is disconnected, and resumes at its last offset. What it has received in
 * the end, after every rewind, equals the stored stream.
 */
import { withoutSaid } from "../support/known-frames";
import { CALLER, type Life, ObjectResetError, type World } from "./world";

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

const toStored = (type: string, data: string): string =>
  `${type} ${type === "message.accepted" ? JSON.stringify(withoutSaid([JSON.parse(data)])[0]) : data}`;

/** Every frame that was shown to any reader at an offset, in any life. */
export class Shown {
  readonly #at = new Map<number, string>();

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  note({ offset, type, data }: Heard): void {
    const text = toStored(type, data);
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
  /** By offset. Frames that a rewind withdrew are removed. */
  readonly #heard = new Map<number, string>();
  #last: number | null = null;
  /** The reader knows nothing before this offset. */
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
      if (world.random.chance(world.profile.readerStalls)) await this.#stall();
      if (!opened.life.scope.alive) throw new ObjectResetError("the object was reset");
      const chunk = await this.#read(reader, opened.life);
      if (chunk === null) return;
      for (const event of parseEvents(chunk)) this.#hear(event);
    }
    if (opened.life.scope.alive) await reader.cancel();
  }

  /** The reader pauses. Frames in the meantime wait or are dropped. */
  async #stall(): Promise<void> {
    const { scheduler, clients, random } = this.world;
    this.world.stats.count("reader stalls");
    const left = new Promise<void>((resolve) => {
      this.leave = resolve;
    });
    await Promise.race([scheduler.sleep(clients, random.int(1_000, 60_000), "a reader stalls"), left]);
  }

  /** Null: the stream is over. Throws when the object dies, together with frames in flight. */
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
      const mayHear = this.#last !== null || event.type === "stream.gap";
      violations.check(mayHear, "I12", () => `a client without an offset heard ${event.type}`);
      for (const offset of this.#heard.keys()) if (offset > event.offset) this.#heard.delete(offset);
      if (event.type === "stream.gap") this.#from = event.offset;
      this.#last = event.offset;
      return;
    }
    const last = this.#last;
    if (event.type === "stream.halted") {
      stats.count(event.type);
      violations.check(last === null || event.offset >= last, "I12", () => `told of a halt at ${event.offset}, after ${last}`);
      return;
    }
    this.shown.note(event);
    violations.check(last === null || event.offset > last, "I12", () => `offset ${event.offset} came after ${last}`);
    const passed = last === null ? null : this.world.storedBetween(last, event.offset);
    violations.check(passed === null, "I12", () => `${event.offset} came after ${last}, and nothing was told of ${passed}`);
    if (last === null) this.#from = event.offset - 1;
    this.#last = event.offset;
    this.#heard.set(event.offset, toStored(event.type, event.data));
  }

  /** Compares the received frames with the stored ones, over the range that the reader has received. */
  compare(life: Life): void {
    const last = this.#last ?? 0;
    // Frames that a redaction purged after they were received are not compared.
    const { kind, offset: oldest } = life.runtime.buffer.locate(this.#from);
    if (kind === "pruned") this.#from = oldest;
    const { stored, lost } = readStored(life, { after: this.#from, to: last });
    const located = life.runtime.buffer.locate(last);
    // The reader is ahead of the stored stream. Its next connection will be told to rewind.
    const kept = [...this.#heard].filter(([offset]) => offset > this.#from && (located.kind !== "rewind" || offset <= located.offset));
    const missing = [...stored.keys()].filter((offset) => !this.#heard.has(offset) && !lost.has(offset));
    const foreign = kept.filter(([offset, text]) => stored.get(offset) !== text && !lost.has(offset)).map(([offset]) => offset);
    this.world.violations.check(
      missing.length + foreign.length === 0,
      "I12",
      () => `heard but not stored: ${foreign}; stored but not heard: ${missing}`,
    );
  }
}

/** The stored frames of a range. `lost`: frames whose write failed, according to the gap frame. */
function readStored(life: Life, { after, to }: { after: number; to: number }): { stored: Map<number, string>; lost: Set<number> } {
  const stored = new Map<number, string>();
  const lost = new Set<number>();
  let at = after;
  for (let lines = life.runtime.buffer.read(at, 500); at < to && lines.length > 0; lines = life.runtime.buffer.read(at, 500)) {
    for (const line of lines) {
      if (line.offset <= to) stored.set(line.offset, `${line.type} ${line.json}`);
      if (line.type === "stream.gap") for (let offset = at + 1; offset <= line.offset; offset++) lost.add(offset);
      at = line.offset;
    }
  }
  return { stored, lost };
}
