/** One conversation over every surface: what is said through each of them, and a model that answers as the test has planned. */
import { expect } from "vitest";
import type { ModelStreamPart } from "../../../src/app/ports";
import { type ItemId, parseId, type SessionId } from "../../../src/domain/ids";
import type { Life } from "../../session/life";
import { SUMMARY } from "../../session/talk";
import { countingIds } from "../../support/builders";
import { connect } from "../openai/response-life";
import { KEY, TENANT } from "../support";

export const SPEAKERS = ["native", "chat", "anthropic", "responses", "ai-sdk", "mcp"] as const;
export type Speaker = (typeof SPEAKERS)[number];
/** MCP takes no results. */
export const ANSWERERS = ["native", "chat", "anthropic", "responses", "ai-sdk"] as const;
export type Answerer = (typeof ANSWERERS)[number];

/** What the model says in one call. */
export interface Reply {
  readonly reasoning: string | null;
  readonly text: string;
  /** The arguments of the calls that it makes. */
  readonly calls: readonly string[];
}

export interface Result {
  readonly output: string;
  readonly failed: boolean;
}

interface OpenCall {
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

const TOOL = "look";
const SCHEMA = { type: "object" };
const USAGE = { input: 10, output: 2, cached: 0, reasoning: 0 };
const toUlid = (id: string): string => id.slice(id.indexOf("_") + 1);

/** A message, or the result of a call. */
interface Given {
  readonly content?: string;
  readonly output?: string;
}

/** A response as it was created. */
export interface StoredResponse {
  readonly id: string;
  readonly output: unknown;
  /** The texts of its input. */
  readonly given: readonly (string | undefined)[];
}

export type Shared = ReturnType<typeof connect>;

/** One app for all conversations, because building it takes longer than a conversation. */
export const share = (): Shared => connect({ deps: { newId: countingIds() } });

export class Talk {
  readonly #world: Shared;
  readonly #planned: Reply[] = [];
  readonly stored: StoredResponse[] = [];
  #madeCalls = 0;
  #saidInUi = 0;
  #session: SessionId | null = null;

  constructor(world: Shared) {
    this.#world = world;
    world.model.say = () => this.#speak();
  }

  /** The conversations that follow have the memory. */
  close(): void {
    this.#world.lives.clear();
    this.#world.requests.length = 0;
  }

  get session(): SessionId {
    if (!this.#session) throw new Error("the conversation is not open");
    return this.#session;
  }

  get #life(): Life {
    const life = this.#world.lives.get(this.session);
    if (!life) throw new Error("the session has no object");
    return life;
  }

  #speak(): ModelStreamPart[] {
    const { reasoning, text, calls } = this.#planned.shift() ?? { reasoning: null, text: "nothing was planned", calls: [] };
    return [
      ...(reasoning === null ? [] : [{ type: "reasoning" as const, text: reasoning }]),
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...calls.map((written) => ({
        type: "tool_call" as const,
        call: { type: "tool_call" as const, call_id: `given-${++this.#madeCalls}`, name: TOOL, arguments: written },
      })),
      { type: "finish", finish: calls.length > 0 ? "tool_calls" : "stop", usage: USAGE },
    ];
  }

  plan(reply: Reply): void {
    this.#planned.push(reply);
  }

  /** The body of an answer that must be a success: JSON, or the text of a stream. */
  async ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const response = await this.#world.app.request(path, {
      method,
      headers: {
        ...{ authorization: `Bearer ${KEY}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path} ${JSON.stringify(body)}: ${response.status} ${text}`).toBe(true);
    await this.#world.settle();
    return response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
  }

  /** A call of the native API, which answers JSON. */
  async native(method: string, path = "", body?: unknown) {
    return this.ask(method, `/v1/sessions/${this.session}${path}`, body, { accept: "application/json" });
  }

