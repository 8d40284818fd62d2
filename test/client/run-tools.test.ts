/** The tool loop of the typed client against a running backend, over cut connections and after programs that died. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject, RunToolsInit, StreamEvent, Tools } from "../../packages/client/src/client.ts";
import { startToolServer } from "../support/stand-in/tool-server";
import type { ReplyToolCall } from "../support/stand-in/wire";
import { ChatServer, expectOrder } from "./chat-server";
import { behindEvent, inCharacter, inLine, type Plan } from "./cutting-proxy";

const MINUTES = 60_000;
const QUESTION = "巴黎和奥斯陆的天气怎么样？";
const ANSWER = "巴黎晴，奥斯陆下雨。";

let chat: ChatServer;

beforeAll(async () => {
  chat = await ChatServer.start();
}, 2 * MINUTES);
afterAll(() => chat?.close());
beforeEach(() => chat.proxy.plan(() => "pass"));

const asks = (id: string, name: string, args: unknown): ReplyToolCall => ({
  id,
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = (ran: string[] = []) => ({
  description: "The weather in a city",
  parameters: CITY,
  run: ({ city }: JsonObject) => {
    ran.push(String(city));
    return `${city}：晴`;
  },
});

/** Runs the loop and records its events. */
async function run<T>(session: string, tools: Tools<T>, init: RunToolsInit = {}, message: string | null = QUESTION) {
  const seen: StreamEvent[] = [];
  const onEvent = (event: StreamEvent): void => void seen.push(event);
  const turn = await chat.longhand.runTools(session, message, tools, { onEvent, ...init });
  return { turn, seen };
}

/** The results that the model has read in its last request. */
function listResults(): string[] {
  const messages = chat.provider.log.at(-1)?.body.messages ?? [];
  return messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
}

const PLANS: readonly (readonly [string, Plan])[] = [
  ["behind every event", () => behindEvent(1)],
  ["in the middle of a line", () => inLine],
  ["in the middle of a character", () => inCharacter],
];

describe.each(PLANS)("a turn with tools whose streams are cut %s", (_, plan) => {
  test("runs each call once, in several rounds, and shows each event once and in order", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue(
      { text: "我看看。", tool_calls: [asks("a", "weather", { city: "巴黎" }), asks("b", "weather", { city: "奥斯陆" })] },
      { tool_calls: [asks("a", "weather", { city: "罗马" })] },
      { text: ANSWER },
    );
    chat.proxy.plan(plan);
    const ran: string[] = [];

    const { turn, seen } = await run(session, { weather: weather(ran) });

    expect(turn).toMatchObject({ status: "completed", output_text: ANSWER });
    expect(ran.toSorted()).toEqual(["奥斯陆", "巴黎", "罗马"].toSorted());
    expect(chat.proxy.cuts).toBeGreaterThan(4);
    expect(seen).toEqual(await chat.readKept(session, turn.id));
    expectOrder(seen);
    expect(await chat.listTexts(session)).toEqual([
      `user: ${QUESTION}`,
      "assistant: 我看看。",
      "tool: 巴黎：晴",
      "tool: 奥斯陆：晴",
      "assistant: ",
      "tool: 罗马：晴",
      `assistant: ${ANSWER}`,
    ]);
  });
});

