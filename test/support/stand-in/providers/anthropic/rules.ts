/** The rules of a conversation that a schema cannot express, with the Messages API's wording of a refusal. */
import { makeSeal } from "../mint.ts";
import { type Block, type Message, type MessagesBody, toBlocks } from "./shape.ts";

const MOST_BREAKPOINTS = 4;

type Located = { readonly block: Block; readonly path: string };
type ToolUse = Extract<Block, { type: "tool_use" }>;

interface Turn {
  readonly role: Message["role"];
  /** The content of its first message. */
  readonly place: number;
  readonly blocks: Block[];
}

/** The fault of the request, or null. `given`: the thinking blocks that were sent before a call, by the call's id. */
export function findBreach(body: MessagesBody, given: ReadonlyMap<string, readonly Block[]>): string | null {
  return (
    breachOfOrder(body) ??
    breachOfText(body) ??
    breachOfTools(body) ??
    breachOfSettings(body) ??
    breachOfPairs(body.messages) ??
    breachOfBreakpoints(body) ??
    breachOfSeals(body.messages) ??
    breachOfThinking(body, given)
  );
}

const located = (messages: readonly Message[]): readonly Located[] =>
  messages.flatMap((message, place) => toBlocks(message).map((block, index) => ({ block, path: `messages.${place}.content.${index}` })));

/** Models that refuse to go on with a reply that the request begins. */
const NO_PREFILL = /claude-(?:(?:opus|sonnet)-4-[6-8]|(?:opus|sonnet|haiku|fable)-5)/;

/**
 * Consecutive messages of one role are read as one, because the API merges them. Refused are another first role, and
 * trailing white space.
 */
function breachOfOrder({ model, messages, thinking, max_tokens }: MessagesBody): string | null {
  const [first] = messages;
  if (!first) return "messages: at least one message is required";
  if (first.role !== "user") return 'messages: first message must use the "user" role';
  if (thinking?.type === "enabled" && thinking.budget_tokens >= max_tokens) {
    return "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size";
  }
  const last = messages.at(-1);
  if (last?.role === "assistant") {
    const end = toBlocks(last).at(-1);
    if (NO_PREFILL.test(model))
      return "This model does not support assistant message prefill. The conversation must end with a user message.";
    if (end?.type === "text" && /\s$/.test(end.text)) return "messages: final assistant content cannot end with trailing whitespace";
  }
  return null;
}

function breachOfText({ messages, system }: MessagesBody): string | null {
  const blank = (text: string): boolean => text.trim() === "";
  if (Array.isArray(system) && system.some(({ text }) => text === "")) return "system: text content blocks must be non-empty";
  const empty = messages.findIndex(
    (message, place) => message.content.length === 0 && !(place === messages.length - 1 && message.role === "assistant"),
  );
  if (empty !== -1) return `messages.${empty}: all messages must have non-empty content except for the optional final assistant message`;
  const thinks = messages.findIndex((message) => message.role === "assistant" && /thinking$/.test(toBlocks(message).at(-1)?.type ?? ""));
  if (thinks !== -1) return `messages.${thinks}: The final block in an assistant message cannot be \`thinking\`.`;
  for (const { block } of located(messages)) {
    if (block.type !== "text") continue;
    if (block.text === "") return "messages: text content blocks must be non-empty";
    if (blank(block.text)) return "messages: text content blocks must contain non-whitespace text";
  }
  const plain = located(messages).find(
    ({ block }) =>
      (block.type === "image" || block.type === "document") && block.source.type === "url" && !block.source.url.startsWith("https://"),
  );
  return plain ? `${plain.path}.source.url: Only HTTPS URLs are supported.` : null;
}

function breachOfTools({ tools = [], messages }: MessagesBody): string | null {
  if (new Set(tools.map(({ name }) => name)).size < tools.length) return "tools: Tool names must be unique.";
  const ids = messages.map((message) => toBlocks(message).filter((block): block is ToolUse => block.type === "tool_use"));
  const all = ids.flat().map(({ id }) => id);
  const twice = located(messages).findLast(({ block }) => block.type === "tool_use" && all.indexOf(block.id) !== all.lastIndexOf(block.id));
  return twice ? `${twice.path}: \`tool_use\` ids must be unique` : null;
}

/** Models that refuse sampling, and models that cannot be made to call a tool. */
const NO_SAMPLING = /claude-(?:opus-4-[78]|(?:opus|sonnet|haiku|fable)-5)/;
const FREE = /claude-(?:sonnet-5-5|opus-5-5)/;

