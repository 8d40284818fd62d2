/** Telegram's limits on messages and edits: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this */

export interface TelegramRates {
  readonly chat_per_second: number;
  readonly group_per_minute: number;
  readonly all_per_second: number;
}

export const TELEGRAM_RATES: TelegramRates = { chat_per_second: 1, group_per_minute: 20, all_per_second: 30 };

export class RateCounter {
  readonly #rates: TelegramRates;
  readonly #now: () => number;
  readonly #sent = new Map<string, number[]>();

  constructor(rates: TelegramRates, now: () => number) {
    this.#rates = rates;
    this.#now = now;
  }

  /** Seconds to wait. 0: it was counted, and may be sent. */
  take(chat: number): number {
    const isGroup = chat < 0;
    const limits = [
      { key: `${chat}`, most: this.#rates.chat_per_second, ms: 1_000 },
      { key: "all", most: this.#rates.all_per_second, ms: 1_000 },
      ...(isGroup ? [{ key: `${chat}/minute`, most: this.#rates.group_per_minute, ms: 60_000 }] : []),
    ];
    const now = this.#now();
    const waits = limits.map(({ key, most, ms }) => {
      const recent = (this.#sent.get(key) ?? []).filter((at) => at > now - ms);
      this.#sent.set(key, recent);
      return recent.length < most ? 0 : (recent[recent.length - most] ?? now) + ms - now;
    });
    const wait = Math.max(...waits);
    if (wait === 0) for (const { key } of limits) this.#sent.get(key)?.push(now);
    return Math.ceil(wait / 1_000);
  }
}
