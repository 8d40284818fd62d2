/** References to items: what they stand for is found in the sessions' logs. Against the app and sessions in this process. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from "ai";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { SessionId } from "../../../src/domain/ids";
import { makeId, TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const LOOK = { type: "function" as const, name: "look", parameters: { type: "object", properties: {} }, strict: false };
const refer = (id: string | undefined) => ({ type: "item_reference" as const, id: id ?? "" });
const user = (content: string) => ({ role: "user" as const, content });
const readSession = ({ id }: { readonly id: string }): SessionId => `ses_${id.slice(5, 31)}` as SessionId;
const withReasoning = (text: string, thought: string) => [{ type: "reasoning" as const, text: thought }, ...says(text)];

type World = ReturnType<typeof connect>;
type Response = OpenAI.Responses.Response;

/** A session whose server runs `look`. */
async function openWithServerTool({ openai, lives }: World) {
  const conversation = await openai.conversations.create();
  const session = `ses_${conversation.id.slice(5)}` as SessionId;
  const life = lives.get(session);
  if (!life) throw new Error("no session");
  life.tools.run = async () => ({ output: "21 degrees", failure: null });
  const look = { name: "look", parameters: { type: "object" }, runs: { by: "http", tool: "look" } } as const;
  await life.service.patch({ tenant: TENANT, session }, { tools: [look] });
  return conversation.id;
}

const texts = async ({ lives }: World, session: SessionId): Promise<string[]> => {
  const page = await lives.get(session)?.service.items({ tenant: TENANT, session }, { after: null, limit: 100, order: "asc" });
  return page?.ok
    ? page.value.data.map(({ role, content }) => `${role}: ${content.map((part) => ("text" in part ? part.text : part.type))}`)
    : [];
};

