/** HTTP tools against a real server on this host. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpTool } from "../../src/contract/registered-tool";
import { startTimer } from "../../src/lib/timer";
import { callHttpTool, type HttpCall } from "../../src/tools/http-tool";
import { createToolFetch } from "../../src/tools/safe-fetch";
import { FakeSchedule } from "../support/fake-schedule";
import { type Heard, PNG, startToolServer, type ToolServer } from "../support/stand-in/tool-server";
import { makeId } from "../tenant/support";

const SECRET = "sk-tool-secret-1";
const secret = { header: { name: "x-key", value: SECRET }, value: SECRET };
const execution = makeId("exe", 7);
const fetchTool = createToolFetch({ fetch: (url, init) => fetch(url, init), now: Date.now, allowPrivate: true });

let server: ToolServer;
let other: ToolServer;
beforeAll(async () => {
  [server, other] = await Promise.all([startToolServer(), startToolServer()]);
});
afterAll(() => Promise.all([server.close(), other.close()]));

const base: HttpTool = {
  description: null,
  parameters: { type: "object" },
  url: "",
  method: "POST",
  secret_header: null,
  timeout_ms: 30_000,
  max_bytes: 100_000,
  needs_approval: false,
  files: null,
};

interface Call extends Partial<Omit<HttpCall, "tool">> {
  readonly tool?: Partial<HttpTool>;
}

function call(path: string, { tool, ...more }: Call = {}, schedule = startTimer) {
  const whole = { ...base, url: `${server.url}${path}`, ...tool };
  const given = { arguments: {}, execution, secret: null, signal: new AbortController().signal, ...more };
  return callHttpTool({ tool: whole, ...given }, { fetch: fetchTool, schedule });
}

async function echo(more: Call): Promise<Heard> {
  const { output } = await call("/echo?fixed=1", more);
  return JSON.parse(output) as Heard;
}

describe("a call", () => {
  it.each(["POST", "PUT", "PATCH"] as const)("of %s sends the arguments as JSON, under the execution's id", async (method) => {
    const heard = await echo({ tool: { method }, arguments: { city: "Zürich", days: [1, 2] } });

    expect(heard).toMatchObject({ method, url: "/echo?fixed=1", body: '{"city":"Zürich","days":[1,2]}' });
    expect(heard.headers).toMatchObject({ "content-type": "application/json", "idempotency-key": execution });
  });

  it.each(["GET", "DELETE"] as const)("of %s sends them as the query, beside the one that the URL has", async (method) => {
    const given = { city: "a b&c", days: [1, 2], filter: { wet: true }, left: null };
    const heard = await echo({ tool: { method }, arguments: given });

    expect(heard).toMatchObject({ method, body: "" });
    expect([...new URL(heard.url, server.url).searchParams]).toEqual([
      ["fixed", "1"],
      ["city", "a b&c"],
      ["days", "1"],
      ["days", "2"],
      ["filter", '{"wet":true}'],
    ]);
    expect(heard.headers).not.toHaveProperty("content-type");
  });

  it("shows the server its secret, and the model none of it", async () => {
    const before = server.heard.length;
    const echoed = await call("/echo", { secret });
    const refused = await call("/status?code=403", { secret });

    expect(server.heard.slice(before).map(({ headers }) => headers["x-key"])).toEqual([SECRET, SECRET]);
    expect(echoed.output).toContain('"x-key":"[secret]"');
    expect(refused.output).toContain("refused: [secret]");
    expect(JSON.stringify([echoed, refused])).not.toContain(SECRET);
  });

  it("hides a secret that JSON writes otherwise", async () => {
    const value = 'pass"word\\1';
    const { output } = await call("/echo", { secret: { header: { name: "x-key", value: `Token ${value}` }, value } });

    expect((JSON.parse(output) as Heard).headers["x-key"]).toBe("Token [secret]");
  });

  it("that is sent on to another server does not take the secret along", async () => {
    const to = encodeURIComponent(`${other.url}/echo`);
    const { output } = await call(`/redirect?code=307&to=${to}`, { secret, arguments: { a: 1 } });

    expect(JSON.parse(output)).toMatchObject({ method: "POST", body: '{"a":1}' });
    expect(other.heard.at(-1)?.headers).not.toHaveProperty("x-key");
  });
});

describe("an answer", () => {
  it.each([
    ["text as it came", "/text", "sunny, 21 °C"],
    ["text in another charset", "/latin", "café"],
    ["nothing", "/empty", ""],
  ])("is %s", async (_, path, output) => {
    expect(await call(path)).toEqual({ output, failure: null });
  });

  it("that is no text is kept by reference, and named in words", async () => {
    expect(await call("/image")).toEqual({
      output: "[image: image/png, 16 bytes, kept with the execution; it cannot be shown here]",
      failure: null,
      artifacts: [{ type: "image", content: { media_type: "image/png", bytes: 16, base64: PNG.toString("base64") } }],
    });
  });

  it("of another status is a failure, and the model reads what it says", async () => {
    expect(await call("/status?code=404")).toEqual({
      output: "The tool answered with status 404.\n\nrefused: no key",
      failure: "status",
    });
  });

  it("that would make a GET of a POST is not followed", async () => {
    expect(await call("/redirect?to=/echo")).toMatchObject({ failure: "status", output: "The tool answered with status 302." });
  });

  it("without end is read to the limit, and the model reads its beginning", async () => {
    const notice = "[... content truncated, showing the first 50000 characters of more ...]\n\n";
    expect(await call("/endless", { tool: { max_bytes: 50_000 } })).toEqual({ output: notice + "x".repeat(50_000), failure: null });
  });

  it.each([
    ["text/plain; charset=utf-8", "天".repeat(20)],
    ["", "天".repeat(20)],
    ["application/json", JSON.stringify({ said: "天".repeat(20) })],
  ])("that is too long says how long it is, and ends with a whole character: %s", async (type, body) => {
    const said = `/say?type=${encodeURIComponent(type)}&body=${encodeURIComponent(body)}`;
    const bytes = new TextEncoder().encode(body).byteLength;
    const { output, failure } = await call(said, { tool: { max_bytes: 31 } });

    const [notice = "", shown = ""] = output.split("\n\n");
    expect(notice).toBe(`[... content truncated, showing the first ${shown.length} characters of ${bytes} bytes ...]`);
    expect([body.startsWith(shown), shown.length > 9, failure]).toEqual([true, true, null]);
  });

  it("that is too long and no text is refused", async () => {
    expect(await call("/image", { tool: { max_bytes: 15 } })).toMatchObject({
      output: "The tool's answer is larger than 15 bytes. It may have taken effect.",
      failure: "too_large",
    });
  });

  it("that is cut inside of the secret shows no part of it", async () => {
    const { output } = await call(`/say?body=${"a".repeat(200)}${SECRET}`, { tool: { max_bytes: 200 + SECRET.length - 3 }, secret });
    expect(output.slice(output.indexOf("\n\n"))).toMatch(/^\n\na+$/);
  });

  it("of another status that is too long is still a failure of that status", async () => {
    expect(await call("/status?code=404", { tool: { max_bytes: 7 } })).toMatchObject({
      output: expect.stringMatching(/^The tool answered with status 404\.\n\n\[\.\.\. .*\]\n\nrefused$/s),
      failure: "status",
    });
  });

  it("that breaks off is no answer", async () => {
    expect(await call("/broken")).toMatchObject({ failure: "unreachable" });
  });

  it("that does not come is a timeout", async () => {
    const timers = new FakeSchedule();
    const running = call("/hangs", { tool: { timeout_ms: 2_000 } }, timers.schedule);
    await server.hanging();
    timers.advance(2_000);

    expect(await running).toMatchObject({ failure: "timeout" });
  });

  it("whose caller has gone is aborted", async () => {
    const given = new AbortController();
    const running = call("/hangs", { signal: given.signal });
    await server.hanging();
    given.abort();

    expect(await running).toMatchObject({ failure: "unreachable" });
  });
});

it("a server that is not there is unreachable, and its address is in no word of it", async () => {
  const outcome = await call("", { tool: { url: "http://127.0.0.1:1/x?token=abc" } });

  expect(outcome.failure).toBe("unreachable");
  expect(outcome.output).not.toMatch(/127|token/);
});
