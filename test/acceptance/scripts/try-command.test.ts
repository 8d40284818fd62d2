/** `npm run try` as a person runs it: without a key, with the embedded model, and with a provider that uses the wire format. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { chooseModel, TRIED_PROVIDERS } from "../../../scripts/try/provider";
import { describeCost } from "../../../scripts/try/receipts";
import { answerCall, SCRIPT, SYSTEM } from "../../../scripts/try/script";
import { startStandIn } from "../../support/stand-in/stand-in";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const SECONDS = 90_000;
const KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"] as const;

/** A test neither uses nor shows this machine's own keys. */
const without = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !KEYS.some((key) => key === name)));

async function tryModel(args: readonly string[], by: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {}) {
  const env = { ...without(process.env), ...by.env };
  const child = spawn(process.execPath, [join(ROOT, "scripts", "run.mjs"), "try", ...args], {
    cwd: ROOT,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [out, said] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.stdin.end(by.input ?? "");
  const [code] = await once(child, "close");
  return { code, out, said };
}

const choice = { window: 32_000, base_url: null };

describe("without its key", () => {
  test.each([
    ["openai/gpt-6-sol", "OPENAI_API_KEY"],
    ["openai-chat/gpt-4o-mini", "OPENAI_API_KEY"],
    ["anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"],
    ["google/gemini-3.5-flash", "GOOGLE_GENERATIVE_AI_API_KEY"],
  ])("%s names the variable that is missing", (model, variable) => {
    const others = Object.fromEntries(KEYS.filter((key) => key !== variable).map((key) => [key, "another-key"]));
    expect(() => chooseModel({ ...choice, model }, others)).toThrow(`${variable} is missing`);
    expect(() => chooseModel({ ...choice, model }, { ...others, [variable]: "  " })).toThrow(`${variable} is missing`);
  });

  test("the command ends at once with exit code 1, says how to go on, and starts nothing", async () => {
    const { code, out, said } = await tryModel(["--model", "anthropic/claude-sonnet-5-5"], { env: { OPENAI_API_KEY: "another-key" } });
    expect([code, out]).toEqual([1, ""]);
    expect(said).toContain("ANTHROPIC_API_KEY is missing");
    expect(said).toContain("ANTHROPIC_API_KEY=… npm run try -- --model anthropic/claude-sonnet-5-5");
    expect(said).not.toContain("Starting");
    expect(said).not.toContain("another-key");
  });
});

describe("the model that is tried", () => {
  test.each(["gpt-4o", "mistral/large", "openai/", "/gpt-4o"])("%s names no model of a known provider", (model) => {
    expect(() => chooseModel({ ...choice, model }, {})).toThrow(`one of the providers ${TRIED_PROVIDERS.join(", ")}`);
  });

  test("gets the provider's own key and no other, and its name may hold slashes", () => {
    const env = { OPENAI_API_KEY: "one", OPENAI_COMPATIBLE_API_KEY: "two", HOME: "/root" };
    const { id, variables } = chooseModel(
      { window: 8_000, base_url: "https://models.example/v1", model: "openai-compatible/meta/llama" },
      env,
    );
    expect(Object.keys(variables).sort()).toEqual(["MODELS", "OPENAI_COMPATIBLE_API_KEY"]);
    expect(JSON.parse(variables.MODELS ?? "")).toEqual({
      [id]: {
        provider: "openai-compatible",
        upstream_id: "meta/llama",
        base_url: "https://models.example/v1",
        context_window: 8_000,
        max_output: 4_096,
      },
    });
  });

  test("an OpenAI-compatible one needs an address, and a key unless it is on this machine", () => {
    const model = "openai-compatible/llama";
    expect(() => chooseModel({ ...choice, model }, { OPENAI_COMPATIBLE_API_KEY: "one" })).toThrow("--base-url");
    expect(() => chooseModel({ ...choice, model, base_url: "https://models.example/v1" }, {})).toThrow(
      "OPENAI_COMPATIBLE_API_KEY is missing",
    );
    expect(chooseModel({ ...choice, model, base_url: "http://localhost:11434/v1" }, {}).variables).not.toHaveProperty(
      "OPENAI_COMPATIBLE_API_KEY",
    );
  });

  test("its calls are answered, including calls of unknown tools", () => {
    expect(answerCall("get_weather", '{"city":"Osaka"}')).toMatchObject({ is_error: false, output: expect.stringContaining("Osaka") });
    expect([answerCall("get_weather", "{"), answerCall("get_news", "{}")].map(({ is_error }) => is_error)).toEqual([true, true]);
  });
});

describe("what a conversation cost", () => {
  test.each([
    [null, 3, "cost unknown"],
    [0, 0, "cost $0.000000"],
    [0.5, 0, "cost $0.500000"],
    [0.5, 1, "cost $0.500000, without 1 call of unknown cost"],
    [0.5, 2, "cost $0.500000, without 2 calls of unknown cost"],
  ])("%j with %i unpriced", (cost, unpriced_calls, said) => {
    const told = describeCost({ cost, unpriced_calls });
    expect(cost === null ? told.slice(0, said.length) : told).toBe(said);
  });
});

describe("a conversation", () => {
  const stops: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(stops.map((stop) => stop())));

  test("with the embedded model goes through the whole script, and a small window is compacted", { timeout: SECONDS }, async () => {
    const { code, out, said } = await tryModel(["--model", "embedded/embedded", "--window", "1200"]);
    expect([code, said]).toEqual([0, "Starting a server for this run …\n"]);
    expect(out.match(/^> /gm)).toHaveLength(SCRIPT.length);
    expect(out).toMatch(/compaction \(threshold: summarize\): \d+ → \d+ tokens/);
    // The last question asks about content that only the summary still has.
    expect(out.slice(out.lastIndexOf("> "))).toContain("My booking code is HALCYON-42");
    expect(out).toContain("Hello! I am Longhand's embedded stand-in model");
    for (const sentence of SYSTEM.split(". ")) expect(out).not.toContain(sentence);
    expect(out).toMatch(/\n7 turns; \d+ tokens in all calls, cost unknown/);
  });

  test("with a provider over HTTP reads the input line by line, answers its calls, sends it the key, and tells a failure as such", {
    timeout: SECONDS,
  }, async () => {
    const provider = await startStandIn();
    stops.push(provider.close);
    const called = { id: "call_1", name: "get_weather", arguments: '{"city":"Lisbon"}' };
    const refusal = { status: 401, error: { message: "No such key.", type: "invalid_request_error" } };
    provider.enqueue({ text: "Let me look.", tool_calls: [called] }, { text: "It is clear in Lisbon." }, refusal);
    const args = ["--model", "openai-compatible/stand-in", "--base-url", provider.baseUrl, "--interactive"];
    const input = "What is the weather in Lisbon?\n\nAre you still there?\n";
    const { code, out, said } = await tryModel(args, { env: { OPENAI_COMPATIBLE_API_KEY: "a-key-for-this-test" }, input });
    expect(out).toContain("> What is the weather in Lisbon?\n\nLet me look.");
    expect(out).toContain('[get_weather({"city":"Lisbon"}) → {"city":"Lisbon"');
    expect(out).toContain("It is clear in Lisbon.");
    expect(out).toContain("> Are you still there?");
    expect(new Set(provider.log.map(({ authorization, body }) => `${body.model} ${authorization}`))).toEqual(
      new Set(["stand-in Bearer a-key-for-this-test"]),
    );
    expect([
      code,
      said.includes("The turn ended without an answer: The provider refused the model's API key"),
      `${out}${said}`.includes("a-key-for-this-test"),
    ]).toEqual([1, true, false]);
  });
});
