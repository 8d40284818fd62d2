/** `memory_query` as the model is offered it, where something is out of its view (OdinCode plan; docs/design.md §5, never lost). */
import type { ToolDefinition } from "../domain/message";

export const RECALL_TOOL: ToolDefinition = {
  name: "memory_query",
  description:
    "Looks up parts of this conversation that are no longer shown: by words, execution_id or message positions. Use it before you say that you do not know.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string" },
      execution_id: { type: "string" },
      session_id: { type: "string" },
      from: { type: "integer" },
      to: { type: "integer" },
      offset: { type: "integer", description: "characters to skip" },
    },
    additionalProperties: false,
  },
  runs: { by: "builtin" },
};
