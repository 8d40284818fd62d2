/** Replies of the simulated summariser: a summary in the requested form, or one of the replies that are none. */
import type { ModelRequest, ModelStreamPart } from "../../src/app/ports";
import type { ToolCallPart } from "../../src/domain/message";
import type { FinishReason } from "../../src/domain/model-call";
import { BREAKING, type Profile } from "./profile";
import type { Random } from "./random";
import { drawText } from "./texts";

export interface Said {
  readonly chunks: readonly ModelStreamPart[];
  readonly finish: FinishReason;
}

const SECTIONS = ["Goal", "Constraints", "Progress", "Decisions", "Next steps", "Critical context"];
const STRUCTURED = "You are a summarizer.";

export function writeSummary(
  request: ModelRequest,
  by: { readonly random: Random; readonly profile: Profile; readonly heading: string },
): Said {
  const { random, profile } = by;
  const text = `${by.heading} ${drawText(random, 20, random.chance(0.2) ? 2_500 : 700)}`;
  const isObedient = isStructured(request) && JSON.stringify([request.system, request.messages.at(-1)]).includes(BREAKING);
  const good = said(isStructured(request) && !isObedient ? inSections(text) : text);
  if (!random.chance(profile.summaryFails)) return good;
  const bad = random.weighted({ empty: 1, cut: 1, long: 1, grown: 1, refused: 1, called: 0.5, formless: 1 });
  switch (bad) {
    case "empty":
      return { chunks: [], finish: "stop" };
    case "cut":
      return { ...good, finish: "length" };
    // Slightly or far too long.
    case "long": {
      const much = `${by.heading} ${drawText(random, 3_000, 30_000)}`;
      return said(isStructured(request) ? inSections(much) : much);
    }
    // Within the allowed length, but longer than a short conversation.
    case "grown":
      return said(inSections(text + drawText(random, 2_000, 4_000)));
    case "formless":
      return said(text);
    case "refused":
      return { chunks: [], finish: "content_filter" };
    case "called":
      return { chunks: drawCalls(random).map((call) => ({ type: "tool_call", call })), finish: "tool_calls" };
  }
}

const said = (text: string): Said => ({ chunks: [{ type: "text", text }], finish: "stop" });

const inSections = (text: string): string =>
  SECTIONS.map((name, index) => `## ${name}\n${index === SECTIONS.length - 1 ? text : "none"}`).join("\n");

function isStructured({ system, messages }: ModelRequest): boolean {
  const [asked] = messages.at(-1)?.parts ?? [];
  return (system ?? "").includes(STRUCTURED) || (asked?.type === "text" && asked.text.includes(STRUCTURED));
}

/** A provider's ids may repeat, and they do here. Half of the calls are signed, as Gemini's are. */
export const drawCalls = (random: Random): ToolCallPart[] => Array.from({ length: random.int(1, 3) }, () => sign(drawCall(random)));

/** Calls of a client's tool, of a server tool, of a look-up, and of a tool that does not exist. */
const drawCall = (random: Random): ToolCallPart => {
  const call_id = `call_${random.int(1, 4)}`;
  const name = random.weighted({ look_up: 2, write_file: 2, read_file: 2, fetch_page: 3, pay: 1, memory_query: 1, unheard_of: 0.3 });
  const written = { path: random.chance(0.05) ? 5 : `/notes/${random.int(1, 99)}`, text: drawText(random, 1, 200) };
  const asked = name === "memory_query" ? drawQuery(random) : written;
  return { type: "tool_call", call_id, name, arguments: JSON.stringify(asked) };
};

const drawQuery = (random: Random): object =>
  random.chance(0.7)
    ? { query: drawText(random, 1, 60) }
    : random.pick([{ from: random.int(1, 40), to: random.int(1, 80) }, { session_id: "of somebody else" }, {}]);

const SIGNED = new Set(["call_1", "call_2"]);

/** Determined by its id and not by a draw, so that a seed keeps its story. As long as its arguments. */
const sign = (call: ToolCallPart): ToolCallPart =>
  SIGNED.has(call.call_id)
    ? { ...call, provider_metadata: { google: { thoughtSignature: "CpYBAdHtim9Xc1J0".repeat(call.arguments.length / 16) } } }
    : call;
