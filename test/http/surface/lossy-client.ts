/** A client of several surfaces that counts its tries, as the vendors' SDKs do, over a connection that loses requests and answers. */
import { expect } from "vitest";
import type { ModelStreamPart } from "../../../src/app/ports";
import { parseId, type SessionId } from "../../../src/domain/ids";
import { failure, type Life } from "../../session/life";
import { countingIds } from "../../support/builders";
import { connect } from "../openai/response-life";
import { KEY } from "../support";

export const SURFACES = ["conversation", "chain", "chat", "anthropic", "items"] as const;
export type Surface = (typeof SURFACES)[number];

/**
 * `unsent`: the request never arrives. `lost`: its answer is complete, and never arrives. `cut`: the answer breaks off in its middle. `left`: the
 * client does not wait for it.
 */
export const FAULTS = ["unsent", "lost", "cut", "left"] as const;
export type Fault = (typeof FAULTS)[number];

export interface Request {
  readonly surface: Surface;
  readonly path: string;
  readonly body: object;
}

/** What the client was told. */
export interface Told {
  readonly status: number;
  readonly said: string;
}

type Shared = ReturnType<typeof connect>;
const TOOL = "look";
const SCHEMA = { type: "object" };
const USAGE = { input: 10, output: 2, cached: 0, reasoning: 0 };
const toUlid = (id: string): string => id.slice(id.indexOf("_") + 1);

/** One app for all conversations. Its clock is the one of the present session. */
export function share(): Shared {
  const shared: Shared = connect({ deps: { newId: countingIds(), now: () => [...shared.lives.values()].at(-1)?.time.now() ?? 0 } });
  return shared;
}

export class LossyClient {
  readonly #world: Shared;
  readonly #planned: ModelStreamPart[][] = [];
  readonly #left: Promise<unknown>[] = [];
  #session: SessionId | null = null;

