/** The ids and names of what exists while requests are drawn: those of the set-up, and those that answers gave since. */
import { ulid } from "ulidx";
import type { Draw } from "./draw";
import { hostilePart } from "./hostile";
import type { JsonSchema, Surroundings } from "./values";

const ID = /\b(?:ses|msg|trn|cmp|exe|key|fil|ten)_[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g;
/** Ids of one kind that are remembered. The newest replace others. */
const MAX_IDS = 30;
const KINDS = ["ses", "msg", "trn", "cmp", "exe", "key", "fil", "ten"] as const;

export interface Names {
  /** By the name of a field or parameter. */
  readonly [name: string]: readonly unknown[];
}

export class KnownThings implements Surroundings {
  readonly #schemas: Readonly<Record<string, JsonSchema>>;
  readonly #ids = new Map<string, string[]>();
  readonly #names: Names;
  /** What must not be removed: the thing that the other requests need. */
  readonly #kept: ReadonlySet<string>;

  constructor({ schemas, names, kept }: { schemas: Readonly<Record<string, JsonSchema>>; names: Names; kept: readonly string[] }) {
    this.#schemas = schemas;
    this.#names = names;
    this.#kept = new Set(kept);
  }

  resolve(ref: string): JsonSchema {
    const found = this.#schemas[ref.replace("#/components/schemas/", "")];
    if (!found) throw new Error(`The document lacks ${ref}`);
    return found;
  }

  /** Remembers the ids in an answer. */
  learn(draw: Draw, text: string): void {
    for (const [id] of text.slice(0, 20_000).matchAll(ID)) {
      const known = this.#ids.get(id.slice(0, 3)) ?? [];
      this.#ids.set(id.slice(0, 3), known);
      if (known.includes(id)) continue;
      if (known.length < MAX_IDS) known.push(id);
      // The first few are those of the set-up.
      else known[draw.between(5, MAX_IDS - 1)] = id;
    }
  }

  pickId(draw: Draw, prefix: string): string {
    const known = this.#ids.get(draw.chance(94) ? prefix : draw.pick(KINDS)) ?? [];
    const id = draw.chance(65) ? known[0] : draw.pickAny(known);
    return id === undefined || draw.chance(6) ? `${prefix}_${ulid()}` : id;
  }

  pickNamed(draw: Draw, name: string): unknown {
    return draw.pickAny(this.#names[name] ?? []);
  }

  /** The value of a parameter in a path. */
  pickPart(draw: Draw, { name, made, removes }: { name: string; made: string; removes: boolean }): string {
    // The session that all requests use may have any end user by now.
    if (removes && name === "end_user") return `nobody-${ulid()}`;
    if (draw.chance(7)) return hostilePart(draw);
    const named = draw.chance(80) ? this.pickNamed(draw, name) : undefined;
    const part = named === undefined ? made : String(named);
    return encodeURIComponent(removes && this.#kept.has(part) ? (this.#pickOther(draw, part) ?? "of-nobody") : part);
  }

  #pickOther(draw: Draw, part: string): string | undefined {
    return draw.pickAny((this.#ids.get(part.slice(0, 3)) ?? []).filter((id) => !this.#kept.has(id)));
  }
}
