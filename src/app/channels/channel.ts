/**
 * The port of a chat platform. An adapter says how the platform signs its requests, what they mean, and which requests send a reply. It does no
 * I/O: the core sends what an adapter builds, and gives it the answer to read. docs/channels.md has the recipe for a new adapter.
 */
import type { z } from "zod";

/** A request of the platform as it arrived. Signatures cover the raw bytes. */
export interface WebhookRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What the platform is answered. */
export interface DeliveryAnswer {
  readonly status: number;
  /** A JSON value, or a text that is sent as `text/plain`. Absent: no body. */
  readonly json?: unknown;
  readonly text?: string;
}

/**
 * Where replies go: a private chat, a group, a thread. `key` names it within the channel, and two places never share one. `target` is the
 * adapter's own, JSON of at most 2 KB, for example a chat id and a thread id. It is stored beside the session and never shown.
 */
export interface ChatPlace {
  readonly chat: string;
  /** Null: the platform has no threads, or the message is in none. */
  readonly thread: string | null;
  readonly is_private: boolean;
  readonly target: Readonly<Record<string, string | number | null>>;
}

/** The person who wrote. `language`: BCP 47, as the platform reports it. */
export interface ChatUser {
  readonly id: string;
  readonly name: string | null;
  readonly language: string | null;
}

/** A file of a message, which the platform holds. `ref` is what `buildFileRequest` needs. */
export interface ChatFile {
  readonly ref: string;
  readonly name: string | null;
  readonly media_type: string | null;
  readonly bytes: number | null;
}

export type ChatEvent =
  /** `message`: the platform's id of the message. `command`: a command of the bot (`/start`), without the slash, in lower case. */
  | {
      readonly type: "message";
      readonly message: string;
      readonly text: string;
      readonly files: readonly ChatFile[];
      readonly command: { readonly name: string; readonly args: string } | null;
      /** False: written in a group without addressing the bot. */
      readonly is_addressed: boolean;
    }
  | { readonly type: "edit"; readonly message: string; readonly text: string }
  | { readonly type: "deletion"; readonly message: string }
  /** A button was pressed. `data` is what the button was sent with; `message` has the button. */
  | { readonly type: "button"; readonly message: string; readonly data: string };

/** One thing that happened in a chat. `id`: the platform's own id of the delivery, the same when it delivers again. */
export interface Delivery {
  readonly id: string;
  readonly place: ChatPlace;
  readonly user: ChatUser;
  /** Epoch milliseconds, by the platform. */
  readonly at: number;
  readonly event: ChatEvent;
}

export type ParsedWebhook =
  /** The platform checks the address. Nothing happened in a chat. */
  | { readonly kind: "handshake"; readonly answer: DeliveryAnswer }
  /** `reason` is for the channel's log: a bot's own message, another bot's, a type that no adapter reads. */
  | { readonly kind: "ignored"; readonly reason: string; readonly answer: DeliveryAnswer }
  | { readonly kind: "deliveries"; readonly deliveries: readonly Delivery[]; readonly answer: DeliveryAnswer }
  | { readonly kind: "malformed"; readonly detail: string };

/** `expired`: the signature is right, and too old or of the future. */
export type Verification = "verified" | "unsigned" | "wrong" | "expired";

export interface ReplyButton {
  readonly label: string;
  /** At most 64 bytes of ASCII. Comes back in the event `button`. */
  readonly data: string;
}

/** A text in the form that the platform takes, made by `render`. `plain` is sent when the platform refuses the form. */
export interface RenderedText {
  readonly text: string;
  readonly plain: string;
}

