import { describe, expect, it } from "vitest";
import { BODY_LIMIT } from "../../src/http/body";
import { err } from "../../src/lib/result";
import { makeId, readProblem, SESSION, world } from "./support";

const MESSAGES = `/v1/sessions/${SESSION}/messages`;
const RESULTS = `/v1/sessions/${SESSION}/tool_results`;
const imported = { call_id: "c", name: "look_up", arguments: "{}" };
const calling = { role: "assistant", run: false };
const tool = { name: "look_up", parameters: { type: "object" } };

async function send(method: string, path: string, body?: unknown) {
  const { call, asked } = world();
  const response = await call(method, path, { body });
  return { status: response.status, problem: await readProblem(response), asked };
}

describe("a body that is not what the route takes is refused, with the field's name, before any session is asked", () => {
  it.each([
    ["an unknown field", "POST", "/v1/sessions", { modle: "embedded" }, "modle"],
    ["a wrong type", "POST", "/v1/sessions", { title: 7 }, "title"],
    ["an unknown policy", "POST", "/v1/sessions", { policy: "yolo" }, "policy"],
    ["a model's name with odd characters", "POST", "/v1/sessions", { model: "a b" }, "model"],
    ["metadata that is no text", "POST", "/v1/sessions", { metadata: { a: 1 } }, "metadata.a"],
    ["blank instructions for summaries", "POST", "/v1/sessions", { summary_instructions: " \n" }, "summary_instructions"],
    [
      "instructions for summaries that are too long",
      "PATCH",
      `/v1/sessions/${SESSION}`,
      { summary_instructions: "价".repeat(4_001) },
      "summary_instructions",
    ],
    [
      "a policy with instructions that are too long",
      "PATCH",
      `/v1/sessions/${SESSION}`,
      { policy: { summary: { instructions: "x".repeat(4_001) } } },
      "policy.summary.instructions",
    ],
    [
      "a tenant's policy with blank instructions",
      "PATCH",
      "/v1/tenant",
      { default_policy: { summary: { instructions: "" } } },
      "default_policy.summary.instructions",
    ],
    ["a body that is a list", "POST", "/v1/sessions", [], "body"],
    ["a body that is null", "POST", "/v1/sessions", "null", "body"],
    ["two tools of one name", "POST", "/v1/sessions", { tools: [tool, tool] }, "tools.1.name"],
    [
      "a tool whose parameters are no object",
      "PATCH",
      `/v1/sessions/${SESSION}`,
      { tools: [{ name: "x", parameters: { type: "array" } }] },
      "tools.0.parameters.type",
    ],
    ["a tool without parameters", "PATCH", `/v1/sessions/${SESSION}`, { tools: [{ name: "x" }] }, "tools.0.parameters"],
    ["an unknown field of a tool", "PATCH", `/v1/sessions/${SESSION}`, { tools: [{ ...tool, strict: true }] }, "tools.0.strict"],
    ["no content", "POST", MESSAGES, {}, "content"],
    ["content of a wrong type", "POST", MESSAGES, { content: 7 }, "content"],
    ["empty content", "POST", MESSAGES, { content: "" }, "content"],
    ["blank content", "POST", MESSAGES, { content: " \n\t" }, "content"],
    ["no parts", "POST", MESSAGES, { content: [] }, "content"],
    ["blank parts", "POST", MESSAGES, { content: [{ type: "text", text: " " }] }, "content"],
    ["too many parts", "POST", MESSAGES, { content: Array.from({ length: 129 }, () => ({ type: "text", text: "x" })) }, "content"],
    ["a part without text", "POST", MESSAGES, { content: [{ type: "text" }] }, "content.0.text"],
    ["a part of an unknown type", "POST", MESSAGES, { content: [{ type: "audio" }] }, "content.0.type"],
    ["an unknown field of a part", "POST", MESSAGES, { content: [{ type: "text", text: "x", lang: "en" }] }, "content.0.lang"],
    [
      "an image by a scheme that is not of the web",
      "POST",
      MESSAGES,
      { content: [{ type: "image", url: "ftp://example.com/a.png", media_type: "image/png" }] },
      "content.0.url",
    ],
    ["reasoning from a user", "POST", MESSAGES, { content: [{ type: "reasoning", text: "hm" }] }, "content.0.type"],
    ["an unknown role", "POST", MESSAGES, { content: "x", role: "robot", run: false }, "role"],
    ["neither content nor calls", "POST", MESSAGES, { role: "assistant", run: false, tool_calls: [] }, "content"],
    ["calls of a user", "POST", MESSAGES, { content: "x", run: false, tool_calls: [imported] }, "tool_calls"],
    ["calls in a message that runs", "POST", MESSAGES, { role: "assistant", run: true, tool_calls: [imported] }, "role"],
    [
      "a call with a name that no provider takes",
      "POST",
      MESSAGES,
      { ...calling, tool_calls: [{ ...imported, name: "a b" }] },
      "tool_calls.0.name",
    ],
    [
      "a call with parsed arguments",
      "POST",
      MESSAGES,
      { ...calling, tool_calls: [{ ...imported, arguments: {} }] },
      "tool_calls.0.arguments",
    ],
    [
      "a call under another name for its id",
      "POST",
      MESSAGES,
      { ...calling, tool_calls: [{ ...imported, tool_call_id: "c" }] },
      "tool_calls.0.tool_call_id",
    ],
    [
      "a call with an id without end",
      "POST",
      MESSAGES,
      { ...calling, tool_calls: [{ ...imported, call_id: "c".repeat(4_097) }] },
      "tool_calls.0.call_id",
    ],
    ["a result for an id without end", "POST", MESSAGES, { content: "x", role: "tool", run: false, call_id: "c".repeat(4_097) }, "call_id"],
    [
      "a given result for an id without end",
      "POST",
      RESULTS,
      { results: [{ call_id: "c".repeat(4_097), output: "x" }] },
      "results.0.call_id",
    ],
    ["a result of no call", "POST", MESSAGES, { content: "x", role: "tool", run: false }, "call_id"],
    ["a result without content", "POST", MESSAGES, { call_id: "c", role: "tool", run: false }, "content"],
    ["a call id of a user", "POST", MESSAGES, { content: "x", call_id: "c" }, "call_id"],
    ["an error of a user", "POST", MESSAGES, { content: "x", is_error: false }, "is_error"],
    ["a turn on behalf of the assistant", "POST", MESSAGES, { content: "x", role: "assistant", run: true }, "role"],
    ["tools without a turn", "POST", MESSAGES, { content: "x", run: false, tools: [tool] }, "tools"],
    ["an unknown on_busy", "POST", MESSAGES, { content: "x", on_busy: "wait" }, "on_busy"],
    ["run as text", "POST", MESSAGES, { content: "x", run: "false" }, "run"],
    ["no results", "POST", RESULTS, { results: [] }, "results"],
    ["a result for no call", "POST", RESULTS, { results: [{ output: "x" }] }, "results.0.execution_id"],
    ["a malformed execution id", "POST", RESULTS, { results: [{ execution_id: "exe_1", output: "x" }] }, "results.0.execution_id"],
    ["a result without output", "POST", RESULTS, { results: [{ call_id: "c" }] }, "results.0.output"],
    ["something to stop", "POST", `/v1/sessions/${SESSION}/stop`, { turn: "x" }, "turn"],
    ["an unknown scope", "POST", "/v1/keys", { name: "ci", scopes: ["root"] }, "scopes.0"],
    ["an end in the past", "POST", "/v1/keys", { name: "ci", expires_at: 1 }, "expires_at"],
    ["an unknown model as default", "PATCH", "/v1/tenant", { default_model: "nope" }, "default_model"],
    ["a window of text", "PUT", "/v1/models/m", { provider: "embedded", context_window: "16k", max_output: 1 }, "context_window"],
    ["a model without its URL", "PUT", "/v1/models/m", { provider: "openai-compatible", context_window: null, max_output: 1 }, "base_url"],
    [
      "a model's id with odd characters",
      "PUT",
      "/v1/models/a%20b",
      { provider: "embedded", context_window: null, max_output: 1 },
      "model_id",
    ],
    ["broken JSON", "POST", MESSAGES, '{"content": "x"', "body"],
    ["what is no JSON at all", "POST", MESSAGES, "content=x", "body"],
    ["a lone surrogate in a text", "POST", MESSAGES, '{"content": "a\\ud83d"}', "content"],
    [
      "a lone surrogate deep inside",
      "POST",
      RESULTS,
      '{"results": [{"call_id": "c", "output": {"a": ["\\udc00"]}}]}',
      "results.0.output.a.0",
    ],
    ["a lone surrogate in a name", "POST", "/v1/sessions", '{"metadata": {"\\ud800": "x"}}', "metadata"],
    ["a name that records leave out", "POST", "/v1/sessions", '{"metadata": {"__proto__": "x"}}', "metadata.__proto__"],
    ["the same, written with an escape", "POST", "/v1/sessions", '{"metadata": {"\\u005f_proto__": "x"}}', "metadata.__proto__"],
    [
      "a tool's name that is left out of those whose results are kept",
      "POST",
      "/v1/sessions",
      '{"policy": {"results": {"keep_tools": {"__proto__": 3}}}}',
      "policy.results.keep_tools.__proto__",
    ],
    ["nesting without end", "POST", RESULTS, `{"results": [{"call_id": "c", "output": ${"[".repeat(9_000)}${"]".repeat(9_000)}}]}`, "body"],
  ])("%s", async (_, method, path, body, field) => {
    const { status, problem, asked } = await send(method, path, body);

    expect(status).toBe(400);
    expect(problem.errors?.map((error) => error.field)).toContain(field);
    expect(problem.detail).toContain(field);
    expect(asked.sessions).toEqual([]);
  });

  it.each([
    ["an unknown preset", "/v1/sessions", { policy: "nope" }, "must be one of oneclaw, opal, .*, or an object"],
    ["null for a policy", "/v1/sessions", { policy: null }, "must be one of oneclaw, opal, .*, or an object"],
    ["a number for content", MESSAGES, { content: 5 }, "must be a string or a list of parts"],
    ["a part without text", MESSAGES, { content: [{ type: "text" }] }, "^required$"],
    ["a tool without parameters", "/v1/sessions", { tools: [{ name: "x" }] }, "^required$"],
    ["a schema that is not of an object", "/v1/sessions", { tools: [{ name: "x", parameters: { type: "array" } }] }, "^must be object$"],
  ])("says what is allowed: %s", async (_, path, body, said) => {
    const { problem } = await send("POST", path, body);

    expect(problem.errors?.map(({ detail }) => detail)).toEqual([expect.stringMatching(said)]);
  });

  it("names every unknown field", async () => {
    const { problem } = await send("POST", "/v1/sessions", { a: 1, b: 2 });

    expect(problem.errors?.map(({ field }) => field)).toEqual(["a", "b"]);
  });

  it("does not repeat what was sent", async () => {
    const { problem } = await send("POST", MESSAGES, { content: { secret: "hunter2" }, on_busy: "hunter3" });

    expect(JSON.stringify(problem)).not.toMatch(/hunter/);
  });

  it("refuses bytes that are no UTF-8", async () => {
    const { app } = world();
    const headers = { authorization: "Bearer lh_test_a-key", "content-type": "application/json" };

    const response = await app.request(MESSAGES, { method: "POST", headers, body: new Uint8Array([34, 0xff, 34]) });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([{ field: "body", detail: "not UTF-8" }]);
  });
});

