/**
 * Exchange groups: items that must never be separated. A group is one user message, or one response of the assistant
 * with all its tool calls and all their results (docs/field.md, lesson 1).
 */
import type { ItemMeta } from "../domain/message";

export interface Group {
  readonly items: readonly ItemMeta[];
  readonly from: number;
  readonly to: number;
  /** The group starts with a user message. */
  readonly isUser: boolean;
  /** The group has no open call. */
  readonly closed: boolean;
}

/**
 * Whether the item starts a group. A response begins with its text or, without text, with its first call: a call that
 * does not directly follow the text or a call of the same turn or of the same imported message. Calls that another turn
 * or message left unanswered form a response of their own.
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

/** Groups `items`, which are in order of position. `openCalls`: executions whose results are still missing. */
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

/** Groups items from the newest on, on demand, so that finding the cut does not cost the length of the view. */
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

  /** The `n`th newest group, counted from 0. Undefined when there are fewer. */
  at(n: number): Group | undefined {
    while (this.#found.length <= n && this.#left > 0) this.#found.push(this.#next());
    return this.#found[n];
  }

  /** The newest `count` groups, oldest first. */
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
