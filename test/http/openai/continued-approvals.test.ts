/** Requests that name no response, repeat a conversation, and approve its calls. Against the app and sessions in this process. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage, streamText } from "ai";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { ModelStreamPart } from "../../../src/app/ports";
import type { SessionId } from "../../../src/domain/ids";
import { TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const MAIL = { name: "mail", parameters: { type: "object" }, runs: { by: "http", tool: "mail" }, needs_approval: true } as const;
const READ = { name: "read", parameters: { type: "object" }, runs: { by: "http", tool: "read" } } as const;
const ASK = { name: "ask", parameters: { type: "object" } } as const;

type Item = OpenAI.Responses.ResponseInputItem;
type Output = OpenAI.Responses.Response;
type Repeat = (output: Output["output"]) => Item[];

const user = (content: string): Item => ({ role: "user", content });
const refer = ({ id }: { readonly id?: string | null }): Item => ({ type: "item_reference", id: id ?? "" });
const readSession = ({ id }: { readonly id: string }): string => `ses_${id.slice(5, 31)}`;
const listRequests = ({ output }: Output) => output.flatMap((item) => (item.type === "mcp_approval_request" ? [item] : []));
const answer = (request: { readonly id: string } | undefined, approve = true): Item => ({
  type: "mcp_approval_response",
  approval_request_id: request?.id ?? "",
  approve,
});

/** A session with tools of the server, one of which needs an approval, and a tool of the client. */
async function openSession(...said: readonly (readonly ModelStreamPart[])[]) {
  const world = connect();
  const { openai, lives, model } = world;
  model.say = (_, nth) => said[nth - 1] ?? says(`Done ${nth}.`);
  const { id: conversation } = await openai.conversations.create();
  const session = `ses_${conversation.slice(5)}` as SessionId;
  const life = lives.get(session);
  if (!life) throw new Error("no session");
  life.tools.needsApproval = async () => false;
  const ran: string[] = [];
  life.tools.run = async ({ name }) => {
    ran.push(name);
    return { output: `${name} 好`, failure: null };
  };
  await life.service.patch({ tenant: TENANT, session }, { tools: [MAIL, READ, ASK] });
  return { ...world, conversation, life, session, ran };
}

async function open(...said: readonly (readonly ModelStreamPart[])[]) {
  const opened = await openSession(...said);
  const { openai, conversation } = opened;
  const first = await openai.responses.create({ model: MODEL, conversation, input: [user("Send it.")] });
  const ask = (input: readonly Item[], headers: Record<string, string> = {}): Promise<Output> =>
    openai.responses.create({ model: MODEL, input: [...input] }, { headers });
  return { ...opened, first, ask };
}

const WAYS: readonly [string, Repeat][] = [
  ["by names", (output) => output.map(refer)],
  ["in full", (output) => output as Item[]],
  // OpenAI's agents do.
  [
    "in full, without results",
    (output) => output.map((item) => (item.type === "mcp_call" ? { ...item, output: undefined } : item) as Item),
  ],
];

