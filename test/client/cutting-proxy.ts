/** A proxy on this machine in front of a backend, which breaks off streams where a test wants it. Other answers pass. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request as openRequest, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The bytes of a stream so far; returns how many of them the client gets before the connection is cut. Null: not yet. */
export type FindCut = (bytes: Buffer) => number | null;
/** What happens to the nth stream since the plan, from 0. */
export type StreamFault = "pass" | "before_headers" | "stall" | FindCut;
export type Plan = (nth: number) => StreamFault;

const EVENT_END = Buffer.from("\n\n");

/** The places right behind each event. A comment is none. */
function listEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let from = 0; ; ) {
    const at = bytes.indexOf(EVENT_END, from);
    if (at < 0) return ends;
    if (bytes[from] !== 0x3a) ends.push(at + EVENT_END.length);
    from = at + EVENT_END.length;
  }
}

export const behindEvent =
  (nth: number): FindCut =>
  (bytes) =>
    listEnds(bytes)[nth - 1] ?? null;

/** One whole event, and then a part of the next one, chosen by `choose`. */
const within =
  (choose: (next: Buffer) => number): FindCut =>
  (bytes) => {
    const [first, second] = listEnds(bytes);
    return first === undefined || second === undefined ? null : first + choose(bytes.subarray(first, second));
  };

export const inLine = within((event) => Math.floor((event.indexOf("data: ") + event.length) / 2));
export const inFieldName = within((event) => event.indexOf("data: ") + 2);
/** The blank line that completes the event is missing. */
export const beforeBlankLine = within((event) => event.length - 1);
/** Behind the first byte of a character that has several. In an event without one: in its line. */
export const inCharacter = within((event) => {
  const at = event.findIndex((byte) => byte >= 0xc0);
  return at < 0 ? event.length - 3 : at + 1;
});

export class CuttingProxy {
  readonly #server: Server;
  readonly #target: string;
  #plan: Plan = () => "pass";
  #streams = 0;
  #open = 0;
  #waiting: (() => void)[] = [];
  url = "";
  cuts = 0;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#forward(request, response));
  }

  static async start(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  plan(plan: Plan): void {
    this.#plan = plan;
    this.#streams = 0;
    this.cuts = 0;
  }

  /** Resolves when the next byte of a stream passes or a stream begins or is cut. */
  moved(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when a stream of the plan has been cut. */
  async cut(): Promise<void> {
    while (this.cuts === 0) await this.moved();
  }

  /** Resolves when no stream is open any more. */
  async idle(): Promise<void> {
    while (this.#open > 0) await this.moved();
  }

  get streams(): number {
    return this.#streams;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #move(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = { ...request.headers, host: new URL(this.#target).host, "accept-encoding": "identity" };
    const onward = openRequest(`${this.#target}${request.url}`, { method: request.method ?? "GET", headers });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.on("response", (answer) => void this.#answer(answer, response).catch(() => response.destroy()));
    request.pipe(onward);
  }

  async #answer(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
    const fault = isStream ? this.#plan(this.#streams++) : "pass";
    if (isStream) this.#watch(response);
    if (fault === "before_headers") return this.#cut(answer, response);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    const findEnd = fault === "stall" ? behindEvent(1) : typeof fault === "function" ? fault : () => null;
    let bytes = Buffer.alloc(0);
    let sent = 0;
    for await (const chunk of answer) {
      bytes = Buffer.concat([bytes, chunk]);
      const end = findEnd(bytes);
      const part = bytes.subarray(sent, end ?? bytes.length);
      sent += part.length;
      await new Promise((resolve) => response.write(part, resolve));
      this.#move();
      if (end === null) continue;
      // A stalled connection stays open, and is silent for ever.
      return fault === "stall" ? undefined : this.#cut(answer, response);
    }
    response.end();
  }

  #watch(response: ServerResponse): void {
    this.#open++;
    response.once("close", () => {
      this.#open--;
      this.#move();
    });
    this.#move();
  }

  #cut(answer: IncomingMessage, response: ServerResponse): void {
    this.cuts++;
    answer.destroy();
    response.destroy();
    this.#move();
  }
}
