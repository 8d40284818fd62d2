/**
 * I39: a copy in which a turn is continued has what the model had read and said up to that place, and nothing after it. Where items stand is
 * known from the log as it grew, not from the statements that copy them. The copies are made at rest: hashes of ids take real time, and a seed
 * would not be a run any more.
 */
import type { CopiedPlace, RespondFromInput } from "../../src/app/respond-api";
import type { StoredEvent } from "../../src/domain/events";
import type { ExecutionId } from "../../src/domain/ids";
import type { ItemMeta } from "../../src/domain/message";
import { ALL_POSITIONS, readItems } from "../../src/session/log/log-tables";
import type { SessionRuntime } from "../../src/session/runtime";
import { copyAgainAndAgain } from "./fork-rules";
import { listRedacted } from "./redaction-rules";
import { CALLER, type World } from "./world";

type Place = CopiedPlace & Pick<RespondFromInput, "after" | "leg">;

/** The calls of the client in one reply. */
interface Wait {
  readonly last: number;
  readonly executions: ReadonlySet<ExecutionId>;
}

const inOrder = { from: 1, to: ALL_POSITIONS, limit: ALL_POSITIONS, order: "asc" } as const;

export class CopyRules {
  readonly #places: Place[] = [];

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  note(place: Place): void {
    this.#places.push(place);
  }

  async check(events: readonly StoredEvent[]): Promise<void> {
    const { service } = this.world.wake();
    for (const place of this.#places) {
      const { copy: to, at, cut } = place;
      const { outcome, copy } = await copyAgainAndAgain(this.world, { source: (work) => work(service, CALLER), to, at, cut });
      this.world.violations.check(outcome.ok, "I39", () => `the place cannot be copied: ${JSON.stringify([place, outcome])}`);
      if (outcome.ok) this.#checkItems(place, copy.runtime, events);
      this.#checkEnd(place, events);
    }
  }

  #checkItems({ at, cut }: Place, copy: SessionRuntime, events: readonly StoredEvent[]): void {
    const { violations, respond, stats } = this.world;
    const { runtime } = this.world.wake();
    const left = new Set((cut?.without ?? []).flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => from + n)));
    const meant = respond.pastOf(at).filter(({ position }) => !left.has(position));
    const [texts, copied] = [readTexts(runtime), [...readTexts(copy).values()]];
    const gone = listRedacted(events);
    let next = 0;
    for (const { id, position, incomplete } of meant) {
      const isThere = gone.has(id) || copied[next] === texts.get(position);
      // A retry takes back a reply that was cut off.
      if (!isThere && incomplete) continue;
      violations.check(
        isThere,
        "I39",
        () => `item ${next + 1} of a copy up to ${at} is not that of ${position}: ${copied[next]?.slice(0, 40)}`,
      );
      next++;
    }
    violations.check(next === copied.length, "I39", () => `a copy up to ${at} has ${copied.length} items of ${next}`);
    stats.count("copies compared");
  }

  /** The copy ends with the leg that the request named. */
  #checkEnd({ at, cut, after, leg }: Place, events: readonly StoredEvent[]): void {
    const { violations, respond } = this.world;
    const own = respond.itemsOf(after);
    // A person's answer is a wait, too, of which the log alone does not tell whether the turn waited for it.
    if (events.some((event) => event.type === "ApprovalRequested" && event.turn === after)) return;
    const waits = findWaits(own, events);
    const wait = waits[leg - 1];
    const later = own.filter(({ position }) => position > at);
    if (!cut) {
      const isEnd = later.length === 0 && (own.length === 0 || own.some(({ position }) => position === at));
      return violations.check(isEnd, "I39", () => `a copy at the end of ${after} ends at ${at}, before ${later.length} of its items`);
    }
    const isResult = ({ tool }: ItemMeta): boolean => tool !== undefined && wait?.executions.has(tool.execution) === true;
    const between = own.filter(({ kind, position }) => wait && position > wait.last && position <= at && kind !== "tool_result");
    const brought = own.filter((item) => item.kind === "tool_result" && isResult(item) && item.position <= at);
    const isLeft = brought.every(({ position }) => cut.without.some(({ from, to }) => from <= position && position <= to));
    const told = () => `a copy at leg ${leg} of ${after} ends at ${at}, and its calls end at ${wait?.last}`;
    violations.check(wait !== undefined && at >= wait.last && between.length === 0 && isLeft, "I39", told);
  }
}

/** Replies whose calls follow each other without a gap. */
function findWaits(items: readonly ItemMeta[], events: readonly StoredEvent[]): readonly Wait[] {
  const own = new Set(
    events.flatMap((event) => (event.type === "ToolCalled" && !event.server && event.item.tool ? event.item.tool.execution : [])),
  );
  const groups: { last: number; executions: Set<ExecutionId> }[] = [];
  for (const { kind, position, tool } of items) {
    if (kind !== "tool_call" || !tool) continue;
    const open = groups.at(-1);
    const group = open && open.last === position - 1 ? open : { last: position, executions: new Set<ExecutionId>() };
    if (group !== open) groups.push(group);
    group.last = position;
    if (own.has(tool.execution)) group.executions.add(tool.execution);
  }
  return groups.filter(({ executions }) => executions.size > 0);
}

/** By position. */
function readTexts({ content, deps }: SessionRuntime): ReadonlyMap<number, string> {
  const entries = content.readStored(readItems(deps.sql, inOrder)).map(({ meta, parts }) => {
    const said = parts.map((part) =>
      part.type === "tool_call" ? part.arguments : part.type === "tool_result" ? part.output : "text" in part ? part.text : part.type,
    );
    return [meta.position, `${meta.kind} ${said.join("")}`] as const;
  });
  return new Map(entries);
}
