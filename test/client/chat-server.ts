/** A tenant of a running backend with a scripted model, a proxy that cuts streams in front of it, and a client that talks through it. */
import { expect } from "vitest";
import { Longhand, type StreamEvent } from "../../packages/client/src/client.ts";
import { createTenant } from "../../scripts/support/connection";
import { parseEventStream } from "../../scripts/support/event-stream";
import type { LocalServer } from "../../scripts/support/local-server";
import { createSandbox, type Sandbox } from "../../scripts/support/sandbox";
import { withoutSaid } from "../support/known-frames";
import { type SharedServer, useSharedServer } from "../support/shared-server";
import { type StandIn, startStandIn } from "../support/stand-in/stand-in";
import { CuttingProxy } from "./cutting-proxy";

const MODEL = "scripted";
const SMALL = "scripted-small";

/** More breaks in a row than any plan makes without an event in between. */
const RETRIES = 40;

/** What every reader of one turn's stream gets beside the turn's own events. */
const CONCERN_ALL = new Set(["session.erased", "stream.gap", "notice", "compaction.started", "compaction.completed"]);

const ENDS = new Set(["turn.completed", "turn.failed", "turn.stopped", "turn.interrupted"]);

export class ChatServer {
  readonly provider: StandIn;
  readonly proxy: CuttingProxy;
  readonly longhand: Longhand;
  readonly key: string;
  readonly url: string;
  /** The deployment's own key. */
  readonly adminKey: string;

  protected constructor(parts: ChatParts) {
    this.provider = parts.provider;
    this.proxy = parts.proxy;
    this.key = parts.key;
    this.url = parts.url;
    this.adminKey = parts.adminKey;
    this.longhand = this.connect();
  }

  static async start(): Promise<ChatServer> {
    const chat = new ChatServer(await openParts(await useSharedServer()));
    await chat.registerModels();
    return chat;
  }

  protected async registerModels(): Promise<void> {
    for (const [name, context_window] of [
      [MODEL, 32_000],
      [SMALL, 2_048],
    ] as const) {
      const body = { provider: "openai-compatible", base_url: this.provider.baseUrl, context_window, max_output: 256 } as const;
      await this.longhand.put("/v1/models/{model_id}", { path: { model_id: name }, body });
    }
  }

  /** A client that talks through the proxy. */
  connect(options: { readonly silenceMs?: number; readonly retries?: number } = {}): Longhand {
    return new Longhand({ url: this.proxy.url, key: this.key, retries: RETRIES, ...options });
  }

  async openSession({ small = false }: { readonly small?: boolean } = {}): Promise<string> {
    return (await this.longhand.post("/v1/sessions", { body: { model: small ? SMALL : MODEL } })).id;
  }

  /** A reply whose next piece comes when the one before has passed the proxy, so that each is an event of its own. */
  async *speak(pieces: readonly string[]): AsyncGenerator<string> {
    for (const piece of pieces) {
      const moved = this.proxy.moved();
      yield piece;
      await moved;
    }
  }

  /** The turn's part of the session's stream as it is kept, read without the proxy. */
  async readKept(session: string, turn: string): Promise<readonly StreamEvent[]> {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${this.key}` };
    const response = await fetch(`${this.url}/v1/sessions/${session}/stream?after=0`, { headers, signal: leaving.signal });
    if (!response.body) throw new Error("The stream has no body");
    const events: StreamEvent[] = [];
    for await (const { data, id } of parseEventStream(response.body)) {
      const event: StreamEvent = { ...JSON.parse(data), offset: Number(id) };
      const isOwn = "turn_id" in event && event.turn_id === turn;
      if (isOwn || (events.length > 0 && CONCERN_ALL.has(event.type))) events.push(event);
      if (isOwn && ENDS.has(event.type)) break;
    }
    leaving.abort();
    return withoutSaid(events);
  }

  /** The texts of the conversation, as the record has them. */
  async listTexts(session: string): Promise<string[]> {
    const texts: string[] = [];
    for await (const { role, content } of this.longhand.list("/v1/sessions/{session_id}/messages", { path: { session_id: session } })) {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      texts.push(`${role}: ${parts.map((part) => ("text" in part ? part.text : part.type)).join("")}`);
    }
    return texts;
  }

  async close(): Promise<void> {
    this.proxy.close();
    await this.provider.close();
  }
}

/** A backend of its own, which a test may kill. */
export class MortalChatServer extends ChatServer {
  readonly #sandbox: Sandbox;
  #server: LocalServer;

  private constructor(parts: ChatParts, sandbox: Sandbox, server: LocalServer) {
    super(parts);
    this.#sandbox = sandbox;
    this.#server = server;
  }

  static override async start(): Promise<MortalChatServer> {
    const sandbox = await createSandbox();
    const server = await sandbox.start();
    const chat = new MortalChatServer(await openParts({ url: server.url, adminKey: sandbox.adminKey }), sandbox, server);
    await chat.registerModels();
    return chat;
  }

  /** Ends the server as a power failure would, and starts it again on the same port and data. */
  async restart(): Promise<void> {
    await this.#server.kill();
    this.#server = await this.#sandbox.start();
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#sandbox.close();
  }
}

type ChatParts = SharedServer & Pick<ChatServer, "provider" | "proxy" | "key">;

async function openParts({ url, adminKey }: SharedServer): Promise<ChatParts> {
  const [provider, proxy, { key }] = await Promise.all([startStandIn(), CuttingProxy.start(url), createTenant(url, adminKey)]);
  return { url, adminKey, provider, proxy, key };
}

/** What a caller has after all rewinds: the events that still count. */
export function settleRewinds(events: readonly StreamEvent[]): StreamEvent[] {
  const kept: StreamEvent[] = [];
  for (const event of events) {
    if (event.type !== "stream.rewind") kept.push(event);
    else while ((kept.at(-1)?.offset ?? 0) > event.to) kept.pop();
  }
  return kept;
}

/** Checks that each offset is higher than the one before. */
export function expectOrder(events: readonly StreamEvent[]): void {
  const offsets = events.map(({ offset }) => offset);
  expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b));
}
