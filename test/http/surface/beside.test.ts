/** One process of an agent sends the same session header with several conversations. What continues the session, and what is answered beside it. */
import { describe, expect, test } from "vitest";
import { calls, connect, says, show } from "../openai/response-life";
import { KEY } from "../support";

type Turn = { readonly role: "user" | "assistant"; readonly text: string } | { readonly call: string } | { readonly result: string };

interface Request {
  readonly system: string | null;
  readonly turns: readonly Turn[];
  /** Names of its tools. */
  readonly tools?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

interface Surface {
  readonly path: string;
  build(request: Request): object;
  /** The id of the call in an answer, as its client sends it back. */
  readCall(answer: never): string;
}

const parameters = { type: "object", properties: {} };

const SURFACES: Readonly<Record<string, Surface>> = {
  "chat completions": {
    path: "/v1/chat/completions",
    build: ({ system, turns, tools = [] }) => ({
      messages: [
        ...(system === null ? [] : [{ role: "system", content: system }]),
        ...turns.map((turn) => {
          if ("call" in turn)
            return {
              role: "assistant",
              content: null,
              tool_calls: [{ id: turn.call, type: "function", function: { name: "look", arguments: "{}" } }],
            };
          return "result" in turn ? { role: "tool", tool_call_id: turn.result, content: "Seen." } : { role: turn.role, content: turn.text };
        }),
      ],
      ...(tools.length > 0 && { tools: tools.map((name) => ({ type: "function", function: { name, parameters } })) }),
    }),
    readCall: (answer: { choices: { message: { tool_calls: { id: string }[] } }[] }) => answer.choices[0]?.message.tool_calls[0]?.id ?? "",
  } as Surface,
  messages: {
    path: "/v1/messages",
    build: ({ system, turns, tools = [] }) => ({
      max_tokens: 100,
      ...(system !== null && {
        system: [
          { type: "text", text: `x-anthropic-billing-header: cch=${turns.length};` },
          { type: "text", text: system },
        ],
      }),
      messages: turns.map((turn) => {
        if ("call" in turn) return { role: "assistant", content: [{ type: "tool_use", id: turn.call, name: "look", input: {} }] };
        return "result" in turn
          ? { role: "user", content: [{ type: "tool_result", tool_use_id: turn.result, content: "Seen." }] }
          : { role: turn.role, content: turn.text };
      }),
      ...(tools.length > 0 && { tools: tools.map((name) => ({ name, input_schema: parameters })) }),
    }),
    readCall: (answer: { content: { type: string; id: string }[] }) => answer.content.find(({ type }) => type === "tool_use")?.id ?? "",
  } as Surface,
  responses: {
    path: "/v1/responses",
    build: ({ system, turns, tools = [] }) => ({
      store: false,
      input: [
        ...(system === null ? [] : [{ role: "developer", content: system }]),
        ...turns.map((turn) => {
          if ("call" in turn) return { type: "function_call", call_id: turn.call, name: "look", arguments: "{}" };
          return "result" in turn
            ? { type: "function_call_output", call_id: turn.result, output: "Seen." }
            : { role: turn.role, content: turn.text };
        }),
      ],
      ...(tools.length > 0 && { tools: tools.map((name) => ({ type: "function", name, parameters })) }),
    }),
    readCall: (answer: { output: { type: string; call_id: string }[] }) =>
      answer.output.find(({ type }) => type === "function_call")?.call_id ?? "",
  } as Surface,
};

const MAIN = "You are the main agent, and you work on this repository.";
const PART = "You are a helper of another agent. Do the assigned part.";
const TITLE = "Generate a title of at most fifty characters for the conversation.";
const user = (text: string): Turn => ({ role: "user", text });
const model = (text: string): Turn => ({ role: "assistant", text });

async function open(surface: Surface) {
  const life = connect();
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const made = await life.app.request("/v1/sessions", { method: "POST", headers, body: "{}" });
  const { id } = (await made.json()) as { id: string };
  const ask = async (request: Request) => {
    const answer = await life.app.request(surface.path, {
      method: "POST",
      headers: { ...headers, "x-session-id": id, ...request.headers },
      body: JSON.stringify({ model: "m", ...surface.build(request) }),
    });
    await life.settle();
    const body = (await answer.json()) as never;
    return { status: answer.status, isBeside: answer.headers.get("x-ignored") === "X-Session-Id", body };
  };
  const list = async (): Promise<string[]> => {
    const listed = await life.app.request(`/v1/sessions/${id}/messages?limit=100`, { headers });
    const { data } = (await listed.json()) as { data: { role: string; content: string | { text?: string }[] }[] };
    return data.map(
      ({ role, content }) => `${role}: ${typeof content === "string" ? content : content.map(({ text = "" }) => text).join("")}`,
    );
  };
  return { ...life, id, ask, list };
}

describe.each(Object.entries(SURFACES))("%s", (_, surface) => {
  /** The main conversation: its first message is answered by a call, which waits. */
  async function openWaiting() {
    const life = await open(surface);
    life.model.say = (request) =>
      show(request).some((line) => line.includes("main agent")) && !show(request).some((line) => line.includes("Seen."))
        ? calls({ call_id: "c1" })
        : says("Done.");
    const first = await life.ask({ system: MAIN, turns: [user("Fix it.")], tools: ["look"] });
    const call = surface.readCall(first.body);
    return { ...life, call };
  }

  test.each([
    ["a helper by its system prompt", { system: PART, turns: [user("Part one.")], tools: ["look"] }],
    ["a helper that has gone on", { system: PART, turns: [user("Part one."), { call: "p1" }, { result: "p1" }], tools: ["look"] }],
    ["a title", { system: TITLE, turns: [user("Fix it, says the user.")] }],
    ["a helper of Claude Code", { system: MAIN, turns: [user("Part one.")], tools: ["look"], headers: { "x-claude-code-agent-id": "a1" } }],
    ["a helper of Codex", { system: MAIN, turns: [user("Part one.")], tools: ["look"], headers: { "x-openai-subagent": "collab_spawn" } }],
  ] satisfies [string, Request][])("%s is answered beside a call that waits, and the call is answered then", async (_name, request) => {
    const { ask, list, call } = await openWaiting();
    const before = await list();

    const aside = await ask(request);
    expect([aside.status, aside.isBeside]).toEqual([200, true]);
    expect(await list()).toEqual(before);

    const next = await ask({ system: MAIN, turns: [user("Fix it."), { call }, { result: call }], tools: ["look"] });
    expect([next.status, next.isBeside]).toEqual([200, false]);
    expect((await list()).at(-1)).toBe("assistant: Done.");
  });

  test("the title that an agent asks for first does not begin its conversation", async () => {
    const { ask, list } = await open(surface);
    const headers = { "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.46" };
    const title = await ask({ system: TITLE, turns: [user("Fix it.")], headers });
    const main = await ask({ system: MAIN, turns: [user("Fix it.")], tools: ["look"], headers });
    expect([title.status, title.isBeside, main.status, main.isBeside]).toEqual([200, true, 200, false]);
    expect(await list()).toEqual(["user: Fix it.", expect.stringContaining("assistant: ")]);
  });

  test.each([
    ["a lone message", { system: MAIN, turns: [user("And now?")] }],
    ["a lone message with another system prompt", { system: "Context: it rains in Oslo.", turns: [user("And now?")] }],
    ["a lone message without a system prompt", { system: null, turns: [user("And now?")] }],
    ["a copy with another system prompt", { system: PART, turns: [user("Hello."), model("Hi there."), user("And now?")] }],
    ["a copy with an edited answer", { system: PART, turns: [user("Hello."), model("Hi, edited."), user("And now?")] }],
    ["an agent's summary in place of its history", { system: MAIN, turns: [user("Summary: hello."), user("And now?")] }],
  ] satisfies [string, Request][])("%s continues a session that nothing waits in", async (_name, request) => {
    const { ask, list, model: said } = await open(surface);
    said.say = () => says("Hi there.");
    await ask({ system: MAIN, turns: [user("Hello.")] });
    const next = await ask(request);
    expect([next.status, next.isBeside]).toEqual([200, false]);
    expect((await list()).filter((line) => line === "user: And now?")).toHaveLength(1);
  });

  test("a conversation whose prompt begins otherwise each time goes on, with tools and without", async () => {
    const { ask, list, model: said } = await open(surface);
    said.say = (_request, nth) => (nth === 1 ? calls({ call_id: "c1" }) : says(`Answer ${nth}.`));
    const clock = (nth: number) => `It is 10:00:0${nth}. You are a helpful clerk.`;
    const call = surface.readCall((await ask({ system: clock(1), turns: [user("Q1?")], tools: ["look"] })).body);
    const turns: Turn[] = [user("Q1?"), { call }, { result: call }];
    for (let nth = 2; nth <= 4; nth++) {
      const answer = await ask({ system: clock(nth), turns, tools: ["look"] });
      expect([answer.status, answer.isBeside]).toEqual([200, false]);
      turns.push(model(`Answer ${nth}.`), user(`Q${nth}?`));
    }
    const last = await ask({ system: clock(5), turns, tools: ["look"] });
    expect([last.isBeside, (await list()).filter((line) => line.startsWith("user")).length]).toEqual([false, 4]);
  });

  test("an agent's conversation of another role continues nothing", async () => {
    const { ask, list, model: said } = await open(surface);
    said.say = () => says("Hi there.");
    await ask({ system: MAIN, turns: [user("Hello.")], tools: ["look"] });
    const before = await list();
    const headers = { "user-agent": "QwenCode/0.24.4 (linux; x64)" };
    const helper = await ask({ system: PART, turns: [user("Part one.")], tools: ["look"], headers });
    // The words of two models may be the same.
    const copy = await ask({ system: PART, turns: [user("Part one."), model("Hi there."), user("Go on.")], tools: ["look"] });
    expect([helper.isBeside, copy.isBeside]).toEqual([true, true]);
    expect(await list()).toEqual(before);
  });

  test("a client that asks something else after its result gives up the call that followed, and goes on", async () => {
    const { ask, list, model: said } = await open(surface);
    said.say = (_request, nth) => (nth <= 2 ? calls({ call_id: `c${nth}` }) : says("Done."));
    const headers = { "user-agent": "claude-cli/2.1.332 (external, cli)" };
    const first = surface.readCall((await ask({ system: MAIN, turns: [user("Fix it.")], tools: ["look"], headers })).body);
    const copy: Turn[] = [user("Fix it."), { call: first }, { result: first }];
    await ask({ system: MAIN, turns: copy, tools: ["look"], headers });

    const other = await ask({ system: MAIN, turns: [...copy, user("Sum it up.")], tools: ["look"], headers });
    const anew = await ask({ system: MAIN, turns: [user("The sum."), user("And now?")], tools: ["look"], headers });

    expect([other.status, anew.status]).toEqual([200, 200]);
    expect((await list()).filter((line) => line.startsWith("user"))).toEqual([
      "user: Fix it.",
      "user: Sum it up.",
      "user: The sum.",
      "user: And now?",
    ]);
  });

  test("twelve rounds of a copy that grows are one conversation", async () => {
    const { ask, list, model: said, requests } = await open(surface);
    said.say = (_request, nth) => (nth <= 12 ? calls({ call_id: `c${nth}` }) : says("Done."));
    const turns: Turn[] = [user("Fix it.")];
    for (let round = 1; round <= 12; round++) {
      const { status, body } = await ask({ system: MAIN, turns, tools: ["look"] });
      expect(status).toBe(200);
      const call = surface.readCall(body);
      turns.push({ call }, { result: call });
    }
    const last = await ask({ system: MAIN, turns, tools: ["look"] });
    const again = await ask({ system: MAIN, turns, tools: ["look"] });
    expect([last.status, again.status, requests.length]).toEqual([200, 200, 13]);
    expect(JSON.stringify(again.body)).toContain("Done.");
    expect((await list()).filter((line) => line.startsWith("user"))).toEqual(["user: Fix it."]);
  });
});

test("a provider's ids that repeat make no helper's call the main conversation's", async () => {
  const surface = SURFACES.responses;
  if (!surface) throw new Error("there are Responses");
  const { ask, list, model: said } = await open(surface);
  said.say = ({ tools }) => (tools.length > 0 ? calls({ call_id: "call_0", arguments: '{"of":"main"}' }) : says("Done."));
  await ask({ system: MAIN, turns: [user("Fix it.")], tools: ["look"] });
  const before = await list();
  said.say = () => says("Done.");
  const helper = await ask({ system: PART, turns: [user("Part one."), { call: "call_0" }, { result: "call_0" }], tools: ["look"] });
  expect([helper.status, helper.isBeside, await list()]).toEqual([200, true, before]);
});
