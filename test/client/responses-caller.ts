/** Calls the Responses API as bytes on the wire, without a vendor's package that would forgive. Whatever comes back is validated. */
import { expect } from "vitest";
import type { z } from "zod";
import { parseEventStream } from "../../scripts/support/event-stream";
import { checkStream, type SentEvent } from "../support/open-responses/check-stream";
import { type ResponseStreamEvent, streamEvent } from "../support/open-responses/event-schemas";
import {
  compactionResource,
  deletedResponse,
  errorBody,
  itemList,
  type ResponseResource,
  responseResource,
} from "../support/open-responses/resource-schemas";

type Fields = Readonly<Record<string, unknown>>;

export interface Streamed {
  readonly sent: readonly SentEvent[];
  readonly events: readonly ResponseStreamEvent[];
  /** The response as its last event has it. */
  readonly response: ResponseResource;
}

interface Refusal extends Readonly<z.infer<typeof errorBody>["error"]> {
  readonly status: number;
}

interface Ask {
  readonly method?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export class ResponsesCaller {
  readonly #url: string;
  readonly #key: string;
  #stored: ResponseResource[] = [];

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** `path` is under `/v1/responses`. */
  ask(path: string, { method = "GET", body, signal }: Ask = {}): Promise<Response> {
    return fetch(`${this.#url}/v1/responses${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  async #read<S extends z.ZodType>(schema: S, path: string, ask: Ask = {}): Promise<z.infer<S>> {
    const response = await this.ask(path, ask);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    return schema.parse(JSON.parse(text));
  }

  /** The stored responses since the last call. */
  takeStored(): readonly ResponseResource[] {
    const stored = this.#stored;
    this.#stored = [];
    return stored;
  }

  #keep(response: ResponseResource): ResponseResource {
    if (response.store && response.status !== "queued" && response.status !== "in_progress") this.#stored.push(response);
    return response;
  }

  async create(body: Fields): Promise<ResponseResource> {
    return this.#keep(await this.#read(responseResource, "", { method: "POST", body }));
  }

  retrieve = (id: string): Promise<ResponseResource> => this.#read(responseResource, `/${id}`);
  cancel = (id: string): Promise<ResponseResource> => this.#read(responseResource, `/${id}/cancel`, { method: "POST" });
  delete = (id: string) => this.#read(deletedResponse, `/${id}`, { method: "DELETE" });
  listInputs = (id: string, query = "") => this.#read(itemList, `/${id}/input_items${query}`);
  compact = (body: Fields) => this.#read(compactionResource, "/compact", { method: "POST", body });

  /** A whole stream, which keeps all rules. */
  async stream(body: Fields): Promise<Streamed> {
    const streamed = readStreamed(await this.#collect("", { method: "POST", body: { ...body, stream: true } }));
    this.#keep(streamed.response);
    return streamed;
  }

  /** A stream of a response that is told again: its events after the number `after`. */
  replay(id: string, after?: number): Promise<SentEvent[]> {
    return this.#collect(`/${id}?stream=true${after === undefined ? "" : `&starting_after=${after}`}`, {});
  }

  async #collect(path: string, ask: Ask): Promise<SentEvent[]> {
    const sent: SentEvent[] = [];
    for await (const event of this.#open(path, ask)) sent.push(event);
    return sent;
  }

  /** The events up to the first that `isEnough` accepts; then the client disconnects. */
  async begin(body: Fields, isEnough: (event: ResponseStreamEvent) => boolean): Promise<SentEvent[]> {
    const [sent, leaving]: [SentEvent[], AbortController] = [[], new AbortController()];
    for await (const event of this.#open("", { method: "POST", body: { ...body, stream: true }, signal: leaving.signal })) {
      sent.push(event);
      if (isEnough(streamEvent.parse(JSON.parse(event.data)))) break;
    }
    leaving.abort();
    return sent;
  }

  async *#open(path: string, ask: Ask): AsyncGenerator<SentEvent> {
    const response = await this.ask(path, ask);
    if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream\b/);
    for await (const { event, data, id } of parseEventStream(response.body)) {
      expect(id).toBeNull();
      yield { event, data };
    }
  }

  async refuse(path: string, ask: Ask): Promise<Refusal> {
    const response = await this.ask(path, ask);
    const text = await response.text();
    expect(response.status, text).toBeGreaterThanOrEqual(400);
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    return { status: response.status, ...errorBody.parse(JSON.parse(text)).error };
  }

  refuseCreate = (body: unknown): Promise<Refusal> => this.refuse("", { method: "POST", body });
}

/** Holds a whole stream to the rules, and reads it. */
export function readStreamed(sent: readonly SentEvent[], transport: "sse" | "socket" = "sse"): Streamed {
  expect(checkStream(sent, transport)).toEqual([]);
  const events = readEvents(sent);
  const last = events.at(-1);
  if (!last || !("response" in last)) throw new Error("The stream has no response at its end");
  return { sent, events, response: last.response };
}

export const readEvents = (sent: readonly SentEvent[]): ResponseStreamEvent[] =>
  sent.flatMap(({ data }) => (data === "[DONE]" ? [] : [streamEvent.parse(JSON.parse(data))]));

/** What a response says, without its reasoning. */
export const readText = ({ output }: ResponseResource): string =>
  output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => ("text" in part ? part.text : part.refusal))
    .join("");

export const listTypes = (response: ResponseResource): string[] => response.output.map(({ type }) => type);

/** The client's calls of a response. */
export const readCalls = ({ output }: ResponseResource) => output.flatMap((item) => (item.type === "function_call" ? [item] : []));
