/** The WebSocket of the Responses API as messages on the wire. Whatever comes is validated. */
import { WebSocket } from "ws";
import type { SentEvent } from "../support/open-responses/check-stream";
import { socketError } from "../support/open-responses/resource-schemas";
import { readStreamed, type Streamed } from "./responses-caller";

const ENDS = new Set(["response.completed", "response.incomplete", "response.failed"]);

interface SocketFailure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param?: string | null | undefined;
}

export class ResponsesSocket {
  readonly #socket: WebSocket;
  readonly #messages: string[] = [];
  #wake: () => void = () => {};
  #isClosed = false;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      this.#messages.push(String(data));
      this.#wake();
    });
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  static async open(url: string, key: string): Promise<ResponsesSocket> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return new ResponsesSocket(socket);
  }

  send(message: object | string): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify({ type: "response.create", ...message }));
  }

  async next(): Promise<SentEvent> {
    for (;;) {
      const data = this.#messages.shift();
      if (data !== undefined) return { event: null, data };
      if (this.#isClosed) throw new Error("The socket is closed");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The messages up to the first of one of these types, which is the last of them. */
  async hearUntil(isEnough: (type: string) => boolean): Promise<readonly SentEvent[]> {
    const heard: SentEvent[] = [];
    for (;;) {
      const message = await this.next();
      heard.push(message);
      const { type }: { readonly type: string } = JSON.parse(message.data);
      if (isEnough(type)) return heard;
    }
  }

  /** A whole response, which keeps all rules. */
  async create(message: object): Promise<Streamed> {
    this.send(message);
    return this.hearWhole();
  }

  async hearWhole(): Promise<Streamed> {
    return readStreamed(await this.hearUntil((type) => ENDS.has(type)), "socket");
  }

  async refuse(message: object | string): Promise<SocketFailure> {
    this.send(message);
    const { status, error } = socketError.parse(JSON.parse((await this.next()).data));
    return { status, ...error };
  }

  /** The connection breaks off, without a word to the server. */
  drop(): void {
    this.#socket.terminate();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    const closed = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.close();
    await closed;
  }
}
