/**
 * The page and the server of docs/api/browser-page.md in a real browser, against a running backend that is cut off, killed and started again.
 * Skipped where Chromium is not installed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request as openRequest, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi, type Method } from "../../../scripts/support/api-client";
import { createTenant, writeConnection } from "../../../scripts/support/connection";
import type { LocalServer } from "../../../scripts/support/local-server";
import { findFreePort } from "../../../scripts/support/port";
import { createSandbox, type Sandbox } from "../../../scripts/support/sandbox";
import { BROWSER, Browser, type Tab } from "../../support/browser";

const MS = 60_000;
const text = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "api", "browser-page.md"), "utf8");
const readBlock = (language: string): string => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(text)?.[1] ?? "";

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** The line between the browser and the backend, which a test cuts. */
class Line {
  readonly #server = createServer((request, response) => void this.#pass(request, response));
  /** Nothing passes. */
  isCut = false;
  /** The answer to the next message is lost. */
  losesAnswer = false;
  /** Added to the last event that a stream says to have, as if the backend had not stored those behind it. */
  ahead = 0;
  target = "";
  /** What the streams said. */
  heard = "";
  /** How many streams are open. */
  streams = 0;
  #held: { readonly pattern: RegExp; readonly asked: PromiseWithResolvers<void>; readonly released: PromiseWithResolvers<void> } | null =
    null;

