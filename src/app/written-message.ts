/** A message as a client writes it, before it has items. */
import type { MessageFacts } from "../domain/item-content";
import type { Part } from "../domain/message";

/** A call in an imported reply. Its id is data from the client, and may repeat. */
export interface ImportedCall {
  readonly call_id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** The content of a message. Calls and results can only be imported (`run: false`). */
type Said =
  /** `parts` may be empty when there are `calls`. */
  | { readonly role: "user" | "assistant" | "system"; readonly parts: readonly Part[]; readonly calls?: readonly ImportedCall[] }
  /** The result of an imported call. */
  | { readonly role: "tool"; readonly call_id: string; readonly output: string; readonly is_error: boolean };

/** A message with what its client says of it. */
export type WrittenMessage = Said & { readonly about?: MessageFacts };

/** What a request calls its list of messages. */
export type MessageList = "items" | "messages";
