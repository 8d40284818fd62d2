/** Messages through Anthropic's own package, against the app in this process. */
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { RespondInput } from "../../../src/app/respond-api";
import type { OpenInput } from "../../../src/app/session-api";
import type { ContextReport } from "../../../src/contract/context";
import type { StreamFrame } from "../../../src/contract/frame";
import type { DisplayItem } from "../../../src/contract/item";
import type { LedgerRow } from "../../../src/contract/model-call";
import { toToolUseId } from "../../../src/http/anthropic/read-blocks";
import { err, ok } from "../../../src/lib/result";
import { formatSse } from "../../../src/lib/sse";
import { FakeSchedule } from "../../support/fake-schedule";
import { accepted, conversationEnd, description, KEY, makeId, NOW, SESSION, turn, type WorldInput, world } from "../support";

const TURN = makeId("trn");
const EXECUTION = makeId("exe", 3);
const CALL = { id: EXECUTION, call_id: "a", name: "weather", arguments: '{"city":"北京"}', runs: "client", approval: null } as const;
const usage = { input: 10, output: 2, cached: 4, reasoning: 1 };
const figures = {
  usage,
  cost: null,
  context_window: 16_000,
  assumed_window: null,
  current_context_tokens: { tokens: 12, source: "reported", error_bound: 0 },
} as const;

const item = (changes: Partial<DisplayItem>): DisplayItem => ({
  id: makeId("msg"),
  position: 2,
  role: "assistant",
  content: [],
  name: null,
  client_id: null,
  metadata: {},
  turn_id: TURN,
  created_at: NOW,
  recorded_at: NOW,
  incomplete: false,
  tokens: { tokens: 1, source: "estimated", error_bound: 0 },
  ...changes,
});
const replied = (text: string) => ok(turn({ items: [item({ content: [{ type: "text", text }] })], usage }));

function toStream(frames: readonly StreamFrame[]): ReadableStream<Uint8Array> {
  const text = frames.map((frame, index) => formatSse({ offset: index + 42, type: frame.type, json: JSON.stringify(frame) })).join("");
  return new Blob([text]).stream();
}

interface Init {
  readonly session?: Partial<WholeSessionApi>;
  readonly deps?: WorldInput["deps"];
  readonly tenant?: WorldInput["tenant"];
  readonly options?: ConstructorParameters<typeof Anthropic>[0];
}

function connect({ session, deps, tenant, options }: Init = {}) {
  const asked: RespondInput[] = [];
  const respond: WholeSessionApi["respond"] = async (_, input) => {
    asked.push(input);
    return ok(accepted({ turn_id: TURN, position: 1 }));
  };
  const waitForTurn: WholeSessionApi["waitForTurn"] = async () => replied("Sun.");
  const end: WholeSessionApi["conversationEnd"] = async () => ok(conversationEnd());
  const { app } = world({
    session: { respond, waitForTurn, conversationEnd: end, ...session },
    ...(deps && { deps }),
    ...(tenant && { tenant }),
  });
  const requests: Response[] = [];
  const anthropic = new Anthropic({
    apiKey: KEY,
    baseURL: "http://longhand.test",
    defaultHeaders: { "X-Session-Id": SESSION },
    maxRetries: 0,
    fetch: async (url, init) => {
      const response = await app.request(String(url), init as RequestInit);
      requests.push(response);
      return response;
    },
    ...options,
  });
  return { anthropic, asked, app, requests };
}

