/**
 * A message that did not fit was refused, and stays in the record. When the next one has no room with it, what was refused leaves the view
 * first, and nothing older pays for it.
 */
import { isBreakerOpen } from "../domain/breaker";
import type { SessionState } from "../domain/state";
import { assumeWindow, limitOf, measureNext, measureWithout, mostOf, ratioOf, scaleOf } from "./budget";
import { viewGroups, weigh } from "./cut";
import { dropRungs } from "./drop";
import type { Group } from "./groups";
import { gainFrom } from "./ladder";
import type { Plan, PlanInput } from "./plan";

export function planRefused({ state, limits: asked, policy }: Omit<PlanInput, "trigger" | "now" | "options">): Plan {
  const limits = assumeWindow(asked, policy);
  const next = measureNext(state, limits.model);
  const limit = limitOf(limits);
  if (limit === null) return { kind: "none", reason: "unknown_window", next };
  if (mostOf(next) <= limit) return { kind: "none", reason: "fits", next };
  const going = refusedGroups(state, (mostOf(next) - limit) / scaleOf(state, limits.model));
  if (going.length === 0) return { kind: "none", reason: "nothing_older", next };
  const rungs = dropRungs(state, going, { ratio: ratioOf(state, limits.model), reason: "it was refused, and never fitted" });
  const expected = measureWithout(next, gainFrom(rungs, { state, limits }));
  const base_epoch = state.view.epoch;
  return {
    kind: "compact",
    trigger: "guard",
    base_epoch,
    next,
    expected,
    rungs,
    fallback: [],
    economy: null,
    breaker_open: isBreakerOpen(state.compaction),
  };
}

/** Of the turn before that could not be sent, the newest groups that together weigh `excess` raw tokens; all of them if they do not. */
function refusedGroups(state: SessionState, excess: number): readonly Group[] {
  if (state.last_turn?.failure?.kind !== "cannot_fit") return [];
  const groups = viewGroups(state);
  const asked = groups.findLastIndex((group) => group.isUser);
  const refused = groups.findLastIndex((group, index) => index < asked && group.isUser && isOfTurn(group));
  if (refused < 0) return [];
  const going: Group[] = [];
  let gained = 0;
  for (const group of groups.slice(refused, asked).filter(isOfTurn).toReversed()) {
    if (gained >= excess || !group.closed) break;
    going.unshift(group);
    gained += weigh(state, group);
  }
  return going;
}

/** What is imported was sent by nobody's turn. */
const isOfTurn = ({ items }: Group): boolean => items.some(({ turn }) => turn !== null);
