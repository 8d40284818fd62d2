/** Answers of Discord's API: https://docs.discord.com/developers/topics/opcodes-and-status-codes and /topics/rate-limits */
import { z } from "zod";
import type { ActOutcome, FileStep, OutboundAct, PlatformResponse } from "../../app/channels/channel";
import { readDiscordTarget } from "./place";
import { discordId } from "./reading";
import { chooseWay, findOtherWay, isWithdrawn, UNKNOWN_WEBHOOK } from "./ways";

const message = z.object({ id: discordId });
const refusal = z.object({ code: z.number().int().nonnegative() });
const limit = z.object({ retry_after: z.number().positive() });

/** For a limit that names no time. */
const RETRY_MS = 5_000;
const MOST_RETRY_MS = 3_600_000;
const TIMED_OUT = 408;
/** Discord waits 3 s for the answer to an interaction. */
const MOST_EARLY_MS = 5_000;
const EARLY_MS = 1_000;

export function readDiscordAnswer(act: OutboundAct, response: PlatformResponse | null): ActOutcome {
  if (!response) return { kind: "unknown", reason: "no answer" };
  const { status } = response;
  const body = readBody(response.body);
  if (status >= 200 && status < 300) return { kind: "done", message: message.safeParse(body).data?.id ?? null };
  if (status === 429) return { kind: "rate_limited", retry_in_ms: readRetryAfter(response.headers, body) };
  if (status === TIMED_OUT) return { kind: "unknown", reason: `status ${status}` };
  if (status >= 500) return { kind: "failed", reason: `status ${status}` };
  const code = refusal.safeParse(body).data?.code ?? 0;
  if (isTooEarly(act, code, response.headers)) return { kind: "rate_limited", retry_in_ms: EARLY_MS };
  return isWithdrawn(act, code) ? { kind: "done", message: null } : judgeRefusal(act, status, code);
}

/**
 * Discord knows an interaction's token once it has read the answer to the interaction, which a quick reply may overtake. Its own clock tells
 * that from a token which never became valid, because the answer came late.
 */
function isTooEarly(act: OutboundAct, code: number, headers: Headers): boolean {
  const isByToken = act.type === "withdraw" || (act.type === "send" && chooseWay(act) !== "channel");
  if (!isByToken || code !== UNKNOWN_WEBHOOK) return false;
  const age = Date.parse(headers.get("date") ?? "") - readDiscordTarget(act.place).asked_at;
  return age < MOST_EARLY_MS;
}

/** Discord takes every text as markdown, so that no other form of it would be taken. */
function judgeRefusal(act: OutboundAct, status: number, code: number): ActOutcome {
  const reason = code === 0 ? `status ${status}` : `status ${status}, code ${code}`;
  const moved_to = findOtherWay(act, code);
  return moved_to ? { kind: "refused", reason, moved_to } : { kind: "refused", reason };
}

/** Seconds, with decimals in the body and in `X-RateLimit-Reset-After`. The network in front of Discord answers without a body. */
function readRetryAfter(headers: Headers, body: unknown): number {
  const seconds =
    limit.safeParse(body).data?.retry_after ?? toSeconds(headers.get("retry-after")) ?? toSeconds(headers.get("x-ratelimit-reset-after"));
  return seconds === null ? RETRY_MS : Math.min(Math.ceil(seconds * 1_000), MOST_RETRY_MS);
}

const toSeconds = (text: string | null): number | null => (text !== null && /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : null);

function readBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function readDiscordFile({ status, headers }: { readonly status: number; readonly headers: Headers }): FileStep {
  if (status !== 200) return { kind: "failed", reason: `status ${status}` };
  return { kind: "bytes", media_type: headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() || null };
}