function breachOfSettings({ model, temperature, top_p, thinking, tool_choice, tools = [] }: MessagesBody): string | null {
  const sampling = temperature !== undefined ? "temperature" : top_p !== undefined ? "top_p" : null;
  if (sampling && NO_SAMPLING.test(model)) return `\`${sampling}\` is not supported for this model.`;
  if (temperature !== undefined && top_p !== undefined) return "`temperature` and `top_p` cannot both be specified for this model.";
  if (sampling && thinking?.type === "enabled") return "`temperature` may only be set to 1 when thinking is enabled.";
  const isForced = tool_choice?.type === "any" || tool_choice?.type === "tool";
  if (isForced && (thinking?.type === "enabled" || FREE.test(model)))
    return "Thinking may not be enabled when tool_choice forces tool use.";
  return tool_choice && tools.length === 0 ? "tool_choice may only be specified while providing tools." : null;
}

/** The calls or results among a message's blocks. Consecutive messages of one role count as one. */
function splitTurns(messages: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [place, message] of messages.entries()) {
    const last = turns.at(-1);
    if (last?.role === message.role) last.blocks.push(...toBlocks(message));
    else turns.push({ role: message.role, place, blocks: [...toBlocks(message)] });
  }
  return turns;
}

function breachOfPairs(messages: readonly Message[]): string | null {
  const turns = splitTurns(messages);
  for (const [at, turn] of turns.entries()) {
    const breach =
      breachOfSides(turn) ?? breachOfResults(turn, turns[at - 1]?.blocks ?? []) ?? breachOfCalls(turn, turns[at + 1]?.blocks ?? []);
    if (breach) return breach;
  }
  return null;
}

function breachOfSides({ role, place, blocks }: Turn): string | null {
  const [wrong, right] = role === "user" ? ["tool_use", "assistant"] : ["tool_result", "user"];
  const stray = blocks.findIndex((block) => block.type === wrong);
  return stray === -1 ? null : `messages.${place}.content.${stray}: \`${wrong}\` blocks can only be in \`${right}\` messages`;
}

function breachOfResults({ place, blocks }: Turn, before: readonly Block[]): string | null {
  const calls = before.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
  const unknown = results.findIndex((id) => !calls.includes(id));
  if (unknown !== -1) {
    return `messages.${place}.content.${unknown}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${results[unknown]}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  if (new Set(results).size === results.length) return null;
  return `messages.${place}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with the same id.`;
}

/** Results count only before anything else in the user's message. */
function breachOfCalls({ place, blocks }: Turn, next: readonly Block[]): string | null {
  const other = next.findIndex((block) => block.type !== "tool_result");
  const answered = (other === -1 ? next : next.slice(0, other)).flatMap((block) =>
    block.type === "tool_result" ? [block.tool_use_id] : [],
  );
  const open = blocks.flatMap((block) => (block.type === "tool_use" && !answered.includes(block.id) ? [block.id] : []));
  if (open.length === 0) return null;
  return `messages.${place}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

export function countBreakpoints({ tools = [], system, messages, cache_control }: MessagesBody): number {
  const blocks = [...tools, ...(Array.isArray(system) ? system : []), ...messages.flatMap(toBlocks)];
  return blocks.filter((block) => "cache_control" in block && block.cache_control).length + (cache_control ? 1 : 0);
}

function breachOfBreakpoints(body: MessagesBody): string | null {
  const found = countBreakpoints(body);
  return found > MOST_BREAKPOINTS ? `A maximum of ${MOST_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.` : null;
}

function breachOfSeals(messages: readonly Message[]): string | null {
  for (const { block, path } of located(messages)) {
    if (block.type === "thinking" && block.signature !== makeSeal("thinking", block.thinking))
      return `${path}: Invalid \`signature\` in \`thinking\` block`;
    if (block.type === "redacted_thinking" && !isSealed(block.data)) return `${path}: Invalid \`data\` in \`redacted_thinking\` block`;
  }
  return null;
}

/** `id.seal`: the stand-in's form of encryption. */
const isSealed = (data: string): boolean => data.slice(data.indexOf(".") + 1) === makeSeal("redacted", data.slice(0, data.indexOf(".")));

/** While calls are being answered, the thinking before them is part of the reply and must be unchanged. */
function breachOfThinking({ messages, thinking }: MessagesBody, given: ReadonlyMap<string, readonly Block[]>): string | null {
  const turns = splitTurns(messages);
  const open = turns.at(-1)?.blocks.some((block) => block.type === "tool_result") ? turns.at(-2) : undefined;
  if (!open) return null;
  const [first] = open.blocks;
  if (thinking?.type === "enabled" && first?.type !== "thinking" && first?.type !== "redacted_thinking") {
    return `messages.${open.place}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;
  }
  const sent = open.blocks.filter((block) => block.type === "thinking" || block.type === "redacted_thinking");
  const call = open.blocks.find((block): block is ToolUse => block.type === "tool_use");
  const said = call ? given.get(call.id) : undefined;
  if (sent.length > 0 && said && JSON.stringify(sent) !== JSON.stringify(said)) {
    return `messages.${open.place}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
  }
  return null;
}
