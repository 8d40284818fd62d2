/** `POST …/respond`: what reaches the session's object, and what is refused before it is asked. */
import { describe, expect, it } from "vitest";
import type { RespondInput } from "../../src/app/respond-api";
import type { SessionError } from "../../src/app/session-api";
import { err, ok } from "../../src/lib/result";
import { accepted, makeId, readProblem, SESSION, turn, world } from "./support";

const path = `/v1/sessions/${SESSION}/respond`;
const tool = { name: "look_up", parameters: { type: "object" } };
const said = { name: null, client_id: null, metadata: {}, said_at: null, incomplete: false };

/** What the session's object is asked for. */
async function send(body: object): Promise<RespondInput | undefined> {
  const seen: RespondInput[] = [];
  const session = {
    respond: async (_: unknown, input: RespondInput) => {
      seen.push(input);
      return ok(accepted());
    },
    waitForTurn: async () => ok(turn()),
  };
  const response = await world({ session }).call("POST", path, { body });
  expect(response.status).toBe(200);
  return seen[0];
}

async function refuse(body: object) {
  const { call, asked } = world();
  const response = await call("POST", path, { body });
  const problem = await readProblem(response);
  return { status: response.status, fields: problem.errors?.map(({ field }) => field), asked };
}

async function answerTo(error: SessionError) {
  const response = await world({ session: { respond: async () => err(error) } }).call("POST", path, {
    body: { messages: [{ content: "Hello" }] },
  });
  return readProblem(response);
}

describe("a request", () => {
  it("of one message names the newest place, and runs", async () => {
    expect(await send({ messages: [{ content: "你好" }] })).toEqual({
      after: null,
      results: [],
      messages: [{ role: "user", parts: [{ type: "text", text: "你好" }], about: said }],
      run: true,
      tools: null,
      idempotency: null,
    });
  });

  it("of everything reaches the session as one call, in its order", async () => {
    const asked = await send({
      after: makeId("trn"),
      results: [{ call_id: "a", output: { sky: "clear" }, duration_ms: 2.4 }],
      messages: [
        { role: "assistant", tool_calls: [{ call_id: "b", name: "look_up", arguments: "{}" }], created_at: 5 },
        { role: "tool", call_id: "b", content: "42", created_at: 6 },
        { content: "So?", created_at: 7, client_id: "c-1" },
      ],
      model: "gpt-4o-mini",
      system: "",
      generation: { temperature: 0.5 },
      note: "n",
      tools: [tool],
    });

    expect(asked).toMatchObject({
      after: makeId("trn"),
      results: [{ execution_id: null, call_id: "a", output: '{"sky":"clear"}', duration_ms: 2 }],
      messages: [
        { role: "assistant", calls: [{ call_id: "b", name: "look_up", arguments: "{}" }], about: { said_at: 5 } },
        { role: "tool", call_id: "b", output: "42", about: { said_at: 6 } },
        // It is said now: it starts the turn.
        { role: "user", about: { said_at: null, client_id: "c-1" } },
      ],
      model: "gpt-4o-mini",
      system: "",
      generation: { temperature: 0.5 },
      note: "n",
      tools: [tool],
    });
  });

  it("without run keeps the times of all its messages, and is answered with 201", async () => {
    const seen: RespondInput[] = [];
    const respond = async (_: unknown, input: RespondInput) => {
      seen.push(input);
      return ok(accepted({ turn_id: null }));
    };
    const body = { run: false, messages: [{ content: "One", created_at: 5 }] };

    expect((await world({ session: { respond } }).call("POST", path, { body })).status).toBe(201);
    expect(seen).toMatchObject([{ run: false, messages: [{ about: { said_at: 5 } }] }]);
  });

  it.each(["reject", "interrupt"] as const)("of one message may say that it does not wait: %s", async (on_busy) => {
    expect(await send({ messages: [{ content: "Hello" }], on_busy })).toMatchObject({ onBusy: on_busy });
  });

  it("may take back the session's tools, or all of them", async () => {
    expect(await send({ messages: [{ content: "Hello" }], tools: null })).toMatchObject({ tools: null });
    expect(await send({ messages: [{ content: "Hello" }], tools: [] })).toMatchObject({ tools: [] });
  });
});

describe("a fault is named, before any session is asked", () => {
  const hello = { content: "Hello" };

  it.each<[string, object, string]>([
    ["an unknown field", { messages: [hello], text: "x" }, "text"],
    ["no turn", { after: "ses_1", messages: [hello] }, "after"],
    ["an empty message", { messages: [hello, { content: " " }] }, "messages.1.content"],
    ["a part that its role has not", { messages: [{ content: [{ type: "reasoning", text: "hm" }] }] }, "messages.0.content.0.type"],
    ["a result of no call", { results: [{ output: "x" }] }, "results.0.execution_id"],
    ["a result without an output", { results: [{ call_id: "a" }] }, "results.0.output"],
    ["too many messages", { messages: Array.from({ length: 1_001 }, () => hello) }, "messages"],
    ["run in words", { messages: [hello], run: "no" }, "run"],
    ["waiting of several", { messages: [hello, hello], on_busy: "queue" }, "on_busy"],
    ["waiting of results", { results: [{ call_id: "a", output: "x" }], on_busy: "interrupt" }, "on_busy"],
    ["waiting at a place", { after: makeId("trn"), messages: [hello], on_busy: "reject" }, "on_busy"],
    ["waiting of an imported result", { messages: [{ role: "tool", call_id: "a", content: "" }], on_busy: "queue" }, "on_busy"],
    ["waiting without run", { messages: [hello], run: false, on_busy: "queue" }, "on_busy"],
    ["a model without run", { messages: [hello], run: false, model: "gpt-4o-mini" }, "model"],
    ["a system prompt without run", { messages: [hello], run: false, system: "" }, "system"],
    ["tools without run", { messages: [hello], run: false, tools: [] }, "tools"],
    ["two tools of one name", { messages: [hello], tools: [tool, tool] }, "tools.1.name"],
  ])("%s", async (_, body, field) => {
    const { status, fields, asked } = await refuse(body);

    expect([status, fields]).toEqual([400, [field]]);
    expect(asked.sessions).toEqual([]);
  });
});

describe("a refusal of the session", () => {
  it("names the calls that are left open", async () => {
    const calls = [{ execution: makeId("exe"), call_id: "a" }];
    const { status, type, calls: open } = await answerTo({ code: "calls_unanswered", calls });

    expect([status, type]).toEqual([409, "urn:longhand:problem:calls_unanswered"]);
    expect(open).toEqual([{ execution_id: makeId("exe"), call_id: "a" }]);
  });

  it("for a full queue says its limit", async () => {
    const full = await answerTo({ code: "queue_full", limit: 16 });
    expect(full).toMatchObject({ status: 409, type: "urn:longhand:problem:queue_full", limit: 16 });
  });

  it("for an unknown turn names the field", async () => {
    expect(await answerTo({ code: "turn_not_found", turn: makeId("trn", 2) })).toMatchObject({ status: 400, errors: [{ field: "after" }] });
  });

  it("for a call names the result", async () => {
    const refused = await answerTo({ code: "call_not_open", index: 1, call: "a", became: "answered_here" });
    expect(refused).toMatchObject({ status: 409, errors: [{ field: "results.1" }] });
  });
});
