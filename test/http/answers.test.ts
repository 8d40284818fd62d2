import { describe, expect, it } from "vitest";
import type { RespondApi } from "../../src/app/respond-api";
import type { SessionApi, StreamInput, SubmitInput, ToolResultInput } from "../../src/app/session-api";
import { describeFailure } from "../../src/app/turn/describe-failure";
import { BODY_LIMIT } from "../../src/http/body";
import { err, ok } from "../../src/lib/result";
import { accepted, makeId, SESSION, toStream, turn, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const asEvents = { accept: "text/event-stream" };
const asAsync = { prefer: "respond-async" };

/** The calls that start or continue a turn. */
const starters = [
  ["messages", { content: "Hello" }],
  ["tool_results", { results: [{ call_id: "c", output: "42" }] }],
  ["respond", { results: [{ call_id: "c", output: "42" }], messages: [{ content: "Hello" }] }],
  ["retry", {}],
] as const;

function accepting(changes: Partial<SessionApi & RespondApi> = {}, outcome = accepted()): Partial<SessionApi & RespondApi> {
  const yes = async () => ok(outcome);
  return { submit: yes, toolResults: yes, respond: yes, retry: yes, waitForTurn: async () => ok(turn()), ...changes };
}

describe.each(starters)("POST …/%s", (path, body) => {
  it("answers with the finished turn", async () => {
    const { call } = world({ session: accepting() });

    const response = await call("POST", `${base}/${path}`, { body });

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(turn());
  });

  it("answers with the stream from the acknowledgement on, if events are asked for", async () => {
    const asked: StreamInput[] = [];
    const stream: SessionApi["stream"] = async (_, input) => {
      asked.push(input);
      return ok(toStream("id: 42\nevent: message.accepted\n\n"));
    };
    const { call } = world({ session: accepting({ stream }) });

    const response = await call("POST", `${base}/${path}`, { body, headers: asEvents });

    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(await response.text()).toBe("id: 42\nevent: message.accepted\n\n");
    expect(asked).toEqual([{ after: accepted().cursor, turn: accepted().turn_id }]);
  });

  it("answers at once, if an acknowledgement is enough, whatever Accept says", async () => {
    const { call } = world({ session: accepting() });

    const response = await call("POST", `${base}/${path}`, { body, headers: { ...asEvents, prefer: "wait=10, Respond-Async" } });

    expect(response.status).toBe(202);
    expect(response.headers.get("preference-applied")).toBe("respond-async");
    const { message_id, turn_id, position, queued, cursor } = accepted();
    expect(await response.json()).toEqual({ message_id, turn_id, position, queued, cursor });
  });

  it("marks the answer to a repetition", async () => {
    const { call } = world({ session: accepting({ stream: async () => ok(toStream("")) }, accepted({ replayed: true })) });

    expect((await call("POST", `${base}/${path}`, { body, headers: asEvents })).headers.get("idempotent-replayed")).toBe("true");
    expect((await call("POST", `${base}/${path}`, { body })).headers.get("idempotent-replayed")).toBe("true");
    expect((await call("POST", `${base}/${path}`, { body, headers: asAsync })).headers.get("idempotent-replayed")).toBe("true");
  });

  it.each(["rate_limit", "unavailable", "timeout", "auth", "cannot_fit", "crashed"] as const)(
    "answers a turn that failed by %s with the turn, because its message is recorded",
    async (kind) => {
      const failed = turn({ status: "failed", finish: null, failure: describeFailure({ kind, status: null, retry_after_ms: 3_000 }) });
      const { call } = world({ session: accepting({ waitForTurn: async () => ok(failed) }) });

      const response = await call("POST", `${base}/${path}`, { body });

      expect(response.status).toBe(200);
      expect(response.headers.get("retry-after")).toBeNull();
      expect(await response.json()).toEqual(failed);
    },
  );

  it.each([{ retryable: true }, { retryable: false }])("acknowledges what it cannot await, because it is recorded (%j)", async (marks) => {
    const lost = async () => Promise.reject(Object.assign(new Error("lost"), marks));
    const { call } = world({ session: accepting({ waitForTurn: lost, stream: lost }) });

    const answers = [await call("POST", `${base}/${path}`, { body }), await call("POST", `${base}/${path}`, { body, headers: asEvents })];

    const { replayed: _, ...view } = accepted();
    for (const response of answers) expect([response.status, await response.json()]).toEqual([202, view]);
  });

  it("acknowledges a message whose turn the full storage halts, and says of an erased session that it is gone", async () => {
    const answer = async (code: "storage_full" | "session_erased") => {
      const { call } = world({ session: accepting({ waitForTurn: async () => err({ code }) }) });
      return (await call("POST", `${base}/${path}`, { body })).status;
    };

    expect([await answer("storage_full"), await answer("session_erased")]).toEqual([202, 404]);
  });

  it.each(["stopped", "interrupted", "awaiting_tools"] as const)("answers a turn that is %s with the turn", async (status) => {
    const { call } = world({ session: accepting({ waitForTurn: async () => ok(turn({ status })) }) });

    expect((await call("POST", `${base}/${path}`, { body })).status).toBe(200);
  });
});

describe("a failure of a turn", () => {
  it("tells a key that its provider refused from one that was never there, and what to do about both", () => {
    const says = (status: number | null): string => {
      const { detail, remedy } = describeFailure({ kind: "auth", status });
      return `${detail} ${remedy}`;
    };
    expect(says(401)).toMatch(/^The provider refused the model.s API key\. .*PUT \/v1\/credentials/);
    expect(says(null)).toMatch(/^There is no key .*PUT \/v1\/credentials/);
  });

  it("keeps what the record has of it", () => {
    const failure = { kind: "rate_limit", status: 429, retry_after_ms: 3_000 } as const;
    expect(describeFailure(failure)).toMatchObject(failure);
  });
});

describe("what Accept asks for", () => {
  it.each([
    ["text/event-stream", "text/event-stream"],
    ["TEXT/Event-Stream", "text/event-stream"],
    ["application/json, text/event-stream", "text/event-stream"],
    ["text/event-stream;q=0.5, application/json", "application/json"],
    ["text/event-stream;q=0", "application/json"],
    ["text/event-stream;q=x", "application/json"],
    ["*/*", "application/json"],
    ["text/html", "application/json"],
  ])("%s is answered with %s", async (accept, type) => {
    const { call } = world({ session: accepting({ stream: async () => ok(toStream("")) }) });

    const response = await call("POST", `${base}/messages`, { body: { content: "x" }, headers: { accept } });

    expect(response.headers.get("content-type")).toBe(type);
  });
});

describe("a message without a turn", () => {
  it.each([
    ["no header", {}],
    ["Accept: text/event-stream", asEvents],
    ["Prefer: respond-async", asAsync],
  ])("is answered with 201, with %s", async (_, headers) => {
    const { call } = world({ session: accepting({}, accepted({ turn_id: null })) });

    const response = await call("POST", `${base}/messages`, { body: { content: "x", role: "assistant", run: false }, headers });

    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ message_id: accepted().message_id, turn_id: null });
  });
});

