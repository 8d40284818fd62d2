/** Calls that a person approves, through OpenAI's own package, against the app and sessions in this process. */
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { ModelStreamPart } from "../../../src/app/ports";
import { checkStream } from "../../support/open-responses/check-stream";
import { TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const MAIL = { name: "mail", parameters: { type: "object" }, runs: { by: "http", tool: "mail" }, needs_approval: true } as const;
const READ = { name: "read", parameters: { type: "object" }, runs: { by: "http", tool: "read" } } as const;
const ASK = { name: "ask", parameters: { type: "object" } } as const;

type Created = OpenAI.Responses.Response;
type Given = OpenAI.Responses.ResponseInputItem;

const never = (): never => {
  throw new Error("There is no such thing");
};

const readEvents = (text: string): OpenAI.Responses.ResponseStreamEvent[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = ""]) => JSON.parse(json));

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of items) all.push(each);
  return all;
}

/** Ids of this process have another time than its clock. */
const onOneClock = (event: OpenAI.Responses.ResponseStreamEvent) =>
  "response" in event && event.response.completed_at
    ? { ...event, response: { ...event.response, completed_at: event.response.created_at } }
    : event;

/** A conversation with tools of the server, one of which needs an approval, and a tool of the client. */
async function open(...said: readonly (readonly ModelStreamPart[])[]) {
  const connected = connect();
  const { openai, lives, model } = connected;
  model.say = (_, nth) => said[nth - 1] ?? says("Done.");
  const { id: conversation } = await openai.conversations.create();
  const [session, { service, tools }] = [...lives][0] ?? never();
  tools.needsApproval = async () => false;
  const ran: string[] = [];
  tools.run = async ({ name }) => {
    ran.push(name);
    return { output: `${name} 好`, failure: null };
  };
  await service.patch({ tenant: TENANT, session }, { tools: [MAIL, READ, ASK] });
  return { ...connected, conversation, ran, service, caller: { tenant: TENANT, session }, asked: { model: MODEL, conversation } };
}

const findRequests = ({ output }: Created) => output.flatMap((item) => (item.type === "mcp_approval_request" ? [item] : []));
const answer = (response: Created, approve = true, reason?: string): Given[] =>
  findRequests(response).map(({ id }) => ({ type: "mcp_approval_response", approval_request_id: id, approve, ...(reason && { reason }) }));

const ONE = calls({ call_id: "a", name: "mail", arguments: '{"to":"里斯本"}' });