const question = { model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user" as const, content: "天气?" }] };

describe("a message of a session", () => {
  it("sends what is new, and is the turn's answer", async () => {
    const data = [item({ content: [{ type: "text", text: "Hello." }] }), item({ role: "user", content: [{ type: "text", text: "Hi" }] })];
    const { anthropic, asked, requests } = connect({
      session: { conversationEnd: async () => ok(conversationEnd({ items: data.toReversed() })) },
    });

    const message = await anthropic.messages.create({
      ...question,
      system: "Be brief.",
      messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello." }, ...question.messages],
    });

    expect(asked).toMatchObject([
      {
        after: null,
        results: [],
        messages: [{ role: "user", parts: [{ type: "text", text: "天气?" }] }],
        run: true,
        tools: null,
        model: "claude-sonnet-4-5",
        system: "Be brief.",
        generation: { max_output_tokens: 100 },
      },
    ]);
    expect(message).toEqual({
      id: `msg_${SESSION.slice(4)}${TURN.slice(4)}`,
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text: "Sun.", citations: null }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      context_management: null,
      usage: {
        iterations: null,
        fallback_credit: null,
        input_tokens: 6,
        output_tokens: 2,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 0,
        output_tokens_details: { thinking_tokens: 1 },
        server_tool_use: null,
        cache_creation: null,
        inference_geo: null,
        service_tier: "standard",
        speed: null,
      },
    });
    expect(message._request_id).toBe(requests[0]?.headers.get("request-id"));
    expect(requests[0]?.headers.get("x-session-id")).toBe(SESSION);
  });

  it("streams the same message", async () => {
    const frames: StreamFrame[] = [
      { type: "reasoning.delta", turn_id: TURN, message_id: makeId("msg"), text: "Hm." },
      { type: "text.delta", turn_id: TURN, message_id: makeId("msg"), text: "Su" },
      { type: "text.delta", turn_id: TURN, message_id: makeId("msg"), text: "n." },
      {
        type: "item.completed",
        turn_id: TURN,
        item: item({
          content: [
            { type: "reasoning", text: "Hm." },
            { type: "text", text: "Sun." },
          ],
        }),
      },
      { type: "usage.updated", turn_id: TURN, source: "turn", model: "m", ...figures },
      { type: "turn.completed", turn_id: TURN, finish: "stop", ...figures },
    ];
    const { anthropic } = connect({ session: { stream: async () => ok(toStream(frames)) } });

    const stream = anthropic.messages.stream(question);
    const texts: string[] = [];
    stream.on("text", (delta) => texts.push(delta));
    const message = await stream.finalMessage();

    expect(texts).toEqual(["Su", "n."]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "" },
      { type: "text", text: "Sun.", citations: null },
    ]);
    expect(message).toMatchObject({ stop_reason: "end_turn", usage: { input_tokens: 6, output_tokens: 2 } });
  });

  it("goes on after the client's results, with the usage of that answer alone", async () => {
    const items = [
      item({ content: [{ type: "text", text: "I look." }] }),
      item({ position: 4, role: "tool", recorded_at: NOW + 50, execution_id: EXECUTION }),
      item({ position: 5, content: [{ type: "text", text: "晴。" }] }),
    ];
    const row = (at: number, input: number): LedgerRow => ({
      seq: at,
      at,
      turn_id: TURN,
      purpose: "turn",
      source: "turn",
      model: "m",
      key_id: null,
      end_user: null,
      input,
      uncached: input,
      cached: 0,
      cache_write: 0,
      output: 1,
      reasoning: 0,
      cost: null,
      estimate: 1,
      outcome: "stop",
      ms: 1,
      left_out: [],
    });
    const asked: RespondInput[] = [];
    const known = [items[0], item({ position: 1, role: "user", content: [{ type: "text", text: "天气?" }] })].flatMap((each) => each ?? []);
    const { anthropic } = connect({
      session: {
        conversationEnd: async () => ok(conversationEnd({ items: known.toReversed() })),
        executions: async () => ok({ data: [], has_more: false }),
        respond: async (_, input) => {
          asked.push(input);
          return ok(accepted({ turn_id: TURN, position: 4 }));
        },
        waitForTurn: async () => ok(turn({ items, usage })),
        usage: async () => ok({ data: [row(NOW + 90, 7), row(NOW, 5)], has_more: false }),
      },
    });

    const message = await anthropic.messages.create({
      ...question,
      messages: [
        ...question.messages,
        { role: "assistant", content: [{ type: "tool_use", id: toToolUseId(EXECUTION), name: "weather", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: toToolUseId(EXECUTION), content: "sunny" }] },
      ],
    });

    expect(asked).toMatchObject([
      { messages: [], results: [{ execution_id: EXECUTION, call_id: null, output: "sunny", is_error: false }] },
    ]);
    expect(message.content).toEqual([{ type: "text", text: "晴。", citations: null }]);
    expect(message.usage.input_tokens).toBe(7);
    expect(message.id).toBe(`msg_${SESSION.slice(4)}${TURN.slice(4)}_4`);
  });

  it("hands the client's calls over, all at once", async () => {
    const other = { ...CALL, id: makeId("exe", 4), arguments: "not json" };
    const open_calls = [CALL, other, { ...CALL, id: makeId("exe", 5), runs: "server" as const }];
    const { anthropic, asked } = connect({
      session: { waitForTurn: async () => ok(turn({ status: "awaiting_tools", finish: null, open_calls })) },
    });

    const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
    const message = await anthropic.messages.create({ ...question, tools, tool_choice: { type: "any" } });

    expect(asked[0]).toMatchObject({ tools: [{ name: "weather" }], generation: { tool_choice: "required" } });
    expect(message.stop_reason).toBe("tool_use");
    expect(message.content).toEqual([
      { type: "tool_use", id: toToolUseId(EXECUTION), name: "weather", input: { city: "北京" }, caller: { type: "direct" } },
      { type: "tool_use", id: toToolUseId(other.id), name: "weather", input: "not json", caller: { type: "direct" } },
    ]);
  });

  it("waits in line for a running turn", async () => {
    const turns: string[] = [];
    let isRunning = true;
    const { anthropic } = connect({
      session: {
        respond: async () =>
          isRunning ? err({ code: "turn_running", turn: makeId("trn", 9) }) : ok(accepted({ turn_id: TURN, position: 1 })),
        waitForTurn: async (_, id) => {
          turns.push(id);
          isRunning = false;
          return replied("Then.");
        },
      },
    });

    const message = await anthropic.messages.create(question);

    expect(turns).toEqual([makeId("trn", 9), TURN]);
    expect(message.content).toMatchObject([{ text: "Then." }]);
  });

  it("does not wait for ever", async () => {
    const clock = new FakeSchedule();
    let sent = 0;
    const { anthropic, requests } = connect({
      deps: { schedule: clock.schedule },
      session: {
        respond: async () => {
          sent += 1;
          return err({ code: "turn_running", turn: makeId("trn", 9) });
        },
        waitForTurn: async () => {
          clock.advance(30_000);
          return await new Promise(() => {});
        },
      },
    });

    await expect(anthropic.messages.create(question)).rejects.toMatchObject({ status: 409, type: "conflict_error" });

    expect(sent).toBe(2);
    expect(requests[0]?.headers.get("retry-after")).toBe("1");
  });
});

