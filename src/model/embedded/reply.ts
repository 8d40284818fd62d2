/**
 * Builds the embedded model's reply: to a question the best sentences that it knows, to a message that names a tool a call
 * of it, to a request for a summary or a title the summary or the title.
 */
import type { ModelRequest } from "../../app/ports";
import type { ToolCallPart, ToolResultPart } from "../../domain/message";
import { EMPTY_SECTION, type EstimateTokens, extractSummary, taggedIn, withoutTagged } from "../extract-summary";
import { splitSentences } from "../text-matching";
import { longReply } from "./long-reply";
import { cut, isQuestion, readMessageText, toTopic } from "./message-text";
import { type NamedCall, namedCalls } from "./named-calls";
import { planRecall, quoteRecalled } from "./recall";
import { pickBestSentences, RESULT_CHARS, STAND_IN, seenSentences } from "./sentences";
import { isRecall, readEmbeddedTurn, type Turn } from "./turn";

/** One sentence that contains the model's name, so that the model never quotes it as an answer (`splitStatements`). */
const GREETING = `Hello! ${STAND_IN}, for development without an account: I understand nothing, and answer with sentences that I can see or look up, so tell me that your dog is called Rex and ask me later what your dog is called, name one of your tools with its arguments, or put a real model in my place as docs/api/models-and-keys.md shows.`;

/** Greetings in English, German, Chinese and Japanese. The pattern matches whole sentences only. */
const HELLO =
  /^(?:hello|hi|hey|good (?:morning|day|afternoon|evening)|hallo|guten (?:morgen|tag|abend)|你好|您好|嗨|こんにちは|はじめまして)(?: there)?\P{L}*$/iu;
const WHO =
  /(?:\b(?:what|who) are you|\bwhat can you do|\bintroduce yourself|\b(?:was|wer) bist du|\bwas kannst du|你是(?:什么|谁)|你能做什么|あなたは(?:誰|何)(?:です|でしょう)か?|何ができますか)\P{L}*$/iu;

function isAboutMe(said: string): boolean {
  const sentences = splitSentences(said);
  return sentences.length > 0 && sentences.every((sentence) => HELLO.test(sentence.trim()) || WHO.test(sentence.trim()));
}

/** A reply has either a text or calls. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCallPart[];
  /** The text in pieces that are said one after the other, at a readable pace. Absent: all of it at once. */
  readonly paced?: readonly string[];
}

/** Matches a heading that the instruction demands of a summary. */
const SECTION = /^## .+$/gm;
/** Matches an instruction that asks for one summary of everything, earlier summaries included (`context/prompts`). */
const MERGES = /earlier summaries included/;

export const mostTokens = ({ maxOutput, model }: ModelRequest): number => maxOutput ?? model.max_output;

export function replyTo(request: ModelRequest, estimate: EstimateTokens): Reply {
  switch (request.purpose) {
    case "compaction":
      return saying(writeSummary(request, estimate));
    case "title":
      return saying(toTopic(firstToldIn(readEmbeddedTurn(request).said)));
    default:
      return answerTurn(readEmbeddedTurn(request));
  }
}

const saying = (text: string): Reply => ({ text, calls: [] });

function answerTurn(turn: Turn): Reply {
  const { latest, said, request } = turn;
  const isFirst = latest.length === 0;
  const named = isFirst ? namedCalls(said, request.tools) : [];
  if (named.length > 0) return calling(named, request);
  if (isFirst && isAboutMe(said)) return saying(GREETING);
  const paced = isFirst ? longReply(said) : null;
  if (paced) return { ...saying(paced.join("")), paced };
  const recall = isFirst || latest.some(isRecall) ? planRecall(turn) : null;
  if (recall) return calling([recall], request);
  if (latest.some(isRecall)) return saying(answerFromRecall(turn));
  if (!isFirst) return saying(answerFromResults(turn));
  if (!isQuestion(said)) return saying(`Noted: "${toTopic(said)}". ${STAND_IN}, so I keep this in mind but have nothing to add.`);
  return saying(answerFromView(turn));
}

/** Numbers the calls from the highest call id in the request. */
function calling(calls: readonly NamedCall[], { messages }: ModelRequest): Reply {
  const known = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool_call" ? [CALL_ID.exec(part.call_id)?.[1]] : [])),
  );
  const last = known.reduce((most, number) => Math.max(most, Number(number ?? 0)), 0);
  return { text: "", calls: calls.map((call, index) => ({ type: "tool_call", call_id: `call_${last + 1 + index}`, ...call })) };
}

const CALL_ID = /^call_(\d{1,9})$/;

function answerFromView(turn: Turn): string {
  const found = pickBestSentences(turn.asking, seenSentences(turn));
  if (found.length === 0) return `${STAND_IN}, and I looked for "${toTopic(turn.asking)}". I cannot find that in what I can see.`;
  return `${found.join(" ")}\n\n(${STAND_IN}: these are the best-matching sentences of what I can see.)`;
}

function answerFromRecall(turn: Turn): string {
  const found = quoteRecalled(turn);
  const named = turn.asking === "" ? turn.latest.findLast(isRecall) : undefined;
  if (named && found.length === 0) return answerFromResult(turn.said, named);
  if (found.length === 0) return `${STAND_IN}, and I looked for "${toTopic(turn.asking)}", also in what left my view. I cannot find that.`;
  return `${found.join(" ")}\n\n(${STAND_IN}: these are the best-matching sentences of what I looked up.)`;
}

function answerFromResults({ said, latest }: Turn): string {
  return latest.map((result) => answerFromResult(said, result)).join("\n\n");
}

function answerFromResult(question: string, { name, output, is_error }: ToolResultPart): string {
  const found = pickBestSentences(question, splitSentences(output));
  const said = found.length > 0 ? found.join(" ") : cut(output.trim(), RESULT_CHARS);
  const verb = is_error ? "failed with" : "returned";
  return `${name} ${verb}: ${said === "" ? "nothing" : said}\n\n(${STAND_IN}: I can only quote the result.)`;
}

/** The words of the first speaker in the conversation that a request for a title quotes. */
const firstToldIn = (asked: string): string => /^(?:User|Assistant): (.+)$/m.exec(asked)?.[1] ?? asked;

/** Summarises a tagged transcript, or the conversation itself when the instruction was added at its end. */
function writeSummary(request: ModelRequest, estimate: EstimateTokens): string {
  const asked = readMessageText(request.messages.at(-1) ?? { role: "user", parts: [] });
  const sections = sectionsIn(`${request.system ?? ""}\n${withoutTagged(asked)}`);
  const told = request.messages.slice(0, -1).map((message) => `${message.role}: ${readMessageText(message)}`);
  const source = told.length > 0 ? toldIn(told.join("\n\n"), asked) : taggedIn(asked);
  const room = mostTokens(request) - estimate(sections.join("\n")) - 4 * sections.length;
  const said = extractSummary(source, { maxTokens: room, estimate });
  if (sections.length === 0) return said;
  const last = sections.length - 1;
  return sections.map((heading, index) => `${heading}\n${index === last ? said : EMPTY_SECTION}`).join("\n");
}

/** Removes earlier summaries, which stand between tags, unless the instruction asks to merge them. */
const toldIn = (told: string, asked: string): string => (MERGES.test(asked) ? told : withoutTagged(told));

/**
 * The headings that the instruction demands, each once. An earlier summary between tags or in the system prompt may repeat
 * them.
 */
const sectionsIn = (instruction: string): readonly string[] => [...new Set(instruction.match(SECTION)?.map((line) => line.trim()) ?? [])];