describe("the calls to the session", () => {
  async function submitted(body: unknown): Promise<SubmitInput | undefined> {
    const seen: SubmitInput[] = [];
    const submit: SessionApi["submit"] = async (_, input) => {
      seen.push(input);
      return ok(accepted());
    };
    await world({ session: accepting({ submit }) }).call("POST", `${base}/messages`, { body });
    return seen[0];
  }

  it("of a plain message: a user's, queued when busy, with a turn", async () => {
    expect(await submitted({ content: "Hello" })).toEqual({
      role: "user",
      parts: [{ type: "text", text: "Hello" }],
      about: { name: null, client_id: null, metadata: {}, said_at: null, incomplete: false },
      run: true,
      onBusy: "queue",
      tools: null,
      idempotency: null,
    });
  });

  it("of everything that can be said", async () => {
    const parts = [
      { type: "text", text: "See:" },
      { type: "image", url: "https://example.com/a.png", media_type: "image/png" },
      { type: "file", url: "https://example.com/a.pdf", media_type: "application/pdf", name: "a.pdf" },
    ];
    const tools = [{ name: "look_up", description: "Looks up", parameters: { type: "object" } }];

    expect(await submitted({ content: parts, on_busy: "interrupt", tools })).toMatchObject({ parts, onBusy: "interrupt", tools });
  });

  it("of a recorded reply with calls, and of a recorded result", async () => {
    const tool_calls = [{ call_id: "c", name: "look_up", arguments: "{}" }];

    expect(await submitted({ role: "assistant", run: false, tool_calls })).toMatchObject({
      role: "assistant",
      parts: [],
      calls: tool_calls,
    });
    expect(await submitted({ role: "tool", run: false, call_id: "c", content: "", is_error: true })).toEqual({
      role: "tool",
      call_id: "c",
      output: "",
      is_error: true,
      about: { name: null, client_id: null, metadata: {}, said_at: null, incomplete: false },
      run: false,
      onBusy: "queue",
      tools: null,
      idempotency: null,
    });
  });

  it.each([
    ["text as it is", "42", "42"],
    ["an object as JSON", { a: [1] }, '{"a":[1]}'],
    ["a number as JSON", 42, "42"],
    ["null as JSON", null, "null"],
    ["empty text as it is", "", ""],
  ])("of a tool's result: %s", async (_, output, recorded) => {
    const seen: ToolResultInput[] = [];
    const toolResults: SessionApi["toolResults"] = async (_caller, { results }) => {
      seen.push(...results);
      return ok(accepted());
    };
    const execution_id = makeId("exe");

    await world({ session: accepting({ toolResults }) }).call("POST", `${base}/tool_results`, {
      body: { results: [{ execution_id, output }] },
    });

    expect(seen).toEqual([{ execution_id, call_id: null, output: recorded, is_error: false }]);
  });

  it.each(["tool_results", "respond"])(
    "of a tool's result that is longer than a message may be, which is cut when it is recorded: %s",
    async (path) => {
      const seen: (readonly ToolResultInput[])[] = [];
      const take = async (_caller: unknown, { results }: { readonly results: readonly ToolResultInput[] }) => {
        seen.push(results);
        return ok(accepted());
      };
      const session = accepting({ toolResults: take, respond: take });
      const output = "x".repeat(2 * BODY_LIMIT);

      const response = await world({ session }).call("POST", `${base}/${path}`, {
        body: { results: [{ execution_id: makeId("exe"), output }] },
      });

      expect([response.status, seen]).toMatchObject([200, [[{ output }]]]);
    },
  );
});

