/** Formats the results of fidelity runs: a row for each policy, and one policy in detail. */
import { type Asked, SOURCES, type Source } from "./ask.ts";
import type { Played } from "./play.ts";
import { KINDS, type Kind, TOPICS, type Topic } from "./writing.ts";

export const kindNames = Object.keys(KINDS) as readonly Kind[];

const count = (asked: readonly Asked[], source: Source): number => asked.filter((each) => each.source === source).length;
export const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`);
export const answered = (asked: readonly Asked[]): number => asked.length - count(asked, "lost");
export const ofTopic = (asked: readonly Asked[], topic: Topic): readonly Asked[] =>
  asked.filter(({ question }) => KINDS[question.kind] === topic);
export const countChanges = ({ changes }: Played): number => Object.values(changes).reduce((sum, times) => sum + times, 0);

const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : Math.round(numbers.reduce((sum, each) => sum + each, 0) / numbers.length);

const tokensALookUp = (asked: readonly Asked[]): number => {
  const lookUps = asked.reduce((sum, each) => sum + each.lookUps, 0);
  return lookUps === 0 ? 0 : Math.round(asked.reduce((sum, each) => sum + each.tokens, 0) / lookUps);
};

const HEADINGS = ["policy", "changes", "summaries", ...TOPICS, "answered", "tokens a look-up", "cost a turn"] as const;

/** The cells of a row, as the printed table and docs/claims.md have them. */
export function toCells(played: Played): readonly string[] {
  const { asked, policy, summaries, cost, turns } = played;
  const topics = TOPICS.map((topic) => SOURCES.map((source) => count(ofTopic(asked, topic), source)).join("/"));
  return [
    policy,
    String(countChanges(played)),
    String(summaries),
    ...topics,
    percent(answered(asked), asked.length),
    String(tokensALookUp(asked)),
    String(Math.round(cost / Math.max(1, turns))),
  ];
}

const NOTES = [
  `Each kind: ${SOURCES.join("/")}. view: the messages that the model reads hold it; summary: the summary does; recalled: memory_query brought it;`,
  "lost: the reply does not hold it, or says first what was reversed since.",
  "changes: of the view; summaries: those that a model wrote. cost: of the conversation, in tokens of plain input, without the questions.",
];

export function describePolicies(rows: readonly Played[]): string {
  const lines = [HEADINGS, ...rows.map(toCells)];
  const widths = HEADINGS.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const table = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
  );
  return [...table, "", ...NOTES].join("\n");
}

/** Whether `text` (docs/claims.md) has the row as it is now, in a table. */
export function hasRow(text: string, played: Played): boolean {
  const squeezed = text.replaceAll(/[\s|`]+/g, " ");
  return squeezed.includes(` ${toCells(played).join(" ")} `);
}

export function describeRun(played: Played): string {
  const { asked, turns, failed, changes, heaviest } = played;
  const languages = [...new Set(asked.map(({ question }) => question.language))];
  const rows = kindNames.flatMap((kind) => [...languages, "all"].map((language) => toRow(asked, { kind, language })));
  const lookedUp = asked.filter(({ lookUps }) => lookUps > 0).map(({ tokens }) => tokens);
  const counted = Object.entries(changes).map(([trigger, times]) => `${times} ${trigger}`);
  return [
    `${turns} turns, ${failed} failed; changes of the view: ${counted.join(", ") || "none"}; the heaviest request weighed ${heaviest} tokens`,
    "",
    ["kind".padEnd(14), "language".padEnd(10), "asked", ...SOURCES, "answered"].join("  "),
    ...rows,
    "",
    `${lookedUp.length} questions were looked up; what that brought weighed ${mean(lookedUp)} tokens a question, ${Math.max(0, ...lookedUp)} at most`,
  ].join("\n");
}

function toRow(all: readonly Asked[], { kind, language }: { readonly kind: Kind; readonly language: string }): string {
  const asked = all.filter(({ question }) => question.kind === kind && (language === "all" || question.language === language));
  const cells = SOURCES.map((source) => String(count(asked, source)).padStart(source.length));
  return [kind.padEnd(14), language.padEnd(10), String(asked.length).padStart(5), ...cells, percent(answered(asked), asked.length)].join(
    "  ",
  );
}

export function describeLost(asked: readonly Asked[]): string {
  const lost = asked.filter(({ source }) => source === "lost");
  return lost
    .map(({ question, lookUps, reply }) => {
      const why = reply.includes(question.value) ? "the older one came first" : `${lookUps} look-ups`;
      return `lost: ${question.text} (${question.kind}, ${question.value}, ${why})`;
    })
    .join("\n");
}