  constructor(world: Shared) {
    this.#world = world;
    world.model.say = () =>
      this.#planned.shift() ?? [
        { type: "text", text: "asked too often" },
        { type: "finish", finish: "stop", usage: USAGE },
      ];
  }

  close(): void {
    this.#world.lives.clear();
    this.#world.requests.length = 0;
  }

  get session(): SessionId {
    if (!this.#session) throw new Error("the conversation is not open");
    return this.#session;
  }

  get life(): Life {
    const life = this.#world.lives.get(this.session);
    if (!life) throw new Error("the session has no object");
    return life;
  }

  plan(reply: { readonly text: string; readonly call?: string }): void {
    const call = { type: "tool_call", call_id: reply.call ?? "", name: TOOL, arguments: "{}" } as const;
    const finish = { type: "finish", finish: reply.call === undefined ? "stop" : "tool_calls", usage: USAGE } as const;
    this.#planned.push([
      { type: "text", text: reply.text },
      ...(reply.call === undefined ? [] : [{ type: "tool_call" as const, call }]),
      finish,
    ]);
  }

  planFailure(): void {
    this.#planned.push([failure("auth")]);
  }

  get hasPlans(): boolean {
    return this.#planned.length > 0;
  }

  async #send(path: string, body: object | null, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const given = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers };
    return this.#world.app.request(path, { method: body ? "POST" : "GET", headers: given, ...(body && { body: JSON.stringify(body) }) });
  }

  /** A call of the native API. */
  async native(path: string, body: object | null = null) {
    const response = await this.#send(`/v1/sessions${path}`, body, { accept: "application/json" });
    const text = await response.text();
    expect(response.ok, text).toBe(true);
    await this.#world.settle();
    return JSON.parse(text);
  }

  async open(): Promise<void> {
    const { id } = await this.native("", { tools: [{ name: TOOL, description: "Looks", parameters: SCHEMA }] });
    this.#session = parseId("ses", id);
  }

  /** The conversation as `role: text`. */
  async list(): Promise<string[]> {
    const { data } = await this.native(`/${this.session}/messages?limit=200&order=asc`);
    return data.map(
      ({ role, content }: { role: string; content: { text?: string }[] }) => `${role}: ${content.map(({ text }) => text).join("")}`,
    );
  }

  /** The response that a chain goes on behind. Null: there is none yet, or items came after it. */
  async #findNewest(): Promise<string | null> {
    const { data: turns } = await this.native(`/${this.session}/turns?limit=1&order=desc`);
    const { data: messages } = await this.native(`/${this.session}/messages?limit=1&order=desc`);
    const [[turn], [message]] = [turns, messages];
    if (!turn || message.turn_id !== turn.id) return null;
    const leg = turn.items.some(({ role }: { role: string }) => role === "tool") ? "_2" : "";
    return `resp_${toUlid(this.session)}${toUlid(turn.id)}${leg}`;
  }

  /** A request that says `text`, or answers the open calls with it. */
  async build(surface: Surface, { text, answers, streams }: { text: string; answers: boolean; streams: boolean }): Promise<Request> {
    const conversation = `conv_${toUlid(this.session)}`;
    if (surface === "items")
      return {
        surface,
        path: `/v1/conversations/${conversation}/items`,
        body: { items: [{ type: "message", role: "user", content: text }] },
      };
    const { turn } = answers ? await this.native(`/${this.session}`) : { turn: null };
    const [call] = turn?.open_calls ?? [];
    const stream = streams && { stream: true };
    const asked = { model: "embedded", ...stream };
    if (surface === "chat") {
      const id = `call_${toUlid(call?.id ?? "")}`;
      const made = { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: TOOL, arguments: "{}" } }] };
      const messages = answers ? [made, { role: "tool", tool_call_id: id, content: text }] : [{ role: "user", content: text }];
      return { surface, path: "/v1/chat/completions", body: { ...asked, messages } };
    }
    if (surface === "anthropic") {
      const id = `toolu_${toUlid(call?.id ?? "")}`;
      const made = { role: "assistant", content: [{ type: "tool_use", id, name: TOOL, input: {} }] };
      const result = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] };
      const messages = answers ? [made, result] : [{ role: "user", content: text }];
      return { surface, path: "/v1/messages", body: { ...asked, max_tokens: 100, messages } };
    }
    const input = answers ? [{ type: "function_call_output", call_id: call?.call_id, output: text }] : text;
    const newest = surface === "chain" ? await this.#findNewest() : null;
    return {
      surface,
      path: "/v1/responses",
      body: { ...asked, input, ...(newest === null ? { conversation } : { previous_response_id: newest }) },
    };
  }

  #try({ surface, path, body }: Request, tries: number): Promise<Response> {
    const named = surface === "chat" || surface === "anthropic";
    return this.#send(path, body, { "x-stainless-retry-count": String(tries), ...(named && { "x-session-id": this.session }) });
  }

  async ask(request: Request, tries: number): Promise<Told> {
    const response = await this.#try(request, tries);
    const text = await response.text();
    await this.#world.settle();
    return { status: response.status, said: response.ok ? readSaid(text) : text };
  }

  /** Sends the request, and has no answer. */
  async lose(request: Request, tries: number, fault: Fault): Promise<void> {
    if (fault === "unsent") return;
    if (fault === "lost") return void (await this.ask(request, tries));
    const sent = this.#try(request, tries);
    if (fault === "left") return void this.#left.push(sent.then((response) => response.text()));
    const reader = (await sent).body?.getReader();
    await reader?.read();
    await reader?.cancel();
  }

  /** What the client has left is done. */
  async settle(): Promise<void> {
    await Promise.all(this.#left.splice(0));
    await this.#world.settle();
  }
}

/** The words of an answer, which is JSON or a stream. */
function readSaid(text: string): string {
  if (text.startsWith("{")) return readBody(JSON.parse(text));
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json));
  const whole = events.findLast(({ response }) => response !== undefined);
  if (whole) return readBody(whole.response);
  const fault = events.find(({ error }) => error !== undefined);
  return fault
    ? JSON.stringify(fault.error)
    : events.map(({ delta, choices }) => delta?.text ?? choices?.[0]?.delta?.content ?? "").join("");
}

interface Piece {
  readonly text?: string | null;
  readonly content?: string | null | readonly Piece[];
}

/** Of a response, a completion, a message or a list of items. */
function readBody(body: {
  readonly output?: readonly Piece[];
  readonly choices?: readonly { readonly message: Piece }[];
  readonly content?: readonly Piece[];
  readonly data?: readonly Piece[];
}): string {
  const pieces = body.output ?? body.choices?.map(({ message }) => message) ?? body.content ?? body.data ?? [];
  const read = ({ text, content }: Piece): string =>
    typeof content === "object" ? (content ?? []).map(read).join("") : (content ?? text ?? "");
  return pieces.map(read).join("");
}
