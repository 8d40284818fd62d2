/** One thing of a conversation at a time, made through any surface, and what went over the wire of that surface. */
import { createNodeSql } from "../../../scripts/support/node-sql";
import type { ModelStreamPart } from "../../../src/app/ports";
import { parseId, type SessionId } from "../../../src/domain/ids";
import { Life, settle } from "../../session/life";
import { SUMMARY } from "../../session/talk";
import { countingIds } from "../../support/builders";
import { KEY, TENANT, world } from "../support";

export const SURFACES = ["Responses", "Conversations", "Chat completions", "Anthropic", "AI SDK", "MCP"] as const;
export type Surface = (typeof SURFACES)[number];

const SCHEMA = { type: "object" };
const TOOL = "look";
const USAGE = { input: 4321, output: 2, cached: 0, reasoning: 0 };
const toUlid = (id: string): string => id.slice(id.indexOf("_") + 1);

/** What the model sends in one call. `hold`: it goes on until it is stopped. */
export type Reply = readonly (ModelStreamPart | "hold")[];
export const text = (words: string): ModelStreamPart => ({ type: "text", text: words });
export const call = (words: string): ModelStreamPart => ({
  type: "tool_call",
  call: { type: "tool_call", call_id: "given", name: TOOL, arguments: JSON.stringify({ words }) },
});
export const finish = (reason: "stop" | "tool_calls" | "length" | "content_filter" = "stop"): ModelStreamPart => ({
  ...{ type: "finish", finish: reason, usage: USAGE },
});

/** One app for all stages, because building it takes longer than a conversation. */
export class SharedApp {
  readonly #lives = new Map<SessionId, Life>();
  readonly #ids = countingIds();
  readonly app = world({ deps: { sessions: (_, session) => this.find(session).service, newId: countingIds() } }).app;
  speak: (signal: AbortSignal) => AsyncGenerator<ModelStreamPart> = () => {
    throw new Error("no stage is open");
  };

  find(session: SessionId): Life {
    const life = this.#lives.get(session) ?? new Life(createNodeSql(), "life-1", this.#ids);
    life.chat = { stream: (_, { signal }) => this.speak(signal), render: async () => ({ url: "", body: "" }) };
    this.#lives.set(session, life);
    return life;
  }
}

/** A session, and the record of what one surface said and heard of it. */
export class Stage {
  readonly #shared: SharedApp;
  readonly surface: Surface;
  readonly record: unknown[] = [];
  readonly #heard: unknown[] = [];
  #replies: Reply[] = [];
  #said = 0;
  #session: SessionId | null = null;

  constructor(surface: Surface, shared: SharedApp) {
    this.surface = surface;
    this.#shared = shared;
    shared.speak = (signal) => this.#speak(signal);
  }

  async *#speak(signal: AbortSignal): AsyncGenerator<ModelStreamPart> {
    for (const part of this.#replies.shift() ?? [text("Well."), finish()]) {
      if (part !== "hold") yield part;
      else await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
  }

  plan(...replies: readonly Reply[]): void {
    this.#replies = [...replies];
  }

