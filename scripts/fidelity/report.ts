/** What a fidelity run found, as text and as a verdict. */
import type { Asked, Played, Source } from "./play.ts";
import { KINDS, type Kind } from "./story.ts";

const SOURCES: readonly Source[] = ["view", "summary", "memory_query", "lost"];

/** Shares of all questions of a kind that must be answered; by the words of a call nothing is promised. */
export const GOALS: Readonly<Partial<Record<Kind, number>>> = { exact: 1, by_execution: 1, asked: 0.95 };

/** A run in which so small a share was looked up shows nothing of it. */
const LEAST_LOOKED_UP = 0.4;

const count = (asked: readonly Asked[], source: Source): number => asked.filter((each) => each.source === source).length;
const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`);
const answered = (asked: readonly Asked[]): number => asked.length - count(asked, "lost");

export function describeRun({ asked, turns, compactions, heaviest }: Played): string {
  const languages = [...new Set(asked.map(({ question }) => question.language))];
  const rows = KINDS.flatMap((kind) => [...languages, "all"].map((language) => rowOf(asked, { kind, language })));
  const lookUps = asked.flatMap((each) => (each.lookUps > 0 ? [each.tokens] : []));
  const changes = Object.entries(compactions).map(([trigger, times]) => `${times} ${trigger}`);
  return [
    `${turns} turns, changes of the view: ${changes.join(", ") || "none"}; the heaviest request weighed ${heaviest} tokens`,
    "",
    ["kind".padEnd(14), "language".padEnd(10), "asked", ...SOURCES, "answered"].join("  "),
    ...rows,
    "",
    `${lookUps.length} questions were looked up; what that brought weighed ${mean(lookUps)} tokens a question, ${Math.max(0, ...lookUps)} at most`,
  ].join("\n");
}

const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : Math.round(numbers.reduce((sum, each) => sum + each, 0) / numbers.length);

function rowOf(all: readonly Asked[], { kind, language }: { readonly kind: Kind; readonly language: string }): string {
  const asked = all.filter(({ question }) => question.kind === kind && (language === "all" || question.language === language));
  const cells = SOURCES.map((source) => String(count(asked, source)).padStart(source.length));
  return [kind.padEnd(14), language.padEnd(10), String(asked.length).padStart(5), ...cells, percent(answered(asked), asked.length)].join(
    "  ",
  );
}

export function describeLost(asked: readonly Asked[]): string {
  const lost = asked.filter(({ source }) => source === "lost");
  return lost.map(({ question, lookUps }) => `lost: ${question.text} (${question.value}, ${lookUps} look-ups)`).join("\n");
}

/** What is missed of the goals; empty: nothing is. */
export function missedGoals({ asked }: Played): readonly string[] {
  const missed = Object.entries(GOALS).flatMap(([kind, goal]) => {
    const of = asked.filter(({ question }) => question.kind === kind);
    const share = of.length === 0 ? 0 : answered(of) / of.length;
    return share >= goal ? [] : [`${kind}: ${percent(answered(of), of.length)} answered, the goal is ${percent(goal, 1)}`];
  });
  const lookedUp = asked.filter(({ lookUps }) => lookUps > 0).length / Math.max(1, asked.length);
  return lookedUp >= LEAST_LOOKED_UP ? missed : [...missed, `only ${percent(lookedUp, 1)} of the questions were looked up at all`];
}
