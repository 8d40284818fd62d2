/**
 * Redacted content exists nowhere: in no table of the object, no row of the read model, and no later request. Every
 * text made from it, through any number of summaries, is removed with it (I31).
 */
import type { ModelRequest } from "../../src/app/ports";
import type { StoredEvent } from "../../src/domain/events";
import type { ItemId, TenantId } from "../../src/domain/ids";
import { parseBody } from "../../src/domain/item-content";
import { listEventItems } from "../../src/domain/items-of";
import type { Part } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { toScratchName } from "../../src/read-model/store";
import { readBodies } from "../../src/session/log/bodies";
import { readRows } from "../read-model/rows";
import { findMark, textsOfRequest } from "./summary-book";
import { CALLER, type World } from "./world";

function toWords(part: Part): string {
  if (part.type === "text") return part.text;
  if (part.type === "tool_call") return part.arguments;
  return part.type === "tool_result" ? part.output : "";
}

export const listRedacted = (events: readonly StoredEvent[]): ReadonlySet<ItemId> =>
  new Set(events.flatMap((event) => (event.type === "MessageRedacted" ? [event.item] : [])));

export class RedactionRules {
  readonly #marks = new Map<ItemId, string>();
  /** By mark: the epoch from which nothing may contain it. */
  readonly #gone = new Map<string, number>();
  /** The positions of which the newest change of pins removed the copies. */
  #unpinned = new Set<number>();

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** The marks of everything that was redacted. */
  get goneMarks(): readonly string[] {
    return [...this.#gone.keys()];
  }

  afterEvent(event: StoredEvent, before: SessionState, after: SessionState): void {
    for (const { id } of listEventItems(event)) this.#noteMark(id);
    if (event.type === "PinsSet") this.#checkUnpinned(event.pins, before);
    if (event.type !== "MessageRedacted") return;
    const copies = after.pins.filter(({ from = [] }) => from.includes(event.position));
    this.world.violations.check(copies.length === 0, "I31", () => `a pin is still a copy of the redacted position ${event.position}`);
    if (this.#unpinned.delete(event.position)) this.world.stats.count("redacted a pinned message");
    const mark = this.#marks.get(event.item);
    if (mark === undefined) return;
    this.#gone.set(mark, after.view.epoch);
    const summaries = before.view.overlays.filter(({ kind }) => kind === "summary").length;
    if (summaries > 1) this.world.stats.count("redacted under a chain of summaries");
    const beyond = before.view.overlays.some(({ id, from }) => from > event.position && event.texts?.includes(id));
    if (beyond) this.world.stats.count("redacted beyond a summary's range");
  }

  /** The copies that these pins leave out. A redaction removes them with an event of its own, before the message. */
  #checkUnpinned(pins: SessionState["pins"], before: SessionState): void {
    const left = new Set(pins.flatMap(({ from = [] }) => from));
    const gone = before.pins.flatMap(({ from = [] }) => from).filter((position) => !left.has(position));
    this.#unpinned = new Set(gone);
  }

  #noteMark(id: ItemId): void {
    const text = readBodies(this.world.sql, [id]).get(id);
    const [part] = text === undefined ? [] : parseBody(text).parts;
    const mark = part === undefined ? null : findMark(toWords(part));
    if (mark !== null) this.#marks.set(id, mark);
  }

  /** A redaction of the message that has these calls was answered. */
  checkCalls(calls: readonly ItemId[]): void {
    const left = [...readBodies(this.world.sql, calls).keys()];
    this.world.violations.check(left.length === 0, "I31", () => `calls outlive the redaction of their message: ${left}`);
    if (calls.length > 0) this.world.stats.count("redacted a reply with its calls");
  }

  /** `epoch`: the one in which a worker's request was built, which may be outdated. Null: it is built now. */
  checkRequest(request: ModelRequest, epoch: number | null): void {
    if (this.#gone.size > 0) this.#check(textsOfRequest(request), `a ${request.purpose} request`, epoch);
  }

  /** Every table of the object, except the terms of its index, and the filler that overwrites deleted bytes. */
  checkTables(): void {
    if (this.#gone.size === 0) return;
    const { sql } = this.world;
    for (const { name } of sql.all<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'scrub' AND name NOT LIKE 'recall%'",
    ))
      this.#check(JSON.stringify(sql.all(`SELECT * FROM "${name}"`)), `the table ${name}`, null);
  }

  /** Including the rows that an interrupted rebuild leaves behind. */
  async checkRows(): Promise<void> {
    if (this.#gone.size === 0) return;
    const { direct } = this.world.d1;
    const scratch = { ...CALLER, tenant: toScratchName(CALLER.tenant) as TenantId };
    this.#check(JSON.stringify(await readRows(direct, CALLER)), "the read model", null);
    this.#check(JSON.stringify(await readRows(direct, scratch)), "what a rebuild compares", null);
  }

  #check(text: string, where: string, epoch: number | null): void {
    const { book, violations } = this.world;
    const held = [...book.marksIn(text)].filter((mark) => {
      const from = this.#gone.get(mark);
      return from !== undefined && (epoch === null || epoch >= from);
    });
    violations.check(held.length === 0, "I31", () => `${where} still holds what was redacted: ${held}`);
  }
}
