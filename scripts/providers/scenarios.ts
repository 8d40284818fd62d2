/** What is asked of each endpoint: the same eight things, through the adapters that the Worker calls models with. */
import type { ChatMessage, ChatModel, ModelFailure, ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports.ts";
import { toLesson } from "../../src/app/request/lessons.ts";
import { withQuirks } from "../../src/context/model-quirks.ts";
import type { Part, ToolCallPart } from "../../src/domain/message.ts";

export interface Asked {
  readonly model: ChatModel;
  readonly spec: ModelSpec;
  /** A model that the endpoint does not have. */
  readonly unknown: ModelSpec;
  /** The same endpoint with a wrong key. */
  readonly wrongKey: ChatModel;
  /** Called before each request that is to be answered, with what a stand-in is to say. */
  readonly script: (reply: "text" | "call" | "thinking") => void;
}

/** What came of a scenario. `ok`: what was expected. */
export interface Outcome {
  readonly ok: boolean;
  /** In few words. */
  readonly said: string;
}

const user = (text: string, ...parts: readonly Part[]): ChatMessage => ({ role: "user", parts: [{ type: "text", text }, ...parts] });
const LOOK = {
  name: "look_up",
  description: "Looks up the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MOST_LESSONS = 4;

const toRequest = (spec: ModelSpec, change: Partial<ModelRequest>): ModelRequest => ({
  model: spec,
  purpose: "turn",
  system: "You answer in one word.",
  messages: [user("Is water wet?")],
  tools: [],
  maxOutput: 200,
  ...change,
});

/** Asks as a turn does: a refusal that teaches something is followed by the same request in that way. */
async function ask(model: ChatModel, spec: ModelSpec, change: Partial<ModelRequest> = {}): Promise<readonly ModelStreamPart[]> {
  let asked = spec;
  for (let lessons = 0; ; lessons++) {
    const parts: ModelStreamPart[] = [];
    for await (const part of model.stream(toRequest(asked, change), { signal: AbortSignal.timeout(60_000) })) parts.push(part);
    const failure = findFailure(parts);
    const lesson = failure && lessons < MOST_LESSONS ? toLesson(asked, { ...failure, sent: 0 }) : null;
    if (!lesson) return parts;
    asked = withQuirks(asked, lesson);
  }
}

function findFailure(parts: readonly ModelStreamPart[]): ModelFailure | null {
  const last = parts.at(-1);
  return last?.type === "failure" ? last.failure : null;
}

const joinText = (parts: readonly ModelStreamPart[]): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

function expectText(parts: readonly ModelStreamPart[]): Outcome {
  const failure = findFailure(parts);
  if (failure) return { ok: false, said: `${failure.kind} ${failure.status ?? ""}`.trim() };
  const text = joinText(parts);
  return { ok: text !== "" && !text.includes("<think>"), said: text === "" ? "nothing" : "text" };
}

const expectKind = (parts: readonly ModelStreamPart[], kinds: readonly string[]): Outcome => {
  const said = findFailure(parts)?.kind ?? "text";
  return { ok: kinds.includes(said), said };
};

const toParts = (parts: readonly ModelStreamPart[]): Part[] =>
  parts.flatMap((part): Part[] => {
    if (part.type === "tool_call") return [part.call];
    return part.type === "text" || part.type === "reasoning" ? [{ ...part, block: undefined } as unknown as Part] : [];
  });

/** Two rounds of tools, whose second request holds the first. */
async function useTools({ model, spec, script }: Asked): Promise<Outcome> {
  const messages: ChatMessage[] = [user("What is the weather in Oslo? Use the tool.")];
  for (let round = 0; round < 2; round++) {
    script("call");
    const parts = await ask(model, spec, { messages, tools: [LOOK] });
    const calls = parts.flatMap((part): ToolCallPart[] => (part.type === "tool_call" ? [part.call] : []));
    if (calls.length === 0) return { ok: false, said: findFailure(parts)?.kind ?? "no call" };
    messages.push({ role: "assistant", parts: toParts(parts) });
    messages.push({
      role: "tool",
      parts: calls.map(({ call_id, name }) => ({ type: "tool_result", call_id, name, output: "rain", is_error: false })),
    });
  }
  script("text");
  return expectText(await ask(model, spec, { messages, tools: [LOOK] }));
}

export const SCENARIOS: Readonly<Record<string, (asked: Asked) => Promise<Outcome>>> = {
  text: async ({ model, spec, script }) => {
    script("text");
    return expectText(await ask(model, spec));
  },
  history: async ({ model, spec, script }) => {
    script("text");
    const messages: ChatMessage[] = [
      user("Hello."),
      { role: "assistant", parts: [{ type: "text", text: "Hello." }] },
      { role: "system", parts: [{ type: "text", text: "Answer in French." }] },
      user("Is water wet?"),
    ];
    return expectText(await ask(model, spec, { messages }));
  },
  tools: useTools,
  thinking: async ({ model, spec, script }) => {
    script("thinking");
    return expectText(await ask(model, spec, { maxOutput: 2_000 }));
  },
  image: async ({ model, spec, script }) => {
    script("text");
    return expectText(
      await ask(model, spec, { messages: [user("What is this?", { type: "image", media_type: "image/png", url: PIXEL })] }),
    );
  },
  overflow: async ({ model, spec }) => {
    const window = spec.context_window ?? 0;
    return expectKind(await ask(model, spec, { messages: [user("The road was long. ".repeat(window))] }), [
      "overflow",
      "payload",
      "rate_limit",
    ]);
  },
  "wrong key": async ({ wrongKey, spec }) => expectKind(await ask(wrongKey, spec), ["auth"]),
  "unknown model": async ({ model, unknown }) => expectKind(await ask(model, unknown), ["not_found"]),
};
