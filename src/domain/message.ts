/**
 * What a conversation is made of. An *item* is one message, one tool call or one tool result; its numbers and
 * ids (`ItemMeta`) live in events and state, its content (`Part[]`) in a body of the same id.
 */
import type { BodyId, ExecutionId, ItemId, TurnId } from "./ids";

/** Opaque data that a provider wants back byte for byte (item ids, thought signatures), by provider name. */
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
/** An image or a file is held by reference, never as base64 in the log. */
export interface MediaPart {
  readonly type: "image" | "file";
  readonly url: string;
  readonly media_type: string;
  readonly name?: string;
  readonly provider_metadata?: ProviderMetadata;
}
/**
 * Longest `call_id`, in UTF-16 units. Events and the state carry it, so it is bounded; far above the 64 of most
 * providers, because some gateways put a thought signature into it, and a cut one would not be taken back.
 */
export const MAX_CALL_ID_UNITS = 4_096;
/** Longest name of a called tool. Offered ones have at most 64; a model that makes one up may be off, not without end. */
export const MAX_TOOL_NAME_UNITS = 256;
/**
 * Longest thought signature of a call, in UTF-16 units. It is opaque and must come back byte for byte, so that none is
 * ever cut; the known ones are far shorter.
 */
export const MAX_SIGNATURE_UNITS = 100_000;
/** Tool calls of one reply, at most: each is an event, and as many results fit one request. */
export const MAX_REPLY_CALLS = 128;

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly call_id: string;
  readonly name: string;
  /** The arguments as the model wrote them: JSON text, never reparsed or cut. */
  readonly arguments: string;
  readonly provider_metadata?: ProviderMetadata;
}

/** Gemini's signature of the thinking before a call, in the AI SDK's own shape; it must come back with the call. */
export function thoughtSignature({ provider_metadata }: ToolCallPart): string | null {
  const google = provider_metadata?.google;
  if (typeof google !== "object" || google === null || !("thoughtSignature" in google)) return null;
  return typeof google.thoughtSignature === "string" ? google.thoughtSignature : null;
}

export interface ToolResultPart {
  readonly type: "tool_result";
  readonly call_id: string;
  readonly name: string;
  /** The output as recorded, cut at the policy's limit with a marker (RFC-011 §1). */
  readonly output: string;
  readonly is_error: boolean;
}
export type Part = TextPart | ReasoningPart | MediaPart | ToolCallPart | ToolResultPart;

/** What one item is: a message and its role, a call or a result. */
export type ItemKind = "system" | "user" | "assistant" | "tool_call" | "tool_result";

/** A recorded call's own ids: `execution` is ours and unique, `call_id` is the provider's and may repeat. */
export interface ToolRef {
  readonly execution: ExecutionId;
  readonly call_id: string;
  readonly name: string;
  readonly is_error?: boolean;
}

/** It came with metadata of its provider, which goes back with it while no boundary lies between, and to this model only. */
export interface Signed {
  readonly model: string;
  /** Estimated tokens of the thinking that goes back, raw: not part of the item's own. */
  readonly tokens: number;
}

/** An image or a file of an item, as far as it decides what a model is sent of it. */
export interface MediaMeta {
  readonly type: MediaPart["type"];
  readonly media_type: string;
  /** The scheme of its address, as in `https:`; null: it has no address that can be read. */
  readonly scheme: string | null;
  /** Estimated tokens, raw, of the words that name it to a model that is not sent it. */
  readonly words: number;
}

/** An item as the log and the state know it: no content. */
export interface ItemMeta {
  readonly id: ItemId;
  readonly kind: ItemKind;
  /** Its place in the conversation as people see it, from 1. Not the event's seq. */
  readonly position: number;
  readonly turn: TurnId | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** UTF-8 size of its content. */
  readonly bytes: number;
  /** Estimated tokens, raw (neither scaled nor padded), by `context/tokens`. */
  readonly tokens: number;
  /** The same by RFC-011's `TokenEstimator`, characters over 4: only its own preset reads it. Absent: as `tokens`. */
  readonly rough?: number;
  /** Images and files in it; absent: none. */
  readonly media?: number;
  /** The same, one by one; absent: none, or recorded before they were told apart: each weighs as an image. */
  readonly attached?: readonly MediaMeta[];
  readonly tool?: ToolRef;
  /** Absent: nothing of it is a provider's own. */
  readonly signed?: Signed;
  /** The reply was cut off: stopped, failed or interrupted in the middle. */
  readonly incomplete?: true;
  /** Imported as part of the same message as the item before it. What a turn produced has the turn in common instead. */
  readonly continues?: true;
}

/** An item before it has a position: what commands carry. */
export type ItemDraft = Omit<ItemMeta, "position">;

/** A stored text: where it is, and what it weighs. */
export interface TextRef {
  readonly body: BodyId;
  readonly bytes: number;
  /** Estimated, raw. */
  readonly tokens: number;
}

/** Who runs a tool that the client does not: an HTTP tool or an MCP server that the tenant registered, or this code itself. */
export type ServerTool =
  | { readonly by: "http"; readonly tool: string }
  | { readonly by: "mcp"; readonly server: string; readonly tool: string }
  | { readonly by: "builtin" };

/** What a tool does to a file, and which of its arguments names it (Opal compaction, file-op tracking). */
export interface FileMapping {
  readonly op: "read" | "write" | "edit";
  readonly path: string;
}

/** A tool offered to the model. `parameters` is a JSON Schema. Of the rest the model is told nothing. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Absent: the client runs it. */
  readonly runs?: ServerTool;
  /** A person must allow each call of it before it runs. */
  readonly needs_approval?: true;
  /** Absent: guessed by the tool's name. */
  readonly files?: FileMapping;
}
