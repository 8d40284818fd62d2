/** Asks for what was planted, and finds out where the answer came from. */
import type { ModelRequest } from "../../src/app/ports.ts";
import { estimateTokens } from "../../src/context/tokens.ts";
import type { SessionHost } from "../support/session-host.ts";
import type { Listener } from "./listener.ts";
import type { Question } from "./writing.ts";

/**
 * Where the model had the answer from: messages that the request showed; else the summary that it read; else what it looked up. `lost`: the
 * reply does not hold it, wherever it was, or says first what holds no more.
 */
export const SOURCES = ["view", "summary", "recalled", "lost"] as const;
export type Source = (typeof SOURCES)[number];

export interface Asked {
  readonly question: Question;
  readonly source: Source;
  readonly lookUps: number;
  /** Tokens of what the look-ups brought. */
  readonly tokens: number;
  readonly reply: string;
  /** What the look-ups brought. */
  readonly found: readonly string[];
}

export interface Asking {
  readonly model: Listener;
  readonly question: Question;
  /** By meter: the execution that read it. */
  readonly executions: ReadonlyMap<string, string>;
}

/** Every question is asked of the same session: what one of them brings into the view, the next one does not see. */
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

/** What a value is however it is written: case, width and spaces are the model's own. */
const normalised = (text: string): string => text.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, "");

/** The value is in it; what held before may only follow it. */
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

/** What `memory_query` brought since the question: a turn's request holds its own results in full. */
function lookedUp(request: ModelRequest | undefined): readonly string[] {
  const messages = request?.messages ?? [];
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const parts = since.flatMap((message) => message.parts);
  return parts.flatMap((part) => (part.type === "tool_result" && part.name === "memory_query" ? [part.output] : []));
}
