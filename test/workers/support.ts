/** Shared helpers for the end-to-end tests: tenants created over HTTP, chats with a scripted model, and streams read frame by frame. */
import { applyD1Migrations, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { ulid } from "ulidx";
import { expect, inject, vi } from "vitest";
import type { WholeSessionApi } from "../../src/app/control-api";
import { sessionObjectName } from "../../src/app/object-name";
import type { PolicyChoice } from "../../src/context/policy-choice";
import type { Accepted, DisplayItem } from "../../src/contract/item";
import type { Page } from "../../src/contract/page";
import type { SessionDescription } from "../../src/contract/session";
import type { TurnReport } from "../../src/contract/turn";
import type { StoredEvent } from "../../src/domain/events";
import { type IdKinds, type IdPrefix, parseId, type SessionId, type TenantId, type TurnId } from "../../src/domain/ids";
import type { Env } from "../../src/env";
import { DocumentedAnswers, toAnswer } from "../support/documented-answers";
import { reportAnswers } from "../support/report-answers";
import type { LogEntry } from "../support/stand-in/log";
import type { RemoteReply, ScriptInput } from "../support/stand-in-setup";
import { findUnsafeHeaders } from "../support/unsafe-headers";
import { Frames } from "./frames";

export type Headers_ = Readonly<Record<string, string>>;

export const migrate = (): Promise<void> => applyD1Migrations(env.DB, env.MIGRATIONS);

export function newId<P extends IdPrefix>(prefix: P): IdKinds[P] {
  const id = parseId(prefix, `${prefix}_${ulid()}`);
  if (!id) throw new Error("ulidx made no ULID");
  return id;
}

interface Sent {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Headers_;
  /** Another Worker than that of the tests' configuration. */
  readonly send?: (request: Request<unknown, IncomingRequestCfProperties>) => Promise<Response>;
}

/** One request to the Worker, from outside. A body of bytes or a stream is sent as it is, any other as JSON. */
export async function request(
  method: string,
  path: string,
  { key, body, headers = {}, send = (asked) => exports.default.fetch(asked) }: Sent,
) {
  const authorization: Headers_ = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const isRaw = body instanceof Uint8Array || body instanceof ReadableStream;
  const content: Headers_ = body === undefined || isRaw ? {} : { "content-type": "application/json" };
  const sent = isRaw ? body : JSON.stringify(body);
  const init = { method, headers: { ...authorization, ...content, ...headers }, ...(body !== undefined && { body: sent }) };
  const response = await send(new Request<unknown, IncomingRequestCfProperties>(`https://longhand.test${path}`, init));
  const faults = (await documentedAnswers()).findFaults(await toAnswer(method, path, response));
  const unsafe = findUnsafeHeaders(response, { path, publicUrl: env.PUBLIC_URL ?? null });
  if (unsafe.length > 0) throw new Error(`${method}: ${unsafe.join("; ")}`);
  if (faults.length > 0) throw new Error(`Not as the OpenAPI document says:\n${faults.join("\n")}`);
  return response;
}

let documented: Promise<DocumentedAnswers> | null = null;

function documentedAnswers(): Promise<DocumentedAnswers> {
  documented ??= (async () => {
    const response = await exports.default.fetch(new Request("https://longhand.test/openapi.json"));
    return new DocumentedAnswers(await response.json());
  })();
  return documented;
}

reportAnswers(async () => documented);

/** The body of a response that must have this status. `T` is the type that the OpenAPI document promises. */
export async function readBody<T>(response: Response, status = 200): Promise<T> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`expected ${status}, got ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

export class Tenant {
  readonly id: TenantId;
  readonly key: string;

  constructor(id: TenantId, key: string) {
    this.id = id;
    this.key = key;
  }

  call(method: string, path: string, body?: unknown, headers?: Headers_): Promise<Response> {
    return request(method, path, { key: this.key, body, ...(headers && { headers }) });
  }
}

export async function newTenant(): Promise<Tenant> {
  const key = env.ADMIN_KEY;
  const made = await request("POST", "/v1/admin/tenants", { key, body: { name: "Ada" } });
  const { id } = await readBody<{ id: TenantId }>(made, 201);
  const keyed = await request("POST", `/v1/admin/tenants/${id}/keys`, { key, body: { name: "test" } });
  return new Tenant(id, (await readBody<{ key: string }>(keyed, 201)).key);
}

/** The stand-in's replies as one model, and the requests that it received. */
export class Model {
  readonly upstream: string;

  constructor(upstream: string) {
    this.upstream = upstream;
  }

  async script(input: Omit<ScriptInput, "model">): Promise<void> {
    const { controlUrl } = inject("standIn");
    const sent = await fetch(controlUrl, { method: "POST", body: JSON.stringify({ ...input, model: this.upstream }) });
    await readBody(sent);
  }

  says(...replies: RemoteReply[]): Promise<void> {
    return this.script({ replies });
  }

  async open(gate: string): Promise<void> {
    const { controlUrl } = inject("standIn");
    await readBody(await fetch(`${controlUrl}/release`, { method: "POST", body: JSON.stringify({ model: this.upstream, gate }) }));
  }

  /** All its requests, once there are at least this many, and this many of them were cancelled by the client. */
  async heard(atLeast = 0, aborted = 0): Promise<readonly LogEntry[]> {
    const { controlUrl } = inject("standIn");
    const query = new URLSearchParams({ model: this.upstream, at_least: String(atLeast), aborted: String(aborted) });
    return readBody<LogEntry[]>(await fetch(`${controlUrl}/log?${query}`));
  }
}

export interface ChatInput {
  readonly tenant?: Tenant;
  readonly window?: number | null;
  readonly maxOutput?: number;
  readonly system?: string;
  /** The name in requests. */
  readonly tools?: readonly object[];
  readonly replies?: readonly RemoteReply[];
  readonly summaries?: readonly RemoteReply[];
  /** The number of true tokens above which the stand-in refuses. */
  readonly limit?: number;
  readonly policy?: PolicyChoice;
  /** A credential of the tenant. */
  readonly credential?: string;
}

/** One session with its own model. */
export class Chat {
  readonly tenant: Tenant;
  readonly id: SessionId;
  readonly model: Model;

  constructor(tenant: Tenant, id: SessionId, model: Model) {
    this.tenant = tenant;
    this.id = id;
    this.model = model;
  }

  get caller() {
    return { tenant: this.tenant.id, session: this.id };
  }

  /** A new stub: after its object was reset, an old one stays broken. */
  get stub(): ReturnType<Env["SESSIONS"]["getByName"]> {
    return env.SESSIONS.getByName(sessionObjectName(this.tenant.id, this.id));
  }

  /** The object itself, without HTTP. */
  get api(): WholeSessionApi {
    return this.stub;
  }

  call(method: string, path = "", body?: unknown, headers?: Headers_): Promise<Response> {
    return this.tenant.call(method, `/v1/sessions/${this.id}${path}`, body, headers);
  }

  async read<T>(path = ""): Promise<T> {
    return readBody<T>(await this.call("GET", path));
  }

  describe(): Promise<SessionDescription> {
    return this.read();
  }

  async items(): Promise<readonly DisplayItem[]> {
    return (await this.read<Page<DisplayItem>>("/messages?limit=200")).data;
  }

  async events(): Promise<readonly StoredEvent[]> {
    return (await this.read<Page<StoredEvent>>("/events?limit=200")).data;
  }

  async countEvents(type: StoredEvent["type"]): Promise<number> {
    return (await this.events()).filter((event) => event.type === type).length;
  }

  send(content: string, more: object = {}, headers?: Headers_): Promise<Response> {
    return this.call("POST", "/messages", { content, ...more }, headers);
  }

  /** Sends a message, and waits for the turn to end. */
  async say(content: string, more: object = {}): Promise<TurnReport> {
    return readBody<TurnReport>(await this.send(content, more));
  }

  /** Sends a message, and returns as soon as it is durable. */
  async post(content: string, more: object = {}): Promise<Accepted & { readonly turn_id: TurnId }> {
    return readBody(await this.send(content, more, { prefer: "respond-async" }), 202);
  }

  /** Appends a message without a turn. */
  async append(content: string, role = "user"): Promise<Accepted> {
    return readBody(await this.send(content, { role, run: false }), 201);
  }

  /** The turn, once it has ended or waits for tools. */
  async ended(turn: TurnId): Promise<TurnReport> {
    const report = await this.api.waitForTurn(this.caller, turn);
    if (!report.ok) throw new Error(report.error.code);
    return report.value;
  }

  /** Sends, and hears the turn as it is spoken. */
  async hear(content: string, more: object = {}, headers: Headers_ = {}): Promise<Frames> {
    return toFrames(await this.send(content, more, { accept: "text/event-stream", ...headers }));
  }

  /** Attaches to the live stream. */
  async listen(after?: number, headers: Headers_ = {}): Promise<Frames> {
    return toFrames(await this.call("GET", after === undefined ? "/stream" : `/stream?after=${after}`, undefined, headers));
  }

  turn(id: string): Promise<TurnReport> {
    return this.read(`/turns/${id}`);
  }
}

export function toFrames(response: Response): Frames {
  if (response.status !== 200 || !response.body) throw new Error(`no stream, but ${response.status}`);
  return new Frames(response.body);
}

export async function newChat(input: ChatInput = {}): Promise<Chat> {
  const tenant = input.tenant ?? (await newTenant());
  const name = `m-${ulid()}`;
  const model = new Model(name);
  const { replies = [], summaries = [], limit } = input;
  await model.script({ replies, summaries, ...(limit !== undefined && { limit }) });
  const spec = { provider: "openai-compatible", base_url: inject("standIn").baseUrl };
  const limits = { context_window: input.window === undefined ? 16_000 : input.window, max_output: input.maxOutput ?? 1_000 };
  const { system, tools, credential } = input;
  await readBody(await tenant.call("PUT", `/v1/models/${name}`, { ...spec, ...limits, ...(credential !== undefined && { credential }) }));
  // These conversations are written for the thresholds of preset `oneclaw`.
  const settings = { model: name, policy: "oneclaw", ...(system !== undefined && { system }), ...(tools && { tools }) };
  const { id } = await readBody<SessionDescription>(await tenant.call("POST", "/v1/sessions", settings), 201);
  const chat = new Chat(tenant, id, model);
  if (input.policy) await chat.api.patch(chat.caller, { policy: input.policy });
  return chat;
}

/** A query for the names of a database's own tables. */
export const TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";

/** Every value of every table of the object, as one text. */
export const readStorage = (stub: DurableObjectStub): Promise<string> =>
  runInDurableObject(stub, (_, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>(TABLES).toArray();
    return JSON.stringify(tables.map(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray()));
  });

/** The sessions that hold this text, listed or not, of all or `among` some. Reading all takes long, so a test that waits asks some. */
export async function findHolding(text: string, among?: readonly DurableObjectId[]): Promise<readonly DurableObjectId[]> {
  const ids = among ?? (await listDurableObjectIds(env.SESSIONS));
  const stored = await Promise.all(ids.map((id) => readStorage(env.SESSIONS.get(id))));
  return ids.filter((_, n) => stored[n]?.includes(text));
}

/** Waits until none of the sessions that held the text holds it. Then no other may. */
export async function untilHeldNowhere(text: string, held: readonly DurableObjectId[]): Promise<void> {
  await vi.waitUntil(async () => (await findHolding(text, held)).length === 0, { timeout: 10_000, interval: 20 });
  expect(await findHolding(text)).toEqual([]);
}

/** The text of an item. */
export const readText = (item: DisplayItem | undefined): string =>
  (item?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");

/** The conversation as `role: text`, and the tools that a reply calls. */
export const told = (items: readonly DisplayItem[]): string[] =>
  items.map((item) => `${item.role}: ${readText(item)}${(item.tool_calls ?? []).map(({ name }) => `→${name}`).join("")}`);
