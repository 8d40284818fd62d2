/**
 * Tells thinking apart that a model writes into its reply, between `<think>` and `</think>`. Only a reply that begins with the tag thinks in
 * this way, so that one that speaks about the tag is text. A tag may be cut between two pieces.
 */
const OPEN = "<think>";
const CLOSE = "</think>";

interface ToldApart {
  readonly type: "text" | "reasoning";
  readonly text: string;
}

export class ThinkTags {
  #state: "begins" | "thinks" | "answers" | "speaks" = "begins";
  /** What is not told apart yet: the beginning of the reply, or what may be the beginning of the closing tag. */
  #held = "";

  /** The pieces that can be told apart with this one. */
  take(piece: string): readonly ToldApart[] {
    if (this.#state === "speaks") return piece === "" ? [] : [{ type: "text", text: piece }];
    const text = this.#held + piece;
    this.#held = "";
    if (this.#state === "begins") return this.#begin(text);
    return this.#state === "thinks" ? this.#think(text) : this.#answer(text);
  }

  /** What was held when the reply ended. */
  end(): readonly ToldApart[] {
    const text = this.#held;
    this.#held = "";
    if (text === "" || this.#state === "answers") return [];
    return [{ type: this.#state === "thinks" ? "reasoning" : "text", text }];
  }

  #begin(text: string): readonly ToldApart[] {
    const said = text.trimStart();
    if (said.startsWith(OPEN)) {
      this.#state = "thinks";
      return this.#think(said.slice(OPEN.length));
    }
    if (OPEN.startsWith(said)) {
      this.#held = text;
      return [];
    }
    this.#state = "speaks";
    return [{ type: "text", text }];
  }

  #think(text: string): readonly ToldApart[] {
    const end = text.indexOf(CLOSE);
    if (end >= 0) {
      this.#state = "answers";
      return [...toThinking(text.slice(0, end)), ...this.#answer(text.slice(end + CLOSE.length))];
    }
    const held = endsWithin(text);
    this.#held = text.slice(text.length - held);
    return toThinking(text.slice(0, text.length - held));
  }

  /** The blank lines behind the thinking are no part of the answer. */
  #answer(text: string): readonly ToldApart[] {
    const said = text.trimStart();
    if (said === "") return [];
    this.#state = "speaks";
    return [{ type: "text", text: said }];
  }
}

const toThinking = (text: string): readonly ToldApart[] => (text === "" ? [] : [{ type: "reasoning", text }]);

/** How many characters at the end of the text may begin the closing tag. */
function endsWithin(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) if (text.endsWith(CLOSE.slice(0, length))) return length;
  return 0;
}
