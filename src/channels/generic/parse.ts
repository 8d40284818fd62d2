/** Reads the body of a generic webhook: one thing that happened in a conversation. docs/channels/generic.md describes it. */
import { z } from "zod";
import type { ChatEvent, ChatFile, ParsedWebhook, WebhookRequest } from "../../app/channels/channel";
import type { Clock } from "../../app/ports";
import { sha256Sync } from "../../lib/sha256-sync";
import type { GenericCredentials } from "./credentials";
import { readSignedHeaders } from "./verify";

const MAX_ID = 128;
const MAX_NAME = 256;
const MAX_LANGUAGE = 35;
const MAX_FILES = 10;
const MAX_URL = 2_048;
/** The bounds of JavaScript's times. */
const MAX_AT = 8_640_000_000_000_000;

const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.isWellFormed(), "is not valid Unicode");
const name = text(MAX_ID).min(1);
const content = z.string().refine((value) => value.isWellFormed(), "is not valid Unicode");

const file = z.object({
  url: z.url({ protocol: /^https?$/, error: "must be an https URL" }).max(MAX_URL),
  name: text(MAX_NAME).nullish(),
  media_type: text(MAX_NAME).nullish(),
  bytes: z.int().min(0).nullish(),
});

const EVENTS = ["message", "edit", "deletion", "button"] as const;

const webhook = z
  .object({
    id: name.optional(),
    at: z.int().min(0).max(MAX_AT).optional(),
    conversation: name,
    thread: name.nullish(),
    private: z.boolean().default(true),
    user: z.object({ id: name, name: text(MAX_NAME).nullish(), language: text(MAX_LANGUAGE).nullish() }),
    message: z
      .object({
        id: name,
        text: content.default(""),
        files: z.array(file).max(MAX_FILES).default([]),
        addressed: z.boolean().default(true),
      })
      .optional(),
    edit: z.object({ id: name, text: content }).optional(),
    deletion: z.object({ id: name }).optional(),
    button: z.object({ message: name, data: text(MAX_ID) }).optional(),
  })
  .superRefine((body, context) => {
    const named = EVENTS.filter((event) => body[event] !== undefined);
    if (named.length !== 1) context.addIssue({ code: "custom", message: `exactly one of ${EVENTS.join(", ")} is required` });
  });
type Webhook = z.infer<typeof webhook>;

/** `/start at once`: the command `start` with what follows it. */
const COMMAND = /^\/([a-z0-9_]{1,32})(?:\s+(.*))?$/is;

function readCommand(said: string): { readonly name: string; readonly args: string } | null {
  const [, command, args = ""] = COMMAND.exec(said) ?? [];
  return command === undefined ? null : { name: command.toLowerCase(), args: args.trim() };
}

const toFile = ({ url, name: named = null, media_type = null, bytes = null }: z.infer<typeof file>): ChatFile => ({
  ref: url,
  name: named,
  media_type,
  bytes,
});

function toEvent({ message, edit, deletion, button }: Webhook): ChatEvent | null {
  if (message) {
    const { id, files, addressed, ...said } = message;
    return {
      type: "message",
      message: id,
      text: said.text,
      files: files.map(toFile),
      command: readCommand(said.text),
      is_addressed: addressed,
    };
  }
  if (edit) return { type: "edit", message: edit.id, text: edit.text };
  if (deletion) return { type: "deletion", message: deletion.id };
  return button ? { type: "button", ...button } : null;
}

interface SignedFacts {
  /** Null: the request has no id that is signed. */
  readonly id: string | null;
  readonly at: number | null;
}

/** The headers of GitHub's style are not signed: anyone who repeats a request can change them. */
function readSignedFacts({ headers }: WebhookRequest, { signature }: GenericCredentials): SignedFacts {
  const signed = signature === "standard_webhooks" ? readSignedHeaders(headers) : "unsigned";
  return typeof signed === "string" ? { id: null, at: null } : { id: signed.id, at: Number(signed.timestamp) * 1_000 };
}

function decode(body: Uint8Array<ArrayBuffer>): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(body);
  } catch {
    return null;
  }
}

function parseJson(json: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return null;
  }
}

const toDetail = ({ issues: [issue] }: z.ZodError): string => `${issue?.path.join(".") || "body"}: ${issue?.message ?? "is not valid"}`;

const RECEIVED = { status: 200, json: { received: true } } as const;

export function parseGeneric(request: WebhookRequest, credentials: GenericCredentials, now: Clock): ParsedWebhook {
  // GitHub sends one when a webhook is made there.
  if (credentials.signature === "github" && request.headers.get("x-github-event") === "ping")
    return { kind: "handshake", answer: RECEIVED };
  const json = decode(request.body);
  const parsed = json === null ? null : parseJson(json);
  if (json === null || !parsed) return { kind: "malformed", detail: "body: not JSON in UTF-8" };
  const checked = webhook.safeParse(parsed.value);
  if (!checked.success) return { kind: "malformed", detail: toDetail(checked.error) };
  const { id, at, conversation, thread = null, user, private: is_private } = checked.data;
  const event = toEvent(checked.data);
  if (!event) return { kind: "malformed", detail: `body: one of ${EVENTS.join(", ")} is required` };
  const signed = readSignedFacts(request, credentials);
  const delivery = {
    id: id ?? signed.id ?? sha256Sync(json),
    place: { chat: conversation, thread, is_private, target: { conversation, thread } },
    user: { id: user.id, name: user.name ?? null, language: user.language ?? null },
    at: at ?? signed.at ?? now(),
    event,
  };
  return { kind: "deliveries", deliveries: [delivery], answer: RECEIVED };
}