describe("a client's copy", () => {
  const { max_tokens, model } = question;
  const copy: Anthropic.MessageParam[] = [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_other", name: "weather", input: { city: "北京" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_other", content: "晴", is_error: false }] },
    { role: "assistant", content: "Sunny." },
    { role: "user", content: "Thanks. And Oslo?" },
  ];

  it("becomes the history of an empty session, calls and results too", async () => {
    const { anthropic, asked } = connect();

    await anthropic.messages.create({ model, max_tokens, messages: copy });

    const text = (written: string) => ({ type: "text", text: written });
    expect(asked).toMatchObject([
      {
        results: [],
        messages: [
          { role: "user", parts: [text("Hi")] },
          {
            role: "assistant",
            parts: [{ type: "reasoning", text: "Hm." }, text("I look.")],
            calls: [{ call_id: "toolu_other", name: "weather", arguments: '{"city":"北京"}' }],
          },
          { role: "tool", call_id: "toolu_other", output: "晴", is_error: false },
          { role: "assistant", parts: [text("Sunny.")] },
          { role: "user", parts: [text("Thanks. And Oslo?")] },
        ],
        onBusy: "reject",
      },
    ]);
    expect(asked[0]?.messages).toHaveLength(5);
  });

  it("that an empty session cannot hold is refused by its place, and nothing is sent", async () => {
    const { anthropic, asked } = connect();
    const strange = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} } as const;
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [strange] },
      ...question.messages,
    ];

    await expect(anthropic.messages.create({ ...question, messages })).rejects.toThrow(/messages\.1\.content\.0\.type/);
    expect(asked).toEqual([]);
  });

  it("is not looked at where the session has it", async () => {
    const data = [item({ content: [{ type: "text", text: "Found." }] }), item({ role: "user", content: [{ type: "text", text: "Hi" }] })];
    const { anthropic, asked } = connect({ session: { conversationEnd: async () => ok(conversationEnd({ items: data.toReversed() })) } });
    const strange = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} } as const;
    const messages: Anthropic.MessageParam[] = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [strange, { type: "text", text: "Found." }] },
      ...question.messages,
    ];

    await anthropic.messages.create({ ...question, messages });

    expect(asked).toMatchObject([{ messages: [{ role: "user", parts: [{ type: "text", text: "天气?" }] }] }]);
  });

  it("has system messages where they are", async () => {
    const data = [item({ content: [{ type: "text", text: "Hello." }] }), item({ role: "user", content: [{ type: "text", text: "Hi" }] })];
    const { anthropic, asked } = connect({ session: { conversationEnd: async () => ok(conversationEnd({ items: data.toReversed() })) } });
    const messages: Anthropic.MessageParam[] = [
      { role: "system", content: "Old." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello." },
      { role: "system", content: "Rhyme." },
      ...question.messages,
    ];

    await anthropic.messages.create({ ...question, messages });

    expect(asked[0]?.messages).toMatchObject([{ role: "system", parts: [{ text: "Rhyme." }] }, { role: "user" }]);
  });
});

