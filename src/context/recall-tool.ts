/** The definition of `memory_query`, which the model is offered when something is out of its view (docs/recall.md). */
import type { ToolDefinition } from "../domain/message";
import { THIS_SESSION } from "./recall/request";

/**
 * Tools stand at the head of a request, so the definition is the same in every session: a provider's prompt cache then serves the system prompt
 * and the tools of one session to all others. A placeholder asks for a `session_id`, for which the model writes a word in place of the id.
 * `RECALL_TOOL_TOKENS` has its weight.
 */
export const RECALL_TOOL: ToolDefinition = {
  name: "memory_query",
  description:
    "Looks up parts of this conversation that are no longer shown: by words, execution_id or message positions. Use it before you say that you do not know.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string" },
      execution_id: { type: "string" },
      session_id: { type: "string", description: `this session: "${THIS_SESSION}"` },
      from: { type: "integer" },
      to: { type: "integer" },
      offset: { type: "integer", description: "characters to skip" },
    },
    additionalProperties: false,
  },
  runs: { by: "builtin" },
};