describe("a reference to an item", () => {
  it("stands for its text, its reasoning, its call and its result, in another conversation", async () => {
    const world = connect();
    const { openai, model, requests } = world;
    model.say = (_, nth) =>
      nth === 1 ? [{ type: "reasoning", text: "Hm." }, { type: "text", text: "I look." }, ...calls({ call_id: "a" })] : says("Sun.");
    const tools = [LOOK];
    const first = await openai.responses.create({ model: MODEL, input: "天气?", tools });
    const output = { type: "function_call_output" as const, call_id: "a", output: "21" };
    const second = await openai.responses.create({ model: MODEL, input: [output], previous_response_id: first.id, tools });
    const asked = await openai.responses.inputItems.list(first.id);
    const answered = await openai.responses.inputItems.list(second.id);
    const names = [...asked.data, ...first.output, ...answered.data, ...second.output].map(({ id }) => id);
    const { id: conversation } = await openai.conversations.create();

    await openai.responses.create({ model: MODEL, conversation, input: [...names.map(refer), user("And now?")], tools });

    const [before, now] = [requests.at(-2), requests.at(-1)];
    expect(now && show(now)).toEqual([...(before ? show(before) : []), "assistant: Sun.", "user: And now?"]);
    expect(await texts(world, `ses_${conversation.slice(5)}` as SessionId)).toEqual([
      "user: 天气?",
      "assistant: Hm.,I look.",
      "tool: 21",
      "assistant: Sun.",
      "user: And now?",
      "assistant: Sun.",
    ]);
  });

  it("to a call that the server ran brings the call and its result, and to reasoning brings no calls", async () => {
    const world = connect();
    const { openai, model, requests } = world;
    model.say = (_, nth) =>
      nth === 1 ? [{ type: "reasoning", text: "Hm." }, ...calls({ call_id: "a" }, { call_id: "b" })] : says(`Sun ${nth}.`);
    const conversation = await openWithServerTool(world);
    const first = await openai.responses.create({ model: MODEL, conversation, input: "Weather?" });
    const [reasoning, one, two, said] = first.output;

    // A client names a call that the server ran once as a call and once as a result.
    await openai.responses.create({ model: MODEL, input: [user("A"), refer(one?.id), refer(two?.id), refer(one?.id), user("B")] });
    const alone = await openai.responses.create({ model: MODEL, input: [user("A"), refer(reasoning?.id), refer(said?.id), user("B")] });

    const [both, last] = requests.slice(-2).map(show);
    expect(both).toEqual(["user: A", "assistant: tool_calltool_call", "tool: 21 degrees", "tool: 21 degrees", "user: B"]);
    expect(last).toEqual(["user: A", "assistant: reasoning", "assistant: Sun 2.", "user: B"]);
    expect(readSession(alone)).not.toBe(`ses_${conversation.slice(5)}`);
  });

  it("counts once, and not at all where the model reads the item anyway", async () => {
    const { openai, model, requests } = connect();
    model.say = (_, nth) => says(`Answer ${nth}.`);
    const first = await openai.responses.create({ model: MODEL, input: "One" });
    const name = first.output[0]?.id;
    await openai.responses.create({ model: MODEL, input: [user("A"), refer(name), refer(name), user("B")] });
    const next = await openai.responses.create({ model: MODEL, previous_response_id: first.id, input: [refer(name), user("Two")] });
    const conversation = `conv_${first.id.slice(5, 31)}`;
    await openai.responses.create({ model: MODEL, conversation, input: [refer(name), refer(next.output[0]?.id), user("Three")] });
    // A branch beside the second response does not have its items.
    const branch = [refer(name), refer(next.output[0]?.id), user("Other")];
    await openai.responses.create({ model: MODEL, previous_response_id: first.id, input: branch });

    expect(requests.slice(1).map(show)).toEqual([
      ["user: A", "assistant: Answer 1.", "user: B"],
      ["user: One", "assistant: Answer 1.", "user: Two"],
      ["user: One", "assistant: Answer 1.", "user: Two", "assistant: Answer 3.", "user: Three"],
      ["user: One", "assistant: Answer 1.", "assistant: Answer 3.", "user: Other"],
    ]);
  });

  it("by a name of older builds is of the conversation or the response that the request names", async () => {
    const { openai, requests } = connect();
    const first = await openai.responses.create({ model: MODEL, input: "One" });
    const old = `msg_${first.output[0]?.id?.slice(-26)}`;

    await openai.responses.create({ model: MODEL, previous_response_id: first.id, input: [refer(old), user("Two")] });

    expect(requests.map(show).at(-1)).toEqual(["user: One", "assistant: echo 1", "user: Two"]);
    await expect(openai.responses.create({ model: MODEL, input: [refer(old), user("Two")] })).rejects.toMatchObject({ status: 404 });
  });

  it("stands for an image, also one that is stored", async () => {
    const { openai, requests } = connect();
    const content = [{ type: "input_image" as const, detail: "auto" as const, image_url: "https://example.com/a.png" }];
    const first = await openai.responses.create({ model: MODEL, input: [{ role: "user", content }] });
    const [asked] = (await openai.responses.inputItems.list(first.id)).data;

    await openai.responses.create({ model: MODEL, input: [refer(asked?.id), user("And?")] });

    expect(requests.at(-1)?.messages.map(({ parts }) => parts)).toEqual([
      [{ type: "image", url: "https://example.com/a.png", media_type: "image/png" }],
      [{ type: "text", text: "And?" }],
    ]);
  });

  it("may be without a type, and be added to a conversation, counted and compacted", async () => {
    const world = connect();
    const { openai } = world;
    const first = await openai.responses.create({ model: MODEL, input: "One" });
    const name = first.output[0]?.id ?? "";
    const { id } = await openai.conversations.create({ items: [user("A"), { id: name }] });
    // The conversation has a copy, which is another item.
    await openai.conversations.items.create(id, { items: [refer(name), user("B"), refer(name)] });

    expect(await texts(world, `ses_${id.slice(5)}` as SessionId)).toEqual(["user: A", "assistant: echo 1", "assistant: echo 1", "user: B"]);
    const counted = await openai.responses.inputTokens.count({ input: [refer(name)] });
    expect(counted.input_tokens).toBeGreaterThan(0);
    const compacted = await openai.responses.compact({ model: MODEL, input: [user("A"), refer(name)] });
    expect(compacted.output.at(-1)).toMatchObject({ type: "compaction" });
  });
});

