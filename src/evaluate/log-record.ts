/** A session's record while its log is played: what each item weighs, and the content that a policy may still read. */
import { isAmong } from "../domain/branch";
import type { CoveredRange } from "../domain/compaction-events";
import type { ItemId } from "../domain/ids";
import type { ItemMeta, Part } from "../domain/message";
import type { Weighed } from "./measures";

/** A transcript shows both ends of a long result, together at most this many UTF-16 units (`context/prompts`). */
const TRANSCRIPT_RESULT_CHARS = 2_000;

/** Tokens by the estimator, neither scaled nor padded. */
interface LoggedItem extends Weighed {
  readonly meta: ItemMeta;
  /** Tokens in a summary's transcript. */
  readonly transcript: number;
}

export class LogRecord {
  /** Oldest first. The positions have no gaps from the first one on. */
  readonly items: LoggedItem[] = [];
  readonly #results = new Map<ItemId, readonly Part[]>();

  learn(meta: ItemMeta, parts: readonly Part[]): void {
    const chars = parts.reduce((sum, part) => sum + (part.type === "tool_result" ? part.output.length : 0), 0);
    const shown = chars > TRANSCRIPT_RESULT_CHARS ? TRANSCRIPT_RESULT_CHARS / chars : 1;
    this.items.push({ meta, tokens: meta.tokens, chars, transcript: Math.ceil(meta.tokens * shown) });
    if (meta.kind === "tool_result") this.#results.set(meta.id, parts);
  }

  /** The content of a tool result. Empty for other items, because only results are ever shown shortened. */
  read({ id }: Pick<ItemMeta, "id">): readonly Part[] {
    return this.#results.get(id) ?? [];
  }

  slice({ from, to }: { readonly from: number; readonly to: number }): readonly LoggedItem[] {
    const first = this.items[0]?.meta.position ?? 1;
    return this.items.slice(Math.max(0, from - first), Math.max(0, to - first + 1));
  }

  /** Estimated tokens of all items that are not on other branches (`elsewhere`). */
  tokensOn(elsewhere: readonly CoveredRange[]): number {
    return this.items.reduce((sum, { meta, tokens }) => sum + (isAmong(elsewhere, meta.position) ? 0 : tokens), 0);
  }

  /** Releases the content that no view shows any more. */
  keepOnly(shown: ReadonlySet<ItemId>): void {
    for (const id of this.#results.keys()) if (!shown.has(id)) this.#results.delete(id);
  }
}
