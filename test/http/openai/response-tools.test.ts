/** Tools of every form that a client of OpenAI's API declares, through OpenAI's own package. */
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { ModelSpec } from "../../../src/app/ports";
import { calls, connect, says } from "./response-life";

const MODEL = "test-model";
type Tool = OpenAI.Responses.Tool;
type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

const PATCH: Tool = {
  type: "custom",
  name: "apply_patch",
  description: "Edits files.",
  format: { type: "grammar", syntax: "lark", definition: 'start: "*** Begin Patch"' },
};
const CREW: Tool = {
  type: "namespace",
  name: "crew",
  description: "Helpers",
  tools: [
    { type: "function", name: "spawn", description: "Begins a helper", parameters: { type: "object", properties: {} }, strict: false },
    { type: "custom", name: "say", description: "Says something" },
  ],
};
const TEXT = '*** Begin Patch\n"你好" \\ {"input":1}';
const written = JSON.stringify({ input: TEXT });

/** What becomes of each type of tool that the package knows. */
const TYPES: Readonly<Record<Tool["type"], "offered" | "left out" | "refused">> = {
  function: "offered",
  custom: "offered",
  namespace: "offered",
  mcp: "offered",
  web_search: "left out",
  web_search_2025_08_26: "left out",
  web_search_preview: "left out",
  web_search_preview_2025_03_11: "left out",
  file_search: "left out",
  code_interpreter: "left out",
  image_generation: "left out",
  tool_search: "left out",
  programmatic_tool_calling: "left out",
  local_shell: "refused",
  shell: "refused",
  apply_patch: "refused",
  computer: "refused",
  computer_use_preview: "refused",
};

