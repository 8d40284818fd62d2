/** Chat completions through the packages that speak them, unmodified, against a running backend with a scripted model. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTenant, writeConnection } from "../../scripts/support/connection";
import { readPages } from "../support/doc-pages";
import { findPrograms, type Program } from "../support/doc-programs";
import { CHAT_CLIENTS, type Connecting, REPORT, readStatus, type Transcript, WEATHER } from "./chat-clients";
import { ChatServer } from "./chat-server";
import { behindEvent } from "./cutting-proxy";

const ROOT = join(import.meta.dirname, "..", "..");
const MINUTES = 60_000;
const MODEL = "scripted";
const SMALL = "scripted-small";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
let server: ChatServer;

beforeAll(async () => {
  server = await ChatServer.start();
}, 2 * MINUTES);
afterAll(() => server?.close());
beforeEach(() => {
  server.proxy.plan(() => "pass");
  server.provider.clearLog();
});

const user = (content: string) => ({ role: "user", content }) as const;
const said = (content: string) => ({ role: "assistant", content }) as const;
const toAddress = (url: string): string => `${url}/v1`;
const lastRequest = () => server.provider.log.at(-1)?.body;
const call = (id: string, city: string) => ({ id, name: "weather", arguments: JSON.stringify({ city }) });
const KEY_REFUSED = { status: 401, error: { message: "Incorrect API key", code: "invalid_api_key" } };

describe.each(CHAT_CLIENTS)("%s", (_, connect) => {
  const open = async (more: Partial<Connecting> = {}) => {
    const { model = MODEL } = more;
    const session = await server.openSession({ small: model === SMALL });
    const client = connect({ baseURL: toAddress(server.url), apiKey: server.key, session, model, ...more });
    return { session, client };
  };

  describe("in a session", () => {
    test("answers as text and as a stream, and the session has each message once", async () => {
      const { client, session } = await open();
      server.provider.enqueue({ text: "你好，雷克斯。🐕" }, { reasoning: "Hm.", text: "Rex. 就是这样。" });

      const first = await client.ask([user("我的狗叫雷克斯。")]);
      const second = await client.stream([user("我的狗叫雷克斯。"), said(first.text), user("What is its name?")]);

      expect([first.text, second.text]).toEqual(["你好，雷克斯。🐕", "Rex. 就是这样。"]);
      expect(first.tokens).toBeGreaterThan(0);
      expect(second.tokens).toBeGreaterThan(0);
      expect(await server.listTexts(session)).toEqual([
        "user: 我的狗叫雷克斯。",
        "assistant: 你好，雷克斯。🐕",
        "user: What is its name?",
        "assistant: Hm.Rex. 就是这样。",
      ]);
    });

    test.each([false, true])("runs its tools in parallel, and the turn goes on; streamed: %s", async (streams) => {
      const { client, session } = await open();
      const ran: string[] = [];
      server.provider.enqueue({ text: "I look.", tool_calls: [call("a", "巴黎"), call("a", "Oslo")] }, { text: "Sun in both." });

      const text = await client.useWeather("Weather?", {
        streams,
        run: (city) => {
          ran.push(city);
          return `${city}: sun`;
        },
      });

      expect(text).toBe("Sun in both.");
      expect(ran.toSorted()).toEqual(["Oslo", "巴黎"]);
      expect(server.provider.log[0]?.body.tools).toMatchObject([{ function: { name: "weather", parameters: WEATHER } }]);
      expect(lastRequest()?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
      expect(await server.listTexts(session)).toEqual([
        "user: Weather?",
        "assistant: I look.",
        "tool: 巴黎: sun",
        "tool: Oslo: sun",
        "assistant: Sun in both.",
      ]);
    });

    test("gets an object of its schema", async () => {
      const { client } = await open();
      server.provider.enqueue({ text: '{"city":"Lisbon","degrees":21}' });

      expect(await client.extract("Lisbon?")).toEqual({ city: "Lisbon", degrees: 21 });
      expect(lastRequest()).toMatchObject({ response_format: { type: "json_schema", json_schema: { schema: REPORT } } });
    });

    test("shows refusals: of the model, of the key, of the provider", async () => {
      const { client, session } = await open();
      server.provider.enqueue(KEY_REFUSED, KEY_REFUSED);
      const missing = await open({ model: "missing", session });
      const wrong = await open({ apiKey: "lh_wrong" });

      const statuses: unknown[] = [];
      for (const [asked, content] of [
        [client, "a"],
        [missing.client, "b"],
        [wrong.client, "c"],
      ] as const)
        statuses.push(await asked.ask([user(content)]).then(() => null, readStatus));

      expect(statuses).toEqual([500, 404, 401]);
      await expect(client.stream([user("d")])).rejects.toThrow();
      expect(await server.listTexts(session)).toEqual(["user: a", "user: d"]);
    });

    test("is compacted in the middle, while the client sends all of its copy", async () => {
      const { client, session } = await open({ model: SMALL });
      server.provider.respondWith(({ messages }) => ({ text: `${messages.length} messages. ${"Well, well. ".repeat(60)}` }));
      const copy: Transcript[number][] = [];

      for (let nth = 1; nth <= 10; nth++) {
        copy.push(user(`Question ${nth}: ${"why? ".repeat(40)}`));
        const { text } = nth % 2 === 0 ? await client.ask(copy) : await client.stream(copy);
        copy.push(said(text));
      }

      const described = await server.longhand.get("/v1/sessions/{session_id}", { path: { session_id: session } });
      expect(described).toMatchObject({ message_count: 20, compacted_summary: expect.any(String) });
      expect(await server.listTexts(session)).toEqual(copy.map(({ role, content }) => `${role}: ${content}`));
    }, 60_000);

    test("that loses its connection asks again, and gets the whole answer", async () => {
      const { client, session } = await open({ baseURL: toAddress(server.proxy.url) });
      const before = [user("One?"), said("1")];
      server.provider.enqueue({ text: "1" });
      await client.ask([user("One?")]);
      const copy: Transcript[number][] = before;

      for (const nth of [1, 2, 3]) {
        server.proxy.plan((stream) => (stream === 0 ? behindEvent(nth) : "pass"));
        server.provider.enqueue({ text: `one two three ${nth}`, chunks: 3 });
        copy.push(user(`Count ${nth}.`));
        await client.stream(copy).catch(() => null);
        const { text } = nth === 2 ? await client.ask(copy) : await client.stream(copy);
        expect(text).toBe(`one two three ${nth}`);
        copy.push(said(text));
      }

      expect(await server.listTexts(session)).toEqual(copy.map(({ role, content }) => `${role}: ${content}`));
    });
  });

  describe("without a session", () => {
    const alone = (more: Partial<Connecting> = {}) =>
      connect({ baseURL: toAddress(server.url), apiKey: server.key, session: null, model: MODEL, ...more });
    const listSessions = async () =>
      (await server.longhand.get("/v1/sessions", { query: { limit: 200 } })).data.map(({ id }) => id).toSorted();

    test("answers the whole transcript, as text and as a stream, and keeps nothing of it", async () => {
      const before = await listSessions();
      const transcript = [user("我的狗叫雷克斯。"), said("Noted."), user("Its name?")];
      server.provider.enqueue({ text: "Rex." }, { text: "雷克斯。就是这样。" });

      const whole = await alone().ask(transcript);
      const streamed = await alone().stream(transcript);

      expect([whole.text, streamed.text]).toEqual(["Rex.", "雷克斯。就是这样。"]);
      expect(Math.min(whole.tokens, streamed.tokens)).toBeGreaterThan(0);
      for (const { body } of server.provider.log) expect(body.messages.map(({ role, content }) => ({ role, content }))).toEqual(transcript);
      await expect.poll(listSessions, { timeout: 10_000 }).toEqual(before);
    });

    test.each([false, true])("runs its tools, whose results end the next transcript; streamed: %s", async (streams) => {
      server.provider.enqueue({ text: "I look.", tool_calls: [call("a", "巴黎"), call("a", "Oslo")] }, { text: "Sun in both." });

      expect(await alone().useWeather("Weather?", { streams, run: (city) => `${city}: sun` })).toBe("Sun in both.");

      const read = lastRequest()?.messages ?? [];
      expect(read.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
      expect(read.slice(2).map(({ content }) => content)).toEqual(["巴黎: sun", "Oslo: sun"]);
    });

    test("ends when its client leaves", async () => {
      const before = await listSessions();
      const client = alone({ baseURL: toAddress(server.proxy.url) });
      server.proxy.plan(() => behindEvent(2));
      server.provider.enqueue(server.speak(["one ", "two ", "three "]));

      await client.stream([user("Count.")]).catch(() => null);

      await expect.poll(listSessions, { timeout: 10_000 }).toEqual(before);
    });

    test("gets an object of its schema", async () => {
      server.provider.enqueue({ text: '{"city":"Lisbon","degrees":21}' });

      expect(await alone().extract("Lisbon?")).toEqual({ city: "Lisbon", degrees: 21 });
    });

    test("that exceeds the window gets the provider's error", async () => {
      const long = [...toLong(20), user("And now?")];

      const refused = [() => alone({ model: SMALL }).ask(long), () => alone({ model: SMALL }).stream(long)];

      for (const ask of refused) await expect(ask()).rejects.toThrow(/maximum context length/);
      expect(server.provider.log).toEqual([]);
    });

    test("shows refusals: of the model, of the key, of the provider", async () => {
      server.provider.enqueue(KEY_REFUSED, KEY_REFUSED);

      const statuses: unknown[] = [];
      for (const client of [alone(), alone({ model: "missing" }), alone({ apiKey: "lh_wrong" })])
        statuses.push(await client.ask([user("a")]).then(() => null, readStatus));

      expect(statuses).toEqual([500, 404, 401]);
      await expect(alone().stream([user("b")])).rejects.toThrow();
    });
  });
});

test("a conversation goes on through other surfaces, with its open call and its image", async () => {
  const session = await server.openSession();
  const defaultHeaders = { "X-Session-Id": session };
  const openai = new OpenAI({ baseURL: toAddress(server.url), apiKey: server.key, defaultHeaders });
  const anthropic = new Anthropic({ baseURL: server.url, apiKey: server.key, defaultHeaders });
  server.provider.enqueue(
    { tool_calls: [call("a", "巴黎")] },
    { text: "A dot, and sun." },
    { text: "In Paris." },
    { text: "It was a dot." },
  );
  const url = `data:image/png;base64,${PIXEL}`;
  const content = [
    { type: "text" as const, text: "What is it, and the weather?" },
    { type: "image_url" as const, image_url: { url } },
  ];
  const weather = { name: "weather", description: "The weather in a city" };

  const tools = [{ type: "function" as const, function: { ...weather, parameters: WEATHER } }];
  const asked = await openai.chat.completions.create({ model: MODEL, tools, messages: [{ role: "user", content }] });
  const [open] = asked.choices[0]?.message.tool_calls ?? [];
  const tool_use_id = `toolu_${open?.id.slice("call_".length)}`;
  const answered = await anthropic.messages.create({
    model: MODEL,
    max_tokens: 200,
    tools: [{ ...weather, input_schema: WEATHER }],
    messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id, content: "sun" }] }],
  });
  const conversation = `conv_${session.slice("ses_".length)}`;
  const response = await openai.responses.create({ model: MODEL, conversation, input: "Where?" });
  const last = await openai.chat.completions.create({ model: MODEL, messages: [user("What was it?")] });

  expect(answered.content).toMatchObject([{ type: "text", text: "A dot, and sun." }]);
  expect([response.output_text, last.choices[0]?.message.content]).toEqual(["In Paris.", "It was a dot."]);
  expect(await server.listTexts(session)).toEqual([
    "user: What is it, and the weather?image",
    "assistant: ",
    "tool: sun",
    "assistant: A dot, and sun.",
    "user: Where?",
    "assistant: In Paris.",
    "user: What was it?",
    "assistant: It was a dot.",
  ]);
  expect(JSON.stringify(lastRequest()?.messages[0])).toContain(PIXEL);
});

const COMPACTING = CHAT_CLIENTS.filter(([name]) => name !== "@ai-sdk/openai");

test.each(COMPACTING)("%s without a session asks for compaction, and a transcript of any length is answered", async (_, connect) => {
  const client = connect({ baseURL: toAddress(server.url), apiKey: server.key, session: null, model: SMALL, compacts: true });
  server.provider.respondWith(() => ({ text: "Well." }));

  expect((await client.ask([...toLong(20), user("And now?")])).text).toBe("Well.");

  expect(server.provider.log.map(({ kind }) => kind)).toContain("compaction");
  expect(JSON.stringify(lastRequest()?.messages.at(-1))).toContain("And now?");
});

const PAGES = ["openai-chat", "ai-sdk-provider", "ai-sdk-compatible", "langchain", "openai-python"];
const pages = readPages().filter(({ path }) => PAGES.includes(basename(path, ".md")));
const programs = pages.flatMap(findPrograms);
/** The first may be another installation than the system's, without the system's packages. */
const PYTHONS = ["python3", "/usr/bin/python3"];
const runs = (python: string, code: string, input = ""): boolean => spawnSync(python, ["-c", code], { input }).status === 0;
const anyPython = PYTHONS.find((python) => runs(python, ""));
const withOpenAi = PYTHONS.find((python) => runs(python, "import openai"));

