/**
 * The model of simulated chats. A question has a mark, `#12`, and each word of an answer has that mark, the call and its own number: `w12.3.0`.
 * So the rules know of each word that people see which question it answers, and that it is there once.
 */
import type { ChatModel, ModelRequest, ModelStreamPart } from "../../src/app/ports";
import type { Random } from "./random";
import type { Scheduler, Scope } from "./scheduler";
import type { Stats } from "./stats";

interface ModelWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly stats: Stats;
  readonly faults: { readonly modelFails: number };
}

const MARK = /#(\d+)/g;

/** The mark of the newest question in the request. */
function findMark({ messages }: ModelRequest): string {
  const texts = messages.flatMap(({ role, parts }) =>
    role === "user" ? [parts.map((part) => (part.type === "text" ? part.text : "")).join(" ")] : [],
  );
  return (
    texts
      .flatMap((text) => [...text.matchAll(MARK)])
      .map(([, mark]) => mark)
      .at(-1) ?? "0"
  );
}

export class ChatModels {
  readonly world: ModelWorld;
  #calls = 0;

  constructor(world: ModelWorld) {
    this.world = world;
  }

  for(scope: Scope): ChatModel {
    const { world } = this;
    const next = () => ++this.#calls;
    return {
      render: async () => ({ url: "", body: "" }),
      stream: (request, { signal }) => answer(world, { request, signal, scope, call: next() }),
    };
  }
}

interface Call {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly scope: Scope;
  readonly call: number;
}

async function* answer({ scheduler, random, stats, faults }: ModelWorld, call: Call): AsyncGenerator<ModelStreamPart> {
  stats.count("model calls");
  const mark = findMark(call.request);
  const { tools, messages } = call.request;
  const isNew = messages.at(-1)?.role === "user";
  if (tools.length > 0 && isNew && random.chance(0.5)) {
    stats.count("tool calls");
    await scheduler.sleep(call.scope, random.int(0, 800), "the model calls a tool");
    yield { type: "tool_call", call: { type: "tool_call", call_id: `c${call.call}`, name: "pay", arguments: "{}" } };
    return yield { type: "finish", finish: "tool_calls", usage: null };
  }
  const words = random.pick([0, 1, 5, 20, 40]);
  const failsAt = random.chance(faults.modelFails) ? random.int(0, words) : null;
  for (let n = 0; n <= words; n++) {
    await scheduler.sleep(call.scope, random.int(0, 800), "the model writes");
    if (call.signal.aborted) return yield { type: "failure", failure: { kind: "aborted", status: null } };
    if (n === failsAt) {
      stats.count("model failures");
      const kind = random.pick(["unavailable", "unavailable", "refused", "quota"] as const);
      return yield { type: "failure", failure: { kind, status: null } };
    }
    // Several paragraphs, some of them code.
    const space = random.pick([" ", " ", " ", "\n\n", "\n\n```\n", "\n```\n\n"]);
    if (n < words) yield { type: "text", text: `w${mark}.${call.call}.${n}${space}` };
  }
  yield { type: "finish", finish: "stop", usage: { input: 10, output: 5, cached: 0, reasoning: 0 } };
}