describe("a call that a person approves", () => {
  it("ends its response with a request, and the next response begins with the call", async () => {
    const { openai, asked, ran, requests } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    expect(first).toMatchObject({
      status: "completed",
      output: [
        {
          type: "mcp_approval_request",
          id: expect.stringMatching(/^mcpr_/),
          server_label: "longhand",
          name: "mail",
          arguments: '{"to":"里斯本"}',
        },
      ],
    });
    expect(ran).toEqual([]);
    const [request] = findRequests(first);

    const second = await openai.responses.create({ ...asked, input: answer(first) });
    expect(second).toMatchObject({
      status: "completed",
      output_text: "Done.",
      output: [{ type: "mcp_call", name: "mail", output: "mail 好", approval_request_id: request?.id }, { type: "message" }],
      usage: { input_tokens: 10 },
    });
    expect(second.id).toBe(`${first.id}_2`);
    expect(ran).toEqual(["mail"]);
    expect(show(requests[1] ?? never()).slice(-2)).toEqual(["assistant: tool_call", "tool: mail 好"]);
    for (const response of [first, second]) expect(await openai.responses.retrieve(response.id)).toEqual(response);
    expect(await readAll(openai.responses.inputItems.list(second.id))).toMatchObject([
      { type: "mcp_approval_response", approval_request_id: request?.id, approve: true },
    ]);
  });

  it("is refused with a reason, which the model reads", async () => {
    const { openai, asked, ran, requests } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    const second = await openai.responses.create({ ...asked, input: answer(first, false, "太晚了") });
    expect(ran).toEqual([]);
    expect(second).toMatchObject({ output: [{ type: "mcp_call", output: null, status: "failed" }, { type: "message" }] });
    expect(show(requests[1] ?? never()).at(-1)).toContain("太晚了");
    expect(await readAll(openai.responses.inputItems.list(second.id))).toMatchObject([{ type: "mcp_approval_response", approve: false }]);
    const third = await openai.responses.create({ ...asked, input: "Thanks." });
    expect(third.output_text).toBe("Done.");
  });

  it("is refused together with the next message, which a new response answers", async () => {
    const { openai, asked, requests } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    const second = await openai.responses.create({ ...asked, input: [...answer(first, false), { role: "user", content: "Wait." }] });
    expect(second).toMatchObject({ status: "completed", output: [{ type: "message" }] });
    expect(show(requests[1] ?? never()).slice(-2)).toEqual([expect.stringContaining("a person refused it"), "user: Wait."]);
  });

  it("is heard as a stream, resumed behind any event, and listed in the conversation page by page", async () => {
    const { openai, asked, conversation } = await open(
      [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "I mail." },
        ...calls({ call_id: "a", name: "read" }, { call_id: "b", name: "mail" }, { call_id: "c", name: "mail" }),
      ],
      calls({ call_id: "d", name: "mail" }),
    );
    const stream = async (input: Given[] | string) =>
      readEvents(await (await openai.responses.create({ ...asked, input, stream: true }).asResponse()).text());
    const last = (events: readonly OpenAI.Responses.ResponseStreamEvent[]): Created => {
      const end = events.at(-1);
      return end?.type === "response.completed" ? end.response : never();
    };
    const events = [await stream("Send it.")];
    events.push(await stream(answer(last(events[0] ?? []))));
    events.push(await stream(answer(last(events[1] ?? []))));
    const responses = events.map(last);
    expect(responses.map(({ output }) => output.map(({ type }) => type))).toEqual([
      ["reasoning", "message", "mcp_call", "mcp_approval_request", "mcp_approval_request"],
      ["mcp_call", "mcp_call", "mcp_approval_request"],
      ["mcp_call", "message"],
    ]);
    for (const [index, response] of responses.entries()) {
      expect(await openai.responses.retrieve(response.id)).toMatchObject({ ...response, usage: expect.anything() });
      const told = events[index] ?? [];
      const sent = [
        ...told.map((event) => ({ event: event.type, data: JSON.stringify(onOneClock(event)) })),
        { event: null, data: "[DONE]" },
      ];
      expect(checkStream(sent, "sse")).toEqual([]);
      expect(told.map(({ sequence_number }) => sequence_number)).toEqual(told.map((_, nth) => nth));
      for (let after = 0; after < told.length - 1; after++)
        expect(await readAll(await openai.responses.retrieve(response.id, { stream: true, starting_after: after }))).toEqual(
          told.slice(after + 1),
        );
      expect(await openai.responses.stream({ response_id: response.id }).finalResponse()).toMatchObject({ output: response.output });
    }
    const types = (items: readonly { readonly type: string }[]) => items.map(({ type }) => type);
    const whole = await readAll(openai.conversations.items.list(conversation, { order: "asc" }));
    expect(types(whole)).toEqual([
      ...["message", "reasoning", "message", "mcp_call", "mcp_approval_request", "mcp_approval_response"],
      ...["mcp_approval_request", "mcp_approval_response", "mcp_call", "mcp_call"],
      ...["mcp_approval_request", "mcp_approval_response", "mcp_call", "message"],
    ]);
    for (const limit of [1, 3])
      expect(await readAll(openai.conversations.items.list(conversation, { order: "asc", limit }))).toEqual(whole);
    expect(await readAll(openai.conversations.items.list(conversation, { limit: 2 }))).toEqual(whole.toReversed());
    for (const item of whole)
      expect(await openai.conversations.items.retrieve(item.id ?? "", { conversation_id: conversation })).toEqual(item);
  });

  it("waits beside a call of the client, and one request answers both", async () => {
    const { openai, asked, requests } = await open(calls({ call_id: "a", name: "ask" }, { call_id: "b", name: "mail" }));
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    expect(first.output).toMatchObject([{ type: "function_call", call_id: "a" }, { type: "mcp_approval_request" }]);
    const output: Given = { type: "function_call_output", call_id: "a", output: "yes" };
    await expect(openai.responses.create({ ...asked, input: answer(first) })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("No tool output found for function call a."),
    });
    await expect(openai.responses.create({ ...asked, input: [output] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("No approval response found"),
    });
    const second = await openai.responses.create({ ...asked, input: [...answer(first), output] });
    expect(second).toMatchObject({ output_text: "Done.", output: [{ type: "mcp_call", output: "mail 好" }, { type: "message" }] });
    expect(show(requests[1] ?? never()).slice(-3)).toEqual(["assistant: tool_calltool_call", "tool: yes", "tool: mail 好"]);
    expect((await readAll(openai.responses.inputItems.list(second.id, { order: "asc" }))).map(({ type }) => type)).toEqual([
      "mcp_approval_response",
      "function_call_output",
    ]);
    expect(await openai.responses.retrieve(second.id)).toEqual(second);
  });

  it("is answered once, by its own name and behind its response, and without a message beside it", async () => {
    const { openai, asked } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    const [given] = answer(first);
    if (given?.type !== "mcp_approval_response") throw new Error("There is no request");
    const refuse = (input: Given[], change: object = {}) => openai.responses.create({ ...asked, ...change, input });
    const param = "input[0].approval_request_id";
    await expect(refuse([{ ...given, approval_request_id: "mcpr_1" }])).rejects.toMatchObject({ status: 400, param });
    await expect(refuse([{ ...given, approval_request_id: given.approval_request_id.replace("mcpr", "fc") }])).rejects.toMatchObject({
      param,
    });
    await expect(refuse([given], { conversation: undefined })).rejects.toMatchObject({ status: 400, param });
    await expect(refuse([given, { role: "user", content: "And?" }])).rejects.toMatchObject({ status: 400, param: "input[0]" });
    await expect(refuse([{ role: "user", content: "And?" }])).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("approval"),
    });
    await expect(openai.conversations.items.create(asked.conversation, { items: [given as never] })).rejects.toMatchObject({ status: 400 });

    const second = await openai.responses.create({ ...asked, conversation: null, previous_response_id: first.id, input: [given] });
    expect(second.output_text).toBe("Done.");
    await expect(refuse([given])).rejects.toMatchObject({ status: 400, param });
  });

  it("may be approved elsewhere, and its next response is read", async () => {
    const { openai, asked, service, caller, settle } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    const described = await service.describe(caller);
    const { id: execution_id } = (described.ok ? described.value.turn?.open_calls[0] : undefined) ?? never();
    await service.approvals(caller, { approvals: [{ execution_id, approved: true, reason: null }], idempotency: null });
    await settle();
    expect(await openai.responses.retrieve(first.id)).toEqual(first);
    expect(await openai.responses.retrieve(`${first.id}_2`)).toMatchObject({
      status: "completed",
      output: [{ type: "mcp_call" }, { type: "message" }],
    });
  });

  it("goes with its turn when that is stopped, and the response stays as it was", async () => {
    const { openai, asked, service, caller, settle } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    await service.stop(caller, { idempotency: null });
    await settle();
    expect(await openai.responses.retrieve(first.id)).toEqual(first);
    await expect(openai.responses.create({ ...asked, input: answer(first) })).rejects.toMatchObject({ status: 400 });
  });

  it("is deleted by its items: the request has the arguments, the call has the result, the answer has nothing", async () => {
    const { openai, asked, conversation } = await open(ONE);
    const first = await openai.responses.create({ ...asked, input: "Send it." });
    await openai.responses.create({ ...asked, input: answer(first) });
    const list = () => readAll(openai.conversations.items.list(conversation, { order: "asc" }));
    const [, request, response, call] = await list();
    const remove = (item: { readonly id?: string | null } | undefined) =>
      openai.conversations.items.delete(item?.id ?? "", { conversation_id: conversation });
    await remove(response);
    expect(JSON.stringify(await list())).toContain("mail 好");
    await remove(call);
    expect(JSON.stringify(await list())).not.toContain("mail 好");
    expect(JSON.stringify(await list())).toContain("里斯本");
    await remove(request);
    expect(JSON.stringify(await list())).not.toContain("里斯本");
  });
});