describe("the live stream", () => {
  async function resumed(path: string, headers: Record<string, string> = {}) {
    const asked: StreamInput[] = [];
    const stream: SessionApi["stream"] = async (_, input) => {
      asked.push(input);
      return ok(toStream("data: {}\n\n"));
    };
    const response = await world({ session: { stream } }).call("GET", `${base}/${path}`, { headers });
    return { asked, response };
  }

  it.each([
    ["from the running turn's start", "stream", {}, null],
    ["after ?after", "stream?after=7", {}, 7],
    ["after Last-Event-ID", "stream", { "last-event-id": "9" }, 9],
    ["after Last-Event-ID rather than ?after", "stream?after=7", { "last-event-id": "9" }, 9],
  ])("begins %s", async (_, path, headers, after) => {
    const { asked, response } = await resumed(path, headers);

    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(asked).toEqual([{ after, turn: null }]);
  });

  it.each([
    ["after ?after", "events?after=7", {}, 7],
    ["after Last-Event-ID rather than ?after", "events?after=7", { "last-event-id": "9" }, 9],
  ])("of the log begins %s", async (_, path, headers, after) => {
    const { asked } = await resumed(path, { ...asEvents, ...headers });

    expect(asked).toEqual([{ after, turn: null, of: "events" }]);
  });

  it("is left at once by a HEAD", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      cancel: () => {
        cancelled = true;
      },
    });
    const { call } = world({ session: { stream: async () => ok(stream) } });

    const response = await call("HEAD", `${base}/stream`);

    expect([response.status, cancelled]).toEqual([200, true]);
  });
});