describe("calls", () => {
  test("run side by side, and each result is recorded as soon as it is there", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ tool_calls: [asks("a", "quick", {}), asks("b", "slow", {})] }, { text: "Done." });
    const isRecorded = async () => {
      for await (const event of chat.longhand.follow(session, { after: 0 })) {
        if (event.type === "item.completed" && event.item.tool_name === "quick") return;
      }
    };
    // The slow tool ends only when the quick one's result is in the record.
    const { turn, seen } = await run(session, {
      quick: { parameters: { type: "object" }, run: () => "first" },
      slow: {
        parameters: { type: "object" },
        run: async () => {
          await isRecorded();
          return "second";
        },
      },
    });

    expect(turn.status).toBe("completed");
    expect(listResults()).toEqual(["first", "second"]);
    expect(seen).toEqual(await chat.readKept(session, turn.id));
  });

  test.each<[string, ReplyToolCall, RegExp]>([
    ["a tool that throws", asks("a", "broken", {}), /^The disk is full\.$/],
    ["a tool that returns what JSON cannot hold", asks("a", "circle", {}), /circular/i],
    ["a tool that returns a function", asks("a", "closure", {}), /function, which JSON cannot hold/],
    ["an unknown tool", asks("a", "tides", {}), /tides/],
    ["arguments that are no JSON", asks("a", "broken", "{city"), /JSON/],
    ["arguments that are no object", asks("a", "broken", "[1]"), /must be a JSON object/],
    ["arguments that parse refuses", asks("a", "strict", { city: 7 }), /^city must be text$/],
  ])("of %s: the model reads what was wrong, and the turn goes on", async (_, call, said) => {
    const session = await chat.openSession();
    chat.provider.enqueue({ tool_calls: [call] }, { text: "I see." });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const parse = ({ city }: JsonObject) => {
      if (typeof city !== "string") throw new TypeError("city must be text");
      return { city };
    };

    const { turn } = await run(session, {
      broken: {
        parameters: { type: "object" },
        run: () => {
          throw new Error("The disk is full.");
        },
      },
      circle: { parameters: { type: "object" }, run: () => circle },
      closure: { parameters: { type: "object" }, run: () => () => 1 },
      strict: { parameters: { type: "object" }, parse, run: ({ city }: { city: string }) => city },
    });

    expect(turn).toMatchObject({ status: "completed", output_text: "I see." });
    expect(listResults()).toEqual([expect.stringMatching(said)]);
    expect(turn.items.find(({ role }) => role === "tool")?.is_error).toBe(true);
  });

  test.each(["tides", "toString"])(
    "of a tool that the program does not have are answered, where the server leaves them to it: %s",
    async (name) => {
      const session = await chat.openSession();
      chat.provider.enqueue({ tool_calls: [asks("a", name, {})] }, { text: "I see." });

      const { turn } = await run(session, { ping: { run: () => "pong" } });

      expect(turn.status).toBe("completed");
      expect(listResults()).toEqual([`There is no tool named ${name}. There are: ping`]);
    },
  );

  test("of a tool without arguments or result get an empty object, and null is read", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ tool_calls: [asks("a", "ping", "")] }, { text: "Pong." });
    const given: unknown[] = [];

    await run(session, { ping: { parameters: { type: "object" }, run: (args: JsonObject) => void given.push(args) } });

    expect(given).toEqual([{}]);
    expect(listResults()).toEqual(["null"]);
  });

  test("whose results are together too large for a request are sent one by one, and a single one that is too large says so", async () => {
    const session = await chat.openSession();
    const calls = [asks("a", "dump", { size: 600_000 }), asks("b", "dump", { size: 600_000 }), asks("c", "dump", { size: 1_200_000 })];
    chat.provider.enqueue({ tool_calls: calls }, { text: "Much." });
    const tools = { dump: { parameters: { type: "object" }, run: ({ size }: JsonObject) => "x".repeat(Number(size)) } };

    const { turn } = await run(session, tools);

    expect(turn.status).toBe("completed");
    expect(turn.items.filter(({ role }) => role === "tool").map(({ is_error }) => is_error)).toEqual([false, false, true]);
  });
});

