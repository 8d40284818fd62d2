/**
 * Lets the embedded model keep to the generation settings, so that a program with settings can be tried offline. It draws nothing at
 * random, so temperature, top_p and seed change nothing. It does not think, so an effort is refused before it gets here.
 */
import type { ModelRequest } from "../../app/ports";
import type { Generation } from "../../context/generation";
import { instanceFor } from "./instance";
import type { NamedCall } from "./named-calls";
import type { Reply } from "./reply";

/** The tools that the request allows it to call. */
export function withChosenTools(request: ModelRequest): ModelRequest {
  const choice = request.generation?.tool_choice;
  if (choice === "none") return { ...request, tools: [] };
  return typeof choice === "object" ? { ...request, tools: request.tools.filter(({ name }) => name === choice.name) } : request;
}

/** The reply in the form that the request asks for. */
export function asAsked(reply: Reply, request: ModelRequest): Reply {
  const { generation } = request;
  if (!generation) return reply;
  const calls = forceCall(reply.calls, request);
  if (calls.length > 0) return { ...reply, calls: generation.parallel_tool_calls === false ? calls.slice(0, 1) : calls };
  return { ...reply, text: untilStop(toFormat(reply.text, generation.response_format), generation.stop) };
}

/** A call that the request demands and that the message did not name is made with what its schema allows. */
function forceCall(calls: Reply["calls"], request: ModelRequest): Reply["calls"] {
  const choice = request.generation?.tool_choice;
  if (calls.length > 0 || (choice !== "required" && typeof choice !== "object")) return calls;
  const [tool] = withChosenTools(request).tools;
  if (!tool) return calls;
  const call: NamedCall = { name: tool.name, arguments: JSON.stringify(instanceFor(tool.parameters, "")) };
  return [{ type: "tool_call", call_id: `call_forced_${request.messages.length}`, ...call }];
}

function toFormat(text: string, format: Generation["response_format"]): string {
  if (format?.type === "json") return JSON.stringify({ reply: text });
  return format?.type === "json_schema" ? JSON.stringify(instanceFor(format.schema, text)) : text;
}

/** The text before the first stop sequence in it. */
function untilStop(text: string, stop: Generation["stop"] = []): string {
  const ends = stop.map((each) => text.indexOf(each)).filter((end) => end >= 0);
  return ends.length > 0 ? text.slice(0, Math.min(...ends)) : text;
}