const ask = ({ options, app }: Pick<ReturnType<typeof connect>, "options" | "app">, body: object) =>
  app.request(`${options.baseURL}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${options.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, input: "Go.", ...body }),
  });

describe.each([true, false])("tools of other forms, stored: %s", (store) => {
  it("a tool that takes free text is a function to the model, and its call comes back as text", async () => {
    const { openai, model, requests } = connect();
    model.say = () => calls({ call_id: "c1", name: "apply_patch", arguments: written });

    const response = await openai.responses.create({ model: MODEL, input: "Go.", store, tools: [PATCH] });

    expect(requests[0]?.tools).toMatchObject([
      {
        name: "apply_patch",
        description: 'Edits files.\n\nThe input must match this grammar (lark):\nstart: "*** Begin Patch"',
        parameters: { required: ["input"] },
      },
    ]);
    expect(response.output).toMatchObject([{ type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: TEXT }]);
    expect(response.tools).toEqual([PATCH]);
  });

  it("tools of a namespace have names of their own to the model, and are called by theirs", async () => {
    const { openai, model, requests } = connect();
    model.say = () =>
      calls(
        { call_id: "c1", name: "crew__spawn", arguments: '{"a":1}' },
        { call_id: "c2", name: "crew__say", arguments: '{"input":"hi"}' },
      );

    const response = await openai.responses.create({ model: MODEL, input: "Go.", store, tools: [CREW] });

    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["crew__spawn", "crew__say"]);
    expect(response.output).toMatchObject([
      { type: "function_call", call_id: "c1", namespace: "crew", name: "spawn", arguments: '{"a":1}' },
      { type: "custom_tool_call", call_id: "c2", namespace: "crew", name: "say", input: "hi" },
    ]);
  });

  it("a stream tells such calls as OpenAI does", async () => {
    const { openai, model } = connect();
    model.say = () => calls({ call_id: "c1", name: "apply_patch", arguments: written });

    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = await openai.responses.create({ model: MODEL, input: "Go.", store, tools: [PATCH], stream: true });
    for await (const event of stream) events.push(event);

    const told = events.filter(({ type }) => type.startsWith("response.custom_tool_call") || type.startsWith("response.output_item"));
    expect(told).toMatchObject([
      { type: "response.output_item.added", item: { type: "custom_tool_call", input: "", status: "in_progress" } },
      { type: "response.custom_tool_call_input.delta", delta: TEXT },
      { type: "response.custom_tool_call_input.done", input: TEXT },
      { type: "response.output_item.done", item: { type: "custom_tool_call", input: TEXT, status: "completed" } },
    ]);
  });

  it.each(Object.entries(TYPES))("%s is %s", async (type, fate) => {
    const life = connect();
    const tool = { ...PATCH, ...CREW, type, name: "it", ...(type === "mcp" && { server_label: "gone" }) };

    const answer = await ask(life, { store, tools: [tool] });

    const body = await answer.text();
    if (fate === "refused") expect(body).toContain("declare the tool as type function or custom");
    if (type === "mcp") expect(body).toContain("no such MCP server");
    expect(answer.headers.get("X-Ignored")).toBe(fate === "left out" ? `tools.0:${type}` : null);
    expect(answer.status).toBe(fate === "refused" || type === "mcp" ? 400 : 200);
    if (fate === "left out") expect(life.requests[0]?.tools).toEqual([]);
  });
});

describe("tools of other forms", () => {
  it("the client's copy of such calls is read back, and answered", async () => {
    const { openai, model, requests } = connect();
    model.say = () => says("Done.");
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "Go." },
      { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: TEXT },
      { type: "function_call", call_id: "c2", namespace: "crew", name: "spawn", arguments: "{}" },
      { type: "custom_tool_call_output", call_id: "c1", output: [{ type: "input_text", text: "Patched." }] },
      { type: "function_call_output", call_id: "c2", output: "Begun." },
    ];

    const response = await openai.responses.create({ model: MODEL, input, store: false, tools: [PATCH, CREW] });

    expect(response.output_text).toBe("Done.");
    const parts = requests[0]?.messages.flatMap((message): readonly object[] => message.parts);
    expect(parts).toMatchObject([
      { text: "Go." },
      { type: "tool_call", name: "apply_patch", arguments: written },
      { type: "tool_call", name: "crew__spawn" },
      { type: "tool_result", output: "Patched." },
      { type: "tool_result", output: "Begun." },
    ]);
  });

  it("a chain goes on with the result of such a call", async () => {
    const { openai, model } = connect();
    model.say = (_, nth) => (nth === 1 ? calls({ call_id: "c1", name: "apply_patch", arguments: written }) : says("Done."));
    const first = await openai.responses.create({ model: MODEL, input: "Go.", tools: [PATCH] });

    const input: Body["input"] = [{ type: "custom_tool_call_output", call_id: "c1", output: "Patched." }];
    const second = await openai.responses.create({ model: MODEL, input, previous_response_id: first.id, tools: [PATCH] });

    expect(second.output_text).toBe("Done.");
    expect((await openai.responses.retrieve(first.id)).output).toEqual(first.output);
  });

  it("tools that come as an item of the input are offered like the others", async () => {
    const { openai, model, requests } = connect();
    model.say = () => calls({ call_id: "c1", name: "crew__say", arguments: '{"input":"hi"}' });
    const input: Body["input"] = [
      { type: "additional_tools", role: "developer", tools: [CREW, { type: "web_search" }] },
      { role: "user", content: "Go." },
    ];

    const { data: response, response: raw } = await openai.responses.create({ model: MODEL, input, store: false }).withResponse();

    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(["crew__spawn", "crew__say"]);
    expect(response.output).toMatchObject([{ type: "custom_tool_call", namespace: "crew", name: "say", input: "hi" }]);
    expect(raw.headers.get("X-Ignored")).toBe("input.0.tools.1:web_search");
  });

  it("a fault is named by its place", async () => {
    const life = connect();
    const long = { type: "function", name: "n", parameters: { type: "string" } };
    const error = async (body: object) => ((await (await ask(life, body)).json()) as { error: { message: string } }).error.message;

    expect(await error({ tools: [{ type: "web_search" }, { ...CREW, tools: [long] }] })).toContain("tools[1].tools[0].parameters.type");
    expect(await error({ input: [{ type: "additional_tools", tools: [{ type: "shell" }] }] })).toContain("input[0].tools[0].type");
    expect(await error({ tools: [CREW, { type: "function", name: "crew__say" }] })).toContain("used by an earlier tool");
  });

  it("names of a namespace that are too long stay apart, and come back whole", async () => {
    const { openai, model, requests } = connect();
    const [one, other] = ["a", "b"].map((end) => `${"very_long_name_of_a_tool_".repeat(2)}${end}`) as [string, string];
    const tools = [one, other].map((name) => ({ type: "function" as const, name, parameters: {}, strict: null }));
    model.say = ({ tools: offered }) => calls({ call_id: "c1", name: offered[1]?.name ?? "" });

    const response = await openai.responses.create({
      model: MODEL,
      input: "Go.",
      store: false,
      tools: [{ type: "namespace", name: "mcp__browser", description: "", tools }],
    });

    const names = requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(2);
    expect(Math.max(...names.map(({ length }) => length))).toBe(64);
    expect(response.output).toMatchObject([{ namespace: "mcp__browser", name: other }]);
  });
});

describe("a choice of tools", () => {
  it.each([
    [{ type: "custom", name: "apply_patch" }, { name: "apply_patch" }],
    [{ type: "function", name: "spawn", namespace: "crew" }, { name: "crew__spawn" }],
  ])("%j is the function that stands for it", async (tool_choice, chosen) => {
    const life = connect();
    await ask(life, { tools: [PATCH, CREW], tool_choice });
    expect(life.requests[0]?.generation?.tool_choice).toEqual(chosen);
  });

  it("allowed tools may be of every form, and of a vendor's", async () => {
    const life = connect();
    const tools = [{ type: "custom", name: "apply_patch" }, { type: "web_search" }];
    const answer = await ask(life, {
      tools: [PATCH, CREW, { type: "web_search" }],
      tool_choice: { type: "allowed_tools", mode: "auto", tools },
    });
    expect(answer.status).toBe(200);
    expect(life.requests[0]?.tools.map(({ name }) => name)).toEqual(["apply_patch"]);
  });

  it.each([
    [{ tools: [{ type: "web_search" }], tool_choice: "required" }, "only OpenAI runs web_search"],
    [{ tools: [PATCH], tool_choice: { type: "web_search_preview" } }, "tool_choice"],
    [
      { tools: [PATCH], tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "apply_patch" }] } },
      "must be one of the request's tools",
    ],
  ])("one that forces a vendor's tool, or names none of the request, is refused: %j", async (body, detail) => {
    const answer = await ask(connect(), body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(detail);
  });
});

const LARGE: ModelSpec = {
  id: MODEL,
  provider: "openai-compatible",
  upstream_id: MODEL,
  base_url: null,
  context_window: 400_000,
  max_output: 1_000,
  source: "deployment",
};

describe("instructions and tools of an agent, of more than a note holds", () => {
  const many: Tool[] = Array.from({ length: 40 }, (_, nth) => ({
    type: "function",
    name: `tool_${nth}`,
    description: "说明。".repeat(400),
    parameters: { type: "object", properties: { path: { type: "string" } } },
    strict: false,
  }));
  const instructions = "Rule: look first. ".repeat(5_000);
  const tools = [...many, CREW, PATCH];

  it("are asked with whole, and calls come back in their forms, also in the legs after them", async () => {
    const { openai, model, requests, lives } = connect({ models: { resolve: async (id) => ({ ...LARGE, id }) } });
    model.say = (_, nth) => (nth === 1 ? calls({ call_id: "c1", name: "crew__say", arguments: '{"input":"hi"}' }) : says("Done."));
    const body = { model: MODEL, instructions, tools };

    const first = await openai.responses.create({ ...body, input: "Go." });
    const input: Body["input"] = [{ type: "custom_tool_call_output", call_id: "c1", output: "Said." }];
    const second = await openai.responses.create({ ...body, input, previous_response_id: first.id });

    expect(first.output).toMatchObject([{ type: "custom_tool_call", namespace: "crew", name: "say", input: "hi" }]);
    expect(first.instructions).toBe(instructions);
    expect(second.output_text).toBe("Done.");
    expect(requests.map(({ system, tools: offered }) => [system?.length, offered.length])).toEqual(
      Array(2).fill([instructions.length, 43]),
    );
    const kept = await openai.responses.retrieve(first.id);
    expect(kept.output).toEqual(first.output);
    expect(kept.tools.map((tool) => ("name" in tool ? tool.name : ""))).toEqual(tools.map((tool) => ("name" in tool ? tool.name : "")));
    // The results go on with the turn: nothing was asked otherwise.
    expect(second.id.slice(0, 57)).toBe(first.id.slice(0, 57));
    expect(lives.size).toBe(1);
  });
});
