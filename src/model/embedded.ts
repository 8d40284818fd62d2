/**
 * `embedded`: a stand-in for a language model, deterministic and offline, so that everything around a model can be
 * tried without an account. It answers from sentences that it can see, and says so when it cannot. No clock, no
 * network, no randomness.
 */
import type { CallOptions, ChatMessage, ChatModel, ModelChunk, ModelRequest } from "../app/ports";
import type { Part, ToolResultPart } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { type EstimateTokens, extractSummary } from "./extract-summary";
import { findMatches, sentencesOf } from "./text-matching";

const STAND_IN = "I am Longhand's embedded stand-in model";
/** Share of the question's weight that a sentence must hold before it counts as an answer. */
const LEAST_COVERAGE = 0.34;
/** A further sentence is quoted only if it is nearly as good as the best. */
const NEARLY_AS_GOOD = 0.75;
const MOST_SENTENCES = 3;
const MOST_CHUNKS = 32;
const TOPIC_CHARS = 80;
const RESULT_CHARS = 400;
const MESSAGE_TOKENS = 4;
/** A heading that a summary is asked to have. */
const SECTION = /^## .+$/gm;
const QUESTION =
  /[?？]|^(?:who|what|when|where|why|which|how|whose|is|are|was|were|do|does|did|can|could|would|should|tell|list|show|give|explain|recall|repeat|find|wer|was|wann|wo|warum|wie|qui|quand|où|quel|quién|qué|cuándo|dónde)\b|吗|什么|谁|哪|何|誰|ですか/iu;

export function createEmbeddedModel(estimate: EstimateTokens): ChatModel {
  return {
    stream: (request, options) => streamReply(request, { options, estimate }),
    render: async (request) => ({ url: `embedded:${request.model.upstream_id}`, body: bodyOf(request) }),
  };
}

const bodyOf = ({ model, system, messages, tools, maxOutput }: ModelRequest): string =>
  JSON.stringify({ model: model.upstream_id, system, messages, tools, max_tokens: maxOutput });

interface Run {
  readonly options: CallOptions;
  readonly estimate: EstimateTokens;
}

async function* streamReply(request: ModelRequest, { options, estimate }: Run): AsyncGenerator<ModelChunk, void, undefined> {
  const aborted: ModelChunk = { type: "failure", failure: { kind: "aborted", status: null } };
  if (options.signal.aborted) return yield aborted;
  options.onRequest?.(bodyOf(request));
  const whole = toChunks(replyTo(request, estimate));
  const chunks = withinLimit(whole, { maxTokens: mostTokens(request), estimate });
  for (const text of chunks) {
    if (options.signal.aborted) return yield aborted;
    yield { type: "text", text };
  }
  if (options.signal.aborted) return yield aborted;
  const usage = { input: inputTokens(request, estimate), output: estimate(chunks.join("")), cached: 0, reasoning: 0 };
  yield { type: "finish", finish: chunks.length < whole.length ? "length" : "stop", usage };
}

const mostTokens = ({ maxOutput, model }: ModelRequest): number => maxOutput ?? model.max_output;

function inputTokens({ system, messages, tools }: ModelRequest, estimate: EstimateTokens): number {
  const spoken = messages.reduce((sum, message) => sum + estimate(textOf(message)) + MESSAGE_TOKENS, 0);
  const fixed = (system === null ? 0 : estimate(system) + MESSAGE_TOKENS) + (tools.length === 0 ? 0 : estimate(JSON.stringify(tools)));
  return spoken + fixed;
}

function withinLimit(
  chunks: readonly string[],
  limit: { readonly maxTokens: number; readonly estimate: EstimateTokens },
): readonly string[] {
  let text = "";
  const end = chunks.findIndex((chunk) => {
    text += chunk;
    return limit.estimate(text) > limit.maxTokens;
  });
  return end === -1 ? chunks : chunks.slice(0, end);
}

/** At most `MOST_CHUNKS` pieces, split at words; together they are the text. */
function toChunks(text: string): readonly string[] {
  const words = text.match(/\s*\S{1,16}|\s+$/gu) ?? [];
  const size = Math.max(1, Math.ceil(words.length / MOST_CHUNKS));
  const chunks: string[] = [];
  for (let from = 0; from < words.length; from += size) chunks.push(words.slice(from, from + size).join(""));
  return chunks;
}

