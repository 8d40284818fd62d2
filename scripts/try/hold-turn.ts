/** Shows one turn as it happens: the answer, the calls and their results, and the tokens. */
import { z } from "zod";
import { turnFailure } from "../../src/contract/model-call";
import { type Call, type Connection, streamApi } from "../support/api-client.ts";
import { createFrameReader } from "../support/frames.ts";
import { Failure } from "../support/output.ts";
import { answerCall } from "./script.ts";

const usage = z.object({ input: z.number(), cached: z.number(), output: z.number(), reasoning: z.number() });

const frames = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text.delta"), text: z.string() }),
  z.object({ type: z.literal("reasoning.delta"), text: z.string() }),
  z.object({
    type: z.literal("turn.awaiting_tools"),
    tool_calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
  }),
  z.object({
    type: z.literal("turn.completed"),
    finish: z.string(),
    usage: usage.nullable(),
    context_window: z.number().nullable(),
    current_context_tokens: z.object({ tokens: z.number() }),
  }),
  z.object({ type: z.literal("turn.failed"), failure: turnFailure }),
  z.object({ type: z.literal("turn.stopped"), reason: z.string() }),
  z.object({ type: z.literal("turn.interrupted") }),
  z.object({ type: z.literal("compaction.started"), status: z.string() }),
  z.object({ type: z.literal("notice"), text: z.string() }),
]);
type Frame = z.infer<typeof frames>;
type Ending = Extract<Frame, { type: "turn.awaiting_tools" | "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" }>;

const readFrame = createFrameReader(frames);

/** The client stops a model that only makes calls. */
const MOST_ROUNDS = 8;

export interface Talk {
  readonly connection: Connection;
  readonly session: string;
  /** Receives the text as it arrives. */
  readonly write: (text: string) => void;
}

/** Throws a `Failure` when the turn ends without an answer. */
export async function holdTurn(talk: Talk, content: string): Promise<void> {
  talk.write(`\n> ${content}\n\n`);
  const path = `/v1/sessions/${talk.session}`;
  let call: Call = { method: "POST", path: `${path}/messages`, body: { content } };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const end = await readAnswer(talk, call);
    if (end.type === "turn.completed") return talk.write(`\n${describe(end)}\n`);
    if (end.type !== "turn.awaiting_tools") throw new Failure(`The turn ended without an answer: ${describeEnd(end)}`);
    const results = end.tool_calls.map(({ id, name, arguments: input }) => {
      const result = answerCall(name, input);
      talk.write(`  [${name}(${input}) → ${result.output}]\n`);
      return { execution_id: id, ...result };
    });
    call = { method: "POST", path: `${path}/tool_results`, body: { results } };
  }
  throw new Failure(`The model called tools ${MOST_ROUNDS} times in a row without an answer.`);
}

async function readAnswer({ connection, write }: Talk, call: Call): Promise<Ending> {
  let thought = 0;
  for await (const event of streamApi(connection, call)) {
    const frame = readFrame(event);
    if (!frame) continue;
    switch (frame.type) {
      case "reasoning.delta":
        thought += frame.text.length;
        break;
      case "text.delta":
        if (thought > 0) write(`  [thought of it in ${thought} characters]\n`);
        thought = 0;
        write(frame.text);
        break;
      case "compaction.started":
        write(`  [${frame.status}]\n`);
        break;
      case "notice":
        write(`  [${frame.text}]\n`);
        break;
      default:
        return frame;
    }
  }
  throw new Failure("The stream ended before the turn did.");
}

function describeEnd(end: Exclude<Ending, { type: "turn.completed" | "turn.awaiting_tools" }>): string {
  return end.type === "turn.failed" ? `${end.failure.detail} ${JSON.stringify(end.failure)}` : JSON.stringify(end);
}

function describe({ finish, usage: used, context_window, current_context_tokens }: Extract<Frame, { type: "turn.completed" }>): string {
  const spent =
    used === null
      ? "usage not reported"
      : `${used.input} tokens in (${used.cached} cached), ${used.output} out (${used.reasoning} of them thinking)`;
  const cut = finish === "stop" ? "" : `; ended by: ${finish}`;
  return `  — ${spent}; context ${current_context_tokens.tokens} of ${context_window ?? "unknown"} tokens${cut}`;
}
