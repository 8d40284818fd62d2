/** An execution in D1, and calls that need a person's approval, through the whole Worker. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ExecutionDetail, ExecutionView } from "../../../src/contract/execution";
import type { Page } from "../../../src/contract/page";
import type { TurnReport } from "../../../src/contract/turn";
import type { Event } from "../../../src/domain/events";
import type { SessionId } from "../../../src/domain/ids";
import type { ToolDefinition } from "../../../src/domain/message";
import type { ToolRun } from "../../../src/domain/tool-run";
import { createExecutionReader } from "../../../src/read-model/execution-query";
import { MAX_ROW_CONTENT_BYTES } from "../../../src/read-model/message-row";
import { createProjection } from "../../../src/read-model/writer";
import { called, LogBuilder, makeId, TENANT } from "../../read-model/builders";
import { type Chat, migrate, newChat, newTenant, readBody } from "../../workers/support";

beforeAll(migrate);

describe("one execution", () => {
  const turn = makeId("trn", 1);
  const start = 700;
  let sessions = start;
  let session: SessionId;
  let log: LogBuilder;
  beforeEach(() => {
    session = makeId("ses", ++sessions);
    log = new LogBuilder(session).open();
  });
  /** Unique within the tenant, whose sessions these tests share. */
  const nth = (n: number): number => sessions * 10 + n;
  const calls = (n: number, written?: string): Event => ({
    type: "ToolCalled",
    turn,
    item: called(log, "tool_call", nth(n), written === undefined ? {} : { arguments: written }),
  });
  const results = (n: number, ran: Partial<ToolRun>, change: { readonly output?: string; readonly is_error?: boolean } = {}): Event => {
    const whole = { ms: null, exit_code: null, failure: null, artifacts: [], ...ran };
    return { type: "ToolResultRecorded", turn, item: called(log, "tool_result", nth(n), change), incarnation: "a", ran: whole };
  };
  const write = () => createProjection(env.DB).write(log.batch());
  const read = (n: number, tenant = TENANT) => createExecutionReader(env).readExecution({ tenant, execution: makeId("exe", nth(n)) });

  it("is read with its arguments, its output as recorded and what came beside it, in order", async () => {
    const artifacts = ["[1,2]", "null", '"😀"'].map((text, n) => ({ type: `kind ${n}`, body: log.text(text).body, bytes: text.length }));
    log.event(calls(1, "{}")).event(results(1, { ms: 5, artifacts }, { output: "found it" }));
    log.event(calls(2)).event(results(2, { artifacts: [{ type: "other", body: log.text("1").body, bytes: 1 }] }));
    await write();
    expect(await read(1)).toMatchObject({
      id: makeId("exe", nth(1)),
      session_id: session,
      turn_id: turn,
      position: 1,
      result_position: 2,
      success: true,
      arguments: "{}",
      arguments_state: "full",
      output: "found it",
      output_state: "full",
      artifacts: [
        { number: 0, type: "kind 0", content: [1, 2], content_state: "full", bytes: 5 },
        { number: 1, content: null, content_state: "full" },
        { number: 2, content: "😀" },
      ],
    });
  });

  it("that has no result has no output; that is unknown, or another tenant's, is not there", async () => {
    log.event(calls(1));
    await write();
    expect(await read(1)).toMatchObject({ status: "open", output: null, output_state: null, artifacts: [] });
    expect(await read(2)).toBeNull();
    expect(await read(1, makeId("ten", 2))).toBeNull();
  });

  it("of more than a row can hold has the beginning, and says so", async () => {
    const large = "汉".repeat(700_000);
    const body = log.text(JSON.stringify(large)).body;
    log.event(calls(1, large)).event(results(1, { artifacts: [{ type: "stdout", body, bytes: 2_100_002 }] }));
    await write();
    const found = await read(1);
    const [artifact] = found?.artifacts ?? [];
    expect([found?.arguments_state, artifact?.content_state]).toEqual(["cut", "cut"]);
    for (const text of [found?.arguments ?? "", String(artifact?.content)]) {
      expect(new TextEncoder().encode(text).byteLength).toBeLessThanOrEqual(MAX_ROW_CONTENT_BYTES);
      expect(text.length).toBeGreaterThan(600_000);
    }
  });

  it("whose messages were redacted keeps what is no content", async () => {
    log.event(calls(1, '{"of":"secret"}'));
    const artifacts = [{ type: "stderr", body: log.text('"secret"').body, bytes: 8 }];
    log.event(results(1, { ms: 5, exit_code: 1, artifacts }, { is_error: true, output: "secret" }));
    for (const position of [1, 2]) log.event({ type: "MessageRedacted", item: makeId("msg", position), position, texts: [], tokens: 0 });
    await write();
    const found = await read(1);
    expect(JSON.stringify(found)).not.toContain("secret");
    expect(found).toMatchObject({
      status: "failed",
      exit_code: 1,
      arguments_state: "redacted",
      output: null,
      output_state: "redacted",
      artifacts: [{ content: null, content_state: "redacted" }],
    });
  });
});

