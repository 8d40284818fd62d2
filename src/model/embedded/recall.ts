/**
 * Decides when the embedded model looks something up with `memory_query`: when what it can see does not fully answer the
 * question. It asks by execution id when the question names one or is about a cleared result, and by the question's words
 * otherwise. It reads the next page when a result offers one.
 */
import type { ToolCallPart } from "../../domain/message";
import { contentWords, matchWords, type SentenceMatch } from "../text-matching";
import { pickBestSentences, rank, seenSentences, splitStatements } from "./sentences";
import { type Answered, describe, isRecall, RECALL, readClearedExecution, type Turn } from "./turn";

/** Maximum number of look-ups in one turn. */
const MOST_CALLS = 3;
/**
 * If a visible sentence holds at least this share of the question's weight, there is nothing to look up. A sentence that
 * lacks a name of the question stays below it.
 */
const SURE = 0.9;
/** A looked-up sentence that holds at least this share of the question's weight answers it. */
const GOOD = 0.5;
/**
 * Thresholds for quoting looked-up sentences. They are low because the look-up already selected them by the question's
 * words, or is the result that was asked for.
 */
const FOUND_BY_WORDS = { least: 0.2, nearly: 0.5 };
const FOUND_BY_EXECUTION = { least: 0.1, nearly: 0.5 };
/** Matches a call in a result, with its execution id. */
const CALL = /\bcall of [^\n]{0,300}?\b(exe_\w+)/;
const QUERY_CHARS = 300;
/** Matches the offset at which a result continues: `offset 2000`, `"offset": 2000`, `offset=2000`. */
const READ_ON = /\boffset\W{1,4}(\d+)/g;

type RecallArguments = Readonly<Record<string, unknown>>;

/** The next look-up of this turn, as a tool call. Null when nothing is left to look up, or when it cannot be looked up. */
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
  const cleared = new Map(turn.before.flatMap((each) => pair(describe(each), readClearedExecution(each))));
  const [best] = rank(withoutFillers(turn.asking), [...seenSentences(turn), ...cleared.keys()]);
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

/**
 * Chooses what to read after the last look-up: the execution of a call that a search found, else the next page of the last
 * result, else a search by words if only executions were read so far.
 */
function nextLookUp(turn: Turn, done: readonly Answered[]): RecallArguments | null {
  const last = done.at(-1);
  if (!last) return null;
  const asked = readArguments(last.call);
  if ("query" in asked) {
    const called = calledIn(rank(withoutFillers(turn.asking), [...seenSentences(turn), ...recalled(last)]));
    if (called !== null) return { execution_id: called };
  }
  const [best] = rank(chooseFocus(turn, last), recalled(last));
  if ((best?.coverage ?? 0) >= GOOD) return null;
  const offset = [...last.result.output.matchAll(READ_ON)].map((match) => Number(match[1])).at(-1);
  if (offset !== undefined && offset > Number(asked.offset ?? 0)) return { ...asked, offset };
  return done.some(({ call }) => "query" in readArguments(call)) ? null : byWords(turn);
}

/** The execution id of a call that would be quoted. The line that names a call does not hold the call's result. */
function calledIn(matches: readonly SentenceMatch[]): string | null {
  const least = (matches[0]?.coverage ?? 0) * FOUND_BY_WORDS.nearly;
  const found = matches.find(({ sentence, coverage }) => coverage >= least && CALL.test(sentence));
  return CALL.exec(found?.sentence ?? "")?.[1] ?? null;
}

const recalled = ({ result }: Answered): readonly string[] => splitStatements(result.output);

/**
 * Parts of a question without content, in scripts without spaces: Japanese endings and Chinese question words. A question
 * that has nothing else is kept whole.
 */
const FILLERS = /\p{Script=Hiragana}{2,}|什么|多少|哪[里个号一]|怎么|[吗呢何]/gu;

function withoutFillers(question: string): string {
  const rest = question.replaceAll(FILLERS, " ");
  return matchWords(rest).length === 0 ? question : rest;
}

/** What the question asks of that result. For an execution, the words that describe its call are left out. */
function chooseFocus(turn: Turn, { call }: Answered): string {
  const { execution_id: id } = readArguments(call);
  if (typeof id !== "string") return withoutFillers(turn.asking);
  const cleared = turn.before.filter((each) => readClearedExecution(each) === id).map(describe);
  const found = lookUps(turn).flatMap((each) => recalled(each).filter((sentence) => CALL.exec(sentence)?.[1] === id));
  const known = new Set([...cleared, ...found].flatMap(matchWords));
  return contentWords(withoutFillers(turn.asking))
    .filter((word) => matchWords(word).some((each) => !known.has(each)))
    .join(" ");
}

/**
 * The best sentences for the answer: those of executions that were read in this turn, or else of all that was looked up or
 * is visible. Empty when none fits.
 */
export function quoteRecalled(turn: Turn): readonly string[] {
  const done = lookUps(turn);
  const ofExecution = done.filter(({ call }) => "execution_id" in readArguments(call));
  const [first] = ofExecution;
  const quoted = first ? pickBestSentences(chooseFocus(turn, first), ofExecution.flatMap(recalled), FOUND_BY_EXECUTION) : [];
  if (quoted.length > 0) return quoted;
  const asking = turn.asking === "" ? turn.said : turn.asking;
  return pickBestSentences(withoutFillers(asking), [...seenSentences(turn), ...done.flatMap(recalled)], FOUND_BY_WORDS);
}

function readArguments({ arguments: text }: ToolCallPart): RecallArguments {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
