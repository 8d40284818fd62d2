/** What a provider's stand-in is given to say, the same for all of them: each writes it in its own wire format. */

/** A block of a reply. The stand-in signs or encrypts what its provider signs or encrypts. */
export type SaidBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** Thinking that the provider shows nobody, not even in part. */
  | { readonly type: "redacted" }
  | { readonly type: "call"; readonly name: string; readonly arguments: string };

export interface Refusal {
  readonly status: number;
  /** Sent as JSON; a string as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body does not end. */
  readonly endless?: true;
}

/** What goes wrong. Everything but the first three comes after the blocks and before the reply's end. */
export type Mishap =
  | { readonly type: "refuse"; readonly refusal: Refusal }
  /** The request is taken, and nothing is ever answered. */
  | { readonly type: "silence" }
  /** The connection is closed without an answer. */
  | { readonly type: "hang_up" }
  /** Nothing more comes, and the connection stays open. */
  | { readonly type: "stall" }
  /** The connection breaks. */
  | { readonly type: "cut" }
  /** The body ends as if it were complete, without the end of the reply. */
  | { readonly type: "unfinished" }
  /** An error inside the stream, which then ends: the provider's own event, as JSON. */
  | { readonly type: "error"; readonly event: unknown }
  /** An event of a kind that is newer than its readers; the reply goes on. */
  | { readonly type: "news"; readonly event: unknown }
  /** The rest waits for the test. */
  | { readonly type: "hold"; readonly until: Promise<unknown> };

export interface ScriptedReply {
  readonly blocks: readonly SaidBlock[];
  /** Default: `stop`, or calls where there are any. */
  readonly finish?: "length" | "refused";
  readonly mishap?: Mishap;
  /** Answered as one JSON document, though a stream was asked for. */
  readonly whole?: true;
  /** Most bytes of a write; absent: one event a write. With 1 every character above ASCII is split. */
  readonly bytes?: number;
}

/** As the provider counts them. */
export interface PromptUsage {
  readonly input: number;
  readonly cacheRead: number;
  /** Null: the provider does not report it. */
  readonly cacheWrite: number | null;
}

/** One server-sent event, whole, with its blank line. */
export interface Frame {
  readonly data: string;
  /** Part of the reply's end: not written where something goes wrong before it. */
  readonly tail?: true;
}

/** A request that the provider takes. */
export interface Accepted {
  readonly usage: PromptUsage;
  frames(reply: ScriptedReply): readonly Frame[];
  /** The reply as it is answered where no stream is asked for. */
  whole(reply: ScriptedReply): unknown;
  eventFrame(event: unknown): Frame;
}

/** A request as it came in. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's text, byte for byte. */
  readonly raw: string;
  readonly body: unknown;
}

/** A provider: what it refuses, and how it answers. It remembers what it has cached, signed and given out. */
export interface Dialect {
  /** What follows the server's origin in a model's `base_url`. */
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