/** A conversation in which the server's call of `look` waits for a person, beside the call of `read`, which needs no approval. */
async function openWithApproval({ openai, lives, model }: World) {
  model.say = (_, nth) => (nth === 1 ? calls({ call_id: "a" }, { call_id: "b", name: "read" }) : says(`Answer ${nth}.`));
  const { id: conversation } = await openai.conversations.create();
  const session = `ses_${conversation.slice(5)}` as SessionId;
  const life = lives.get(session);
  if (!life) throw new Error("no session");
  life.tools.needsApproval = async () => false;
  life.tools.run = async ({ name }) => ({ output: `${name} 好`, failure: null });
  const offer = (name: string) => ({ name, parameters: { type: "object" }, runs: { by: "http", tool: name } }) as const;
  await life.service.patch({ tenant: TENANT, session }, { tools: [{ ...offer("look"), needs_approval: true }, offer("read")] });
  const asked = await openai.responses.create({ model: MODEL, conversation, input: "Look." });
  const request = asked.output.find(({ type }) => type === "mcp_approval_request")?.id ?? "";
  return { conversation, asked, request };
}

describe("a reference to a call that a person approves", () => {
  it("brings the call as it is, and once whatever names of it there are", async () => {
    const world = connect();
    const { openai, requests } = world;
    const { conversation, request } = await openWithApproval(world);
    await openai.responses.create({ model: MODEL, input: [user("A"), refer(request), user("B")] });
    expect(requests.map(show).at(-1)).toEqual(["user: A", "assistant: tool_call", expect.stringContaining("No result"), "user: B"]);

    const given = { type: "mcp_approval_response" as const, approval_request_id: request, approve: true };
    await openai.responses.create({ model: MODEL, conversation, input: [given] });
    const { data: items } = await openai.conversations.items.list(conversation, { order: "asc" });
    expect(items.map(({ type }) => type)).toEqual([
      ...["message", "mcp_approval_request", "mcp_approval_response", "mcp_call"],
      ...["mcp_call", "message"],
    ]);
    await openai.responses.create({ model: MODEL, input: [...items.map(({ id }) => refer(id ?? "")), user("And now?")] });
    expect(requests.map(show).at(-1)).toEqual([
      "user: Look.",
      "assistant: tool_calltool_call",
      "tool: look 好",
      "tool: read 好",
      "assistant: Answer 3.",
      "user: And now?",
    ]);
    const ran = items.filter(({ type }) => type === "mcp_call").at(-1)?.id ?? "";
    await openai.responses.create({ model: MODEL, input: [user("A"), refer(ran), user("B")] });
    expect(requests.map(show).at(-1)).toEqual(["user: A", "assistant: tool_call", "tool: look 好", "user: B"]);
  });

  it("is refused like every other where there is no such request or answer", async () => {
    const world = connect();
    const { openai, requests } = world;
    const { conversation, asked, request } = await openWithApproval(world);
    const ran = asked.output.find(({ type }) => type === "mcp_call")?.id ?? "";
    const names = {
      "of an older build, of no conversation": `mcpr_${request.slice(-26)}`,
      "of no call": `${request.slice(0, 31)}${makeId("msg", 999).slice(4)}`,
      "of a call that needs no approval": ran.replace("mcp_", "mcpr_"),
      "of an answer that is still to come": request.replace("mcpr_", "mcpa_"),
      "of another part": `${request}_2`,
    };
    const count = requests.length;
    for (const [reason, name] of Object.entries(names)) {
      const refused = openai.responses.create({ model: MODEL, input: [user("A"), refer(name), user("B")] });
      await expect(refused, reason).rejects.toMatchObject({ status: 404, param: "input", code: "item_not_found" });
    }
    expect(requests).toHaveLength(count);
    // The conversation that the request names has the item of an older name.
    const old = { type: "item_reference" as const, id: `mcpr_${request.slice(-26)}` };
    const given = { type: "mcp_approval_response" as const, approval_request_id: request, approve: true };
    const answered = await openai.responses.create({ model: MODEL, conversation, input: [old, given] });
    expect(answered.output_text).toMatch(/^Answer/);
  });
});