describe("a request without a session", () => {
  const frames: StreamFrame[] = [
    { type: "text.delta", turn_id: TURN, message_id: makeId("msg"), text: "Sun." },
    { type: "turn.completed", turn_id: TURN, finish: "stop", ...figures },
  ];

  /** Counts what is opened and what is erased. */
  function connectAlone(session: Partial<WholeSessionApi> = {}) {
    const seen: { opened: OpenInput[]; erased: number } = { opened: [], erased: 0 };
    const respond = session.respond ?? (async () => ok(accepted({ turn_id: TURN, position: 0 })));
    const asked: RespondInput[] = [];
    const connected = connect({
      session: {
        openAndRespond: async (caller, { open, respond: input }) => {
          seen.opened.push(open);
          asked.push(input);
          return respond(caller, input);
        },
        erase: async () => {
          seen.erased += 1;
          return err({ code: "session_erased" });
        },
        stream: async () => ok(toStream(frames)),
        ...session,
      },
      options: { apiKey: KEY, defaultHeaders: {} },
    });
    return { ...connected, asked, seen };
  }

  it("is recorded whole, calls and results too, and erased after the answer", async () => {
    const { anthropic, asked, seen, requests } = connectAlone();

    const message = await anthropic.messages.create({
      ...question,
      messages: [
        ...question.messages,
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "sunny" }] },
      ],
    });

    expect(message.content).toMatchObject([{ text: "Sun." }]);
    expect(seen.opened).toMatchObject([{ model: question.model, throwaway: true, title: null }]);
    expect(asked).toMatchObject([
      {
        results: [],
        whole: true,
        messages: [
          { role: "user", parts: [{ type: "text", text: "天气?" }] },
          {
            role: "assistant",
            parts: [{ type: "text", text: "I look." }],
            calls: [{ call_id: "toolu_1", name: "weather", arguments: "{}" }],
          },
          { role: "tool", call_id: "toolu_1", output: "sunny", is_error: false },
        ],
      },
    ]);
    expect(requests[0]?.headers.get("x-should-retry")).toBe(null);
    expect(requests[0]?.headers.get("x-session-id")).toBe(null);
    await expect.poll(() => seen.erased).toBe(1);
  });

  it("is erased when its stream ends, and when its client leaves", async () => {
    for (const isLeaving of [false, true]) {
      const { anthropic, seen } = connectAlone();
      const stream = anthropic.messages.stream(question);
      if (isLeaving) {
        stream.once("streamEvent", () => stream.abort());
        await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
      } else expect((await stream.finalMessage()).content).toMatchObject([{ text: "Sun." }]);
      await expect.poll(() => seen.erased).toBe(1);
    }
  });

  it("ends itself when it is refused, and opens nothing when it cannot be read", async () => {
    const fit = { floor: 5_000, limit: 2_000, biggest: [] };
    const { anthropic, seen } = connectAlone({ respond: async () => err({ code: "cannot_fit", fit }) });

    await expect(anthropic.messages.create(question)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("prompt is too long"),
    });
    expect(seen.erased).toBe(0);
    await expect(anthropic.messages.create({ ...question, messages: [{ role: "user", content: "" }] })).rejects.toMatchObject({
      status: 400,
    });
    expect(seen.opened).toHaveLength(1);
  });

  it("may be compacted where it asks for that", async () => {
    const { anthropic, asked } = connectAlone({ describe: async () => ok(description({ epoch: 0 })) });

    await anthropic.beta.messages.create({ ...question, context_management: { edits: [{ type: "compact_20260112" }] } });

    expect(asked[0]).not.toHaveProperty("whole");
  });
});

