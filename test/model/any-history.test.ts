/**
 * For any conversation, and any view of it that was cut, cleared, shortened or summarised: the request satisfies each
 * provider's rules for messages, and its input is not changed.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatMessage, ModelRequest, ModelSpec } from "../../src/app/ports";
import type { Provider } from "../../src/context/model-input";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import { buildView, NO_RESULT, type ViewEntry, type ViewInput } from "../../src/context/view";
import type { Reduced } from "../../src/domain/compaction-events";
import type { ItemKind, ItemMeta, Part, ToolDefinition, ToolRef } from "../../src/domain/message";
import { createChatModel } from "../../src/model/chat-model";
import { findMalformed } from "../simulation/request-rules";
import { id, item } from "../support/builders";
import { drawn } from "../support/effort";
import { ANTHROPIC_KEY, createAnthropic } from "../support/stand-in/providers/anthropic/anthropic.ts";
import { createGoogle, GOOGLE_KEY } from "../support/stand-in/providers/google/google.ts";
import { createChat } from "../support/stand-in/providers/openai/chat.ts";
import { OPENAI_KEY } from "../support/stand-in/providers/openai/errors.ts";
import { createResponses } from "../support/stand-in/providers/openai/responses.ts";
import { type Dialect, isRefusal, type Refusal } from "../support/stand-in/providers/script.ts";
import { startWorkersAi } from "../support/stand-in/providers/workers-ai/workers-ai.ts";
import { collect, modelSpec } from "./model-request";

const WINDOW = 1_000_000;
const OTHER_MODEL = "another-model";

/**
 * The end of a call: it waits (for the client, a person or its execution), it is never answered, or it was answered
 * successfully, with an error, or twice.
 */
const ENDS = ["answered", "failed", "twice", "pending", "cancelled", "unknown"] as const;