describe("a reference that leads nowhere", () => {
  async function connectWithGone() {
    const world = connect();
    const { openai, model } = world;
    model.say = () => withReasoning("Said.", "Hm.");
    const ask = (changes: object = {}): Promise<Response> => openai.responses.create({ model: MODEL, input: "One", ...changes });
    const readName = ({ output }: Response): string => output.at(-1)?.id ?? "";
    const [known, erased, deleted, redacted, unstored] = [await ask(), await ask(), await ask(), await ask(), await ask({ store: false })];
    await openai.conversations.delete(`conv_${erased.id.slice(5, 31)}`);
    await openai.responses.delete(deleted.id);
    const conversation_id = `conv_${redacted.id.slice(5, 31)}`;
    await openai.conversations.items.delete(readName(redacted), { conversation_id });
    const names = {
      erased: readName(erased),
      deleted: readName(deleted),
      redacted: readName(redacted),
      "the reasoning of what was redacted": redacted.output[0]?.id ?? "",
      unstored: readName(unstored),
      "of no session": `msg_${makeId("ses", 999).slice(4)}${makeId("msg", 1).slice(4)}`,
      "of no item": `${readName(known).slice(0, 30)}${makeId("msg", 999).slice(4)}`,
      "of another kind": readName(known).replace("msg_", "fc_"),
      "of another part": `${readName(known)}_2`,
      foreign: "msg_68a1f0c2d5",
      hostile: "msg_'; DROP TABLE items; --",
      empty: "",
      huge: `msg_${"7".repeat(100_000)}`,
    };
    return { ...world, names, known: readName(known) };
  }

  it("is refused with one and the same answer, and nothing is begun", async () => {
    const { openai, names, known, requests, lives } = await connectWithGone();
    const [asked, sessions] = [requests.length, lives.size];
    const answers = await Promise.all(
      Object.entries(names).map(async ([reason, name]) => {
        const input = [user("A"), refer(known), refer(name), user("B")];
        const refused = await openai.responses.create({ model: MODEL, input }).catch((error: unknown) => error);
        expect(refused, reason).toMatchObject({ status: 404, param: "input", type: "invalid_request_error", code: "item_not_found" });
        return (refused as Error).message.replace(`'${name.slice(0, 128)}'`, "NAME");
      }),
    );

    expect([...new Set(answers)]).toEqual(["404 Item with id NAME not found."]);
    expect(requests).toHaveLength(asked);
    // One object was asked that holds no session.
    expect(lives.size).toBe(sessions + 1);
  });

  it("is refused in a conversation, and nothing is added to it", async () => {
    const world = await connectWithGone();
    const { openai, names } = world;
    const { id: conversation } = await openai.conversations.create({ items: [user("A")] });
    const items = [user("B"), refer(names.redacted)];

    await expect(openai.conversations.items.create(conversation, { items })).rejects.toMatchObject({ status: 404 });
    await expect(openai.responses.create({ model: MODEL, conversation, input: items })).rejects.toMatchObject({ status: 404 });
    await expect(openai.responses.inputTokens.count({ input: items })).rejects.toMatchObject({ status: 404 });
    await expect(openai.responses.compact({ model: MODEL, input: items })).rejects.toMatchObject({ status: 404 });
    expect(await texts(world, `ses_${conversation.slice(5)}` as SessionId)).toEqual(["user: A"]);
  });

  it("is refused beside too many conversations", async () => {
    const { openai } = connect();
    const input = Array.from({ length: 51 }, (_, n) => refer(`msg_${makeId("ses", n + 100).slice(4)}${makeId("msg", 1).slice(4)}`));
    await expect(openai.responses.create({ model: MODEL, input })).rejects.toMatchObject({ status: 400, param: "input" });
  });
});

describe("the AI SDK's default model", () => {
  it("talks over several turns, with a tool of the client and with reasoning", async () => {
    const { options, model, requests } = connect();
    model.say = ({ messages }, nth) =>
      nth === 2
        ? [{ type: "reasoning", text: "Look." }, ...calls({ call_id: "a" })]
        : withReasoning(`Answer ${nth} to ${messages.length}.`, "Hm.");
    const openai = createOpenAI({ apiKey: options.apiKey, baseURL: options.baseURL, fetch: options.fetch as typeof fetch });
    const look = tool({ description: "Looks", inputSchema: jsonSchema({ type: "object" }), execute: async () => "21" });
    const messages: ModelMessage[] = [];
    for (const content of ["Hello", "天气?", "And tomorrow?"]) {
      messages.push({ role: "user", content });
      const answer = await generateText({ model: openai(MODEL), system: "Be brief.", messages, tools: { look }, stopWhen: isStepCount(3) });
      messages.push(...answer.responseMessages);
    }

    expect(requests.map(show).at(-1)).toEqual([
      "system: Be brief.",
      "user: Hello",
      "assistant: reasoningAnswer 1 to 2.",
      "user: 天气?",
      "assistant: reasoningtool_call",
      "tool: 21",
      "assistant: reasoningAnswer 3 to 6.",
      "user: And tomorrow?",
    ]);
  });
});
