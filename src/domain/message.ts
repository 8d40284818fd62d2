/**
 * The parts of a conversation. An *item* is one message, one tool call or one tool result. Its numbers and ids
 * (`ItemMeta`) live in events and state; its content (`Part[]`) lives in a body with the same id.
 */
import type { BodyId, ExecutionId, FileId, ItemId, TurnId } from "./ids";

/** Opaque data that a provider expects back byte for byte (item ids, thought signatures), by provider name. */
export type ProviderMetadata = Readonly<Record<string, unknown>>;

interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly provider_metadata?: ProviderMetadata;
}
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly provider_metadata?: ProviderMetadata;
}
interface AnyMedia {
  readonly type: "image" | "file";
  readonly media_type: string;
  readonly name?: string;
  readonly provider_metadata?: ProviderMetadata;
}
/** An image or a file somewhere on the web. */
interface LinkedMedia extends AnyMedia {
  readonly url: string;
}
/** A file that the tenant has stored. A file never changes, so that its size and weight are known for good. */
export interface StoredMedia extends AnyMedia {
  readonly file_id: FileId;
  readonly bytes: number;
  /** Raw estimate of the file in a request to a model that reads it. */
  readonly tokens: number;
}
/** An image or a file, held by reference: the log never holds base64. */
export type MediaPart = LinkedMedia | StoredMedia;
/**
 * Maximum length of a `call_id`, in UTF-16 units. Events and the state carry it, so it must be bounded. The limit is
 * far above the 64 of most providers, because some gateways put a thought signature into it, and would not accept a
 * shortened one back.
 */
export const MAX_CALL_ID_UNITS = 4_096;
/** Maximum length of a called tool's name, in UTF-16 units. Offered tools have at most 64; a model may invent a longer name. */
export const MAX_TOOL_NAME_UNITS = 256;
/**
 * Maximum length of a call's thought signature, in UTF-16 units. A signature is opaque and must go back byte for byte,
 * so it is never cut. The known ones are far shorter.
 */
export const MAX_SIGNATURE_UNITS = 100_000;
/** Maximum number of tool calls in one reply. Each call is an event, and one request must hold as many results. */
export const MAX_REPLY_CALLS = 128;

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly call_id: string;
  readonly name: string;
  /** The arguments as the model wrote them: JSON text, never reparsed or cut. */
  readonly arguments: string;
  readonly provider_metadata?: ProviderMetadata;
}

/**
 * Gemini's signature of the reasoning before a call, in the AI SDK's shape. It must be sent back with the call. Null
 * when there is none.
 */
export function thoughtSignature({ provider_metadata }: ToolCallPart): string | null {
  const google = provider_metadata?.google;
  if (typeof google !== "object" || google === null || !("thoughtSignature" in google)) return null;
  return typeof google.thoughtSignature === "string" ? google.thoughtSignature : null;
}

export interface ToolResultPart {
  readonly type: "tool_result";
  readonly call_id: string;
  readonly name: string;
  /** The output as recorded, cut at the policy's limit with a marker. */
  readonly output: string;
  readonly is_error: boolean;
}
export type Part = TextPart | ReasoningPart | MediaPart | ToolCallPart | ToolResultPart;

/** The kind of an item: a message with its role, a call or a result. */
export type ItemKind = "system" | "user" | "assistant" | "tool_call" | "tool_result";

/** The ids of a recorded call: `execution` is generated here and unique; `call_id` is the provider's and may repeat. */
export interface ToolRef {
  readonly execution: ExecutionId;
  readonly call_id: string;
  readonly name: string;
  readonly is_error?: boolean;
}

/**
 * The item came with metadata of its provider. The metadata is sent back with it to this model only, until a change of
 * the view drops it.
 */
export interface Signed {
  readonly model: string;
  /** Raw estimate of the reasoning tokens that are sent back. The item's own `tokens` do not include them. */
  readonly tokens: number;
}

/** The facts about an image or a file that decide what a model is sent of it. */
export interface MediaMeta {
  readonly type: MediaPart["type"];
  readonly media_type: string;
  /** The scheme of its URL, such as `https:`. Null when the URL cannot be parsed. */
  readonly scheme: string | null;
  /** Raw estimate, in tokens, of the text that names the file to a model that is not sent it. */
  readonly words: number;
  /** The tenant's stored file, with its size and its raw weight for a model that reads it. Absent: something on the web. */
  readonly file?: { readonly id: FileId; readonly bytes: number; readonly tokens: number };
}

/** An item as the log and the state hold it, without content. */
export interface ItemMeta {
  readonly id: ItemId;
  readonly kind: ItemKind;
  /** The item's place in the conversation as people see it, from 1. Not the event's seq. */
  readonly position: number;
  readonly turn: TurnId | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Size of the content in UTF-8 bytes. */
  readonly bytes: number;
  /** Estimated tokens by `context/tokens`, raw: neither scaled nor padded. */
  readonly tokens: number;
  /**
   * Estimated tokens by the `chars_4` estimator: characters over 4. Only policies with that estimator read it. Absent:
   * the same as `tokens`.
   */
  readonly rough?: number;
  /** Number of images and files in the item. Absent: none. */
  readonly media?: number;
  /** The item's images and files one by one. Absent: none. */
  readonly attached?: readonly MediaMeta[];
  readonly tool?: ToolRef;
  /** Absent: no part of the item carries provider metadata. */
  readonly signed?: Signed;
  /** The reply was cut off before its end: stopped, failed, interrupted, or ended by its provider. */
  readonly incomplete?: true;
  /** When an imported message was said, as its client reports, in epoch milliseconds. Never used for order. Absent: at `at`. */
  readonly said_at?: number;
  /** The client's own id of the message, unique in the session. */
  readonly client_id?: string;
  /** The item was imported as part of the same message as the item before it. Items that a turn produced share its `turn` instead. */
  readonly continues?: true;
  /** A redaction or a rule of retention has removed the content. */
  readonly redacted?: true;
  /** A tool result whose content a rule of retention has removed. */
  readonly expired?: true;
}

/** When the item was said. Clients and models read this time; `at` is when the log recorded the item. */
export const toTimeSaid = ({ said_at, at }: Pick<ItemMeta, "said_at" | "at">): number => said_at ?? at;

/** An item before it has a position, as commands carry it. */
export type NewItem = Omit<ItemMeta, "position">;

/** A stored text: its body and its size. */
export interface TextRef {
  readonly body: BodyId;
  readonly bytes: number;
  /** Raw estimate. */
  readonly tokens: number;
}

/** A pinned text. */
export interface PinRef extends TextRef {
  /** Positions of the items that it is a copy of, the named one first. Absent: the text is the client's own. */
  readonly from?: readonly number[];
}

/** Who runs a tool that the client does not run: an HTTP tool or an MCP server that the tenant registered, or this backend itself. */
export type ServerTool =
  | { readonly by: "http"; readonly tool: string }
  | { readonly by: "mcp"; readonly server: string; readonly tool: string }
  | { readonly by: "builtin" };

/** What a tool does to a file, and which of its arguments names the file. */
export interface FileMapping {
  readonly op: "read" | "write" | "edit";
  readonly path: string;
}

/** A tool offered to the model. `parameters` is a JSON Schema. The model is sent only the name, the description and the parameters. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Absent: the client runs it. */
  readonly runs?: ServerTool;
  /** A person must approve each call before it runs. */
  readonly needs_approval?: true;
  /** Absent: inferred from the tool's name. */
  readonly files?: FileMapping;
}
