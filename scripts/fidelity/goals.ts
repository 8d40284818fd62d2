/** The goals that the default policy reaches and must keep reaching. */
import type { Asked } from "./ask.ts";
import type { Played } from "./play.ts";
import { answered, countChanges, ofTopic, percent } from "./report.ts";
import { type Kind, TOPICS, type Topic } from "./writing.ts";

/** Shares of the questions of each kind that must be answered in any conversation. Questions by the words of a call have no goal. */
export const GOALS: Readonly<Partial<Record<Kind, number>>> = {
  exact: 1,
  by_execution: 1,
  asked: 0.95,
  instruction: 0.95,
  identifier: 0.95,
};

/** Questions answered in the conversation that docs/claims.md speaks of, and not one less. What is reversed or closed is often found with the older first. */
const REACHED: Readonly<Record<Topic, number>> = { fact: 240, instruction: 32, decision: 24, identifier: 32, task: 23 };

/** A run with a smaller share of look-ups proves nothing about them. */
const LEAST_LOOKED_UP = 0.4;
/** A conversation with fewer changes of the view proves little about compactions. */
const LEAST_CHANGES = 20;

/** The missed goals. Empty when all are reached. */
export function missedGoals({ asked }: Pick<Played, "asked">): readonly string[] {
  const missed = Object.entries(GOALS).flatMap(([kind, goal]) => {
    const of = asked.filter(({ question }) => question.kind === kind);
    const share = of.length === 0 ? 0 : answered(of) / of.length;
    return share >= goal ? [] : [`${kind}: ${percent(answered(of), of.length)} answered, the goal is ${percent(goal, 1)}`];
  });
  return [...missed, ...missedLookUps(asked)];
}

function missedLookUps(asked: readonly Asked[]): readonly string[] {
  const lookedUp = asked.filter(({ lookUps }) => lookUps > 0).length / Math.max(1, asked.length);
  return lookedUp >= LEAST_LOOKED_UP ? [] : [`only ${percent(lookedUp, 1)} of the questions were looked up at all`];
}

/** The missed goals of the conversation of docs/claims.md, which must be long enough and reach its recorded figures. */
export function missedHere(played: Played): readonly string[] {
  const less = TOPICS.flatMap((topic) => {
    const found = answered(ofTopic(played.asked, topic));
    return found >= REACHED[topic] ? [] : [`${topic}: ${found} answered, ${REACHED[topic]} were before`];
  });
  const changes = countChanges(played);
  const short = changes >= LEAST_CHANGES ? [] : [`the view changed ${changes} times: ${LEAST_CHANGES} compactions are wanted`];
  return [...missedGoals(played), ...less, ...short];
}