describe("count_tokens", () => {
  const part = (name: "system" | "tools" | "message", tokens: number) =>
    ({ part: name, position: null, tokens, source: "estimated", error_bound: 0 }) as const;
  const report: ContextReport = {
    model: "m",
    policy: {},
    epoch: 1,
    context_window: 16_000,
    assumed_window: null,
    limit: 15_000,
    reserve: 1_000,
    total: { tokens: 500, source: "reported", error_bound: 0 },
    parts: [part("system", 100), part("tools", 50), part("message", 350)],
    compaction_first: null,
    request: { url: null, body: "" },
  };
  const session = { context: async () => ok(report) };
  const { max_tokens: _, ...counted } = question;

  it("is the session's next request with what is new", async () => {
    const { anthropic, asked } = connect({ session });

    const { input_tokens } = await anthropic.messages.countTokens(counted);
    const other = await anthropic.messages.countTokens({ ...counted, system: "Be brief." });

    expect(input_tokens).toBeGreaterThan(500);
    expect(input_tokens).toBeLessThan(520);
    expect(other.input_tokens).toBeLessThan(input_tokens - 80);
    expect(asked).toEqual([]);
  });

  it("is all of the request without a session", async () => {
    const { anthropic } = connect({ session, options: { apiKey: KEY, defaultHeaders: {} } });
    const long = { role: "assistant" as const, content: "word ".repeat(1_000) };

    const { input_tokens } = await anthropic.messages.countTokens(counted);
    const more = await anthropic.messages.countTokens({ ...counted, messages: [...counted.messages, long, ...counted.messages] });

    expect(input_tokens).toBeLessThan(20);
    expect(more.input_tokens).toBeGreaterThan(900);
  });

  it("weighs files as the engine does: by the pages of a PDF, and by what a stored file is known to weigh", async () => {
    const file_id = makeId("fil");
    const seen: object[] = [];
    const useFiles: NonNullable<WorldInput["tenant"]>["useFiles"] = async (input) => {
      seen.push(input);
      return ok([{ file_id, name: null, media_type: "application/pdf", bytes: 5, tokens: 7_000 }]);
    };
    const { anthropic } = connect({ session, tenant: { useFiles } });
    const pages = btoa(`%PDF-1.7 ${"<< /Type /Page >>".repeat(3)} << /Type /Pages >>${" ".repeat(64)}`);
    const count = async (source: Anthropic.DocumentBlockParam["source"]) => {
      const messages = [{ role: "user" as const, content: [{ type: "document" as const, source }] }];
      return (await anthropic.messages.countTokens({ ...counted, messages })).input_tokens - 500;
    };

    expect(await count({ type: "base64", media_type: "application/pdf", data: pages })).toBeCloseTo(6_000, -2);
    expect(await count({ type: "file", file_id } as never)).toBeCloseTo(7_000, -2);
    expect(seen).toMatchObject([{ files: [file_id], asksOnly: true }]);
  });

  it("refuses what the message would be refused for", async () => {
    const { anthropic } = connect({ session });

    await expect(anthropic.messages.countTokens({ ...counted, messages: [] })).rejects.toMatchObject({ status: 400 });
  });
});