/** Another test registers the tenant's own tools. Here the session's settings contain one in its stored form. */
const PAY: ToolDefinition = { name: "pay", parameters: { type: "object" }, runs: { by: "http", tool: "pay" }, needs_approval: true };
const LOOK: ToolDefinition = { name: "look", parameters: { type: "object" } };
const calling = (...names: string[]) => ({ tool_calls: names.map((name, n) => ({ id: `call_${n}`, name, arguments: '{"of":1}' })) });

async function chatWith(...replies: Parameters<Chat["model"]["says"]>): Promise<Chat> {
  const chat = await newChat({ replies });
  await chat.api.patch(chat.caller, { tools: [PAY, LOOK] });
  return chat;
}

describe("a call that a person must allow", () => {
  it("waits over an eviction under the id that was shown, and runs when it is allowed", async () => {
    const chat = await chatWith(calling("pay"), { text: "Well." });
    const waiting = await chat.say("Pay it.");
    expect(waiting).toMatchObject({ status: "awaiting_tools", open_calls: [{ name: "pay", runs: "server", approval: "pending" }] });
    const [call] = waiting.open_calls;
    await evictDurableObject(chat.stub);

    const approvals = [{ execution_id: call?.id, approved: true }];
    const done = await readBody<TurnReport>(await chat.call("POST", "/approvals", { approvals }));

    expect(done).toMatchObject({ id: waiting.id, status: "completed" });
    const { data } = await chat.read<Page<ExecutionView>>("/executions");
    expect(data).toMatchObject([{ id: call?.id, tool_name: "pay", runs: "server", result_position: 3 }]);
    expect(data[0]?.started_at).not.toBeNull();
    expect((await chat.call("POST", "/approvals", { approvals })).status).toBe(409);
  });

  it("is refused with a reason, which the model reads and the read model has", async () => {
    const chat = await chatWith(calling("pay"), { text: "Well." });
    const waiting = await chat.say("Pay it.");
    const execution_id = waiting.open_calls[0]?.id;

    const done = await readBody<TurnReport>(
      await chat.call("POST", "/approvals", { approvals: [{ execution_id, approved: false, reason: "too dear" }] }),
    );

    expect(done.status).toBe("completed");
    expect((await chat.model.heard(2))[1]?.body.messages.at(-1)?.content).toContain('"too dear"');
    const found = await projected(chat, `/v1/executions/${execution_id}`);
    expect(found).toMatchObject({ id: execution_id, session_id: chat.id, status: "denied", failure: "denied", arguments: '{"of":1}' });
    expect(found.output).toContain("too dear");
    expect((await (await newTenant()).call("GET", `/v1/executions/${execution_id}`)).status).toBe(404);
  });
});

describe("a client's call", () => {
  it("is an execution with what the client says of it and what it brought", async () => {
    const chat = await chatWith(calling("look"), { text: "Seen." });
    const execution_id = (await chat.say("Look.")).open_calls[0]?.id;
    const how = {
      exit_code: 1,
      duration_ms: 1_234,
      artifacts: [
        { type: "stderr", content: "no such file" },
        { type: "env", content: null },
      ],
    };

    await readBody(await chat.call("POST", "/tool_results", { results: [{ execution_id, output: "failed", is_error: true, ...how }] }));

    expect(await projected(chat, `/v1/executions/${execution_id}`)).toMatchObject({
      runs: "client",
      status: "failed",
      success: false,
      exit_code: 1,
      duration_ms: 1_234,
      error_message: "failed",
      output: "failed",
      artifacts: [
        { type: "stderr", content: "no such file", content_state: "full" },
        { type: "env", content: null, content_state: "full" },
      ],
    });
  });
});

/** The execution once the read model has all of it: the object reports the end of its projection. */
async function projected(chat: Chat, path: string): Promise<ExecutionDetail> {
  const page = await chat.api.exportLog(chat.caller, { after: 0, limit: 1_000 });
  if (!page.ok) throw new Error(page.error.code);
  const bodies = new Map(page.value.bodies.map(({ id, text }) => [id, text]));
  await createProjection(env.DB).write({ ...chat.caller, events: page.value.events, bodies });
  return readBody<ExecutionDetail>(await chat.tenant.call("GET", path));
}
