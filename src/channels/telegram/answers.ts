/** What an answer of the Bot API means. Telegram's own words are read and never passed on. */
import { z } from "zod";
import type { ActOutcome, FileStep, OutboundAct, PlatformResponse } from "../../app/channels/channel";
import type { TelegramCredentials } from "./credentials";
import { buildDownload } from "./requests";

const answer = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  description: z.string().catch(""),
  parameters: z
    .object({ retry_after: z.number().positive().optional().catch(undefined), migrate_to_chat_id: z.int().optional().catch(undefined) })
    .catch({}),
});
type Answer = z.infer<typeof answer>;

const sentMessage = z.object({ message_id: z.int() });
const foundFile = z.object({ file_path: z.string() });

function readAnswer(body: string): Answer | null {
  try {
    return answer.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}

/** Telegram names no time when its servers are flooded otherwise. */
const USUAL_WAIT_S = 1;

export function readTelegramAnswer(act: OutboundAct, response: PlatformResponse | null): ActOutcome {
  if (!response) return { kind: "unknown", reason: "Telegram did not answer" };
  const { status } = response;
  const said = readAnswer(response.body);
  if (said?.ok) return { kind: "done", message: sentMessage.safeParse(said.result).data?.message_id.toString() ?? null };
  if (status === 429) {
    const seconds = said?.parameters.retry_after ?? (Number(response.headers.get("retry-after")) || USUAL_WAIT_S);
    return { kind: "rate_limited", retry_in_ms: Math.ceil(seconds * 1_000) };
  }
  // A gateway that waited in vain does not know whether the message was sent.
  if (status === 504 || (status < 300 && !said)) return { kind: "unknown", reason: `Telegram's answer says nothing (${status})` };
  if (status >= 500) return { kind: "failed", reason: `Telegram failed (${status})` };
  return status === 400 && said
    ? readBadRequest(act, said)
    : { kind: "refused", reason: REFUSALS[status] ?? `Telegram refused (${status})` };
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: "Telegram refused the request (400)",
  401: "Telegram does not know the bot's token (401)",
  403: "The bot was blocked, or removed from the chat (403)",
  404: "Telegram does not know the bot's token (404)",
};

/** The words of the Bot API server, which has no codes for them. */
const NOT_MODIFIED = /message is not modified/i;
const BAD_FORMAT = /can't parse entities|can't find end tag|text is empty|text must be non-empty/i;
const WORDS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/chat not found/i, "Telegram does not find the chat"],
  [/message is too long/i, "Telegram takes no text of this length"],
  [/message thread not found|topic_(?:closed|deleted)/i, "The topic was closed or deleted"],
  [/message to edit not found|message can't be edited/i, "Telegram no longer lets the message be edited"],
  [/query is too old/i, "The button was pressed too long ago"],
  [/not enough rights|have no rights|chat_write_forbidden/i, "The bot has no right to write in the chat"],
];

function readBadRequest(act: OutboundAct, { description, parameters }: Answer): ActOutcome {
  if (act.type === "edit" && NOT_MODIFIED.test(description)) return { kind: "done", message: act.message };
  if (BAD_FORMAT.test(description)) return { kind: "bad_format", reason: "Telegram cannot read the formatting" };
  const chat_id = parameters.migrate_to_chat_id;
  if (chat_id !== undefined && act.type !== "acknowledge_button") {
    const moved_to = { ...act.place, chat: String(chat_id), target: { ...act.place.target, chat_id } };
    return { kind: "refused", reason: "The group became a supergroup with another id", moved_to };
  }
  const known = WORDS.find(([pattern]) => pattern.test(description));
  return { kind: "refused", reason: known?.[1] ?? "Telegram refused the request (400)" };
}

/** A path below the bot's files. A Bot API server in local mode answers a path of its own disk, which cannot be fetched. */
const FILE_PATH = /^(?!.*\.\.)[\w-][\w./ -]{0,500}$/;

export function readTelegramFile(
  { status, headers, body }: { readonly status: number; readonly headers: Headers; readonly body: string | null },
  credentials: TelegramCredentials,
): FileStep {
  const said = body === null ? null : readAnswer(body);
  if (status !== 200)
    return { kind: "failed", reason: status === 400 ? "The file is over 20 MB, or gone" : `Telegram refused the file (${status})` };
  if (!said) return { kind: "bytes", media_type: readType(headers) };
  const path = foundFile.safeParse(said.result).data?.file_path ?? "";
  if (!FILE_PATH.test(path)) return { kind: "failed", reason: "Telegram named no path of the file" };
  return { kind: "next", request: buildDownload(encodeURI(path), credentials) };
}

/** Telegram sends most files as `application/octet-stream`, which says nothing. */
function readType(headers: Headers): string | null {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  return type === undefined || type === "" || type === "application/octet-stream" ? null : type;
}