function replyTo(request: ModelRequest, estimate: EstimateTokens): string {
  const asked = request.messages.findLast((message) => message.role === "user");
  const question = asked ? textOf(asked) : "";
  if (request.purpose === "compaction") return summaryOf(request, estimate);
  if (request.purpose === "title") return topicOf(toldIn(question));
  const result = request.messages.at(-1)?.parts.findLast((part) => part.type === "tool_result");
  if (result) return answerFromResult(question, result);
  if (!isQuestion(question)) return `Noted: "${topicOf(question)}". ${STAND_IN}, so I keep this in mind but have nothing to add.`;
  return answerFromView(question, request, asked);
}

/** What the first speaker of the conversation in a question for a title says. */
const toldIn = (asked: string): string => /^(?:User|Assistant): (.+)$/m.exec(asked)?.[1] ?? asked;

/** From a tagged transcript, or from the conversation itself when the instruction was only added to it. */
function summaryOf(request: ModelRequest, estimate: EstimateTokens): string {
  const asked = textOf(request.messages.at(-1) ?? { role: "user", parts: [] });
  const sections = `${request.system ?? ""}\n${asked}`.match(SECTION)?.map((line) => line.trim()) ?? [];
  const told = request.messages.slice(0, -1).map((message) => `${message.role}: ${textOf(message)}`);
  const input = told.length > 0 ? told.join("\n\n") : asked;
  const room = mostTokens(request) - estimate(sections.join("\n")) - 4 * sections.length;
  const said = extractSummary(input, { maxTokens: room, estimate });
  if (sections.length === 0) return said;
  const last = sections.length - 1;
  return sections.map((heading, index) => `${heading}\n${index === last ? said : "none"}`).join("\n");
}

/** Questions and this model's own words answer nothing, and are not searched. */
function answerFromView(question: string, request: ModelRequest, asked: ChatMessage | undefined): string {
  const texts = [request.system ?? "", ...request.messages.filter((message) => message !== asked).map(textOf)];
  const sentences = texts.flatMap(sentencesOf).filter((sentence) => !isQuestion(sentence) && !sentence.includes(STAND_IN));
  const ownContext = sentencesOf(question).filter((sentence) => !isQuestion(sentence));
  const asking = sentencesOf(question).filter(isQuestion).join(" ");
  const found = bestOf(asking, [...sentences, ...ownContext]);
  if (found.length === 0) return `${STAND_IN}, and I looked for "${topicOf(asking)}". I cannot find that in what I can see.`;
  return `${found.join(" ")}\n\n(${STAND_IN}: these are the best-matching sentences of what I can see.)`;
}

function bestOf(question: string, sentences: readonly string[]): readonly string[] {
  const matches = findMatches(question, [...new Set(sentences)]);
  const least = Math.max(LEAST_COVERAGE, (matches[0]?.coverage ?? 0) * NEARLY_AS_GOOD);
  return matches
    .filter((match) => match.coverage >= least)
    .slice(0, MOST_SENTENCES)
    .map(({ sentence }) => cut(sentence, RESULT_CHARS));
}

function answerFromResult(question: string, { name, output, is_error }: ToolResultPart): string {
  const found = bestOf(question, sentencesOf(output));
  const said = found.length > 0 ? found.join(" ") : cut(output.trim(), RESULT_CHARS);
  const verb = is_error ? "failed with" : "returned";
  return `${name} ${verb}: ${said === "" ? "nothing" : said}\n\n(${STAND_IN}: I can only quote the result.)`;
}

const isQuestion = (text: string): boolean => QUESTION.test(text.trimStart());

const topicOf = (text: string): string => cut(sentencesOf(text)[0] ?? "", TOPIC_CHARS);

/** Cut between characters, never inside one. */
const cut = (text: string, length: number): string =>
  text.length <= length
    ? text
    : `${text
        .slice(0, length)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`;

const textOf = (message: ChatMessage): string => message.parts.map(partText).filter(Boolean).join("\n");

function partText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return `${part.name} ${part.arguments}`;
    case "tool_result":
      return part.output;
    case "reasoning":
      return "";
    case "image":
    case "file":
      return part.name ?? "";
    default:
      return assertNever(part);
  }
}
