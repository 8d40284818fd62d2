/** Requests in Anthropic's words as messages, calls, results and settings of ours. */
import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import type { FieldError } from "../../../src/contract/problem";
import { listServerTools, readTools, toGeneration, toSystem, toTheirField } from "../../../src/http/anthropic/asked-with";
import { parseToolUseId, readMessage, toToolUseId } from "../../../src/http/anthropic/read-blocks";
import { findFaults, parseRequest, readCopy } from "../../../src/http/anthropic/read-copy";
import { messageBody } from "../../../src/http/anthropic/request-body";
import { makeId } from "../support";

type Block = Anthropic.ContentBlockParam;

function read(content: string | readonly Block[], role: "user" | "assistant" | "system" = "user") {
  const errors: FieldError[] = [];
  const given = typeof content === "string" ? content : content.map((block) => ({ ...block }));
  return { ...readMessage({ role, content: given }, "messages.2", errors), errors };
}

const asked = (changes: object = {}) => ({ model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...changes });
function parse(changes: object = {}) {
  const parsed = parseRequest(messageBody, asked(changes));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return parsed.value;
}
function refuse(changes: object): readonly string[] {
  const parsed = parseRequest(messageBody, asked(changes));
  return parsed.ok || parsed.error.code !== "invalid_request" ? [] : parsed.error.errors.map(({ field }) => field);
}

const PNG = "iVBORw0KGgo=";

describe("blocks of a user", () => {
  test("a text is a part, whatever it holds", () => {
    expect(read("天气?").parts).toEqual([{ type: "text", text: "天气?" }]);
    expect(read([{ type: "text", text: "data: [DONE]\n\n", cache_control: { type: "ephemeral" } }]).parts).toEqual([
      { type: "text", text: "data: [DONE]\n\n" },
    ]);
  });

  test("an image comes as base64, by its address, or as a stored file", () => {
    const file_id = makeId("fil");
    const { parts } = read([
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      { type: "image", source: { type: "url", url: "https://a.example/x.JPG?size=1" } },
      { type: "image", source: { type: "url", url: "https://a.example/x" } },
      { type: "image", source: { type: "file", file_id } },
    ]);

    expect(parts).toEqual([
      { type: "image", url: `data:image/png;base64,${PNG}`, media_type: "image/png" },
      { type: "image", url: "https://a.example/x.JPG?size=1", media_type: "image/jpeg" },
      { type: "image", url: "https://a.example/x", media_type: "image/*" },
      { type: "image", file_id },
    ]);
  });

  test("a document is a file, or text that every model reads", () => {
    const { parts, errors } = read([
      { type: "document", title: "报告.pdf", context: "Of May.", source: { type: "base64", media_type: "application/pdf", data: PNG } },
      { type: "document", title: "Notes", source: { type: "text", media_type: "text/plain", data: "One.\nTwo." } },
      { type: "document", source: { type: "content", content: [{ type: "text", text: "Inner" }] } },
      { type: "document", source: { type: "url", url: "https://a.example/x.pdf" } },
      { type: "search_result", source: "https://a.example", title: "Found", content: [{ type: "text", text: "It is." }] },
    ]);

    expect(errors).toEqual([]);
    expect(parts).toEqual([
      { type: "text", text: "Of May." },
      { type: "file", url: `data:application/pdf;base64,${PNG}`, media_type: "application/pdf", name: "报告.pdf" },
      { type: "text", text: "Notes" },
      { type: "text", text: "One.\nTwo." },
      { type: "text", text: "Inner" },
      { type: "file", url: "https://a.example/x.pdf", media_type: "application/pdf" },
      { type: "text", text: "Found\nhttps://a.example\nIt is." },
    ]);
  });

  test("results name the call by its id, and come apart from what else was said", () => {
    const execution = makeId("exe", 7);
    const { results, parts } = read([
      { type: "tool_result", tool_use_id: toToolUseId(execution), content: "晴" },
      {
        type: "tool_result",
        tool_use_id: "call_abc",
        content: [
          { type: "text", text: "No " },
          { type: "text", text: "such" },
        ],
        is_error: true,
      },
      { type: "tool_result", tool_use_id: "call_empty" },
      { type: "text", text: "And?" },
    ]);

    expect(results).toEqual([
      { id: toToolUseId(execution), at: "messages.2.content.0", output: "晴", is_error: false },
      { id: "call_abc", at: "messages.2.content.1", output: "No such", is_error: true },
      { id: "call_empty", at: "messages.2.content.2", output: "", is_error: false },
    ]);
    expect(results.map(({ id }) => parseToolUseId(id))).toEqual([execution, null, null]);
    expect(parts).toEqual([{ type: "text", text: "And?" }]);
  });

  test("an image in a result follows it in a message, because a result is text", () => {
    const { results, parts } = read([
      {
        type: "tool_result",
        tool_use_id: "call_1",
        content: [
          { type: "text", text: "Taken." },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        ],
      },
    ]);

    expect(results[0]?.output).toBe("Taken.\n[1 attached: see the next message]");
    expect(parts).toEqual([
      { type: "text", text: "Attached to the result of call_1:" },
      { type: "image", url: `data:image/png;base64,${PNG}`, media_type: "image/png" },
    ]);
  });

  test.each([
    [{ type: "server_tool_use", id: "a", name: "web_search", input: {} }, "messages.2.content.0.type"],
    [{ type: "tool_use", id: "a", name: "b", input: {} }, "messages.2.content.0.type"],
    [{ type: "image", source: { type: "base64", media_type: "image/png", data: "" } }, "messages.2.content.0.source.data"],
    [{ type: "image", source: { type: "url", url: "file:///etc/passwd" } }, "messages.2.content.0.source"],
    [{ type: "image", source: { type: "file", file_id: "file_011" } }, "messages.2.content.0.source"],
    [{ type: "tool_result", content: "x" }, "messages.2.content.0.tool_use_id"],
    [
      { type: "tool_result", tool_use_id: "a", content: [{ type: "server_tool_use", tool_name: "b" }] },
      "messages.2.content.0.content.0.type",
    ],
    [
      { type: "document", citations: { enabled: true }, source: { type: "text", media_type: "text/plain", data: "x" } },
      "messages.2.content.0.citations.enabled",
    ],
  ])("%j is refused by its field", (block, field) => {
    expect(read([block as Block]).errors.map((error) => error.field)).toEqual([field]);
  });
});