describe("an input that repeats a conversation with a call to approve", () => {
  it.each(WAYS)("approves the call, and goes on behind it, %s", async (_, repeat) => {
    const { ask, first, ran, requests, session, lives } = await open([
      { type: "text", text: "I mail." },
      ...calls({ call_id: "a", name: "mail" }),
    ]);
    const [request] = listRequests(first);
    const asked = [user("Send it."), ...repeat(first.output), answer(request)];
    const second = await ask(asked);
    const third = await ask([...asked, ...repeat(second.output), user("谢谢。")]);

    expect(second.id).toBe(`${first.id}_2`);
    expect(second.output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
    expect(ran).toEqual(["mail"]);
    expect(readSession(third)).toBe(session);
    expect(lives.size).toBe(1);
    expect(requests.map(show).at(-1)).toEqual([
      "user: Send it.",
      "assistant: I mail.tool_call",
      "tool: mail 好",
      "assistant: Done 2.",
      "user: 谢谢。",
    ]);
  });

  it.each(WAYS)("answers several at once, refuses one of them, and brings a result, %s", async (_, repeat) => {
    const mails = calls(
      { call_id: "a", name: "mail" },
      { call_id: "b", name: "read" },
      { call_id: "c", name: "ask" },
      { call_id: "d", name: "mail" },
    );
    const { ask, first, ran, requests, session } = await open(mails, calls({ call_id: "e", name: "mail" }));
    const [one, two] = listRequests(first);
    const result: Item = { type: "function_call_output", call_id: "c", output: "yes" };
    // A call of the client has no name in some clients.
    const before = [user("Send it."), ...repeat(first.output)];
    await expect(ask([...before, answer(one), result])).rejects.toMatchObject({ status: 400 });
    await expect(ask([...before, answer(one), answer(two)])).rejects.toMatchObject({ status: 400 });
    const asked = [...before, answer(one, false), answer(two), result];
    const second = await ask(asked);
    const again = [...asked, ...repeat(second.output), answer(listRequests(second)[0])];
    const third = await ask(again);
    const fourth = await ask([...again, ...repeat(third.output), user("谢谢。")]);

    expect([second.id, third.id]).toEqual([`${first.id}_2`, `${first.id}_3`]);
    expect(ran).toEqual(["read", "mail", "mail"]);
    expect(readSession(fourth)).toBe(session);
    expect(requests.map(show).at(-1)).toEqual([
      "user: Send it.",
      "assistant: tool_calltool_calltool_calltool_call",
      expect.stringContaining("a person refused it"),
      "tool: read 好",
      "tool: yes",
      "tool: mail 好",
      "assistant: tool_call",
      "tool: mail 好",
      "assistant: Done 3.",
      "user: 谢谢。",
    ]);
  });

  it.each(WAYS)("is answered once when it is sent again, %s", async (_, repeat) => {
    const { ask, first, ran, requests, lives } = await open(calls({ call_id: "a", name: "mail" }));
    const asked = [user("Send it."), ...repeat(first.output), answer(listRequests(first)[0])];
    const second = await ask(asked);
    expect(await ask(asked, { "x-stainless-retry-count": "1" })).toEqual(second);
    await expect(ask(asked)).rejects.toMatchObject({ status: 400, message: expect.stringContaining("is not waiting for an answer") });

    expect(ran).toEqual(["mail"]);
    expect(requests).toHaveLength(2);
    expect(lives.size).toBe(1);
  });

  it("goes on behind a call that was approved elsewhere, whether or not it brings the call", async () => {
    const { ask, first, session, life, settle, openai, requests } = await open(calls({ call_id: "a", name: "mail" }));
    const caller = { tenant: TENANT, session };
    const described = await life.service.describe(caller);
    const execution_id = described.ok ? described.value.turn?.open_calls[0]?.id : undefined;
    if (!execution_id) throw new Error("no open call");
    await life.service.approvals(caller, { approvals: [{ execution_id, approved: true, reason: null }], idempotency: null });
    await settle();
    const second = await openai.responses.retrieve(`${first.id}_2`);
    const said = second.output.filter(({ type }) => type === "message") as Item[];
    const before = [user("Send it."), ...(first.output as Item[])];
    const others = [
      await ask([...before, answer(listRequests(first)[0]), ...said, user("A")]),
      await ask([...before, ...said, user("B")]),
      await ask([user("Send it."), ...first.output.map(refer), ...second.output.map(refer), user("C")]),
    ];

    expect(new Set(others.map(readSession))).toEqual(new Set([session]));
    expect(requests.slice(-3).map((request) => show(request).slice(1))).toEqual(
      ["A", "B", "C"].map((text) => ["assistant: tool_call", "tool: mail 好", "assistant: Done 2.", `user: ${text}`]),
    );
  });

  it.each<[string, (asked: readonly Item[]) => Item[]]>([
    ["the request is of another conversation", ([, ...rest]) => [user("Send another."), ...rest]],
    ["a message follows", (asked) => [...asked, user("And?")]],
    ["there is no request", ([first, , ...rest]) => [...(first ? [first] : []), ...rest]],
  ])("is refused by name, and nothing is begun, where %s", async (_, change) => {
    const { ask, first, ran, lives, requests } = await open(calls({ call_id: "a", name: "mail" }));
    const asked = change([user("Send it."), ...(first.output as Item[]), answer(listRequests(first)[0])]);
    await expect(ask(asked)).rejects.toMatchObject({ status: 400, param: expect.stringMatching(/^input\[\d\]/) });

    expect(ran).toEqual([]);
    expect(requests).toHaveLength(1);
    expect(lives.size).toBe(1);
  });
});

it("an input that repeats a conversation without the results of the server's calls goes on in it, though one was redacted", async () => {
  const { ask, first, session, life, requests, lives } = await open(calls({ call_id: "a", name: "read" }));
  const caller = { tenant: TENANT, session };
  const items = await life.service.items(caller, { after: null, limit: 10, order: "asc" });
  const result = items.ok ? items.value.data.find(({ role }) => role === "tool") : undefined;
  if (!result) throw new Error("no result");
  await life.service.redact(caller, result.id);
  const kept = first.output.map((item) => (item.type === "mcp_call" ? { ...item, output: undefined } : item) as Item);
  const second = await ask([user("Send it."), ...kept, user("谢谢。")]);

  expect([readSession(second), lives.size]).toEqual([session, 1]);
  expect(requests.map(show).at(-1)).toEqual([
    "user: Send it.",
    "assistant: tool_call",
    "tool: [redacted]",
    "assistant: Done 2.",
    "user: 谢谢。",
  ]);
});

describe("the AI SDK's model", () => {
  const SAID = [
    [
      { type: "text", text: "I mail." } as const,
      ...calls({ call_id: "a", name: "read" }, { call_id: "b", name: "mail" }, { call_id: "c", name: "mail" }),
    ],
    calls({ call_id: "d", name: "mail" }),
  ];
  const END = [
    "user: Send both.",
    "assistant: I mail.tool_calltool_calltool_call",
    "tool: read 好",
    "tool: mail 好",
    expect.stringContaining("a person refused it"),
    "assistant: tool_call",
    "tool: mail 好",
    "assistant: Done 3.",
    "user: 谢谢。",
  ];

  it.each([
    ["repeats all", "at once", {}],
    ["repeats all", "as a stream", {}],
    ["names the conversation", "at once", { named: true }],
    ["names the conversation", "as a stream", { named: true }],
  ])("%s, asks for approvals and sends them, %s", async (_, way, { named = false }: { named?: boolean }) => {
    const { options, conversation, ran, requests, lives } = await openSession(...SAID);
    const openai = createOpenAI({ apiKey: options.apiKey, baseURL: options.baseURL, fetch: options.fetch as typeof fetch });
    const messages: ModelMessage[] = [{ role: "user", content: "Send both." }];
    const generate = async (given: ModelMessage[], isNamed = named) => {
      const asked = { model: openai(MODEL), messages: given, ...(isNamed && { providerOptions: { openai: { conversation } } }) };
      const answered = way === "at once" ? await generateText(asked) : streamText(asked);
      const [content, made] = [await answered.content, await answered.responseMessages];
      messages.push(...made);
      return content.flatMap((part) => (part.type === "tool-approval-request" ? [part.approvalId] : []));
    };
    const answerAll = (...given: readonly (readonly [string | undefined, boolean])[]): void => {
      const content = given.map(([approvalId = "", approved]) => ({
        type: "tool-approval-response" as const,
        approvalId,
        approved,
        providerExecuted: true,
      }));
      messages.push({ role: "tool", content });
    };
    const [one, two, ...more] = await generate(messages, true);
    expect([ran, more]).toEqual([["read"], []]);
    answerAll([one, true], [two, false]);
    const [three] = await generate(messages);
    expect(ran).toEqual(["read", "mail"]);
    answerAll([three, true]);
    expect(await generate(messages)).toEqual([]);
    expect(ran).toEqual(["read", "mail", "mail"]);
    messages.push({ role: "user", content: "谢谢。" });
    await generate(named ? messages.slice(-1) : messages);
    expect(requests.map(show).at(-1)).toEqual(END);
    expect(lives.size).toBe(1);
  });
});