  get session(): SessionId {
    if (!this.#session) throw new Error("the session is not open");
    return this.#session;
  }
  get life(): Life {
    return this.#shared.find(this.session);
  }
  get caller() {
    return { tenant: TENANT, session: this.session };
  }

  async #fetch(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.#shared.app.request(path, {
      method,
      headers: {
        ...{ authorization: `Bearer ${KEY}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** A request of the surface, which goes on record with its answer. */
  async ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const response = await this.#fetch(method, path, body, headers);
    const answer = await readBody(response);
    this.#heard.push([answer, response.headers.get("x-response-id")]);
    // The name of a request is random, and may hold any figure that is looked for.
    const told = [...response.headers].filter(([name]) => !name.endsWith("request-id"));
    this.record.push({ request: body ?? null, status: response.status, headers: Object.fromEntries(told), answer });
    await settle();
    return answer;
  }

  /** A call of the native API, which stays off the record. */
  async native(method: string, path = "", body?: unknown) {
    const response = await this.#fetch(method, `/v1/sessions/${this.session}${path}`, body, { accept: "application/json" });
    const said = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${said}`);
    await settle();
    return said === "" ? null : JSON.parse(said);
  }

  async open(system: string | null = null): Promise<void> {
    const tools = [{ name: TOOL, description: "Looks", parameters: SCHEMA }];
    const response = await this.#fetch("POST", "/v1/sessions", { tools, ...(system !== null && { system }) });
    const { id }: { readonly id: string } = await response.json();
    this.#session = parseId("ses", id);
    await settle();
  }

  /** The tool runs on the server. With `waits` a person approves its calls. */
  async serveTool(output: string, waits = false): Promise<void> {
    this.life.tools = { needsApproval: async () => waits, run: async () => ({ output, failure: null }) };
    const runs = { by: "http", tool: TOOL } as const;
    const tool = { name: TOOL, parameters: SCHEMA, runs, ...(waits && { needs_approval: true as const }) };
    await this.life.service.patch(this.caller, { tools: [tool] });
  }

  /** The page's id of its next message. */
  nameMessage(): string {
    return `m-${++this.#said}`;
  }

  /** Says it through the surface, with an image if there is one. */
  async say(words: string, image: string | null = null): Promise<void> {
    await SAY[this.surface](this, words, image);
  }

  /** Answers the call that waits. A surface that takes no results shows the one that was given natively. */
  async giveResult(output: string, failed = false): Promise<void> {
    const { turn } = await this.native("GET");
    const { id, call_id, arguments: written } = turn.open_calls[0];
    await ANSWER[this.surface](this, { id, call_id, turn: turn.id, written, output, failed });
  }

  /** What the surface lists of the conversation. One that lists nothing answers another question. */
  async list(): Promise<void> {
    if (this.record.length === 0 && (this.surface === "Chat completions" || this.surface === "Anthropic")) await this.say("?");
    if (this.surface === "Responses") await this.#listStored();
    if (this.surface === "Conversations") await this.ask("GET", `/v1/conversations/conv_${toUlid(this.session)}/items?order=asc`);
    if (this.surface === "AI SDK") await this.ask("GET", `/api/chat/${this.session}/messages`);
    if (this.surface !== "MCP") return;
    for (const name of ["read_messages", "get_session"]) await this.tool(name, {});
    const params = { uri: `longhand://sessions/${this.session}/transcript` };
    await this.ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "resources/read", params });
  }

  /** The newest response as it is kept. */
  async #listStored(): Promise<void> {
    const [id] = /resp_[0-9A-Z]{52}(?:_\d+)?/.exec(JSON.stringify(this.#heard.at(-1))) ?? [];
    for (const path of id ? [id, `${id}/input_items`] : []) await this.ask("GET", `/v1/responses/${path}`);
  }

  /** What was said so far does not belong to the exhibit. */
  forget(): void {
    this.record.splice(0);
  }

  tool(name: string, given: object) {
    const params = { name, arguments: { session_id: this.session, ...given } };
    return this.ask("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  }

  /** Compacts by hand. `during`: what happens before the summary is there. */
  async compact(during: () => Promise<void> = async () => undefined): Promise<void> {
    const { service } = this.life;
    await service.compact(this.caller, { dryRun: false, instructions: null, keepRecent: 1, upTo: null, idempotency: null });
    await settle();
    await this.#summarize(during);
  }

  /** Asks for a response that the conversation is compacted before. Only the surface of responses has that on record. */
  async respondCompacted(words: string): Promise<void> {
    const input = { conversation: `conv_${toUlid(this.session)}`, model: "embedded", input: words };
    const body = { ...input, context_management: [{ type: "compaction", compact_threshold: 2 }] };
    const asked =
      this.surface === "Responses" ? this.ask("POST", "/v1/responses", body) : this.#fetch("POST", "/v1/responses", body).then(readBody);
    while (!this.life.runtime.state.compaction.requested) await settle();
    await this.#summarize(async () => undefined);
    await asked;
  }

  async #summarize(during: () => Promise<void>): Promise<void> {
    const { service, runtime } = this.life;
    const requested = runtime.state.compaction.requested?.id;
    const leased = requested ? await service.leaseCompaction(this.caller, requested) : null;
    if (!requested || !leased?.ok || leased.value.kind !== "leased") throw new Error("nothing is compacted");
    await during();
    const outcome = { ok: true, text: SUMMARY, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    await service.recordCompaction(this.caller, { compaction: requested, token: leased.value.token, outcome, part: 0, next: null });
    await settle();
  }
}

interface Answering {
  readonly id: string;
  readonly call_id: string;
  readonly turn: string;
  /** The arguments of the call. */
  readonly written: string;
  readonly output: string;
  readonly failed: boolean;
}

const respond = (stage: Stage, input: readonly object[]) =>
  stage.ask("POST", "/v1/responses", { conversation: `conv_${toUlid(stage.session)}`, model: "embedded", input });
const complete = (stage: Stage, messages: readonly object[]) =>
  stage.ask("POST", "/v1/chat/completions", { model: "embedded", messages }, { "x-session-id": stage.session });
const createMessage = (stage: Stage, messages: readonly object[]) =>
  stage.ask(
    "POST",
    "/v1/messages",
    { model: "embedded", max_tokens: 100, messages },
    { "x-session-id": stage.session, "anthropic-version": "2023-06-01" },
  );
const chatUi = (stage: Stage, message: object) => stage.ask("POST", "/api/chat", { id: stage.session, message });

async function sayNatively(stage: Stage, words: string, image: string | null): Promise<void> {
  const shown = image === null ? [] : [{ type: "image", media_type: "image/png", url: image }];
  await stage.native("POST", "/messages", { content: [{ type: "text", text: words }, ...shown] });
}

const SAY: Readonly<Record<Surface, (stage: Stage, words: string, image: string | null) => Promise<unknown>>> = {
  Responses(stage, words, image) {
    const shown = image === null ? [] : [{ type: "input_image", image_url: image, detail: "auto" }];
    return respond(stage, [{ type: "message", role: "user", content: [{ type: "input_text", text: words }, ...shown] }]);
  },
  Conversations: sayNatively,
  "Chat completions"(stage, words, image) {
    const shown = image === null ? [] : [{ type: "image_url", image_url: { url: image } }];
    return complete(stage, [{ role: "user", content: [{ type: "text", text: words }, ...shown] }]);
  },
  Anthropic(stage, words, image) {
    const shown = image === null ? [] : [{ type: "image", source: { type: "url", url: image } }];
    return createMessage(stage, [{ role: "user", content: [{ type: "text", text: words }, ...shown] }]);
  },
  "AI SDK"(stage, words, image) {
    const shown = image === null ? [] : [{ type: "file", mediaType: "image/png", url: image }];
    return chatUi(stage, { id: stage.nameMessage(), role: "user", parts: [{ type: "text", text: words }, ...shown] });
  },
  MCP: (stage, words, image) => (image === null ? stage.tool("send_message", { text: words }) : sayNatively(stage, words, image)),
};

async function answerNatively(stage: Stage, { id, output, failed }: Answering): Promise<void> {
  await stage.native("POST", "/tool_results", { results: [{ execution_id: id, output, is_error: failed }] });
}

const ANSWER: Readonly<Record<Surface, (stage: Stage, answering: Answering) => Promise<unknown>>> = {
  Responses: (stage, { call_id, output, failed }) =>
    respond(stage, [{ type: "function_call_output", call_id, output, ...(failed && { status: "incomplete" }) }]),
  Conversations: answerNatively,
  "Chat completions"(stage, { id, written, output }) {
    const called = { id: `call_${toUlid(id)}`, type: "function", function: { name: TOOL, arguments: written } };
    const result = { role: "tool", tool_call_id: called.id, content: output };
    return complete(stage, [{ role: "assistant", content: null, tool_calls: [called] }, result]);
  },
  Anthropic(stage, { id, written, output, failed }) {
    const use = { type: "tool_use", id: `toolu_${toUlid(id)}`, name: TOOL, input: JSON.parse(written) };
    const result = { type: "tool_result", tool_use_id: use.id, content: output, is_error: failed };
    return createMessage(stage, [
      { role: "assistant", content: [use] },
      { role: "user", content: [result] },
    ]);
  },
  "AI SDK"(stage, { id, turn, written, output, failed }) {
    const said = failed ? { state: "output-error", errorText: output } : { state: "output-available", output };
    const part = { type: `tool-${TOOL}`, toolCallId: id, input: JSON.parse(written), ...said };
    return chatUi(stage, { id: turn, role: "assistant", parts: [part] });
  },
  MCP: answerNatively,
};

/** JSON, or what the events of a stream hold. A text that is JSON counts as what it holds. */
async function readBody(response: Response): Promise<unknown> {
  const said = await response.text();
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return said === "" ? null : JSON.parse(said);
  return [...said.matchAll(/^data: (\{.*\})$/gm)].map(([, data = ""]) => JSON.parse(data));
}
