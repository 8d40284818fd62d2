/** The definition of `memory_query`, which the model is offered when something is out of its view (docs/recall.md). */
import type { ToolDefinition } from "../domain/message";
import type { SessionState } from "../domain/state";

const properties = {
  query: { type: "string" },
  execution_id: { type: "string" },
  session_id: { type: "string" },
  from: { type: "integer" },
  to: { type: "integer" },
  offset: { type: "integer", description: "characters to skip" },
};

/** The definition for sessions of older builds, without their id. */
export const RECALL_TOOL: ToolDefinition = {
  name: "memory_query",
  description:
    "Looks up parts of this conversation that are no longer shown: by words, execution_id or message positions. Use it before you say that you do not know.",
  parameters: {
    type: "object",
    properties,
    additionalProperties: false,
  },
  runs: { by: "builtin" },
};

/**
 * The definition for a session's model. It states the session's id, because a placeholder asks for a `session_id`.
 * `recallToolTokens` has its weight.
 */
export function recallTool({ settings, session }: Pick<SessionState, "settings" | "session">): ToolDefinition {
  if (!settings.recall_names_session || session === null) return RECALL_TOOL;
  const named = { ...properties.session_id, description: `this is ${session}` };
  return { ...RECALL_TOOL, parameters: { ...RECALL_TOOL.parameters, properties: { ...properties, session_id: named } } };
}