describe("the programs of the pages", () => {
  /** As a reader runs it, with a tenant of its own. */
  async function runProgram({ code }: Program, command: string, file: string): Promise<string> {
    const home = mkdtempSync(join(tmpdir(), "longhand-chat-"));
    try {
      symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
      writeConnection(await createTenant(server.url, server.adminKey), join(home, ".longhand", "dev.json"));
      writeFileSync(join(home, file), code);
      const child = spawn(command, [file], { cwd: home, stdio: ["ignore", "pipe", "pipe"] });
      const [told, wrong] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(wrong).toBe("");
      return told;
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }

  test("have under 30 lines, and each page has one", () => {
    expect(programs.map(({ page }) => basename(page, ".md")).toSorted()).toEqual(PAGES.toSorted());
    for (const { code } of programs) expect(code.trimEnd().split("\n").length).toBeLessThan(30);
  });

  test.each(programs.filter(({ language }) => language === "ts"))("print what the page shows: $page", async (program) => {
    const told = await runProgram(program, process.execPath, "program.mjs");
    expect(told.trimEnd()).toBe(program.output?.trimEnd());
  });

  const python = programs.filter(({ language }) => language === "python");
  test.skipIf(anyPython === undefined).each(python)("compile (skipped where there is no python3): $page", ({ code }) => {
    const compile = "import sys; compile(sys.stdin.read(), 'program.py', 'exec', dont_inherit=True)";
    expect(runs(anyPython ?? "", compile, code)).toBe(true);
  });
  test.skipIf(withOpenAi === undefined).each(python)("print it (skipped where python3 has no openai): $page", async (program) => {
    const told = await runProgram(program, withOpenAi ?? "", "program.py");
    expect(told.trimEnd()).toBe(program.output?.trimEnd());
  });
});

/** So many exchanges, each of about 100 tokens. */
function toLong(exchanges: number): Transcript {
  return Array.from({ length: exchanges }, (_, nth) => [user(`Question ${nth}: ${"why? ".repeat(80)}`), said(`Answer ${nth}.`)]).flat();
}
