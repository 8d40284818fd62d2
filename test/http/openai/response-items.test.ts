/** Items that responses take and give, through OpenAI's own package, against the app and sessions in this process. */
import type OpenAI from "openai";
import { APIError } from "openai";
import { describe, expect, it } from "vitest";
import { NO_OUTPUT } from "../../../src/http/openai/items/read-items";
import { TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const IMAGE = { type: "input_image" as const, detail: "auto" as const, image_url: "https://example.com/a.png" };
const FILE = { type: "input_file" as const, file_url: "https://example.com/a.pdf" };
const LOOK = { type: "function" as const, name: "look", parameters: { type: "object", properties: {} }, strict: false };

type Input = OpenAI.Responses.ResponseInputItem;

const never = (): never => {
  throw new Error("There is no such thing");
};

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of items) all.push(each);
  return all;
}

describe("a server's call that came without a result", () => {
  const lost = {
    type: "mcp_call",
    id: "mcp_1",
    server_label: "longhand",
    name: "look",
    arguments: "{}",
    output: null,
    error: null,
  } as const;

  it("is taken, and the model reads that it has none", async () => {
    const { openai, requests } = connect();
    const { status } = await openai.responses.create({
      model: MODEL,
      input: [{ role: "user", content: "Look." }, lost, { role: "user", content: "And?" }],
    });
    expect(status).toBe("completed");
    expect(show(requests[0] ?? never())).toEqual(["user: Look.", "assistant: tool_call", `tool: ${NO_OUTPUT}`, "user: And?"]);
  });

  it("is taken as an item of a conversation", async () => {
    const { openai } = connect();
    const { id } = await openai.conversations.create({ items: [{ role: "user", content: "Look." }, lost] });
    const items = await readAll(openai.conversations.items.list(id, { order: "asc" }));
    expect(items.map(({ type }) => type)).toEqual(["message", "function_call", "function_call_output"]);
  });
});

describe.each([true, false])("a function with strict: %s", (strict) => {
  it("is echoed so, and the client has no call whose arguments the schema forbids", async () => {
    const { openai, model, requests } = connect();
    model.say = (_, nth) =>
      nth === 1 ? calls({ call_id: "a", arguments: '{"at":7}' }) : calls({ call_id: "b", arguments: '{"at":"天"}' });
    const tool = { ...LOOK, strict, parameters: { type: "object", properties: { at: { type: "string" } } } };

    const { tools, output } = await openai.responses.create({ model: MODEL, tools: [tool], input: "Look." });

    expect(tools).toMatchObject([{ strict }]);
    expect(output.flatMap((item) => (item.type === "function_call" ? [item.arguments] : []))).toEqual(['{"at":"天"}']);
    expect(show(requests[1] ?? never()).at(-1)).toContain("The arguments of look are not as its schema wants them");
  });
});

