import { toLimited } from "./rate-limits.ts";
import type { ApiAnswer } from "./rest-api.ts";

/** What happens to the next call in place of an ordinary answer. */
export type DiscordMishap =
  | { readonly type: "error"; readonly status: number; readonly code?: number }
  | { readonly type: "limit"; readonly seconds: number; readonly isGlobal?: boolean }
  /** The network in front of Discord blocks the address: no JSON. */
  | { readonly type: "block"; readonly seconds: number }
  /** The connection closes after the call took effect. */
  | { readonly type: "lose_answer" }
  /** The call takes no effect, and is never answered. */
  | { readonly type: "hang" };

export function toMishapAnswer(mishap: Exclude<DiscordMishap, { type: "hang" | "lose_answer" }>): ApiAnswer {
  switch (mishap.type) {
    case "limit":
      return toLimited(mishap.seconds, mishap.isGlobal ?? false);
    case "block":
      return { status: 429, headers: { "retry-after": String(mishap.seconds) } };
    case "error":
      return { status: mishap.status, body: { code: mishap.code ?? 0, message: `${mishap.status}` } };
  }
}