  readonly listen = (): Promise<string> => listen(this.#server);

  cut(): void {
    this.isCut = true;
    this.#server.closeAllConnections();
  }

  /** The next request that the pattern matches waits for `release`. */
  hold(pattern: RegExp) {
    const held = { pattern, asked: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
    this.#held = held;
    return { asked: held.asked.promise, release: held.released.resolve };
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #follow(answer: IncomingMessage, response: ServerResponse): void {
    this.streams += 1;
    response.on("close", () => {
      this.streams -= 1;
    });
    answer.on("data", (bytes) => {
      this.heard += String(bytes);
    });
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isCut) return void request.socket.destroy();
    const held = this.#held;
    if (held?.pattern.test(`${request.method} ${request.url}`)) {
      this.#held = null;
      held.asked.resolve();
      await held.released.promise;
    }
    const { "last-event-id": last, ...headers } = request.headers;
    const seen = last === undefined ? {} : { "last-event-id": String(Number(last) + this.ahead) };
    const onward = openRequest(`${this.target}${request.url}`, { method: request.method ?? "GET", headers: { ...headers, ...seen } });
    const isLost = this.losesAnswer && request.method === "POST" && String(request.url).endsWith("/messages");
    if (isLost) this.losesAnswer = false;
    onward.on("response", (answer) => {
      // A browser repeats by itself what fails on a connection that it used before.
      if (isLost) answer.resume().on("end", () => response.writeHead(502).end());
      else {
        if (answer.headers["content-type"]?.startsWith("text/event-stream")) this.#follow(answer, response);
        pipeline(answer, response.writeHead(answer.statusCode ?? 502, answer.headers), () => undefined);
      }
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }
}

/** A model that says what the test says, when it says it. */
class Model {
  readonly #asked = new EventEmitter();
  readonly #waiting: ServerResponse[] = [];
  readonly #server = createServer((request, response) => {
    request.resume();
    this.#waiting.push(response.writeHead(200, { "content-type": "text/event-stream" }));
    this.#asked.emit("asked");
  });

  readonly listen = (): Promise<string> => listen(this.#server);

  /** The next call that waits for an answer. */
  async next(): Promise<{ say(words: string): void; end(): void; break(): void }> {
    if (this.#waiting.length === 0) await once(this.#asked, "asked");
    const response = this.#waiting.shift() as ServerResponse;
    const send = (delta: object, finish_reason: string | null) =>
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      );
    return {
      say: (content) => void send({ content }, null),
      end: () => void (send({}, "stop") && response.end("data: [DONE]\n\n")),
      break: () => void response.destroy(),
    };
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const line = new Line();
const model = new Model();
const folder = mkdtempSync(join(tmpdir(), "longhand-site-"));
let sandbox: Sandbox;
let server: LocalServer;
let tenant: Connection;
let browser: Browser;
let site: ChildProcess;
let port: number;

const call = (method: Method, path: string, body?: unknown) => callApi(tenant, { method, path, ...(body !== undefined && { body }) });

/** Serves the documented page, as its reader does. */
async function startSite(): Promise<void> {
  port = await findFreePort();
  await call("PATCH", "/v1/tenant", { allowed_origins: [`http://localhost:${port}`] });
  writeConnection({ ...tenant, url: await line.listen() }, join(folder, ".longhand", "dev.json"));
  writeFileSync(join(folder, "chat.mjs"), readBlock("js"));
  writeFileSync(join(folder, "chat.html"), readBlock("html"));
  site = spawn(process.execPath, ["chat.mjs"], { cwd: folder, env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
  while (site.exitCode === null) if ((await fetch(`http://127.0.0.1:${port}/`).catch(() => null))?.ok) return;
  throw new Error("The documented server ended");
}

async function startServer(): Promise<void> {
  server = await sandbox.start();
  line.target = server.url;
}

beforeAll(async () => {
  if (BROWSER === undefined) return;
  sandbox = await createSandbox({ variables: { ALLOW_PRIVATE_MODEL_URLS: "true" } });
  await startServer();
  tenant = await createTenant(server.url, sandbox.adminKey);
  await call("PUT", "/v1/models/no-key", { provider: "openai", upstream_id: "gpt-4o-mini" });
  const held = {
    provider: "openai-compatible",
    base_url: `${await model.listen()}/v1`,
    upstream_id: "m",
    context_window: 32_768,
    max_output: 1_000,
  };
  await call("PUT", "/v1/models/held", held);
  await startSite();
  browser = await Browser.start();
}, 2 * MS);

afterEach(() => browser?.closeTabs());

afterAll(async () => {
  await browser?.close();
  site?.kill("SIGKILL");
  line.close();
  model.close();
  await sandbox?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const open = (beside?: Tab): Promise<Tab> => browser.open(`http://localhost:${port}/`, beside);
const chat = "document.querySelector('#chat').textContent";
const state = "document.querySelector('#state').textContent";
const unsent = "document.querySelector('#unsent').textContent";
const readLines = async (tab: Tab): Promise<string[]> =>
  String(await tab.read(chat))
    .trimEnd()
    .split("\n");
const untilShown = (tab: Tab, words: string): Promise<void> => tab.until(`${chat}.includes(${JSON.stringify(words)})`);
const type = (tab: Tab, words: string) =>
  tab.read(`document.querySelector("input").value = ${JSON.stringify(words)}; document.querySelector("form").requestSubmit()`);

/** Sends a message and waits for the answer of the embedded stand-in, which repeats it. */
async function say(tab: Tab, words: string): Promise<void> {
  await type(tab, words);
  await untilShown(tab, `Noted: "${words}"`);
}

const sessionIn = z.object({ session: z.string(), token: z.string() });
async function findSession(tab: Tab): Promise<string> {
  return `/v1/sessions/${sessionIn.parse(await tab.read(`fetch("/token", { method: "POST" }).then((answer) => answer.json())`)).session}`;
}

async function reload(tab: Tab): Promise<void> {
  await tab.load("Page.reload");
}

const items = z.object({ data: z.array(z.object({ id: z.string(), role: z.string() })) });
const listItems = async (session: string) => items.parse(await call("GET", `${session}/messages?order=asc`)).data;

describe.skipIf(BROWSER === undefined)("the page of docs/api/browser-page.md in a browser", { timeout: MS }, () => {
  test("shows questions and answers, in each tab of the visitor and after a reload", async () => {
    const tab = await open();
    const other = await open(tab);
    await say(tab, "旅行 I like it.");
    await untilShown(other, "Noted:");
    const said = await readLines(tab);
    expect(said).toEqual(["> 旅行 I like it.", expect.stringContaining("Noted: ")]);
    expect(await readLines(other)).toEqual(said);

    await reload(tab);
    await untilShown(tab, "Noted:");
    expect(await readLines(tab)).toEqual(said);
  });

  test("shows each of 250 turns after a reload, in order", async () => {
    const tab = await open();
    const turns = Array.from({ length: 250 }, (_, n) => [`Question ${n}`, `Answer ${n}`]).flat();
    const items = turns.map((content, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content }));
    await call("POST", `${await findSession(tab)}/messages/batch`, { items });

    await reload(tab);
    await untilShown(tab, "Answer 249");
    expect(await readLines(tab)).toEqual(turns.map((content, n) => (n % 2 === 0 ? `> ${content}` : content)));
  });

  test("says why a turn failed, after a reload too, until one succeeds", async () => {
    const tab = await open();
    const session = await findSession(tab);
    await call("PATCH", session, { model: "no-key" });
    await type(tab, "Hello.");
    const why = `${state}.includes("There is no key for the model") && ${state}.includes("retry the turn")`;
    await tab.until(why);
    await reload(tab);
    await tab.until(why);

    await call("PATCH", session, { model: "embedded" });
    await say(tab, "My dog is called Rex.");
    expect(await tab.read(state)).toBe("");
  });

  test("sends what was written offline when it can, once and in order", async () => {
    const tab = await open();
    await say(tab, "I am here.");
    line.cut();
    await type(tab, "I am away.");
    await type(tab, "I am far away.");
    await tab.until(`${state}.includes("tried again")`);
    expect(await tab.read(unsent)).toBe("> I am away. (not sent yet)\n> I am far away. (not sent yet)\n");

    line.isCut = false;
    await untilShown(tab, 'Noted: "I am far away."');
    expect((await readLines(tab)).filter((said) => said.startsWith(">"))).toEqual(["> I am here.", "> I am away.", "> I am far away."]);
    expect([await tab.read(unsent), await tab.read(state)]).toEqual(["", ""]);
  });

  test("sends a message again whose answer was lost, and it is said once", async () => {
    const tab = await open();
    await tab.until(`${state} === ""`);
    line.losesAnswer = true;
    await type(tab, "Do you hear me?");
    await tab.until(`${unsent} === "" && ${chat}.split("\\n").length === 3`);

    expect((await listItems(await findSession(tab))).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("follows one stream where it begins to read the record twice", async () => {
    const tab = await open();
    await say(tab, "I am here.");
    const session = await findSession(tab);
    const held = line.hold(/^PUT .*by-external-id/);
    const [first] = await listItems(session);
    await call("POST", `${session}/messages/${first?.id}/redact`);
    await held.asked;
    line.losesAnswer = true;
    await say(tab, "I am still here.");
    const read = line.hold(/^GET .*\/messages\?/);
    held.release();
    await read.asked;
    read.release();
    for (const words of ["I am here for good.", "I am glad."]) await say(tab, words);

    await expect.poll(() => line.streams).toBe(1);
  });

  test("shows an answer that broke off, and its retry, as the record has them", async () => {
    const tab = await open();
    const session = await findSession(tab);
    await call("PATCH", session, { model: "held" });
    await type(tab, "Well?");
    const first = await model.next();
    first.say("It is ");
    await untilShown(tab, "It is ");
    first.break();
    await tab.until(`${state} !== ""`);
    const retried = call("POST", `${session}/retry`);
    const second = await model.next();
    second.say("It is whole.");
    second.end();
    await retried;
    await untilShown(tab, "It is whole.\n");

    const shown = await readLines(tab);
    await reload(tab);
    await untilShown(tab, "It is whole.\n");
    expect(await readLines(tab)).toEqual(shown);
  });

  test("shows a question that waited behind the answer before it, which broke off", async () => {
    const tab = await open();
    const session = await findSession(tab);
    await call("PATCH", session, { model: "held" });
    await type(tab, "First?");
    const first = await model.next();
    first.say("It is ");
    await untilShown(tab, "It is ");
    await type(tab, "Second?");
    await untilShown(tab, "> Second?");
    first.break();
    const second = await model.next();
    second.say("Two.");
    second.end();
    await untilShown(tab, "Two.\n");

    expect(await readLines(tab)).toEqual(["> First?", "It is ", "> Second?", "Two."]);
    await reload(tab);
    await untilShown(tab, "Two.\n");
    expect(await readLines(tab)).toEqual(["> First?", "It is ", "> Second?", "Two."]);
  });

  test("shows what is kept of an answer whose backend was killed in its middle", async () => {
    const tab = await open();
    await call("PATCH", await findSession(tab), { model: "held" });
    await type(tab, "Tell me.");
    const answer = await model.next();
    answer.say("It began ");
    await untilShown(tab, "It began ");
    answer.say("in the dark.");
    await untilShown(tab, "in the dark.");
    await server.kill();
    await startServer();
    await tab.until(`/^> Tell me\\.\\nIt began .*\\n$/.test(${chat})`);

    const shown = await tab.read(chat);
    await reload(tab);
    await untilShown(tab, "It began ");
    expect(await tab.read(chat)).toBe(shown);
  });

  test("keeps the order of what is said while it reads the record", async () => {
    const tab = await open();
    const session = await findSession(tab);
    const held = line.hold(/^GET .*\/messages\?/);
    await reload(tab);
    await held.asked;
    await call("POST", `${session}/messages`, { content: "I am first." });
    held.release();
    await say(tab, "I am second.");

    expect((await readLines(tab)).slice(0, 2)).toEqual(["> I am first.", expect.stringContaining("Noted: ")]);
  });

  test("shows no tail of an answer that it saw no beginning of", async () => {
    const tab = await open();
    await call("PATCH", await findSession(tab), { model: "held" });
    await type(tab, "Tell me.");
    const answer = await model.next();
    answer.say("Once upon ");
    await untilShown(tab, "Once upon ");
    const heard: string[] = [];
    await reload(tab);
    await untilShown(tab, "> Tell me.");
    await tab.read(
      `new MutationObserver(() => { window.heard = (window.heard ?? "") + "|" + ${chat}; }).observe(document.querySelector("#chat"), { childList: true, characterData: true, subtree: true })`,
    );
    answer.say("a time.");
    answer.end();
    await untilShown(tab, "Once upon a time.\n");
    heard.push(
      ...String(await tab.read("window.heard"))
        .split("|")
        .slice(1),
    );
    expect(new Set(heard)).toEqual(new Set(["> Tell me.\nOnce upon a time.\n"]));
  });

  test("reads the record again behind a gap, which a redaction leaves", async () => {
    const tab = await open();
    await say(tab, "My secret is 1234.");
    const session = await findSession(tab);
    line.cut();
    const [first] = await listItems(session);
    await call("POST", `${session}/messages`, { content: "I am another." });
    await call("POST", `${session}/messages/${first?.id}/redact`);
    line.isCut = false;
    await untilShown(tab, "> I am another.");

    expect(await tab.read(chat)).not.toContain("> My secret");
    expect(line.heard.includes("event: stream.gap")).toBe(true);
  });

  test("forgets at a rewind what a crash took", async () => {
    const tab = await open();
    await say(tab, "I stay.");
    const before = await readLines(tab);
    line.cut();
    line.ahead = 3;
    await server.kill();
    await startServer();
    await tab.read(`document.querySelector("#chat").append("what was never stored")`);
    line.isCut = false;
    await tab.until(`!${chat}.includes("never stored")`);
    line.ahead = 0;

    expect(await readLines(tab)).toEqual(before);
    expect(line.heard.includes("event: stream.rewind")).toBe(true);
    await say(tab, "I stay, too.");
  });

  test("of an origin that is not allowed says so, and does not ask again", async () => {
    const tab = await browser.open(`http://127.0.0.1:${port}/`);
    await tab.until(`${state}.includes("origin")`);
    const said = await tab.read(state);
    expect(said).not.toContain("tried again");
  });
});

describe.skipIf(BROWSER === undefined)("what a page reads of the API", { timeout: MS }, () => {
  test("is its session, with its id, and why it is refused what is beyond its token", async () => {
    const tab = await open();
    const ask = (init: string, sign = "") =>
      tab.read(`fetch("/token", { method: "POST" }).then((answer) => answer.json()).then(({ url, session, token }) => {
        const headers = { authorization: "Bearer " + token + "${sign}", "content-type": "application/json", "if-match": "x" };
        return fetch(url + "/v1/sessions/" + session, { headers, ...${init} });
      }).then(async (answer) => [answer.status, (await answer.json()).type ?? "", answer.headers.get("x-request-id") !== null])`);
    const problem = (name: string) => `urn:longhand:problem:${name}`;

    expect(await ask("{}")).toEqual([200, "", true]);
    expect(await ask(`{ method: "PATCH", body: "{}" }`)).toEqual([403, problem("key_required"), true]);
    expect(await ask("{}", "x")).toEqual([401, problem("unauthorized"), true]);
  });

  test("is a refused stream, which it does not try for ever", async () => {
    const tab = await open();
    const path = `${await findSession(tab)}/stream?token=forged.to.ken`;
    const url = z.object({ url: z.string() }).parse(JSON.parse(readFileSync(join(folder, ".longhand", "dev.json"), "utf8"))).url;
    const closed = `new Promise((resolve) => { const refused = new EventSource("${url}${path}"); refused.onerror = () => resolve(refused.readyState); })`;
    expect(await tab.read(closed)).toBe(2);
  });
});
