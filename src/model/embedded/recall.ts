/**
 * When the embedded model looks something up with `memory_query`: where the question is not fully answered by what it can see. By the
 * execution id where the question names one, or where a cleared result is what the question is about; by the question's words otherwise;
 * and further on where a result says how to read on.
 */
import type { ToolCallPart } from "../../domain/message";
import { contentWords, wordsOf } from "../text-matching";
import { bestOf, rank, seenSentences, statementsOf } from "./sentences";
import { type Answered, describe, executionOf, isRecall, RECALL, type Turn } from "./turn";

/** Look-ups in one turn. */
const MOST_CALLS = 3;
/** A sentence that holds this share of the question's weight leaves nothing to look up. */
const SURE = 0.8;
/** What was looked up answers the question from this share on. */
const GOOD = 0.5;
const QUERY_CHARS = 300;
/** How a result names what follows it: `offset 2000`, `"offset": 2000`, `offset=2000`. */
const READ_ON = /\boffset\W{1,4}(\d+)/g;

type RecallArguments = Readonly<Record<string, unknown>>;

/** The next look-up of this turn, as a call's arguments; null: there is nothing more to look up, or nothing to do it with. */
export function planRecall(turn: Turn): { readonly name: string; readonly arguments: string } | null {
  if (turn.asking === "" || !turn.request.tools.some(isRecall)) return null;
  const done = lookUps(turn);
  if (done.length >= MOST_CALLS) return null;
  const next = JSON.stringify(done.length === 0 ? firstLookUp(turn) : nextLookUp(turn, done));
  return next === "null" || done.some(({ call }) => call.arguments === next) ? null : { name: RECALL, arguments: next };
}

const lookUps = ({ since }: Turn): readonly Answered[] => since.filter(({ call }) => isRecall(call));

function firstLookUp(turn: Turn): RecallArguments | null {
  if (turn.execution) return { execution_id: turn.execution };
  const cleared = new Map(turn.before.flatMap((each) => pair(describe(each), executionOf(each))));
  const [best] = rank(turn.asking, [...seenSentences(turn), ...cleared.keys()]);
  const execution = cleared.get(best?.sentence ?? "");
  if (execution) return { execution_id: execution };
  return (best?.coverage ?? 0) >= SURE ? null : byWords(turn);
}

const pair = (description: string, execution: string | null): (readonly [string, string])[] =>
  execution ? [[description, execution]] : [];

function byWords({ asking }: Turn): RecallArguments | null {
  const query = contentWords(asking).join(" ").slice(0, QUERY_CHARS).toWellFormed();
  return query === "" ? null : { query };
}

/** What the last result says follows it; by words, where an execution alone did not say it. */
function nextLookUp(turn: Turn, done: readonly Answered[]): RecallArguments | null {
  const last = done.at(-1);
  if (!last || (rank(focusOf(turn, last), recalled(last))[0]?.coverage ?? 0) >= GOOD) return null;
  const asked = argumentsOf(last.call);
  const offset = [...last.result.output.matchAll(READ_ON)].map((match) => Number(match[1])).at(-1);
  if (offset !== undefined && offset > Number(asked.offset ?? 0)) return { ...asked, offset };
  return done.some(({ call }) => "query" in argumentsOf(call)) ? null : byWords(turn);
}

const recalled = ({ result }: Answered): readonly string[] => statementsOf(result.output);

/** What is asked of that result: of an execution everything but what named it. */
function focusOf({ asking, before }: Turn, { call }: Answered): string {
  const { execution_id } = argumentsOf(call);
  const named = before.find((each) => executionOf(each) === execution_id);
  if (!named) return asking;
  const known = new Set(wordsOf(describe(named)));
  return contentWords(asking)
    .filter((word) => wordsOf(word).some((each) => !known.has(each)))
    .join(" ");
}

/** The best sentences of what was looked up in this turn, an execution's first, beside those that were seen anyway. Empty: none fits. */
export function quoteRecalled(turn: Turn): readonly string[] {
  const done = lookUps(turn);
  const ofExecutions = done
    .filter(({ call }) => "execution_id" in argumentsOf(call))
    .flatMap((each) => bestOf(focusOf(turn, each), recalled(each)));
  if (ofExecutions.length > 0) return ofExecutions;
  return bestOf(turn.asking === "" ? turn.said : turn.asking, [...seenSentences(turn), ...done.flatMap(recalled)]);
}

function argumentsOf({ arguments: text }: ToolCallPart): RecallArguments {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
