import { expect, it } from "vitest";
import { newId } from "../../src/app/new-id";
import { buildToolsBody } from "../../src/app/request/build-items";
import type { ToolDefinition } from "../../src/domain/message";

it("tools weigh what the model is told of them, whoever runs them, and are stored whole", () => {
  const client: ToolDefinition = { name: "weather", description: "The weather", parameters: { type: "object" } };
  const server: ToolDefinition = { ...client, runs: { by: "mcp", server: "desk", tool: "weather" }, needs_approval: true };

  const [first, second] = [client, server].map((tool) => buildToolsBody([tool], { newId }));

  expect(second?.ref?.tokens).toBe(first?.ref?.tokens);
  expect(second?.bodies.map(({ text }) => JSON.parse(text))).toEqual([[server]]);
  expect(buildToolsBody(null, { newId })).toEqual({ ref: null, bodies: [] });
});
