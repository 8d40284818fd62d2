/** Updates as Telegram delivers them: in order, each until it is answered with 2xx. */

export interface Hook {
  readonly url: string;
  readonly secret: string | null;
}

export interface Delivered {
  readonly update_id: number;
  /** Null: there was no answer. */
  readonly status: number | null;
}

export class Updates {
  readonly delivered: Delivered[] = [];
  hook: Hook | null = null;
  readonly #waiting: { readonly update_id: number }[] = [];
  readonly #wait: (ms: number) => Promise<void>;
  #ids = 10_000;
  #underWay: Promise<void> | null = null;
  #isClosed = false;

  constructor(wait: (ms: number) => Promise<void>) {
    this.#wait = wait;
  }

  get pending(): number {
    return this.#waiting.length;
  }

  /** Queues an update. It is delivered when there is a webhook. */
  add(content: object): { readonly update_id: number } {
    const update = { update_id: ++this.#ids, ...content };
    this.#waiting.push(update);
    this.start();
    return update;
  }

  start(): void {
    this.#underWay ??= this.#run().finally(() => {
      this.#underWay = null;
    });
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    while (this.#underWay) await this.#underWay;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #run(): Promise<void> {
    for (let tries = 0; this.hook && !this.#isClosed; ) {
      const update = this.#waiting[0];
      if (!update) return;
      const status = await this.post(update, this.hook);
      const isTaken = status !== null && status >= 200 && status < 300;
      if (isTaken) this.#waiting.shift();
      tries = isTaken ? 0 : tries + 1;
      if (!isTaken) await this.#wait(Math.min(1_000 * 2 ** (tries - 1), 60_000));
    }
  }

  /** One attempt. An update that was delivered may be sent again by it. */
  async post(update: { readonly update_id: number }, hook = this.hook): Promise<number | null> {
    if (!hook) throw new Error("There is no webhook.");
    const secret = hook.secret === null ? {} : { "x-telegram-bot-api-secret-token": hook.secret };
    const answer = await fetch(hook.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...secret },
      body: JSON.stringify(update),
    }).catch(() => null);
    await answer?.body?.cancel();
    this.delivered.push({ update_id: update.update_id, status: answer?.status ?? null });
    return answer?.status ?? null;
  }
}
