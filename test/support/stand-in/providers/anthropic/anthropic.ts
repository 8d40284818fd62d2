/** Anthropic's Messages API. */
import { BreakpointCache, type MarkedBlock } from "../caches.ts";
import { Ids } from "../mint.ts";
import type { Accepted, Dialect, Received, Refusal, ScriptedReply } from "../script.ts";
import { dottedPath, type Fault, findFault } from "../shape.ts";
import { type EventsInput, type GivenBlock, toBlock, toFrame, toFrames, toWhole } from "./events.ts";
import { findBreach } from "./rules.ts";
import { type Block, type MessagesBody, messagesBody, toBlocks } from "./shape.ts";

export const ANTHROPIC_KEY = "sk-ant-api03-stand-in";

export interface AnthropicLimits {
  readonly window: number;
  readonly maxOutput: number;
}

export const errorBody = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_011CSHoEeqs5C35K2UUqR7Fy",
});

const refuse = (message: string): Refusal => ({ status: 400, body: errorBody("invalid_request_error", message) });

export function createAnthropic({ window, maxOutput }: AnthropicLimits): Dialect {
  const cache = new BreakpointCache();
  const ids = new Ids();
  const given = new Map<string, readonly Block[]>();
  return {
    basePath: "/v1",
    receive(received) {
      const refused = refuseAddress(received);
      if (refused) return refused;
      const parsed = messagesBody.safeParse(received.body);
      if (!parsed.success) return refuse(toMessage(findFault(parsed.error, received.body)));
      const body = parsed.data;
      if (body.max_tokens > maxOutput) {
        return refuse(
          `max_tokens: ${body.max_tokens} > ${maxOutput}, which is the maximum allowed number of output tokens for ${body.model}`,
        );
      }
      const breach = findBreach(body, given);
      if (breach) return refuse(breach);
      const blocks = toPrompt(body);
      const { read, written, input } = cache.measure(blocks);
      if (input > window) return refuse(`prompt is too long: ${input} tokens > ${window} maximum`);
      const usage = { input, cacheRead: read, cacheWrite: written };
      const toInput = (reply: ScriptedReply): EventsInput => {
        cache.write(blocks);
        const said = reply.blocks.map((block) => toBlock(block, ids));
        remember(said, given);
        return { reply, blocks: said, usage, message: { id: ids.next("msg_"), model: body.model } };
      };
      return {
        usage,
        frames: (reply) => toFrames(toInput(reply)),
        whole: (reply) => toWhole(toInput(reply)),
        eventFrame: (event) => toFrame(event as { type: string }),
      } satisfies Accepted;
    },
  };
}

function refuseAddress({ path, headers }: Received): Refusal | null {
  if (path !== "/v1/messages") return { status: 404, body: errorBody("not_found_error", "Not Found") };
  // The SDK sends the key as a bearer token, other clients in the older header.
  const key = headers["x-api-key"] ?? headers.authorization?.toString().replace("Bearer ", "");
  if (key === undefined) return { status: 401, body: errorBody("authentication_error", "x-api-key header is required") };
  if (key !== ANTHROPIC_KEY) return { status: 401, body: errorBody("authentication_error", "invalid x-api-key") };
  if (headers["anthropic-version"] === undefined) return refuse("anthropic-version: header is required");
  return null;
}

function toMessage({ path, problem, expected }: Fault): string {
  const at = dottedPath(path);
  if (problem === "missing") return `${at}: Field required`;
  if (problem === "unknown") return `${at}: Extra inputs are not permitted`;
  return `${at}: ${expected}`;
}

/** Tools, then the system prompt, then the messages. The cache of messages is valid for one setting of thinking. */
function toPrompt({ tools = [], system, messages, thinking, tool_choice, cache_control }: MessagesBody): readonly MarkedBlock[] {
  const systems = typeof system === "string" ? [{ type: "text" as const, text: system }] : (system ?? []);
  const said = messages.flatMap((message) => toBlocks(message).map((block) => marked(block, message.role)));
  const settings: MarkedBlock = { text: JSON.stringify([thinking ?? null, tool_choice ?? null]), breakpoint: false, weightless: true };
  const all = [...tools.map((tool) => marked(tool, "tool")), ...systems.map((block) => marked(block, "system")), settings, ...said];
  const last = all.at(-1);
  return cache_control && last ? [...all.slice(0, -1), { ...last, breakpoint: true }] : all;
}

function marked(block: object, role: string): MarkedBlock {
  const { cache_control, ...rest } = block as { readonly cache_control?: unknown };
  return { text: `${role}${JSON.stringify(rest)}`, breakpoint: cache_control !== undefined && cache_control !== null };
}

/** Records the thinking that is sent before each call, as it must be sent back. */
function remember(blocks: readonly GivenBlock[], given: Map<string, readonly Block[]>): void {
  const thinking = blocks.filter((block) => block.type === "thinking" || block.type === "redacted_thinking");
  for (const block of blocks) if (block.type === "tool_use") given.set(block.id, thinking);
}
