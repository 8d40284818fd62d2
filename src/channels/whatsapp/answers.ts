/** Answers of the Cloud API: https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes */
import { z } from "zod";
import type { ActOutcome, FileStep, OutboundAct, PlatformResponse } from "../../app/channels/channel";
import type { WhatsAppCredentials } from "./credentials";
import { buildMediaDownload } from "./requests";

const failure = z.object({ error: z.object({ code: z.number().int(), error_subcode: z.number().int().nullish() }) });
const sent = z.object({ messages: z.array(z.object({ id: z.string() })).min(1) });
const media = z.object({ messaging_product: z.literal("whatsapp"), url: z.string() });

/** One person takes a message every 6 s. */
const PAIR_LIMIT = 131_056;
const PAIR_WAIT_MS = 6_000;
/** Limits of the app, the account and the number's throughput. Meta says no time. */
const LIMITS = new Set([4, 80_007, 130_429]);
const LIMIT_WAIT_MS = 30_000;

/** Parameters that are not as they should be, such as a text that is too long. */
const BAD_FORMAT = new Set([100, 131_008, 131_009]);

/** The token or the account may not, the person is out of reach, or did not write for 24 hours (131047). */
const REFUSED = new Set([
  0, 3, 10, 33, 190, 368, 130_472, 130_497, 131_005, 131_021, 131_026, 131_030, 131_031, 131_037, 131_042, 131_045, 131_047, 131_051,
  133_010,
]);

export function readWhatsAppAnswer(act: OutboundAct, response: PlatformResponse | null): ActOutcome {
  if (!response) return { kind: "unknown", reason: "no answer" };
  const body = parseJson(response.body);
  const failed = failure.safeParse(body);
  if (failed.success) return judgeCode(failed.data.error.code, "is_plain" in act && act.is_plain);
  if (response.status === 429) return { kind: "rate_limited", retry_in_ms: LIMIT_WAIT_MS };
  if (response.status >= 200 && response.status < 300 && body !== undefined)
    return { kind: "done", message: sent.safeParse(body).data?.messages[0]?.id ?? null };
  const reason = `status ${response.status}`;
  return response.status >= 400 && response.status < 500 && response.status !== 408
    ? { kind: "refused", reason }
    : { kind: "unknown", reason };
}

/** Meta answers an error in place of sending, so that nothing was sent. A code that is not known here may pass. */
function judgeCode(code: number, isPlain: boolean): ActOutcome {
  const reason = `error ${code}`;
  if (code === PAIR_LIMIT) return { kind: "rate_limited", retry_in_ms: PAIR_WAIT_MS };
  if (LIMITS.has(code)) return { kind: "rate_limited", retry_in_ms: LIMIT_WAIT_MS };
  if (BAD_FORMAT.has(code)) return { kind: isPlain ? "refused" : "bad_format", reason };
  // 200 to 299 are permissions that the token does not have.
  const isRefused = REFUSED.has(code) || (code >= 200 && code < 300);
  return { kind: isRefused ? "refused" : "failed", reason };
}

interface FileAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | null;
}

export function readWhatsAppFile({ status, headers, body }: FileAnswer, credentials: WhatsAppCredentials): FileStep {
  const json = body === null ? undefined : parseJson(body);
  const failed = failure.safeParse(json);
  if (status !== 200) return { kind: "failed", reason: failed.success ? `error ${failed.data.error.code}` : `status ${status}` };
  const described = media.safeParse(json);
  if (!described.success) return { kind: "bytes", media_type: headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() || null };
  const request = buildMediaDownload(described.data.url, credentials);
  return request ? { kind: "next", request } : { kind: "failed", reason: "the file is not at an address of Meta" };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
