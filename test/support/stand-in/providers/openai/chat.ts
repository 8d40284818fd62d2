/** OpenAI's chat completions, and compatible endpoints. */
import { CommonPrefixCache, countAll } from "../caches.ts";
import { Ids } from "../mint.ts";
import { type Accepted, type Dialect, isRefusal, type Received, type Refusal } from "../script.ts";
import { findFault } from "../shape.ts";
import { toFrame, toFrames, toWhole } from "./chat-events.ts";
import { MOST_CALL_ID, refuseMessages, refuseThoughtless } from "./chat-rules.ts";
import { type ChatBody, type ChatMessage, type ChatStyle, chatBody, readMessage } from "./chat-shape.ts";
import { refuseAddress, refuseFault, refuseOverflow, refuseWith } from "./errors.ts";

export interface ChatLimits {
  readonly window: number;
  readonly style: ChatStyle;
}

/** Models that want the thinking back with the calls that it led to. */
const RETURNS = /kimi|deepseek/;

/** Models that think accept a cap under its newer name only, and the system prompt as role developer or system. */
const THINKS = /^(?:o\d|gpt-[5-9])/;

export function createChat({ window, style }: ChatLimits): Dialect {
  const cache = new CommonPrefixCache({ least: 1_024, step: 128 });
  const ids = new Ids();
  return {
    basePath: "/v1",
    receive(received) {
      const read = readRequest(received, style);
      if (isRefusal(read)) return read;
      const { body, segments } = read;
      const input = countAll(segments);
      const overflow = refuseOverflow({ input, window });
      if (overflow) return overflow;
      const key = `${body.model} ${body.prompt_cache_key ?? ""}`;
      const usage = { input, cacheRead: cache.read(key, segments), cacheWrite: null };
      return {
        usage,
        frames(reply) {
          cache.write(key, segments);
          return toFrames({ reply, usage, model: body.model, ids, style, withUsage: body.stream_options?.include_usage ?? false });
        },
        whole: (reply) => toWhole({ reply, usage, model: body.model, ids, style, withUsage: true }),
        eventFrame: toFrame,
      } satisfies Accepted;
    },
  };
}

function readRequest(received: Received, style: ChatStyle) {
  const refused = refuseAddress(received, "/v1/chat/completions");
  if (refused) return refused;
  const parsed = chatBody.safeParse(received.body);
  if (!parsed.success) return refuseFault(findFault(parsed.error, received.body));
  const body = parsed.data;
  const messages: ChatMessage[] = [];
  for (const [place, raw] of body.messages.entries()) {
    const message = readMessage(raw, style);
    if (!message.success) {
      const fault = findFault(message.error, raw);
      return refuseFault({ ...fault, path: ["messages", place, ...fault.path] });
    }
    messages.push(message.data);
  }
  const refusal =
    (style === "openai" ? refuseSettings(body) : null) ??
    (RETURNS.test(body.model) ? refuseThoughtless(messages) : null) ??
    refuseMessages(messages, { mostCallId: style === "openai" ? MOST_CALL_ID : Number.POSITIVE_INFINITY });
  return refusal ?? { body, segments: [JSON.stringify(body.tools ?? []), ...messages.map((message) => JSON.stringify(message))] };
}

/** Settings that a model that thinks refuses. */
const SAMPLING = ["temperature", "top_p", "stop"] as const;
const RESTS = /^gpt-(?:5\.[1-9]|6-(?:sol|luna)$)/;

function refuseSettings(body: ChatBody): Refusal | null {
  const isIdle = !THINKS.test(body.model) || (RESTS.test(body.model) && body.reasoning_effort === "none");
  const sampling = SAMPLING.find((param) => body[param] !== undefined && !(isIdle && param !== "stop") && THINKS.test(body.model));
  if (sampling) {
    const message = `Unsupported parameter: '${sampling}' is not supported with this model.`;
    return refuseWith({ message, param: sampling, code: "unsupported_parameter" });
  }
  if (!body.tools && (body.tool_choice !== undefined || body.parallel_tool_calls !== undefined)) {
    return refuseWith({
      message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      param: "tool_choice",
    });
  }
  if (THINKS.test(body.model) && body.max_tokens !== undefined) {
    return refuseWith({
      message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
    });
  }
  if (!THINKS.test(body.model) && body.reasoning_effort !== undefined) {
    return refuseWith({ message: "Unrecognized request argument supplied: reasoning_effort", param: null });
  }
  return null;
}