describe("blocks of the model", () => {
  test("are text, thinking and calls; what only Anthropic can read is left out", () => {
    const { parts, calls, errors } = read(
      [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "redacted_thinking", data: "xyz" },
        { type: "text", text: "I look.", citations: null },
        { type: "tool_use", id: "call_1", name: "weather", input: { city: "北京" } },
      ],
      "assistant",
    );

    expect(errors).toEqual([]);
    expect(parts).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "I look." },
    ]);
    expect(calls).toEqual([{ call_id: "call_1", name: "weather", arguments: '{"city":"北京"}' }]);
  });
});

describe("messages", () => {
  const list = (messages: readonly object[]) => {
    const copy = readCopy(parse({ messages }));
    if (!copy.ok) throw new Error(copy.error.code);
    return copy.value.messages;
  };
  const listFaults = (messages: readonly object[]) => {
    const fault = findFaults(list(messages));
    return fault?.code === "invalid_request" ? fault.errors.map(({ field }) => field) : [];
  };

  test("come apart into results and what else was said, with their places", () => {
    const read = list([
      { role: "user", content: "北京?" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "" },
          { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "晴", is_error: true },
          { type: "text", text: "Well?" },
        ],
      },
    ]);

    expect(read.map(({ role, field, text, answers, is_error }) => ({ role, field, text, answers, is_error }))).toEqual([
      { role: "user", field: "messages.0", text: "北京?", answers: undefined, is_error: false },
      { role: "assistant", field: "messages.1", text: "", answers: undefined, is_error: false },
      { role: "tool", field: "messages.2.content.0", text: "晴", answers: "toolu_1", is_error: true },
      { role: "user", field: "messages.2", text: "Well?", answers: undefined, is_error: false },
    ]);
  });

  test("are refused when they end with the model's own words, or a person says nothing", () => {
    const user = { role: "user", content: "A" };
    expect(listFaults([user, { role: "assistant", content: "The best is (" }])).toEqual(["messages.1.role"]);
    expect(listFaults([{ role: "user", content: "" }])).toEqual(["messages.0.content"]);
    expect(listFaults([user, { role: "user", content: [] }])).toEqual(["messages.1.content"]);
    expect(listFaults([{ role: "user", content: [{ type: "text", text: "" }, { type: "video" }] }])).toEqual(["messages.0.content.1.type"]);
    expect(listFaults([user, { role: "assistant", content: [] }, user])).toEqual([]);
  });
});

