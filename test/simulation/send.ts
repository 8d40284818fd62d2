/** One message of a client, and what is known about its fate. */
import type { SubmitInput, TurnInput } from "../../src/app/session-api";
import type { OnBusy } from "../../src/domain/commands";
import type { ItemId, TurnId } from "../../src/domain/ids";
import type { Part } from "../../src/domain/message";

export interface Send {
  /** Begins with a mark, and with a word that no other text has. */
  readonly text: string;
  /** Mostly the send's own. Sometimes that of an earlier send, which only one of the two may keep. */
  readonly clientId: string;
  /** The number of the import that it was sent in. Null: it was sent alone. */
  readonly batch: number | null;
  readonly onBusy: OnBusy;
  /** The message contains an image. */
  readonly image: boolean;
  readonly run: boolean;
  readonly role: SubmitInput["role"];
  /** For an imported reply: its calls. For an imported result: the result that it answers. */
  readonly calls: readonly string[];
  /** For an imported reply: it consists only of its calls. */
  readonly wordless: boolean;
  /** What the message chooses for its own turn. */
  readonly choice: TurnInput;
  readonly issuedAt: number;
  ackedAt: number | null;
  message: ItemId | null;
  turn: TurnId | null;
  /** Every response was a refusal. */
  refused: boolean;
}

const IMAGE: Part = { type: "image", url: "https://example.com/seat.png", media_type: "image/png", name: "seat.png" };

/**
 * What the client says of the message beside its text. Names are given to replies and system messages only, because the
 * rules find a question in a request by its exact text.
 */
function toFacts({ role, text, run, clientId }: Send) {
  const mark = text.slice(0, text.indexOf(" "));
  const named = role === "assistant" || role === "system";
  return {
    // The mark itself must be gone after a redaction, and this id stays.
    client_id: clientId,
    metadata: { mark },
    ...(named && { name: "Ada" }),
    ...(!run && { said_at: 1_000 + text.length }),
  };
}

/** The text of the send is that of its first item. */
export function toSaid(send: Send) {
  const { role, text, image, calls, wordless } = send;
  const about = toFacts(send);
  if (role === "tool") return { role, call_id: calls[0] ?? "", output: text, is_error: false, about };
  const made = calls.map((call_id, index) => ({
    call_id,
    name: "look_up",
    // Only the first item has the message's mark, because each item is redacted separately.
    arguments: wordless && index === 0 ? text : `${index} ${text.slice(text.indexOf(" ") + 1)}`,
  }));
  return { role, parts: wordless ? [] : [{ type: "text" as const, text }, ...(image ? [IMAGE] : [])], calls: made, about };
}
