/** Asks for the planted facts, and determines where each answer came from. */
import type { ModelRequest } from "../../src/app/ports.ts";
import { estimateTokens } from "../../src/context/tokens.ts";
import type { SessionHost } from "../support/session-host.ts";
import type { Listener } from "./listener.ts";
import type { Question } from "./writing.ts";

/**
 * The source of the answer: a message in the request, otherwise the summary in it, otherwise a look-up. `lost`: the
 * reply does not contain the value, or states an outdated value first.
 */
export const SOURCES = ["view", "summary", "recalled", "lost"] as const;
export type Source = (typeof SOURCES)[number];

export interface Asked {
  readonly question: Question;
  readonly source: Source;
  readonly lookUps: number;
  /** Tokens of the look-ups' results. */
  readonly tokens: number;
  readonly reply: string;
  /** Texts of the look-ups' results. */
  readonly found: readonly string[];
}

export interface Asking {
  readonly model: Listener;
  readonly question: Question;
  /** The execution that read each meter. */
  readonly executions: ReadonlyMap<string, string>;
}

/** Every question is asked of the same copy of the session, so that no question changes the view of the next one. */
export function ask(host: SessionHost, { model, question, executions }: Asking): Promise<Asked> {
  return host.fork(async () => {
    model.requests = [];
    model.said = "";
    const said = question.text.replace("{x}", executions.get(question.meter ?? "") ?? "");
    await host.submit({ role: "user", parts: [{ type: "text", text: said }], run: true });
    const found = lookedUp(model.requests.at(-1));
    const source = isAnswer(model.said, question) ? findSource(question.value, model.requests[0], found) : "lost";
    const tokens = found.reduce((sum, output) => sum + estimateTokens(output), 0);
    return { question, source, lookUps: found.length, tokens, reply: model.said, found };
  });
}

/** Normalises a value, because a model chooses case, width and spaces itself. */
const normalised = (text: string): string => text.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, "");

/** The reply contains the value. An outdated value may only follow it. */
export function isAnswer(reply: string, { value, outdated }: Pick<Question, "value" | "outdated">): boolean {
  const said = normalised(reply);
  const at = said.indexOf(normalised(value));
  const before = outdated === null ? -1 : said.indexOf(normalised(outdated));
  return at >= 0 && (before < 0 || at < before);
}

function findSource(value: string, request: ModelRequest | undefined, found: readonly string[]): Source {
  const holds = (texts: unknown): boolean => normalised(JSON.stringify(texts)).includes(normalised(value));
  const older = request?.older ?? 0;
  if (request && holds(request.messages.slice(older))) return "view";
  if (request && holds([request.system, request.messages.slice(0, older)])) return "summary";
  return holds(found) ? "recalled" : "lost";
}

/** Results of `memory_query` since the question. A turn's request contains its own results in full. */
function lookedUp(request: ModelRequest | undefined): readonly string[] {
  const messages = request?.messages ?? [];
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const parts = since.flatMap((message) => message.parts);
  return parts.flatMap((part) => (part.type === "tool_result" && part.name === "memory_query" ? [part.output] : []));
}