describe("files in the result of a call", () => {
  const files = "Files of the result of call a:";
  const output: Input = { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "两张" }, IMAGE, FILE] };

  it("follow the results as a message, so that the model sees them, and are shown", async () => {
    const { openai, model, requests } = connect();
    model.say = (_, nth) => (nth === 1 ? calls({ call_id: "a" }, { call_id: "b" }) : says("A cat."));
    const first = await openai.responses.create({ model: MODEL, tools: [LOOK], input: "Look." });
    const input: Input[] = [output, { type: "function_call_output", call_id: "b", output: "none" }];
    const second = await openai.responses.create({ model: MODEL, tools: [LOOK], previous_response_id: first.id, input });

    expect(second).toMatchObject({ status: "completed", output_text: "A cat.", previous_response_id: first.id });
    expect(show(requests[1] ?? never())).toEqual([
      "user: Look.",
      "assistant: tool_calltool_call",
      "tool: 两张",
      "tool: none",
      `user: ${files}imagefile`,
    ]);
    const shown = await readAll(openai.responses.inputItems.list(second.id, { order: "asc" }));
    expect(shown).toMatchObject([
      { type: "function_call_output", call_id: "a", output: "两张" },
      { type: "function_call_output", call_id: "b", output: "none" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: files },
          { type: "input_image", image_url: IMAGE.image_url },
          { type: "input_file", file_url: FILE.file_url },
        ],
      },
    ]);
    expect(await openai.responses.retrieve(second.id)).toEqual(second);
  });

  it.each([true, false])("come with a whole transcript, stored: %s", async (store) => {
    const { openai, requests } = connect();
    const call: Input = { type: "function_call", call_id: "a", name: "look", arguments: "{}" };
    await openai.responses.create({ model: MODEL, store, input: [{ role: "user", content: "Look." }, call, output] });
    expect(show(requests[0] ?? never())).toEqual(["user: Look.", "assistant: tool_call", "tool: 两张", `user: ${files}imagefile`]);
  });

  it("stay in an item of a conversation, and come back as they were sent when they are compacted", async () => {
    const { openai } = connect();
    const call: Input = { type: "function_call", call_id: "a", name: "look", arguments: "{}" };
    const { id } = await openai.conversations.create({ items: [{ role: "user", content: "Look." }, call, output] });
    const items = await readAll(openai.conversations.items.list(id, { order: "asc" }));
    expect(items.at(-1)).toMatchObject({
      role: "user",
      content: [{ text: files }, { image_url: IMAGE.image_url }, { file_url: FILE.file_url }],
    });
    const { output: kept } = await openai.responses.compact({ model: MODEL, input: [{ role: "user", content: "Look." }, call, output] });
    expect(kept).toMatchObject([{ role: "user" }, { content: [{ text: files }, IMAGE, FILE] }, { type: "compaction" }]);
  });

  it("are refused by the place that they were sent at", async () => {
    const { openai, model } = connect();
    model.say = () => calls({ call_id: "a" });
    const first = await openai.responses.create({ model: MODEL, tools: [LOOK], input: "Look." });
    const input: Input[] = [{ type: "function_call_output", call_id: "a", output: [{ ...FILE, file_url: "data:what,ever" }] }];
    const sent = openai.responses.create({ model: MODEL, tools: [LOOK], previous_response_id: first.id, input });
    await expect(sent).rejects.toMatchObject({ status: 400, param: "input[0].output[0].file_url" });
  });
});

describe("an input that ends with another message than a user's", () => {
  it.each([
    ["system", "system: Greet them."],
    ["developer", "system: Greet them."],
    ["assistant", "assistant: Greet them."],
  ] as const)("of role %s is answered, as JSON, as events, in a chain and not stored", async (role, read) => {
    const { openai, requests } = connect();
    const message = { role, content: "Greet them." };
    const first = await openai.responses.create({ model: MODEL, input: [message] });
    expect(first).toMatchObject({ status: "completed", output_text: "echo 1" });
    expect(await openai.responses.retrieve(first.id)).toEqual(first);
    const second = await openai.responses.stream({ model: MODEL, previous_response_id: first.id, input: [message] }).finalResponse();
    expect(second).toMatchObject({ status: "completed", output_text: "echo 3" });
    const unstored = await openai.responses.create({ model: MODEL, input: [{ role: "user", content: "Hi." }, message], store: false });
    expect(unstored.output_text).toBe("echo 2");
    expect(requests.map(show)).toEqual([[read], [read, "assistant: echo 1", read], ["user: Hi.", read]]);
    expect(await readAll(openai.responses.inputItems.list(second.id))).toMatchObject([{ content: [{ text: "Greet them." }] }]);
  });

  it("goes with what it was asked when it is deleted", async () => {
    const { openai, lives, model } = connect();
    model.say = () => [{ type: "failure", failure: { kind: "quota", status: 429 } }];
    const asked = { model: MODEL, input: [{ role: "developer" as const, content: "绝密" }] };
    const failed: unknown = await openai.responses.create(asked).catch((error: unknown) => error);
    const id = failed instanceof APIError ? (failed.headers?.get("x-response-id") ?? "") : "";
    expect((await openai.responses.retrieve(id)).status).toBe("failed");
    const [session, { service }] = [...lives][0] ?? never();
    const list = async () => JSON.stringify(await service.items({ tenant: TENANT, session }, { after: null, limit: 9, order: "asc" }));
    expect(await list()).toContain("绝密");
    await openai.responses.delete(id);
    expect(await list()).not.toContain("绝密");
  });
});
