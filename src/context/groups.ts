/**
 * Exchange groups: what must never be separated. A group is one message of the user, or one response of the
 * assistant with all its tool calls and all their results (docs/field.md, lesson 1).
 */
import type { ItemMeta } from "../domain/message";

export interface Group {
  readonly items: readonly ItemMeta[];
  readonly from: number;
  readonly to: number;
  /** Starts with a message of the user. */
  readonly isUser: boolean;
  /** No call of it is still open. */
  readonly closed: boolean;
}

/**
 * A response begins with its text, or, when it has none, with its first call: one that does not follow the text or a call
 * of the same turn, or of the same imported message, right away. What another turn or message left unanswered is a
 * response of its own.
 */
export function startsGroup(item: ItemMeta, previous: ItemMeta | undefined): boolean {
  if (!previous) return true;
  if (item.kind === "tool_result") return false;
  if (item.kind !== "tool_call" || (previous.kind !== "tool_call" && previous.kind !== "assistant")) return true;
  if (previous.position !== item.position - 1 || previous.turn !== item.turn) return true;
  return item.turn === null && !item.continues;
}

const toGroup = (items: readonly [ItemMeta, ...ItemMeta[]], openCalls: ReadonlySet<string>): Group => {
  const [first] = items;
  const isOpen = (item: ItemMeta): boolean => item.kind === "tool_call" && item.tool !== undefined && openCalls.has(item.tool.execution);
  const closed = openCalls.size === 0 || !items.some(isOpen);
  return { items, from: first.position, to: items.at(-1)?.position ?? first.position, isUser: first.kind === "user", closed };
};

/** `items` in order of position, cut into groups. `openCalls`: executions whose results are still owed. */
export function groupItems(items: readonly ItemMeta[], openCalls: ReadonlySet<string>): Group[] {
  const runs: [ItemMeta, ...ItemMeta[]][] = [];
  let run: [ItemMeta, ...ItemMeta[]] | null = null;
  let previous: ItemMeta | undefined;
  for (const item of items) {
    if (!run || startsGroup(item, previous)) {
      run = [item];
      runs.push(run);
    } else run.push(item);
    previous = item;
  }
  return runs.map((run) => toGroup(run, openCalls));
}

/** The same groups from the newest on, made as far as they are asked for: where to cut must not cost the length of the view. */
export class NewestGroups {
  readonly #found: Group[] = [];
  readonly #items: readonly ItemMeta[];
  readonly #openCalls: ReadonlySet<string>;
  #left: number;

  constructor(items: readonly ItemMeta[], openCalls: ReadonlySet<string>) {
    this.#items = items;
    this.#openCalls = openCalls;
    this.#left = items.length;
  }

  /** The `n`th newest, from 0; undefined: there are not so many. */
  at(n: number): Group | undefined {
    while (this.#found.length <= n && this.#left > 0) this.#found.push(this.#next());
    return this.#found[n];
  }

  /** The newest `count`, oldest first. */
  take(count: number): Group[] {
    this.at(count - 1);
    return this.#found.slice(0, count).reverse();
  }

  #next(): Group {
    const end = this.#left;
    let start = end - 1;
    for (let item = this.#items[start]; item && !startsGroup(item, this.#items[start - 1]); item = this.#items[start]) start--;
    this.#left = start;
    const [first, ...rest] = this.#items.slice(start, end);
    if (!first) throw new TypeError("a view has no holes");
    return toGroup([first, ...rest], this.#openCalls);
  }
}
