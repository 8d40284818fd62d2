/**
 * A message that was refused because it did not fit stays in the record. When the next message has no room with it, the
 * refused one leaves the view first, before anything older.
 */
import { assumeWindow, toRequestLimit, toSizing } from "./budget";
import { viewGroups } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import { buildImmediatePlan } from "./ladder";
import type { Plan, PlanInput } from "./plan";
import { toContentBytes } from "./request-bytes";
import { type Sizing, toUpperBound } from "./sizing";

export function planRefused({ state, limits: asked, policy }: Omit<PlanInput, "trigger" | "now" | "options">): Plan {
  const limits = assumeWindow(asked, policy);
  const sizing = toSizing({ state, limits });
  const next = sizing.next();
  const limit = toRequestLimit(limits) ?? Number.POSITIVE_INFINITY;
  const excess = {
    tokens: (toUpperBound(next) - limit) / sizing.padded,
    bytes: sizing.bytes() - toContentBytes(limits),
  };
  if (excess.tokens <= 0 && excess.bytes <= 0) return { kind: "none", reason: "fits", next };
  const going = refusedGroups(sizing, excess);
  if (going.length === 0) return { kind: "none", reason: "nothing_older", next };
  const rungs = dropRungs(sizing, going, "it was refused, and never fitted");
  return buildImmediatePlan("guard", sizing, { next, rungs });
}

/** What exceeds the limits, in raw tokens and in bytes. */
interface Excess {
  readonly tokens: number;
  readonly bytes: number;
}

/** The newest groups of the previous turn, which was refused, that together weigh `excess`. All of them if they weigh less. */
function refusedGroups(sizing: Sizing, excess: Excess): readonly Group[] {
  if (sizing.state.last_turn?.failure?.kind !== "cannot_fit") return [];
  const groups = viewGroups(sizing.state);
  const asked = groups.findLastIndex((group) => group.isUser);
  const refused = groups.findLastIndex((group, index) => index < asked && group.isUser && isOfTurn(group));
  if (refused < 0) return [];
  const going: Group[] = [];
  let { tokens, bytes } = excess;
  for (const group of groups.slice(refused, asked).filter(isOfTurn).toReversed()) {
    if ((tokens <= 0 && bytes <= 0) || !group.closed) break;
    going.unshift(group);
    tokens -= sizing.group(group);
    bytes -= group.items.reduce((sum, item) => sum + sizing.itemBytes(item), 0);
  }
  return going;
}

/** Imported messages belong to no turn. */
const isOfTurn = ({ items }: Group): boolean => items.some(({ turn }) => turn !== null);
