/** Plays a story in its own session, and asks for what was planted in it. */
import type { Credentials } from "../../src/app/ports.ts";
import { estimateTokens } from "../../src/context/tokens.ts";
import type { StoredEvent } from "../../src/domain/events.ts";
import type { Part } from "../../src/domain/message.ts";
import { createChatModel } from "../../src/model/chat-model.ts";
import { readEvents } from "../../src/session/log/event-log.ts";
import { type HostWorld, SessionHost } from "../support/session-host.ts";
import { type Asked, ask } from "./ask.ts";
import { Listener } from "./listener.ts";
import { METER, type Story } from "./story.ts";
import type { Step } from "./writing.ts";

export interface Played {
  readonly policy: string;
  readonly asked: readonly Asked[];
  readonly turns: number;
  /** Turns without an answer. */
  readonly failed: number;
  /** Changes of the view, by trigger. */
  readonly changes: Readonly<Record<string, number>>;
  /** Changes that replaced messages by a model's summary. */
  readonly summaries: number;
  /** The largest request, by the model's own count. */
  readonly heaviest: number;
  /** Cost of the conversation without the questions, in tokens of plain input (docs/policy-figures.md, cost). */
  readonly cost: number;
}

/** The caller of every request. */
export interface PlayedModel extends Pick<HostWorld, "spec" | "pace"> {
  readonly credentials: Credentials;
  readonly system: string | null;
}

export interface PlayOptions {
  readonly model: PlayedModel;
  readonly policy: string;
  readonly onProgress?: (done: number, of: number) => void;
}

const text = (said: string): readonly Part[] => [{ type: "text", text: said }];

/** The embedded model, which needs no key and no network. */
export const embedded = (window: number): PlayedModel => ({
  spec: {
    id: "embedded",
    provider: "embedded",
    upstream_id: "embedded",
    base_url: null,
    context_window: window,
    max_output: 1_000,
    source: "deployment",
  },
  credentials: async () => null,
  system: null,
  pace: "still",
});

export async function playStory(story: Story, { model: by, policy, onProgress = () => {} }: PlayOptions): Promise<Played> {
  const model = new Listener(createChatModel({ credentials: by.credentials, estimate: estimateTokens }));
  const read = (meter: unknown): string => story.results.get(String(meter)) ?? "There is no such meter.";
  const tools = {
    needsApproval: async () => false,
    run: async (request: { readonly arguments: Readonly<Record<string, unknown>> }) => ({
      output: read(request.arguments.meter),
      failure: null,
    }),
  };
  const host = new SessionHost({ spec: by.spec, model, tools, ...(by.pace ? { pace: by.pace } : {}) });
  await host.open({ policy, tools: [METER], system: by.system });
  const whole = story.steps.length + story.questions.length;
  for (const [index, step] of story.steps.entries()) {
    await playStep(host, step, read);
    onProgress(index, whole);
  }
  const events = readEvents(host.sql, 0, Number.MAX_SAFE_INTEGER);
  model.counting = false;
  const executions = readExecutions(host);
  // The first query updates the index. Doing so here spares every question's copy of the session that work.
  await host.runtime.ports().recall({ query: "index" });
  const asked: Asked[] = [];
  for (const question of story.questions) {
    asked.push(await ask(host, { model, question, executions }));
    onProgress(story.steps.length + asked.length, whole);
  }
  return { ...readTalk(events), policy, asked, cost: model.cost };
}

/** The figures of the conversation before the first question. */
function readTalk(events: readonly StoredEvent[]): Omit<Played, "policy" | "asked" | "cost"> {
  return {
    turns: events.filter(({ type }) => type === "TurnCompleted").length,
    failed: events.filter(({ type }) => type === "TurnFailed").length,
    changes: countChanges(events),
    summaries: events.filter((event) => event.type === "EpochChanged" && event.ops.some((op) => op.op === "summarize" && op.mode !== null))
      .length,
    heaviest: findHeaviest(events),
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

/** The execution that read each meter. */
function readExecutions({ runtime }: SessionHost): ReadonlyMap<string, string> {
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

const findHeaviest = (events: readonly StoredEvent[]): number =>
  events.reduce(
    (most, event) => (event.type === "ModelCallFinished" && event.purpose === "turn" ? Math.max(most, event.usage?.input ?? 0) : most),
    0,
  );
