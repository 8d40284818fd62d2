/** Sessions that are nearly full, with consistent figures: the provider counts what was sent. */
import type { PolicyChoice } from "../../src/context/policy-choice";
import { estimateTokens } from "../../src/context/tokens";
import { Life } from "./life";

/** About 1,000 tokens. */
export const long = (mark: string): string =>
  `${mark} ${"seventeen words that say nothing at all about any of the things that matter here today ".repeat(66)}`;

/** About 2,000 tokens. */
export const huge = (mark: string): string => `${long(mark)} ${long("and")}`;

const WEIGHT = estimateTokens(long("question-1")) + 10;

/** `count` exchanges, each about an eighth of the window. Five leave no room for a very long question. */
export async function talk(life: Life, count: number, from = 1): Promise<void> {
  for (let n = from; n < from + count; n++) {
    await life.send(long(`question-${n}`));
    await life.answer(`reply-${n}`, WEIGHT * n);
  }
}

/** A session below its threshold that has no room for a very long question. */
export async function nearlyFull(policy: PolicyChoice = "oneclaw"): Promise<Life> {
  const life = new Life();
  await life.open(policy);
  await talk(life, 5);
  return life;
}