describe("a query that is not what the route takes is refused, with the parameter's name", () => {
  it.each([
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["limit=ten", "limit"],
    ["limit=", "limit"],
    ["limit=1&limit=2", "limit"],
    ["limit=1e2", "limit"],
    ["after=-1", "after"],
    ["after=9007199254740993", "after"],
    ["order=up", "order"],
    ["befor=3", "befor"],
  ])("%s", async (query, field) => {
    const { status, problem, asked } = await send("GET", `${MESSAGES}?${query}`);

    expect(status).toBe(400);
    expect(problem.errors?.map((error) => error.field)).toEqual([field]);
    expect(asked.sessions).toEqual([]);
  });
});

describe("headers", () => {
  it.each(["", "with space", "ümlaut", "x".repeat(256)])("an Idempotency-Key %j is refused by name", async (key) => {
    const { call } = world();

    const response = await call("POST", MESSAGES, { body: { content: "x" }, headers: { "idempotency-key": key } });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["Idempotency-Key"]);
  });

  it("a Last-Event-ID that is no offset is refused by name", async () => {
    const response = await world().call("GET", `/v1/sessions/${SESSION}/stream`, { headers: { "last-event-id": "abc" } });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map(({ field }) => field)).toEqual(["Last-Event-ID"]);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/problem+json"])(
    "a body of type %s is refused",
    async (type) => {
      const response = await world().call("POST", MESSAGES, { body: { content: "x" }, headers: { "content-type": type } });

      expect(response.status).toBe(415);
      expect((await readProblem(response)).type).toBe("urn:longhand:problem:unsupported_media_type");
    },
  );

  it.each(["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'])(
    "a body of type %s is read",
    async (type) => {
      const response = await world().call("POST", MESSAGES, { body: { content: "x" }, headers: { "content-type": type } });

      expect((await readProblem(response)).type).toBe("urn:longhand:problem:session_not_found");
    },
  );
});