  async tool(name: string, given: object) {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: { session_id: this.session, ...given } } };
    const said = await this.ask("POST", "/mcp", message);
    const { result } = typeof said === "string" ? JSON.parse(/^data: ([^\n]*)/m.exec(said)?.[1] ?? "") : said;
    expect(result.isError, JSON.stringify(result)).toBeUndefined();
    return result.structuredContent;
  }

  async open(): Promise<void> {
    const tools = [{ name: TOOL, description: "Looks", parameters: SCHEMA }];
    const { id } = await this.ask("POST", "/v1/sessions", { tools });
    this.#session = parseId("ses", id);
  }

  async listOpenCalls(): Promise<readonly OpenCall[]> {
    const { turn } = await this.native("GET");
    return turn?.open_calls ?? [];
  }

  /** Says it, and returns the text that the surface answered with. Null: the surface's answer is a stream of parts. */
  async say(through: Speaker, text: string): Promise<string | null> {
    const messages = [{ role: "user", content: text }];
    if (through === "native") return (await this.native("POST", "/messages", { content: text })).output_text;
    if (through === "mcp") return (await this.tool("send_message", { text })).reply;
    if (through === "chat") return this.#chat(messages);
    if (through === "anthropic") return this.#anthropic(messages);
    if (through === "responses") return this.#respond(messages);
    await this.#chatUi({ id: `m-${++this.#saidInUi}`, role: "user", parts: [{ type: "text", text }] });
    return null;
  }

  /** Answers all open calls. */
  async answer(through: Answerer, calls: readonly OpenCall[], results: readonly Result[]): Promise<string | null> {
    const pairs = calls.map((call, index) => ({ call, ...(results[index % results.length] ?? { output: "", failed: false }) }));
    if (through === "native") {
      const given = pairs.map(({ call, output, failed }) => ({ execution_id: call.id, output, is_error: failed }));
      return (await this.native("POST", "/tool_results", { results: given })).output_text;
    }
    if (through === "chat") return this.#answerChat(pairs);
    if (through === "anthropic") return this.#answerAnthropic(pairs);
    if (through === "responses")
      return this.#respond(
        pairs.map(({ call, output, failed }) => {
          const status = failed ? "incomplete" : "completed";
          return { type: "function_call_output", call_id: call.call_id, output, status };
        }),
      );
    const { turn } = await this.native("GET");
    const parts = pairs.map(({ call, output, failed }) => ({
      ...{ type: `tool-${call.name}`, toolCallId: call.id, input: JSON.parse(call.arguments) },
      ...(failed ? { state: "output-error", errorText: output } : { state: "output-available", output }),
    }));
    await this.#chatUi({ id: turn.id, role: "assistant", parts });
    return null;
  }

  #chatUi(message: object): Promise<unknown> {
    return this.ask("POST", "/api/chat", { id: this.session, message });
  }

  async #chat(messages: readonly object[]): Promise<string> {
    const tools = [{ type: "function", function: { name: TOOL, description: "Looks", parameters: SCHEMA } }];
    const asked = { model: "embedded", messages, tools };
    const { choices } = await this.ask("POST", "/v1/chat/completions", asked, { "x-session-id": this.session });
    return choices[0].message.content ?? "";
  }

  async #anthropic(messages: readonly object[]): Promise<string> {
    const tools = [{ name: TOOL, description: "Looks", input_schema: SCHEMA }];
    const headers = { "x-session-id": this.session, "anthropic-version": "2023-06-01" };
    const { content } = await this.ask("POST", "/v1/messages", { model: "embedded", max_tokens: 100, messages, tools }, headers);
    return content.map((block: { text?: string }) => block.text ?? "").join("");
  }

  async #respond(input: readonly Given[]): Promise<string> {
    const tools = [{ type: "function", name: TOOL, description: "Looks", parameters: SCHEMA, strict: false }];
    const asked = { conversation: `conv_${toUlid(this.session)}`, model: "embedded", input, tools };
    const { id, output } = await this.ask("POST", "/v1/responses", asked);
    this.stored.push({ id, output, given: input.map(({ content, output: result }) => result ?? content) });
    return output.flatMap(({ content = [] }: { content?: { text?: string }[] }) => content.map(({ text = "" }) => text)).join("");
  }

  #answerChat(pairs: readonly ({ readonly call: OpenCall } & Result)[]): Promise<string> {
    const tool_calls = pairs.map(({ call }) => ({
      ...{ id: `call_${toUlid(call.id)}`, type: "function" },
      function: { name: call.name, arguments: call.arguments },
    }));
    const results = pairs.map(({ call, output }) => ({ role: "tool", tool_call_id: `call_${toUlid(call.id)}`, content: output }));
    return this.#chat([{ role: "assistant", content: null, tool_calls }, ...results]);
  }

  #answerAnthropic(pairs: readonly ({ readonly call: OpenCall } & Result)[]): Promise<string> {
    const uses = pairs.map(({ call }) => ({
      ...{ type: "tool_use", id: `toolu_${toUlid(call.id)}`, name: call.name },
      input: JSON.parse(call.arguments),
    }));
    const content = pairs.map(({ call, output, failed }) => ({
      ...{ type: "tool_result", tool_use_id: `toolu_${toUlid(call.id)}` },
      ...{ content: output, is_error: failed },
    }));
    return this.#anthropic([
      { role: "assistant", content: uses },
      { role: "user", content },
    ]);
  }

  /** Adds a message without a turn. */
  async append(through: "native" | "conversations", role: "user" | "assistant", text: string): Promise<void> {
    if (through === "native") await this.native("POST", "/messages", { content: text, role, run: false });
    else
      await this.ask("POST", `/v1/conversations/conv_${toUlid(this.session)}/items`, { items: [{ type: "message", role, content: text }] });
  }

  /** Says something else in place of an earlier message, on a branch. */
  async edit(through: "native" | "ai-sdk", { id, client_id }: { id: ItemId; client_id: string | null }, text: string): Promise<void> {
    if (through === "native") await this.native("POST", `/messages/${id}/edit`, { content: text });
    else {
      const message = { id: client_id ?? id, role: "user", parts: [{ type: "text", text }] };
      await this.ask("POST", "/api/chat", { id: this.session, messageId: id, trigger: "submit-message", message });
    }
  }

  /** What a message says is gone for good. */
  async redact(through: "native" | "conversations", { id }: { readonly id: ItemId }): Promise<void> {
    if (through === "native") {
      await this.native("POST", `/messages/${id}/redact`);
      return;
    }
    const path = `/v1/conversations/conv_${toUlid(this.session)}/items`;
    const { data } = await this.ask("GET", `${path}?limit=100`);
    const item = data.find((each: { id: string }) => each.id.includes(toUlid(id)));
    await this.ask("DELETE", `${path}/${item.id}`);
  }

  /** The newest message is answered again, on a branch. */
  async regenerate(): Promise<void> {
    await this.ask("POST", "/api/chat", { id: this.session, trigger: "regenerate-message", messages: [] });
  }

  /** Compacts by hand, from the request to the summary. */
  async compact(): Promise<void> {
    const caller = { tenant: TENANT, session: this.session };
    const { service } = this.#life;
    await service.compact(caller, { dryRun: false, instructions: null, keepRecent: 1, upTo: null, idempotency: null });
    await this.#world.settle();
    const requested = this.#life.runtime.state.compaction.requested?.id;
    const leased = requested ? await service.leaseCompaction(caller, requested) : null;
    if (!requested || !leased?.ok || leased.value.kind !== "leased") return;
    const outcome = { ok: true, text: SUMMARY, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    await service.recordCompaction(caller, { compaction: requested, token: leased.value.token, outcome, part: 0, next: null });
    await this.#world.settle();
  }

  get isCompacted(): boolean {
    return this.#life.runtime.state.view.epoch > 0;
  }
}
