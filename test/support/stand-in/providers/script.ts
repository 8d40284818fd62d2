/** The script of a provider's stand-in. It is the same for all of them, and each writes it in its own wire format. */

/** A block of a reply. The stand-in signs or encrypts the same blocks as its provider. */
export type SaidBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** Thinking that the provider never shows. */
  | { readonly type: "redacted" }
  | { readonly type: "call"; readonly name: string; readonly arguments: string };

export interface Refusal {
  readonly status: number;
  /** Sent as JSON. A string is sent unchanged. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body does not end. */
  readonly endless?: true;
}

/** The fault to simulate. All but the first three occur after the blocks and before the reply's end. */
export type Mishap =
  | { readonly type: "refuse"; readonly refusal: Refusal }
  /** The request is accepted and never answered. */
  | { readonly type: "silence" }
  /** The connection is closed without a response. */
  | { readonly type: "hang_up" }
  /** Nothing more arrives, and the connection stays open. */
  | { readonly type: "stall" }
  /** The connection breaks. */
  | { readonly type: "cut" }
  /** The body ends as if it were complete, without the end of the reply. */
  | { readonly type: "unfinished" }
  /** An error inside the stream, which then ends: the provider's own event, as JSON. */
  | { readonly type: "error"; readonly event: unknown }
  /** An event of a kind that is newer than its readers. The reply continues. */
  | { readonly type: "news"; readonly event: unknown }
  /** The rest waits for the test. */
  | { readonly type: "hold"; readonly until: Promise<unknown> };

export interface ScriptedReply {
  readonly blocks: readonly SaidBlock[];
  /** Default: `stop`, or calls if there are any. */
  readonly finish?: "length" | "refused";
  readonly mishap?: Mishap;
  /** Sent as one JSON document, although a stream was requested. */
  readonly whole?: true;
  /** The content type that the answer states, right or wrong. Absent: its own. */
  readonly contentType?: string;
  /** Maximum bytes of a write. Absent: one event in each write. With 1, every character beyond ASCII is split. */
  readonly bytes?: number;
}

/** As the provider counts them. */
export interface PromptUsage {
  readonly input: number;
  readonly cacheRead: number;
  /** Null: the provider does not report it. */
  readonly cacheWrite: number | null;
}

/** One complete server-sent event, with its blank line. */
export interface Frame {
  readonly data: string;
  /** Part of the reply's end: not written if a fault occurs before it. */
  readonly tail?: true;
}

/** A request that the provider accepts. */
export interface Accepted {
  readonly usage: PromptUsage;
  frames(reply: ScriptedReply): readonly Frame[];
  /** The form of the reply when no stream is requested. */
  whole(reply: ScriptedReply): unknown;
  eventFrame(event: unknown): Frame;
}

/** A request as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's text, byte for byte. */
  readonly raw: string;
  readonly body: unknown;
}

/** A provider: its refusals and its answers. It remembers what it has cached, signed and issued. */
export interface Dialect {
  /** The path after the server's origin in a model's `base_url`. */
  readonly basePath: string;
  receive(received: Received): Refusal | Accepted;
}

export const isRefusal = (answer: Refusal | object): answer is Refusal => "status" in answer;

const CHARACTERS_PER_DELTA = 12;

/** Pieces of `text` as a provider may cut it: never inside a surrogate pair. */
export function splitDeltas(text: string): readonly string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / CHARACTERS_PER_DELTA) }, (_, place) =>
    characters.slice(place * CHARACTERS_PER_DELTA, (place + 1) * CHARACTERS_PER_DELTA).join(""),
  );
}
