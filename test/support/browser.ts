/** A real browser without a window, driven over the DevTools protocol. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Undefined where none is installed. */
export const BROWSER = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, (message: Message) => void>();
  readonly #heard = new EventTarget();
  #tabs: Tab[] = [];
  #next = 1;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    [this.#child, this.#profile, this.#socket] = [child, profile, socket];
    socket.addEventListener("message", ({ data }) => {
      const message: Message = JSON.parse(String(data));
      if (message.id === undefined) this.#heard.dispatchEvent(new Event(`${message.sessionId} ${message.method}`));
      else this.#asked.get(message.id)?.(message);
    });
  }

  static async start(): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), "longhand-browser-"));
    const flags = [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
    ];
    const child = spawn(BROWSER ?? "", flags, { stdio: ["ignore", "ignore", "pipe"], detached: true });
    for await (const line of createInterface({ input: child.stderr })) {
      const [, address] = /^DevTools listening on (ws:\S+)/.exec(line) ?? [];
      if (address === undefined) continue;
      const socket = new WebSocket(address);
      await once(socket, "open");
      child.stderr.resume();
      return new Browser(child, profile, socket);
    }
    throw new Error("The browser did not start");
  }

  async send(method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    const id = this.#next++;
    const { promise, resolve } = Promise.withResolvers<Message>();
    this.#asked.set(id, resolve);
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await promise;
    this.#asked.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  /** Resolves at the next event of this name. */
  async hear(method: string, sessionId: string): Promise<void> {
    await once(this.#heard, `${sessionId} ${method}`);
  }

  /** A tab with the cookies of a visitor of its own, or of `beside`. */
  async open(url: string, beside?: Tab): Promise<Tab> {
    const context = beside?.context ?? String((await this.send("Target.createBrowserContext")).browserContextId);
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", browserContextId: context });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, String(sessionId), context);
    this.#tabs.push(tab);
    await tab.send("Page.enable");
    await tab.load("Page.navigate", { url });
    return tab;
  }

  async closeTabs(): Promise<void> {
    const contexts = new Set(this.#tabs.map(({ context }) => context));
    this.#tabs = [];
    for (const browserContextId of contexts) await this.send("Target.disposeBrowserContext", { browserContextId });
  }

  async close(): Promise<void> {
    this.#socket.close();
    if (this.#child.exitCode === null && this.#child.pid !== undefined) {
      process.kill(-this.#child.pid, "SIGKILL");
      await once(this.#child, "close");
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

export class Tab {
  readonly #browser: Browser;
  readonly #id: string;
  readonly context: string;

  constructor(browser: Browser, id: string, context: string) {
    [this.#browser, this.#id, this.context] = [browser, id, context];
  }

  send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#browser.send(method, params, this.#id);
  }

  async load(method: "Page.navigate" | "Page.reload", params: object = {}): Promise<void> {
    const loaded = this.#browser.hear("Page.loadEventFired", this.#id);
    await this.send(method, params);
    await loaded;
  }

  /** The value of an expression in the page, or of the promise that it is. */
  async read(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { readonly value?: unknown }).value;
  }

  /** Waits for changes of the page until the expression holds. */
  async until(condition: string): Promise<void> {
    await this.read(`new Promise((resolve) => {
      const look = () => { if (${condition}) { observer.disconnect(); resolve(); } };
      const observer = new MutationObserver(look);
      observer.observe(document, { childList: true, characterData: true, attributes: true, subtree: true });
      look();
    })`);
  }
}
