/** Lives a story through in a session of its own, and asks for what was planted in it. */
import type { ChatModel, ModelChunk, ModelRequest, ModelSpec } from "../../src/app/ports.ts";
import { estimateTokens } from "../../src/context/tokens.ts";
import type { StoredEvent } from "../../src/domain/events.ts";
import type { Part } from "../../src/domain/message.ts";
import { createChatModel } from "../../src/model/chat-model.ts";
import { readEvents } from "../../src/session/log/event-log.ts";
import { SessionHost } from "../support/session-host.ts";
import { METER, type Question, type Step, type Story } from "./story.ts";

/** Where the answer came from. `lost`: the reply does not hold it. */
export type Source = "view" | "summary" | "memory_query" | "lost";

export interface Asked {
  readonly question: Question;
  readonly source: Source;
  /** Whether it was looked up, found or not. */
  readonly lookUps: number;
  /** Tokens of what the look-ups brought. */
  readonly tokens: number;
  readonly reply: string;
  /** What the look-ups brought. */
  readonly found: readonly string[];
}

export interface Played {
  readonly asked: readonly Asked[];
  readonly turns: number;
  /** Changes of the view, by what they were for. */
  readonly compactions: Readonly<Record<string, number>>;
  /** Most that a request weighed, by the estimate. */
  readonly heaviest: number;
}

export interface PlayOptions {
  readonly window: number;
  readonly policy: string;
  readonly onProgress?: (done: number, of: number) => void;
}

const text = (said: string): readonly Part[] => [{ type: "text", text: said }];

/** What the model was asked and what it said, of the newest turn. */
class Listener implements ChatModel {
  readonly #model = createChatModel({ credentials: async () => null, estimate: estimateTokens });
  requests: ModelRequest[] = [];
  said = "";

  render(request: ModelRequest) {
    return this.#model.render(request);
  }

  async *stream(request: ModelRequest, options: Parameters<ChatModel["stream"]>[1]): AsyncGenerator<ModelChunk> {
    const isTurn = request.purpose === "turn";
    if (isTurn) this.requests.push(request);
    if (isTurn) this.said = "";
    for await (const chunk of this.#model.stream(request, options)) {
      if (isTurn && chunk.type === "text") this.said += chunk.text;
      yield chunk;
    }
  }
}

export async function playStory(story: Story, { window, policy, onProgress = () => {} }: PlayOptions): Promise<Played> {
  const spec: ModelSpec = {
    id: "embedded",
    provider: "embedded",
    upstream_id: "embedded",
    base_url: null,
    context_window: window,
    max_output: 1_000,
    source: "deployment",
  };
  const model = new Listener();
  const read = (meter: unknown): string => story.results.get(String(meter)) ?? "There is no such meter.";
  const tools = {
    run: async (request: { readonly arguments: Readonly<Record<string, unknown>> }) => ({
      output: read(request.arguments.meter),
      failure: null,
    }),
  };
  const host = new SessionHost({ spec, model, tools });
  await host.open({ policy, tools: [METER] });
  const whole = story.steps.length + story.questions.length;
  for (const [index, step] of story.steps.entries()) {
    await playStep(host, step, read);
    onProgress(index, whole);
  }
  const events = readEvents(host.sql, 0, Number.MAX_SAFE_INTEGER);
  const executions = executionsOf(host);
  // The index follows the record when it is asked: once for all, and not in every question's copy of the session.
  await host.runtime.ports().recall({ query: "index" });
  const asked: Asked[] = [];
  for (const question of story.questions) {
    asked.push(await ask(host, { model, question, executions }));
    onProgress(story.steps.length + asked.length, whole);
  }
  return {
    asked,
    turns: events.filter(({ type }) => type === "TurnCompleted").length,
    compactions: countChanges(events),
    heaviest: heaviestOf(events),
  };
}

async function playStep(host: SessionHost, step: Step, read: (meter: string) => string): Promise<void> {
  switch (step.type) {
    case "say":
      return host.submit({ role: "user", parts: text(step.text), run: true });
    case "reply":
      return host.submit({ role: "assistant", parts: text(step.text), run: false });
    case "read": {
      const { meter } = step;
      if (!step.imported) return host.submit({ role: "user", parts: text(`read_meter {"meter": "${meter}"}`), run: true });
      const call = { call_id: "call_imported", name: METER.name, arguments: JSON.stringify({ meter }) };
      await host.submit({ role: "assistant", parts: [], calls: [call], run: false });
      return host.submit({ role: "tool", call_id: call.call_id, output: read(meter), is_error: false, run: false });
    }
  }
}

interface Asking {
  readonly model: Listener;
  readonly question: Question;
  readonly executions: ReadonlyMap<string, string>;
}

/** Every question is asked of the same session: what one of them brings into the view, the next one does not see. */
function ask(host: SessionHost, { model, question, executions }: Asking): Promise<Asked> {
  return host.fork(async () => {
    model.requests = [];
    const said = question.text.replace("{x}", executions.get(question.meter ?? "") ?? "");
    await host.submit({ role: "user", parts: text(said), run: true });
    const found = lookedUp(model.requests.at(-1));
    const answered = model.said.includes(question.value);
    const source = !answered ? "lost" : found.length > 0 ? "memory_query" : sourceIn(model.requests[0], question.value);
    const tokens = found.reduce((sum, output) => sum + estimateTokens(output), 0);
    return { question, source, lookUps: found.length, tokens, reply: model.said, found };
  });
}

/** What `memory_query` brought since the question: a turn's request holds its own results in full. */
function lookedUp(request: ModelRequest | undefined): readonly string[] {
  const messages = request?.messages ?? [];
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const parts = since.flatMap((message) => message.parts);
  return parts.flatMap((part) => (part.type === "tool_result" && part.name === "memory_query" ? [part.output] : []));
}

function sourceIn(request: ModelRequest | undefined, value: string): Source {
  if (!request) return "view";
  const older = JSON.stringify([request.system, request.messages.slice(0, request.older ?? 0)]);
  return JSON.stringify(request.messages.slice(request.older ?? 0)).includes(value) || !older.includes(value) ? "view" : "summary";
}

/** By meter: the execution that read it. */
function executionsOf({ runtime }: SessionHost): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { meta, parts } of runtime.content.readForwards({ from: 1, to: runtime.state.next_position - 1 })) {
    const [call] = parts.filter((part) => part.type === "tool_call" && part.name === METER.name);
    const meter = call?.type === "tool_call" ? /M-\d+/.exec(call.arguments)?.[0] : undefined;
    if (meter && meta.tool) found.set(meter, meta.tool.execution);
  }
  return found;
}

function countChanges(events: readonly StoredEvent[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const event of events) if (event.type === "EpochChanged") counts[event.trigger] = (counts[event.trigger] ?? 0) + 1;
  return counts;
}

const heaviestOf = (events: readonly StoredEvent[]): number =>
  events.reduce(
    (most, event) => (event.type === "ModelCallFinished" && event.purpose === "turn" ? Math.max(most, event.usage?.input ?? 0) : most),
    0,
  );
