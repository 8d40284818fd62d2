/** One message that somebody sends, and what is known of what became of it. */
import type { SubmitInput } from "../../src/app/session-api";
import type { OnBusy } from "../../src/domain/commands";
import type { ItemId, TurnId } from "../../src/domain/ids";
import type { Part } from "../../src/domain/message";

export interface Send {
  readonly text: string;
  readonly onBusy: OnBusy;
  /** An image goes with it. */
  readonly image: boolean;
  readonly run: boolean;
  readonly role: SubmitInput["role"];
  /** Of an imported reply its calls; of an imported result the one that it answers. */
  readonly calls: readonly string[];
  /** Of an imported reply: it is nothing but its calls. */
  readonly wordless: boolean;
  readonly issuedAt: number;
  ackedAt: number | null;
  message: ItemId | null;
  turn: TurnId | null;
  /** Every answer was a refusal. */
  refused: boolean;
}

const IMAGE: Part = { type: "image", url: "https://example.com/seat.png", media_type: "image/png", name: "seat.png" };

/** The send's text is what its first item says. */
export function toSaid({ role, text, image, calls, wordless }: Send) {
  if (role === "tool") return { role, call_id: calls[0] ?? "", output: text, is_error: false };
  const made = calls.map((call_id, index) => ({
    call_id,
    name: "look_up",
    // The message's mark is its first item's alone: each item is redacted by itself.
    arguments: wordless && index === 0 ? text : `${index} ${text.slice(text.indexOf(" ") + 1)}`,
  }));
  return { role, parts: wordless ? [] : [{ type: "text" as const, text }, ...(image ? [IMAGE] : [])], calls: made };
}
