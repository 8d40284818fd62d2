/** The embedded model keeps to the generation settings, so that a program that sets them can be tried offline. */
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../src/app/ports";
import type { Generation } from "../../src/context/generation";
import { createEmbeddedModel } from "../../src/model/embedded";
import { instanceFor } from "../../src/model/embedded/instance";
import { collect, modelRequest, modelSpec, spokenText, user } from "./model-request";

const tools: ModelRequest["tools"] = ["look", "read"].map((name) => ({
  name,
  parameters: { type: "object", properties: { path: { type: "string" }, depth: { type: "integer", minimum: 2 } }, required: ["depth"] },
}));

async function ask(text: string, generation: Generation) {
  const model = createEmbeddedModel((words) => words.length);
  const request = modelRequest({ model: modelSpec({ provider: "embedded" }), messages: [user(text)], tools, generation });
  const chunks = await collect(model.stream(request, { signal: new AbortController().signal }));
  return { text: spokenText(chunks), calls: chunks.flatMap((chunk) => (chunk.type === "tool_call" ? [chunk.call] : [])), chunks };
}

describe("the embedded model", () => {
  it("calls no tool, any tool, one tool, or one tool at a time, as it is asked", async () => {
    const named = "look and then read";
    const names = async (text: string, generation: Generation) => (await ask(text, generation)).calls.map(({ name }) => name);
    expect(await names(named, {})).toEqual(["look", "read"]);
    expect(await names(named, { tool_choice: "none" })).toEqual([]);
    expect(await names(named, { parallel_tool_calls: false })).toEqual(["look"]);
    expect(await names("Hello!", { tool_choice: "required" })).toEqual(["look"]);
    const { calls } = await ask("Hello!", { tool_choice: { name: "read" } });
    expect(calls).toMatchObject([{ name: "read", arguments: '{"depth":2}' }]);
  });

  it("answers in JSON, or by a schema", async () => {
    const json = await ask("My dog is called Rex.", { response_format: { type: "json" } });
    expect(JSON.parse(json.text)).toEqual({ reply: expect.stringContaining("Rex") });
    const schema = {
      type: "object",
      properties: {
        name: { $ref: "#/$defs/name" },
        kind: { enum: ["dog", "cat"] },
        tags: { type: "array", items: { type: "string" }, minItems: 1 },
        age: { type: ["integer", "null"], minimum: 1 },
        more: { type: "string" },
      },
      required: ["name", "kind", "tags", "age"],
      $defs: { name: { type: "string", maxLength: 3 } },
    };
    const formed = await ask("我的狗叫小白。", { response_format: { type: "json_schema", name: "pet", schema } });
    expect(JSON.parse(formed.text)).toEqual({ name: "Not", kind: "dog", tags: [expect.stringContaining("小白")], age: 1 });
  });

  it("stops before the first stop sequence", async () => {
    const { text } = await ask("My dog is called Rex.", { stop: ["Rex", "called"] });
    expect(text).toMatch(/My dog is $/);
  });

  it("makes a value of any schema, also of a recursive one and of one that it does not understand", () => {
    const recursive = { $ref: "#/$defs/node", $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } } };
    expect(JSON.stringify(instanceFor(recursive, "x")).length).toBeGreaterThan(20);
    expect([instanceFor({ $ref: "other.json" }, "x"), instanceFor({ anyOf: [{ type: "boolean" }] }, "x")]).toEqual(["x", false]);
    expect([instanceFor({ const: 5 }, "x"), instanceFor({ default: [1] }, "x"), instanceFor({ type: "null" }, "x")]).toEqual([
      5,
      [1],
      null,
    ]);
  });
});