/** `operation`: stored before the act is sent, the same when it is sent again. For platforms that recognise a repetition. */
export type OutboundAct =
  | {
      readonly type: "send";
      readonly operation: string;
      readonly place: ChatPlace;
      readonly text: RenderedText;
      readonly buttons: readonly ReplyButton[];
      /** The text is sent without formatting. */
      readonly is_plain: boolean;
      /**
       * Nothing has been sent yet in answer to the delivery that `place` is from. Discord then fills the message which shows that the bot is
       * thinking, and a second such act would replace the first. Absent: false.
       */
      readonly is_first?: boolean;
    }
  | {
      readonly type: "edit";
      readonly operation: string;
      readonly place: ChatPlace;
      readonly message: string;
      readonly text: RenderedText;
      readonly buttons: readonly ReplyButton[];
      readonly is_plain: boolean;
    }
  | { readonly type: "typing"; readonly place: ChatPlace }
  /** Takes away the sign that an answer comes, because none does. Nothing was sent in answer to the delivery that `place` is from. */
  | { readonly type: "withdraw"; readonly operation: string; readonly place: ChatPlace }
  /** Ends the button's waiting state. `delivery`: the event's id. */
  | { readonly type: "acknowledge_button"; readonly place: ChatPlace; readonly delivery: string };

export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text, normally JSON. Absent: no body. */
  readonly body?: string;
}

export interface PlatformResponse {
  readonly status: number;
  readonly headers: Headers;
  /** At most 64 KB. */
  readonly body: string;
}

export type ActOutcome =
  /** `message`: the platform's id of what was sent. Null: it gives none. */
  | { readonly kind: "done"; readonly message: string | null }
  | { readonly kind: "rate_limited"; readonly retry_in_ms: number }
  /** The platform could not take it now. It was not sent. */
  | { readonly kind: "failed"; readonly reason: string }
  /** The message may have been sent: the answer was lost, or does not say. */
  | { readonly kind: "unknown"; readonly reason: string }
  /** The platform refused the formatting. It takes the plain text. */
  | { readonly kind: "bad_format"; readonly reason: string }
  /**
   * The act will never be taken: the bot was blocked, the chat is gone, the token is wrong. `moved_to`: the chat is there now, so that the act is
   * taken when it is built for that place.
   */
  | { readonly kind: "refused"; readonly reason: string; readonly moved_to?: ChatPlace };

/** How a platform counts and paces. The sources of the numbers are in the adapter. */
export interface ChannelTraits {
  /** A message takes texts for which this is true. */
  readonly fits: (rendered: string) => boolean;
  /** Null: messages cannot be edited, so that a reply is sent when it is complete. */
  readonly edits: { readonly every_ms: number } | null;
  /** Null: the platform shows no typing. */
  readonly typing: { readonly every_ms: number } | null;
  /** The most messages a chat takes. */
  readonly pace: { readonly messages: number; readonly per_ms: number };
  /** How long the platform repeats a delivery. Ids are kept longer. */
  readonly redelivers_for_ms: number;
  /** The platform recognises `operation`, so that a repetition sends nothing twice. */
  readonly is_idempotent: boolean;
  readonly max_buttons: number;
}

/** A step of fetching a file: the bytes are in the answer, or at another address. */
export type FileStep =
  | { readonly kind: "bytes"; readonly media_type: string | null }
  | { readonly kind: "next"; readonly request: PlatformRequest }
  | { readonly kind: "failed"; readonly reason: string };

export interface ChannelAdapter<Credentials> {
  /** What the tenant enters. Secrets are stored sealed. */
  readonly credentials: z.ZodType<Credentials>;
  readonly traits: ChannelTraits;
  /** Compares in constant time, over the raw body. `now`: epoch milliseconds. */
  verify(request: WebhookRequest, credentials: Credentials, now: number): Promise<Verification>;
  /** Called with a verified request. Never throws, whatever the body is. */
  parse(request: WebhookRequest, credentials: Credentials): ParsedWebhook;
  /** Translates the markdown of a model. A part is a whole: no formatting is left open at its end. */
  render(markdown: string): RenderedText;
  /** Null: the platform has no such act. */
  build(act: OutboundAct, credentials: Credentials): PlatformRequest | null;
  /** Null response: the request got no answer. `sent`: its bytes may have reached the platform. */
  read(act: OutboundAct, response: PlatformResponse | null): ActOutcome;
  /** The first request that fetches a file. Null: the channel has no files. */
  buildFileRequest(file: ChatFile, credentials: Credentials): PlatformRequest | null;
  /** `body`: for an answer of JSON, null otherwise. */
  readFile(
    response: { readonly status: number; readonly headers: Headers; readonly body: string | null },
    credentials: Credentials,
  ): FileStep;
}