const text = fc.constantFrom("Hello.", "  \n", "", "¿Qué tal? 你好", "[System message: x]", "a".repeat(3_000));
const media = fc.constantFrom<Part>(
  { type: "image", url: "https://example.com/a.png", media_type: "image/png" },
  { type: "file", url: "http://example.com/b.zip", media_type: "application/zip", name: "b.zip" },
);
const called = fc.record({
  call_id: fc.constantFrom("call_1", "call_2", `functions.lookup:0|${"x".repeat(90)}`),
  name: fc.constantFrom("lookup", "made up!", RECALL_TOOL.name),
  args: fc.constantFrom("{}", '{"q":"a"}', "{broken", "", "[1]"),
  end: fc.constantFrom(...ENDS),
  /** The result comes after the items that follow the reply. */
  late: fc.boolean(),
});
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constant("user" as const), text, media: fc.option(media, { nil: null }) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("system" as const), text }) },
  {
    weight: 5,
    arbitrary: fc.record({
      is: fc.constant("reply" as const),
      text: fc.option(text, { nil: null }),
      thinks: fc.boolean(),
      calls: fc.array(called, { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("orphan" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Called = typeof called extends fc.Arbitrary<infer T> ? T : never;
type Reply = Extract<Step, { is: "reply" }>;

const THOUGHT: Part = {
  type: "reasoning",
  text: "Hm.",
  provider_metadata: { anthropic: { signature: "s" }, google: { thoughtSignature: "s" } },
};

/** The record of the story, one item after another. */
class Recorder {
  readonly entries: ViewEntry[] = [];
  #late: (() => void)[] = [];
  #calls = 0;

  take(step: Step): void {
    if (step.is === "user") this.#add("user", [{ type: "text", text: step.text }, ...(step.media ? [step.media] : [])]);
    if (step.is === "system") this.#add("system", [{ type: "text", text: step.text }]);
    if (step.is === "orphan") this.#answer({ execution: id("exe", 9_000 + this.entries.length), call_id: "call_1", name: "lookup" }, "x");
    const late = this.#late;
    this.#late = [];
    for (const give of late) give();
    if (step.is === "reply") this.#reply(step);
  }

  #add(kind: ItemKind, parts: readonly Part[], change: Partial<ItemMeta> = {}): void {
    this.entries.push({ meta: item(this.entries.length + 1, kind, change), parts });
  }

  #answer(tool: ToolRef, output: string, is_error = false): void {
    const { call_id, name } = tool;
    this.#add("tool_result", [{ type: "tool_result", call_id, name, output, is_error }], { tool: { ...tool, is_error } });
  }

  #reply({ text: said, thinks, calls }: Reply): void {
    const words: Part[] = said === null ? [] : [{ type: "text", text: said }];
    const opens = said !== null || thinks;
    if (opens)
      this.#add("assistant", [...(thinks ? [THOUGHT] : []), ...words], thinks ? { signed: { model: OTHER_MODEL, tokens: 1 } } : {});
    const made = calls.map((call, index) => ({ call, tool: this.#call(call, opens || index > 0) }));
    for (const { call, tool } of made.toReversed()) {
      if (call.late) this.#late.push(() => this.#end(call, tool));
      else this.#end(call, tool);
    }
  }

  #call({ call_id, name, args }: Called, continues: boolean): ToolRef {
    const tool: ToolRef = { execution: id("exe", ++this.#calls), call_id, name };
    const part: Part = { type: "tool_call", call_id, name, arguments: args };
    this.#add("tool_call", [part], continues ? { tool, continues } : { tool });
    return tool;
  }

  #end({ end }: Called, tool: ToolRef): void {
    if (end === "pending" || end === "cancelled") return;
    this.#answer(tool, end === "unknown" ? "The outcome of this call is unknown." : "found ".repeat(50), end !== "answered");
    if (end === "twice") this.#answer(tool, "again");
  }
}

function record(steps: readonly Step[]): readonly ViewEntry[] {
  const recorder = new Recorder();
  for (const each of steps) recorder.take(each);
  return recorder.entries;
}

/** The changes of the view: any items removed, any reduced, and any text in place of removed ones. */
const conversation = fc
  .record({
    steps: fc.array(step, { maxLength: 14 }),
    last: fc.constantFrom("question", "tool round"),
    gone: fc.array(fc.nat(40), { maxLength: 12 }),
    from: fc.nat(12),
    reduced: fc.array(
      fc.record({ position: fc.nat(40), how: fc.constantFrom("cleared", "evicted", "shortened"), tokens: fc.constant(1) }),
      { maxLength: 12 },
    ),
    summaries: fc.constantFrom<readonly string[]>([], ["They spoke."], ["They spoke.", "They went on."]),
    dropped: fc.nat(3),
    placement: fc.constantFrom("system-prefix", "system-message", "user-message"),
    system: fc.constantFrom("You help.", "", null),
    pins: fc.constantFrom<readonly string[]>([], ["Be kind."]),
    namesRecall: fc.boolean(),
    signedFrom: fc.nat(40),
    tools: fc.boolean(),
  })
  .map(({ steps, last, gone, from, reduced, tools, ...rest }) => {
    const round: Step = {
      is: "reply",
      text: null,
      thinks: false,
      calls: [{ call_id: "call_1", name: "lookup", args: "{}", end: "answered", late: false }],
    };
    const question: Step = { is: "user", text: "And now?", media: null };
    const whole = record([...steps, question, ...(last === "question" ? [] : [round])]);
    const asked = whole.findLastIndex(({ meta }) => meta.kind === "user");
    const left = new Set(gone);
    const entries = whole.filter((_, index) => index >= asked || (index >= from && !left.has(index)));
    const shown = new Set(entries.map(({ meta }) => meta.position));
    const less = new Map(reduced.filter(({ position }) => shown.has(position)).map((each) => [each.position, toReduced(each)]));
    const isCut = entries.length < whole.length;
    const input: ViewInput = {
      ...rest,
      // The removal is visible in the view.
      dropped: isCut ? Math.max(1, rest.dropped) : rest.dropped,
      entries,
      reduced: [...less.values()],
      model: "test-model",
    };
    return { input, tools };
  });

const toReduced = ({ how, ...at }: { how: "cleared" | "evicted" | "shortened"; position: number; tokens: number }): Reduced =>
  how === "shortened" ? { ...at, how, chars: 20 } : { ...at, how };

const LOOKUP: ToolDefinition = {
  name: "lookup",
  description: "Looks up.",
  parameters: { type: "object", properties: { q: { type: "string" } } },
};

function buildRequest({ input, tools }: { readonly input: ViewInput; readonly tools: boolean }, model: ModelSpec): ModelRequest {
  const view = buildView(input);
  return { model, purpose: "turn", ...view, tools: tools ? [LOOKUP, RECALL_TOOL] : [], maxOutput: 100 };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

interface Desk {
  readonly spec: ModelSpec;
  /** The reason why the provider refuses the request. Null: it accepts it. */
  ask(request: ModelRequest): Promise<Refusal | null>;
}

/** The real adapter, with the stand-in's rules in place of a server. */
function openDesk(provider: Provider, dialect: Dialect, key: string): Desk {
  const spec = modelSpec({ provider, base_url: `https://provider.example${dialect.basePath}`, context_window: WINDOW });
  const heard: (Refusal | null)[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    const raw = await request.text();
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const taken = dialect.receive({ path: `${pathname}${search}`, headers, raw, body: JSON.parse(raw) });
    heard.push(isRefusal(taken) ? taken : null);
    return new Response("{}", { status: 400 });
  };
  const model = createChatModel({ credentials: async () => key, estimate: (said) => said.length, fetch });
  return {
    spec,
    async ask(request) {
      await collect(model.stream(request, { signal: AbortSignal.timeout(10_000) }));
      const answer = heard.pop();
      if (answer === undefined) throw new Error("nothing was sent");
      return answer;
    },
  };
}

function deskOfWorkersAi(): Desk {
  const standIn = startWorkersAi({ window: WINDOW });
  const spec = modelSpec({ provider: "workers-ai", upstream_id: "@cf/openai/gpt-oss-120b", base_url: null, context_window: WINDOW });
  const model = createChatModel({ credentials: async () => "", estimate: (said) => said.length, ai: standIn.binding });
  return {
    spec,
    async ask(request) {
      standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
      await collect(model.stream(request, { signal: AbortSignal.timeout(10_000) }));
      const heard = standIn.log.at(-1);
      if (!heard) throw new Error("nothing was sent");
      return heard.refusal;
    },
  };
}

const desks: readonly (readonly [Provider, () => Desk])[] = [
  ["openai", () => openDesk("openai", createResponses({ window: WINDOW }), OPENAI_KEY)],
  ["openai-chat", () => openDesk("openai-chat", createChat({ window: WINDOW, style: "openai" }), OPENAI_KEY)],
  ["openai-compatible", () => openDesk("openai-compatible", createChat({ window: WINDOW, style: "compatible" }), OPENAI_KEY)],
  ["anthropic", () => openDesk("anthropic", createAnthropic({ window: WINDOW, maxOutput: 8_192 }), ANTHROPIC_KEY)],
  ["google", () => openDesk("google", createGoogle({ window: WINDOW }), GOOGLE_KEY)],
  ["workers-ai", deskOfWorkersAi],
];

describe("any history, cut anywhere and shown as less", () => {
  test.each(desks)("is a request that %s takes", async (_, open) => {
    const desk = open();
    await fc.assert(
      fc.asyncProperty(conversation, async (made) => {
        expect(await desk.ask(buildRequest(made, desk.spec))).toBeNull();
      }),
      { numRuns: drawn(150) },
    );
  });

  test("has each call's one result right after its response, and no result without its call", () => {
    fc.assert(
      fc.property(conversation, ({ input }) => {
        const { messages } = buildView(input);
        // A reply of which only another provider's signed content remains. It is in no provider's request.
        expect(findMalformed(messages.filter(({ role, parts }) => role !== "assistant" || parts.length > 0))).toBeNull();
        const answered = input.entries.filter(({ meta }) => meta.kind === "tool_call").length;
        expect(messages.filter(({ role }) => role === "tool")).toHaveLength(answered);
      }),
      { numRuns: drawn(500) },
    );
  });

  test("is repaired on a copy: nothing that it was built from changes, nor does building it again", () => {
    fc.assert(
      fc.property(conversation, ({ input, tools }) => {
        const before = JSON.stringify(input);
        const first = buildRequest({ input: deepFreeze(structuredClone(input)), tools }, modelSpec());
        expect(JSON.stringify(buildRequest({ input, tools }, modelSpec()))).toBe(JSON.stringify(first));
        expect(JSON.stringify(input)).toBe(before);
      }),
      { numRuns: drawn(300) },
    );
  });

  test("gives back nothing that another model's provider signed", () => {
    fc.assert(
      fc.property(conversation, ({ input }) => {
        expect(JSON.stringify(buildView(input).messages)).not.toContain("provider_metadata");
      }),
    );
  });

  test("says of an unanswered call that it was not answered", () => {
    const pending: Step = {
      is: "reply",
      text: null,
      thinks: false,
      calls: [{ call_id: "call_1", name: "lookup", args: "{}", end: "pending", late: false }],
    };
    const entries = record([{ is: "user", text: "Look.", media: null }, pending, { is: "user", text: "Well?", media: null }]);
    const bare = { system: null, pins: [], summaries: [], dropped: 0, reduced: [], namesRecall: true, signedFrom: 0, model: "m" } as const;
    const { messages } = buildView({ ...bare, placement: "user-message", entries });
    const tool = messages.find(({ role }: ChatMessage) => role === "tool");
    expect(tool?.parts).toMatchObject([{ output: NO_RESULT, is_error: true }]);
  });
});