const EXHAUSTED = {
  code: "budget_exhausted",
  budget: "daily",
  of: "tenant",
  unit: "usd",
  amount: 1,
  spent: 0.9,
  reserved: 0.05,
  resets_at: 1_795_046_400_000,
} as const;

describe("refusals", () => {
  it.each([
    ["an unknown session", { code: "session_not_found" }, 404, "not_found_error"],
    ["an unknown model", { code: "unknown_model", model: question.model }, 404, "not_found_error"],
    ["a setting that the model lacks", { code: "invalid", field: "generation.reasoning", detail: "no" }, 400, "invalid_request_error"],
    ["a result of no open call", { code: "call_not_open", index: null, call: "a" }, 400, "invalid_request_error"],
    ["calls without results", { code: "calls_unanswered", calls: [{ execution: EXECUTION, call_id: "a" }] }, 400, "invalid_request_error"],
    ["a full queue", { code: "queue_full", limit: 5 }, 409, "conflict_error"],
    ["a registry that is away", { code: "models_unavailable" }, 529, "overloaded_error"],
    ["budgets that are away", { code: "budgets_unavailable" }, 529, "overloaded_error"],
    ["an exhausted budget", EXHAUSTED, 402, "billing_error"],
  ] as const)("%s has Anthropic's type and status", async (_, error, status, type) => {
    const { anthropic } = connect({ session: { respond: async () => err(error) } });

    await expect(anthropic.messages.create(question)).rejects.toMatchObject({ status, type, requestID: expect.any(String) });
  });

  it("name the parameter as Anthropic does", async () => {
    const { anthropic } = connect({
      session: { respond: async () => err({ code: "invalid", field: "generation.stop.1", detail: "too long" }) },
    });

    await expect(anthropic.messages.create(question)).rejects.toThrow(/stop_sequences\.1: too long/);
    await expect(anthropic.messages.create({ ...question, top_k: 5 } as never)).rejects.toThrow(/top_k: not supported/);
  });

  it.each([
    ["unavailable", 529, "overloaded_error"],
    ["rate_limit", 429, "rate_limit_error"],
    ["cannot_fit", 400, "invalid_request_error"],
    ["auth", 500, "api_error"],
  ] as const)("a turn that failed by %s is an error that the SDK does not send again", async (kind, status, type) => {
    const failure = { kind, status: null, detail: "Why.", remedy: "What." };
    const { anthropic, asked } = connect({
      session: { waitForTurn: async () => ok(turn({ status: "failed", finish: null, failure })) },
      options: { maxRetries: 2 },
    });

    await expect(anthropic.messages.create(question)).rejects.toMatchObject({ status, type });
    expect(asked).toHaveLength(1);
  });

  it("a wait that breaks may be sent again, unless nothing tells a repetition from another request", async () => {
    const broken = { waitForTurn: () => Promise.reject(new Error("gone")) };
    const { anthropic, requests } = connect({ session: broken });
    for (const headers of [{}, { "Idempotency-Key": "one", "x-stainless-retry-count": null }])
      await expect(anthropic.messages.create(question, { headers })).rejects.toMatchObject({ status: 500, type: "api_error" });
    expect(requests.map(({ headers }) => headers.get("x-should-retry"))).toEqual([null, null]);

    await expect(anthropic.messages.create(question, { headers: { "x-stainless-retry-count": null } })).rejects.toMatchObject({
      status: 500,
    });
    expect(requests[2]?.headers.get("x-should-retry")).toBe("false");
  });

  it.each([
    ["no version", {}, 400],
    ["a version that is none", { "anthropic-version": "newest" }, 400],
  ] as const)("a request with %s", async (_, headers, status) => {
    const { app } = connect();
    const body = JSON.stringify(question);
    const sent = { "x-api-key": KEY, "content-type": "application/json", "X-Session-Id": SESSION, ...headers };

    const response = await app.request("/v1/messages", { method: "POST", headers: sent, body });

    expect([response.status, await response.json()]).toMatchObject([status, { error: { type: "invalid_request_error" } }]);
  });

  it("a key of Anthropic's form that is not known", async () => {
    const { anthropic } = connect({ options: { apiKey: "sk-ant-api03-x" } });

    await expect(anthropic.messages.create(question)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  });
});
