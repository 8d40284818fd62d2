/** https://docs.discord.com/developers/topics/rate-limits. The numbers are not documented, so they are the test's. */
export interface DiscordRates {
  /** How many requests of one kind a channel, or a token, takes in the window. */
  readonly requests: number;
  readonly window_ms: number;
}

export interface LimitState {
  readonly headers: Readonly<Record<string, string>>;
  /** 0: the request is taken. */
  readonly wait_ms: number;
}

export class RateLimits {
  readonly #rates: DiscordRates;
  readonly #now: () => number;
  readonly #windows = new Map<string, { readonly until: number; used: number }>();

  constructor(rates: DiscordRates, now: () => number) {
    this.#rates = rates;
    this.#now = now;
  }

  take(bucket: string): LimitState {
    const now = this.#now();
    const { requests, window_ms } = this.#rates;
    const old = this.#windows.get(bucket);
    const window = old && old.until > now ? old : { until: now + window_ms, used: 0 };
    this.#windows.set(bucket, window);
    const isTaken = window.used < requests;
    if (isTaken) window.used++;
    const headers = {
      "x-ratelimit-limit": String(requests),
      "x-ratelimit-remaining": String(requests - window.used),
      "x-ratelimit-reset": String(window.until / 1_000),
      "x-ratelimit-reset-after": String((window.until - now) / 1_000),
      "x-ratelimit-bucket": bucket.replace(/\W.*$/, ""),
    };
    return { headers, wait_ms: isTaken ? 0 : window.until - now };
  }
}

export interface LimitAnswer {
  readonly status: 429;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export function toLimited(seconds: number, isGlobal: boolean, headers: Readonly<Record<string, string>> = {}): LimitAnswer {
  const scope = isGlobal ? { "x-ratelimit-global": "true", "x-ratelimit-scope": "global" } : { "x-ratelimit-scope": "user" };
  return {
    status: 429,
    headers: { ...headers, ...scope, "retry-after": String(Math.ceil(seconds)) },
    body: { message: "You are being rate limited.", retry_after: seconds, global: isGlobal },
  };
}