describe("the size of a body", () => {
  const frame = JSON.stringify({ content: "" }).length;

  it("is counted in bytes up to the limit", async () => {
    const response = await world().call("POST", MESSAGES, { body: { content: "x".repeat(BODY_LIMIT - frame) } });

    expect((await readProblem(response)).type).toBe("urn:longhand:problem:session_not_found");
  });

  it.each([
    ["one byte over", "x".repeat(BODY_LIMIT - frame + 1)],
    ["few characters of many bytes", "漢".repeat(BODY_LIMIT / 2)],
  ])("%s is refused", async (_, content) => {
    const { status, problem, asked } = await send("POST", MESSAGES, { content });

    expect(status).toBe(413);
    expect(problem.limit).toBe(BODY_LIMIT);
    expect(asked.sessions).toEqual([]);
  });

  it("is counted as it arrives, whatever the header says, and the rest is not read", async () => {
    const { app } = world();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const headers = { authorization: "Bearer lh_test_a-key", "content-type": "application/json", "content-length": "10" };

    // Node requires `duplex` with a streamed body. The platform's type does not declare it.
    const init: RequestInit & { readonly duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    const response = await app.request(new Request(`http://local${MESSAGES}`, init));

    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(2 * BODY_LIMIT);
  });

  it("that is claimed to be too large is refused unread", async () => {
    const response = await world().call("POST", MESSAGES, {
      body: { content: "x" },
      headers: { "content-length": String(BODY_LIMIT + 1) },
    });

    expect(response.status).toBe(413);
  });
});

describe("a session's own refusals name the field", () => {
  it.each([
    ["an unknown model", { code: "unknown_model", model: "nope" } as const, 400, "model"],
    ["a system prompt over the window", { code: "invalid", field: "system", detail: "larger than the window" } as const, 400, "system"],
  ])("%s", async (_, error, status, field) => {
    const { call } = world({ session: { open: async () => err(error) } });

    const response = await call("POST", "/v1/sessions", { body: { model: "nope" } });

    expect(response.status).toBe(status);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
  });

  it.each([
    ["GET", `/v1/sessions/${SESSION}/context`, undefined],
    ["PATCH", `/v1/sessions/${SESSION}`, { system: "Be kind." }],
  ])("not a model that the request did not name: that is the session's (%s)", async (method, path, body) => {
    const gone = async () => err({ code: "unknown_model", model: "old" } as const);

    const response = await world({ session: { context: gone, patch: gone } }).call(method, path, { body });

    expect(response.status).toBe(422);
    const problem = await readProblem(response);
    expect(problem.type).toBe("urn:longhand:problem:model_gone");
    expect(problem.detail).toContain("session's model old");
  });

  it.each([
    ["answered", "the call was answered before"],
    ["answered_here", "the call was answered by an earlier result of this request"],
    ["cancelled", "the call was cancelled when its turn ended"],
    ["unknown", "no recent call of this session has that id"],
  ] as const)("what became of a call that is not open: %s", async (became, detail) => {
    const { call } = world({ session: { toolResults: async () => err({ code: "call_not_open", index: 0, call: "c", became }) } });

    const response = await call("POST", RESULTS, { body: { results: [{ call_id: "c", output: "" }] } });

    expect((await readProblem(response)).errors).toEqual([{ field: "results.0", detail }]);
  });

  it.each([
    [null, "No turn of this session has ended yet, so there is nothing to retry."],
    ["completed", "The last turn is completed; only a turn that failed, was stopped or was interrupted can be retried."],
  ])("why there is nothing to retry: %s", async (status, detail) => {
    const { call } = world({ session: { retry: async () => err({ code: "not_retryable", status }) } });

    expect((await readProblem(await call("POST", `/v1/sessions/${SESSION}/retry`))).detail).toBe(detail);
  });

  it("results for a call that is not open", async () => {
    const { call } = world({ session: { toolResults: async () => err({ code: "call_not_open", index: 1, call: "c2" }) } });

    const response = await call("POST", RESULTS, {
      body: {
        results: [
          { call_id: "c1", output: "" },
          { call_id: "c2", output: "" },
        ],
      },
    });

    expect(response.status).toBe(409);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual(["results.1"]);
  });
});

describe("an id in the path that names nothing is named, malformed or unknown, with the same status", () => {
  const unknown = err({ code: "turn_not_found", turn: makeId("trn") } as const);
  const noCompaction = err({ code: "compaction_not_found", compaction: makeId("cmp") } as const);
  const { call } = world({ session: { turn: async () => unknown, compaction: async () => noCompaction } });

  it.each([
    ["an unknown session", `/v1/sessions/${SESSION}`, "session_id"],
    ["a malformed session", "/v1/sessions/ses_%27", "session_id"],
    ["an unknown turn", `/v1/sessions/${SESSION}/turns/${makeId("trn")}`, "turn_id"],
    ["a malformed turn", `/v1/sessions/${SESSION}/turns/%F0%9F%92%A5`, "turn_id"],
    ["an unknown compaction", `/v1/sessions/${SESSION}/compactions/${makeId("cmp")}`, "compaction_id"],
    ["a malformed compaction", `/v1/sessions/${SESSION}/compactions/cmp_1`, "compaction_id"],
    ["an unknown policy", "/v1/policies/yolo", "policy_name"],
  ])("%s", async (_, path, field) => {
    const response = await call("GET", path);

    expect(response.status).toBe(404);
    const { errors, detail } = await readProblem(response);
    expect(errors?.map((error) => error.field)).toEqual([field]);
    expect(detail).toContain(field);
  });

  it.each([
    ["key", `/v1/keys/${makeId("key")}`, "key_id"],
    ["model", "/v1/models/nope", "model_id"],
  ])("an unknown %s", async (_, path, field) => {
    const response = await call("DELETE", path);

    expect(response.status).toBe(404);
    expect((await readProblem(response)).errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe("paths", () => {
  it("that are unknown are 404", async () => {
    const { status, problem } = await send("GET", "/v1/nothing");

    expect([status, problem.type]).toEqual([404, "urn:longhand:problem:not_found"]);
    expect((await world().app.request("/nothing")).status).toBe(404);
  });

  it("of a model's id with a slash say how it is written", async () => {
    const { status, problem } = await send("PUT", "/v1/models/org/model", { provider: "embedded", max_output: 1 });

    expect([status, problem.detail]).toEqual([404, "There is no such resource. In a model id, encode / as %2F."]);
  });

  it("that know other methods say which", async () => {
    const response = await world().call("PUT", `/v1/sessions/${SESSION}`, { body: {} });

    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("DELETE, GET, PATCH");
    expect((await readProblem(response)).type).toBe("urn:longhand:problem:method_not_allowed");
  });
});
