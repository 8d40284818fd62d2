/**
 * Plans a client's actions that play a recorded conversation, and the expected content of the session. Pure: no HTTP,
 * no clock. A recorded assistant message is the provider's answer to the user message or tool results before it. A
 * message without a recorded answer is appended without a turn.
 */
import type { Reply, Step, ToolOutput } from "../lab/engine/steps";
import { Failure } from "../support/output.ts";
import type { Conversation, RecordedMessage } from "./recording.ts";

type Assistant = Extract<RecordedMessage, { role: "assistant" }>;
type Result = Extract<RecordedMessage, { role: "tool" }>;

/** A message as it must be read back. */
export interface ExpectedMessage {
  readonly role: RecordedMessage["role"];
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** The call that a tool's message answers. */
  readonly call_id?: string;
}

const toReply = (message: Assistant): Reply => ({ text: message.content ?? "", calls: message.tool_calls ?? [] });

/** Throws a `Failure` for a recording that no client could have produced. */
export function planSteps({ id, messages }: Conversation): readonly Step[] {
  const steps: Step[] = [];
  let open: Open = { calls: [], imported: false };
  for (let at = 0; at < messages.length; ) {
    const { step, taken } = planStep(messages.slice(at), { id, open });
    steps.push(step);
    open = openAfter(step, open);
    at += taken;
  }
  return steps;
}

/** Calls without a result: those of a turn, which continues with their results, or imported ones, whose results are imported too. */
interface Open {
  readonly calls: readonly string[];
  readonly imported: boolean;
}

function openAfter(step: Step, open: Open): Open {
  if (step.type !== "append") return { calls: step.reply?.calls.map((call) => call.id) ?? [], imported: false };
  if (step.role === "tool") return { ...open, calls: open.calls.toSpliced(open.calls.indexOf(step.call_id), 1) };
  return { calls: step.role === "assistant" ? step.calls.map((call) => call.id) : [], imported: true };
}

interface Planned {
  readonly step: Step;
  /** The number of recorded messages that the step covers. */
  readonly taken: number;
}

function planStep(rest: readonly RecordedMessage[], at: { readonly id: string; readonly open: Open }): Planned {
  const [first, second] = rest;
  if (first?.role === "user") {
    if (second?.role !== "assistant") return { step: { type: "append", role: "user", content: first.content }, taken: 1 };
    return { step: { type: "ask", content: first.content, reply: toReply(second) }, taken: 2 };
  }
  if (first?.role === "assistant") return { step: planUnasked(first), taken: 1 };
  if (first && at.open.imported) return { step: planImportedResult(first, { id: at.id, open: at.open.calls }), taken: 1 };
  return planAnswer(rest, { id: at.id, open: at.open.calls });
}

/** An assistant message that answers nothing: a second one in a row, a greeting, or one after imported results. */
const planUnasked = (message: Assistant): Step => {
  const { text, calls } = toReply(message);
  return { type: "append", role: "assistant", content: text, calls };
};

interface Asked {
  readonly id: string;
  readonly open: readonly string[];
}

const notOpen = (id: string, call: string): Failure => new Failure(`Conversation ${id}: a tool result for ${call}, which is not open`);

function planImportedResult({ tool_call_id, content }: Result, { id, open }: Asked): Step {
  if (!open.includes(tool_call_id)) throw notOpen(id, tool_call_id);
  return { type: "append", role: "tool", content, call_id: tool_call_id };
}

function planAnswer(rest: readonly RecordedMessage[], { id, open }: Asked): Planned {
  const outputs: ToolOutput[] = [];
  for (const message of rest) {
    if (message.role !== "tool") break;
    outputs.push({ call_id: message.tool_call_id, output: message.content });
  }
  const unanswered = [...open];
  for (const { call_id } of outputs) {
    const index = unanswered.indexOf(call_id);
    if (index < 0) throw notOpen(id, call_id);
    unanswered.splice(index, 1);
  }
  const next = rest[outputs.length];
  if (next?.role !== "assistant") return { step: { type: "answer", outputs, reply: null }, taken: outputs.length };
  if (unanswered.length > 0) throw new Failure(`Conversation ${id}: the assistant goes on although ${unanswered.join(", ")} has no result`);
  return { step: { type: "answer", outputs, reply: toReply(next) }, taken: outputs.length + 1 };
}

export function expectMessages({ messages }: Conversation): readonly ExpectedMessage[] {
  return messages.map((message): ExpectedMessage => {
    if (message.role === "tool") return { role: "tool", text: message.content, calls: [], call_id: message.tool_call_id };
    const { text, calls } = message.role === "assistant" ? toReply(message) : { text: message.content, calls: [] };
    return { role: message.role, text, calls };
  });
}

/** Every tool that the conversations call, with any parameters, because recordings do not contain the definitions. */
export function deriveTools(conversations: readonly Conversation[]): readonly { readonly name: string; readonly parameters: object }[] {
  const names = conversations.flatMap(({ messages }) =>
    messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.name) : [])),
  );
  return [...new Set(names)].sort().map((name) => ({ name, parameters: { type: "object", additionalProperties: true } }));
}
