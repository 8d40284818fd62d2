/** Answers of Slack's Web API: https://docs.slack.dev/apis/web-api#responses and the tables of errors of each method. */
import { z } from "zod";
import type { ActOutcome, FileStep, OutboundAct, PlatformResponse } from "../../app/channels/channel";

const answer = z.object({ ok: z.boolean(), error: z.string().nullish(), ts: z.string().nullish() });

/** For a limit without `Retry-After`. Slack documents one message a second in a channel. */
const RETRY_MS = 5_000;
const MOST_RETRY_MS = 3_600_000;

const LIMITED = new Set(["ratelimited", "rate_limited"]);
/** Slack documents that some aspect of the call may have succeeded before these. */
const PERHAPS_DONE = new Set(["internal_error", "fatal_error"]);
const BAD_FORMAT = new Set([
  "block_mismatch",
  "invalid_blocks",
  "invalid_blocks_format",
  "markdown_text_conflict",
  "msg_blocks_too_long",
  "msg_too_long",
  "no_text",
]);
const REFUSED = new Set([
  "access_denied",
  "account_inactive",
  "as_user_not_supported",
  "cannot_reply_to_message",
  "cant_update_message",
  "channel_not_found",
  "channel_type_not_supported",
  "edit_window_closed",
  "ekm_access_denied",
  "enterprise_is_restricted",
  "invalid_arguments",
  "invalid_auth",
  "invalid_thread_ts",
  "is_archived",
  "is_inactive",
  "message_not_found",
  "messages_tab_disabled",
  "method_deprecated",
  "missing_scope",
  "no_permission",
  "not_allowed_token_type",
  "not_authed",
  "not_in_channel",
  "restricted_action",
  "restricted_action_non_threadable_channel",
  "restricted_action_read_only_channel",
  "restricted_action_thread_locked",
  "restricted_action_thread_only_channel",
  "team_access_not_granted",
  "thread_locked",
  "token_expired",
  "token_revoked",
  "two_factor_setup_required",
]);

export function readSlackAnswer(act: OutboundAct, response: PlatformResponse | null): ActOutcome {
  if (!response) return { kind: "unknown", reason: "no answer" };
  if (response.status === 429) return { kind: "rate_limited", retry_in_ms: readRetryAfter(response.headers) };
  const body = readBody(response.body);
  if (!body) return judgeStatus(response.status);
  if (body.ok) return { kind: "done", message: body.ts ?? null };
  return judgeError(toCode(body.error), { response, isPlain: "is_plain" in act && act.is_plain });
}

/** Slack answers its own errors with 200. A 5xx may come from a gateway behind which the message was posted. */
function judgeStatus(status: number): ActOutcome {
  const reason = `status ${status}`;
  return status >= 400 && status < 500 && status !== 408 ? { kind: "refused", reason } : { kind: "unknown", reason };
}

interface Asked {
  readonly response: PlatformResponse;
  readonly isPlain: boolean;
}

/** An error that is not known here was an error all the same: nothing was sent, and the act may be tried again. */
function judgeError(reason: string, { response, isPlain }: Asked): ActOutcome {
  if (LIMITED.has(reason)) return { kind: "rate_limited", retry_in_ms: readRetryAfter(response.headers) };
  if (PERHAPS_DONE.has(reason)) return { kind: "unknown", reason };
  if (BAD_FORMAT.has(reason)) return { kind: isPlain ? "refused" : "bad_format", reason };
  return { kind: REFUSED.has(reason) ? "refused" : "failed", reason };
}

function readRetryAfter(headers: Headers): number {
  const seconds = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(seconds) ? Math.min(Math.max(Number(seconds), 1) * 1_000, MOST_RETRY_MS) : RETRY_MS;
}

function readBody(text: string): z.infer<typeof answer> | null {
  try {
    return answer.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** An error's code, and nothing else that an answer may contain. */
const toCode = (error: string | null | undefined): string => (error && /^[\w.-]{1,64}$/.test(error) ? error : "an error without a code");

/** Slack answers a token that may not read files with its sign-in page, not with an error. */
export function readSlackFile({ status, headers }: { readonly status: number; readonly headers: Headers }): FileStep {
  if (status !== 200) return { kind: "failed", reason: `status ${status}` };
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() || null;
  if (type === "text/html") return { kind: "failed", reason: "a sign-in page: the app lacks the scope files:read" };
  return { kind: "bytes", media_type: type };
}
