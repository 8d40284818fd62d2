/** The decision about a call that a model made. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeCall } from "../../../src/app/tools/judge-call";
import { RECALL_TOOL } from "../../../src/context/recall-tool";
import type { ToolDefinition } from "../../../src/domain/message";

const parameters = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 2 },
    days: { type: "integer", minimum: 1 },
    where: { type: "object", properties: { zip: { type: "string" } }, required: ["zip"] },
  },
  required: ["city"],
  additionalProperties: false,
};
const CLIENT: ToolDefinition = { name: "weather", parameters };
const SERVER: ToolDefinition = { name: "weather", parameters, runs: { by: "http", tool: "weather" } };

const judge = (written: string, tool: ToolDefinition = SERVER) => judgeCall({ name: "weather", arguments: written }, [tool]);
const judgeOutput = (written: string): string => {
  const judged = judge(written);
  return judged.kind === "invalid" ? judged.output : `(${judged.kind})`;
};

describe("a call of a tool that is offered", () => {
  test("is the client's if no server tool has its name", () => {
    expect(judge('{"city":"Bonn"}', CLIENT)).toEqual({ kind: "client" });
  });

  test("runs here where a tenant's tool does, with its arguments as they were written", () => {
    const judged = judge('{"city":"Bonn","days":3}');
    expect(judged).toEqual({ kind: "server", tool: SERVER.runs, arguments: { city: "Bonn", days: 3 }, needs_approval: false });
  });

  test("waits for a person where the tool asks for one", () => {
    expect(judge('{"city":"Bonn"}', { ...SERVER, needs_approval: true })).toMatchObject({ kind: "server", needs_approval: true });
  });

  test.each(["", "  \n"])("without any arguments (%j) is one with none", (written) => {
    const tool = { ...SERVER, parameters: { type: "object" } };
    expect(judge(written, tool)).toMatchObject({ kind: "server", arguments: {} });
  });
});

describe("arguments that the schema does not allow", () => {
  test.each([
    ['{"city":5}', "city"],
    ['{"days":1}', "city"],
    ['{"city":"Bonn","days":0}', "days"],
    ['{"city":"Bonn","where":{}}', "where"],
    ['{"city":"Bonn","where":{"zip":1}}', "where.zip"],
    ['{"city":"Bonn","colour":"red"}', "colour"],
  ])("%s are not run, and the model is told the field: %s", (written, field) => {
    expect(judge(written)).toMatchObject({ kind: "invalid", failure: "invalid_arguments" });
    expect(judgeOutput(written)).toContain(field);
  });

  test.each(["[]", "5", "null", '"text"', '{"city":', "city=Bonn"])("%s is no JSON object", (written) => {
    expect(judgeOutput(written)).toContain("must be a JSON object");
  });

  test("a client's tool is spared them as well", () => {
    expect(judge('{"city":5}', CLIENT)).toMatchObject({ kind: "invalid", failure: "invalid_arguments" });
  });

  test("are at most told five times over", () => {
    const schema = { type: "array", items: { type: "string" } };
    const tool = { ...SERVER, parameters: { type: "object", properties: { all: schema } } };
    const judged = judge(JSON.stringify({ all: Array.from({ length: 50 }, (_, n) => n) }), tool);
    expect(judged.kind === "invalid" ? judged.output.split("\n- ").length - 1 : 0).toBe(5);
  });
});

describe("a tool that is not offered", () => {
  test("is not run, and the model is told which there are", () => {
    const judged = judgeCall({ name: "forecast", arguments: "{}" }, [SERVER, RECALL_TOOL]);
    expect(judged).toMatchObject({ kind: "invalid", failure: "unknown_tool" });
    expect(judged.kind === "invalid" && judged.output).toContain("weather, memory_query");
  });

  test.each([{ tools: [] }, { tools: [RECALL_TOOL] }])("is the client's where the session offers none of its own", ({ tools }) => {
    expect(judgeCall({ name: "forecast", arguments: "not json" }, tools)).toEqual({ kind: "client" });
  });
});

test.each([{ type: "object", properties: { city: { pattern: "(" } } }, { $ref: "https://elsewhere.example/schema" }])(
  "a schema that cannot be used (%j) judges nothing",
  (schema) => {
    expect(judge('{"city":"Bonn"}', { ...SERVER, parameters: schema })).toMatchObject({ kind: "server" });
  },
);

test("whatever is called with whatever, it is judged and nothing is thrown", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), fc.constantFrom("weather", "other"), (written, name) => {
      expect(["client", "server", "invalid"]).toContain(judgeCall({ name, arguments: written }, [SERVER]).kind);
    }),
  );
});