describe("a program", () => {
  test("that died while the turn waited goes on with message null, and runs what is still open", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue(
      { tool_calls: [asks("a", "weather", { city: "Paris" }), asks("b", "weather", { city: "Oslo" })] },
      { text: ANSWER },
    );
    const dying = new AbortController();
    const first = run(
      session,
      {
        weather: {
          parameters: CITY,
          run: async ({ city }: JsonObject, { signal }) => {
            if (city === "Paris") return "sun";
            dying.abort(new Error("killed"));
            signal.throwIfAborted();
            return "never";
          },
        },
      },
      { signal: dying.signal },
    );
    await expect(first).rejects.toThrow("killed");
    const ran: string[] = [];

    const { turn } = await run(session, { weather: weather(ran) }, {}, null);

    expect(turn).toMatchObject({ status: "completed", output_text: ANSWER });
    expect(ran).toContain("Oslo");
    expect((await chat.listTexts(session)).filter((text) => text.startsWith("user"))).toHaveLength(1);
  });

  test("that died while the turn went on waits for it with message null", async () => {
    const session = await chat.openSession();
    const released = Promise.withResolvers<void>();
    async function* speak() {
      yield "It is ";
      await released.promise;
      yield "sunny.";
    }
    chat.provider.enqueue(speak());
    for await (const { type } of chat.longhand.stream(session, QUESTION)) if (type === "text.delta") break;
    const again = run(session, { weather: weather() }, { onEvent: () => released.resolve() }, null);
    await chat.proxy.moved();
    released.resolve();

    expect((await again).turn).toMatchObject({ status: "completed", output_text: "It is sunny." });
  });

  test("that starts after the turn has ended gets the turn as it is; without any turn it is told so", async () => {
    const session = await chat.openSession();
    await expect(run(session, {}, {}, null)).rejects.toThrow("no turn");
    chat.provider.enqueue({ text: "Hello." });
    const { id } = await chat.longhand.send(session, "Hi");

    expect((await run(session, {}, {}, null)).turn).toMatchObject({ id, status: "completed" });
  });

  test("whose result comes too late, since another was faster, goes on with the turn", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ tool_calls: [asks("a", "weather", { city: "Paris" })] }, { text: ANSWER });
    const { turn } = await run(session, {
      weather: {
        parameters: CITY,
        run: async (_: JsonObject, { call }) => {
          const results = [{ execution_id: call.id, output: "faster" }];
          await chat.longhand.post("/v1/sessions/{session_id}/tool_results", { path: { session_id: session }, body: { results } });
          return "late";
        },
      },
    });

    expect(turn).toMatchObject({ status: "completed", output_text: ANSWER });
    expect(listResults()).toEqual(["faster"]);
  });

  test("that was superseded by a new message gets the turn as it ended", async () => {
    const session = await chat.openSession();
    chat.provider.enqueue({ tool_calls: [asks("a", "weather", { city: "Paris" })] }, { text: "The new answer." });
    const { turn } = await run(session, {
      weather: {
        parameters: CITY,
        run: async () => {
          await chat.longhand.send(session, "Never mind.");
          return "late";
        },
      },
    });

    expect(turn.status).toBe("stopped");
  });

  test("gets the turn that still waits after maxRounds", async () => {
    const session = await chat.openSession();
    for (let n = 0; n < 3; n++) chat.provider.enqueue({ tool_calls: [asks("a", "weather", { city: `City ${n}` })] });
    const ran: string[] = [];

    const { turn } = await run(session, { weather: weather(ran) }, { maxRounds: 2 });

    expect(turn.status).toBe("awaiting_tools");
    expect(ran).toEqual(["City 0", "City 1"]);
    chat.provider.clearLog();
  });
});

describe("tools of the server", () => {
  let session: string;

  beforeEach(async () => {
    const path = { tool_name: "forecast" };
    const url = `${service.url}/text`;
    await chat.longhand.put("/v1/tools/{tool_name}", {
      path,
      body: { url, method: "GET", description: "The forecast", parameters: CITY, needs_approval: true },
    });
    session = (await chat.longhand.post("/v1/sessions", { body: { model: "scripted", tools: [{ type: "http", name: "forecast" }] } })).id;
    chat.provider.enqueue(
      { tool_calls: [asks("a", "forecast", { city: "Rome" }), asks("b", "weather", { city: "Paris" })] },
      { text: ANSWER },
    );
  });

  let service: Awaited<ReturnType<typeof startToolServer>>;
  beforeAll(async () => {
    service = await startToolServer();
  });
  afterAll(() => service.close());

  test("stay offered beside the client's, and run when they are approved", async () => {
    const asked: string[] = [];
    chat.proxy.plan(() => behindEvent(1));
    const approve = async ({ name }: { readonly name: string }) => {
      asked.push(name);
      return true;
    };

    const { turn, seen } = await run(session, { weather: weather() }, { approve });

    expect(turn).toMatchObject({ status: "completed", output_text: ANSWER });
    expect(asked).toEqual(["forecast"]);
    // In the order in which they were finished, which varies.
    const results = turn.items.filter(({ role }) => role === "tool").map(({ tool_name, is_error }) => `${tool_name} ${is_error}`);
    expect(results.toSorted()).toEqual(["forecast false", "weather false"]);
    expect(seen).toEqual(await chat.readKept(session, turn.id));
  });

  test("are refused with the person's reason", async () => {
    const { turn } = await run(session, { weather: weather() }, { approve: () => ({ approved: false, reason: "too dear" }) });

    expect(turn.status).toBe("completed");
    expect(listResults().join()).toContain("too dear");
  });

  test("that wait for an approval which is not asked for are returned as they are, after the client's calls were answered", async () => {
    const { turn } = await run(session, { weather: weather() });

    expect(turn.status).toBe("awaiting_tools");
    expect(turn.open_calls.map(({ name }) => name)).toEqual(["forecast"]);
    const { turn: done } = await run(session, { weather: weather() }, { approve: () => true }, null);
    expect(done.status).toBe("completed");
  });
});