describe("parameters", () => {
  test.each([
    [{ max_tokens: 5 }, { max_output_tokens: 5 }],
    [
      { temperature: 0, top_p: 0.5 },
      { temperature: 0, top_p: 0.5 },
    ],
    [{ stop_sequences: ["END"] }, { stop: ["END"] }],
    [{ stop_sequences: [] }, {}],
    [{ tool_choice: { type: "auto" } }, { tool_choice: "auto" }],
    [{ tool_choice: { type: "any", disable_parallel_tool_use: true } }, { tool_choice: "required", parallel_tool_calls: false }],
    [{ tool_choice: { type: "tool", name: "weather" } }, { tool_choice: { name: "weather" } }],
    [{ tool_choice: { type: "none" } }, { tool_choice: "none" }],
    [{ thinking: { type: "disabled" } }, { reasoning: { effort: "none" } }],
    [{ thinking: { type: "adaptive" } }, {}],
    [{ thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 }, { reasoning: { effort: "low" } }],
    [{ thinking: { type: "enabled", budget_tokens: 10_000 }, max_tokens: 20_000 }, { reasoning: { effort: "medium" } }],
    [{ thinking: { type: "enabled", budget_tokens: 32_000 }, max_tokens: 64_000 }, { reasoning: { effort: "high" } }],
    [{ output_config: { effort: "max" } }, { reasoning: { effort: "high" } }],
    [
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      { response_format: { type: "json_schema", name: "output", schema: { type: "object" }, strict: true } },
    ],
    [{ metadata: { user_id: "u" }, service_tier: "auto", cache_control: { type: "ephemeral" } }, {}],
  ])("%j becomes %j", (changes, generation) => {
    expect(toGeneration(parse(changes))).toEqual({
      max_output_tokens: 100,
      ...("max_tokens" in changes && { max_output_tokens: changes.max_tokens }),
      ...generation,
    });
  });

  test.each([
    ["top_k", 5],
    ["container", "c"],
    ["inference_geo", "eu"],
    ["mcp_servers", [{ type: "url", url: "https://a.example", name: "a" }]],
    ["thread", { type: "create" }],
    ["fallbacks", [{ model: "m" }]],
    ["max_tokens", 0],
    ["temperature", 1.5],
    ["messages", []],
  ])("%s of %j is refused by name", (name, value) => {
    expect(refuse({ [name]: value })).toEqual([name]);
  });

  test("a refused parameter without a value asks for nothing", () => {
    expect(refuse({ top_k: null, container: null, mcp_servers: [] })).toEqual([]);
  });

  test("settings that nothing here takes are refused before a model is asked", () => {
    const body = parse({ stop_sequences: ["1", "2", "3", "4", "5"] });
    expect(readCopy(body)).toMatchObject({ ok: false, error: { errors: [{ field: "stop_sequences" }] } });
  });

  test("a budget must leave room for the answer", () => {
    expect(refuse({ thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 1024 })).toEqual(["thinking.budget_tokens"]);
  });

  test("a system prompt is a text or blocks", () => {
    expect(toSystem(parse({ system: "Be brief." }).system)).toBe("Be brief.");
    expect(
      toSystem(
        parse({
          system: [
            { type: "text", text: "A" },
            { type: "text", text: "B", cache_control: { type: "ephemeral" } },
          ],
        }).system,
      ),
    ).toBe("A\n\nB");
    expect(toSystem(undefined)).toBe(null);
  });

  const input_schema = { type: "object", properties: {} };

  test("tools are defined by the client; those that Anthropic's models know by heart are refused by their place", () => {
    const errors: FieldError[] = [];
    const tool = { name: "weather", description: "D", input_schema, input_examples: [{ city: "北京" }], strict: true };
    expect(readTools({ tools: [tool] }, errors)).toEqual([
      { name: "weather", description: 'D\nExample: {"city":"北京"}', parameters: input_schema },
    ]);
    expect(errors).toEqual([]);

    const bash = { type: "bash_20250124", name: "bash" };
    readTools({ tools: [{ type: "custom", name: "ok", input_schema }, bash] }, errors);
    readTools({ tools: [SEARCH, { name: "no schema" }] }, errors);
    expect(errors.map(({ field }) => field)).toEqual(["tools.1.type", "tools.1.name", "tools.1.input_schema"]);
  });

  const SEARCH = { type: "web_search_20250305", name: "web_search" };

  test.each([
    ["web_search_20260318", true],
    ["web_fetch_20250910", true],
    ["code_execution_20260521", true],
    ["tool_search_tool_bm25_20251119", true],
    ["tool_search_tool_regex", true],
    ["advisor_20260301", true],
    ["mcp_toolset", true],
    ["bash_20250124", false],
    ["text_editor_20250728", false],
    ["memory_20250818", false],
    ["computer_20251124", false],
    ["browser_toolset_20260801", false],
  ])("%s is left out, and named: %s", (type, isLeftOut) => {
    const errors: FieldError[] = [];
    const tools = [
      { name: "ok", input_schema },
      { type, name: "it" },
    ];
    expect(readTools({ tools }, errors)?.length).toBe(isLeftOut ? 1 : undefined);
    expect(errors.length).toBe(isLeftOut ? 0 : 1);
    expect(listServerTools(tools)).toEqual(isLeftOut ? [`tools.1:${type}`] : []);
  });

  test.each([
    [{ type: "tool", name: "web_search" } as const, [SEARCH, { name: "ok", input_schema }], "tool_choice"],
    [{ type: "any" } as const, [SEARCH], "tool_choice"],
    [{ type: "any" } as const, [SEARCH, { name: "ok", input_schema }], undefined],
    [{ type: "auto" } as const, [SEARCH], undefined],
    [{ type: "tool", name: "ok" } as const, [SEARCH, { name: "ok", input_schema }], undefined],
  ])("a choice that forces a tool of Anthropic is refused: %j", (tool_choice, tools, field) => {
    const errors: FieldError[] = [];
    readTools({ tools, tool_choice }, errors);
    expect(errors[0]?.field).toBe(field);
  });

  test("a reference to a tool in a result is a text", () => {
    const errors: FieldError[] = [];
    const content = ["a", "b"].map((tool_name) => ({ type: "tool_reference", tool_name }));
    const message = { role: "user" as const, content: [{ type: "tool_result", tool_use_id: "t", content }] };
    expect(readMessage(message, "messages.0", errors).results[0]?.output).toBe("The tool a can be called.\nThe tool b can be called.\n");
    expect(errors).toEqual([]);
  });

  test("our fields have their names in refusals", () => {
    expect(toTheirField("generation.max_output_tokens")).toBe("max_tokens");
    expect(toTheirField("generation.stop.0")).toBe("stop_sequences.0");
    expect(toTheirField("generation.reasoning")).toBe("thinking");
    expect(toTheirField("messages.0.content")).toBe("messages.0.content");
  });
});
