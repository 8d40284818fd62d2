import { expect, it } from "vitest";
import { newId } from "../../src/app/new-id";
import { buildToolsBody } from "../../src/app/request/build-items";
import type { ToolDefinition } from "../../src/domain/message";

it("tools count with the definition that the model reads, whether the client or the server runs them, and are stored completely", () => {
  const client: ToolDefinition = { name: "weather", description: "The weather", parameters: { type: "object" } };
  const server: ToolDefinition = { ...client, runs: { by: "mcp", server: "desk", tool: "weather" }, needs_approval: true };

  const [first, second] = [client, server].map((tool) => buildToolsBody([tool], { newId }));

  expect(second?.ref?.tokens).toBe(first?.ref?.tokens);
  expect(second?.bodies.map(({ text }) => JSON.parse(text))).toEqual([[server]]);
  expect(buildToolsBody(null, { newId })).toEqual({ ref: null, bodies: [] });
});
