/**
 * I38: everything that one request adds is in the record together, at the place that it named, or nothing of it is. What requests held is
 * known from the clients that sent them, not from the log.
 */
import type { Outcome } from "../../src/app/session-api";
import type { Accepted } from "../../src/contract/item";
import { isAmong } from "../../src/domain/branch";
import type { StoredEvent } from "../../src/domain/events";
import type { ItemId, TurnId } from "../../src/domain/ids";
import { listEventItems } from "../../src/domain/items-of";
import type { ItemMeta } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { ALL_POSITIONS, readItems } from "../../src/session/log/log-tables";
import type { Send } from "./send";
import type { World } from "./world";

/** A request with its final answer. `results`: the mark at the beginning of each. */
export interface Responded {
  readonly after: TurnId | null;
  readonly results: readonly string[];
  readonly sends: readonly Send[];
  readonly run: boolean;
  readonly answer: Outcome<Accepted>;
}

interface Placed {
  readonly item: ItemMeta;
  /** The item before it on its branch, at the time when it was recorded. */
  readonly before: ItemMeta | null;
}

/** The marks of results begin with a sign that no message begins with. */
const RESULT_MARK = /^\^\d+ /;

export const toResultMark = (number: number): string => `^${number} `;

export class RespondRules {
  readonly #responded: Responded[] = [];
  readonly #elsewhere: string[] = [];
  readonly #placed = new Map<number, Placed>();

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  note(responded: Responded): void {
    this.#responded.push(responded);
  }

  /** Results of a request of which nothing is in this session. */
  noteElsewhere(results: readonly string[]): void {
    this.#elsewhere.push(...results);
  }

  /** What the model reads at a position, in order: the items that were before it when it was recorded, and it. */
  pastOf(position: number): readonly ItemMeta[] {
    const past: ItemMeta[] = [];
    for (let placed = this.#placed.get(position); placed; placed = placed.before ? this.#placed.get(placed.before.position) : undefined)
      past.unshift(placed.item);
    return past;
  }

  /** All items of a turn, in order. */
  itemsOf(turn: TurnId): readonly ItemMeta[] {
    return [...this.#placed.values()].flatMap(({ item }) => (item.turn === turn ? item : []));
  }

  afterEvent(event: StoredEvent, { branch }: SessionState): void {
    for (const item of listEventItems(event)) {
      let before: ItemMeta | null = null;
      for (let position = item.position - 1; position > 0 && !before; position--) {
        if (!isAmong(branch.elsewhere, position)) before = this.#placed.get(position)?.item ?? null;
      }
      this.#placed.set(item.position, { item, before });
    }
  }

  /** At rest. */
  check(events: readonly StoredEvent[]): void {
    const results = this.#readResults();
    const strays = this.#elsewhere.filter((mark) => results.has(mark));
    this.world.violations.check(strays.length === 0, "I39", () => `results of a copy are in its source: ${strays}`);
    const isRedacted = events.some(({ type }) => type === "MessageRedacted");
    for (const responded of this.#responded) {
      const found = responded.results.map((mark) => results.get(mark) ?? []);
      this.#checkResults(responded, found, isRedacted);
      // A redacted result has no mark, and leaves a gap.
      if (responded.answer.ok && found.every(({ length }) => length > 0)) this.#checkPlaces(responded, found.flat());
      this.#checkTurn(responded, events);
    }
  }

  /** The positions of the results by their marks. */
  #readResults(): ReadonlyMap<string, readonly number[]> {
    const { runtime } = this.world.wake();
    const items = readItems(runtime.deps.sql, { from: 1, to: ALL_POSITIONS, limit: ALL_POSITIONS, order: "asc" });
    const found = new Map<string, number[]>();
    for (const { meta, parts } of runtime.content.readStored(items)) {
      const [part] = parts;
      const mark = part?.type === "tool_result" ? RESULT_MARK.exec(part.output)?.[0] : undefined;
      if (mark !== undefined) found.set(mark, [...(found.get(mark) ?? []), meta.position]);
    }
    return found;
  }

  #checkResults({ results, answer }: Responded, found: readonly (readonly number[])[], isRedacted: boolean): void {
    const { violations } = this.world;
    for (const [index, positions] of found.entries()) {
      const told = () => `result ${results[index]} of a request that was answered ${JSON.stringify(answer)} is at ${positions}`;
      violations.check(positions.length <= 1 && (answer.ok || positions.length === 0), "I38", told);
      violations.check(!answer.ok || positions.length === 1 || isRedacted, "I38", told);
    }
  }

  /** The results stand together, the messages right after them, and the first of all right after the turn that the request named. */
  #checkPlaces({ after, sends, answer }: Responded, results: readonly number[]): void {
    const { violations, stats } = this.world;
    const ids = new Map([...this.#placed.values()].map(({ item }) => [item.id, item.position]));
    const first = sends[0]?.message ? ids.get(sends[0].message) : undefined;
    const all = [...results, ...(first === undefined ? [] : [first])];
    const inOrder = all.every((position, index) => index === 0 || position === (all[index - 1] ?? 0) + 1);
    violations.check(inOrder, "I38", () => `the parts of one request are at ${all}: ${JSON.stringify(answer)}`);
    const begin = all[0];
    if (after === null || begin === undefined) return;
    const said = [...this.#placed.values()].some(({ item }) => item.turn === after && item.kind !== "user" && item.position < begin);
    const before = this.#placed.get(begin)?.before;
    if (!said) return;
    stats.count("placed after a turn");
    violations.check(before?.turn === after, "I38", () => `a request after ${after} is at ${begin}, after an item of ${before?.turn}`);
  }

  /** The message that starts a turn starts one, the one that the client was told. */
  #checkTurn({ sends, run, answer }: Responded, events: readonly StoredEvent[]): void {
    const last = sends.at(-1);
    if (!answer.ok || answer.value.queued || !run || !last || last.role !== "user") return;
    const message: ItemId | null = last.message;
    const begun = events.flatMap((event) => (event.type === "TurnStarted" && event.item?.id === message ? [event.turn] : []));
    const same = begun.length === 1 && begun[0] === answer.value.turn_id;
    this.world.violations.check(same, "I38", () => `${message} started ${begun}, and its client was told ${answer.value.turn_id}`);
  }
}
