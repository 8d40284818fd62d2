/**
 * A request as a tokenizer sees it: one segment for each message. Segments are interned, so two requests share a prefix
 * exactly where they hold the same objects. The caller brings the tokenizer: the lab has a true one, whose tables are too
 * large for a Worker.
 */
import type { BuiltView, ViewMessage } from "../context/view";
import type { Part } from "../domain/message";

/** Tokens that a message adds around its content (role and delimiters), as in `test/support/stand-in/count-tokens`. */
const FRAME_TOKENS = 4;

interface Tokenizer {
  readonly count: (text: string) => number;
  /** Number of tokens that two texts have in common at their start. */
  readonly shared: (left: string, right: string) => number;
}

export interface Segment {
  readonly role: ViewMessage["role"];
  readonly text: string;
  /** Tokens of the text and of the frame around it. */
  readonly tokens: number;
}

export class Segments {
  readonly #tokenizer: Tokenizer;
  readonly #known = new Map<string, Segment>();
  readonly #counts = new Map<string, number>();

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  count(text: string): number {
    const found = this.#counts.get(text);
    if (found !== undefined) return found;
    const made = this.#tokenizer.count(text);
    this.#counts.set(text, made);
    return made;
  }

  of(role: ViewMessage["role"], text: string): Segment {
    const key = `${role}\n${text}`;
    const found = this.#known.get(key);
    if (found) return found;
    const made = { role, text, tokens: FRAME_TOKENS + this.count(text) };
    this.#known.set(key, made);
    return made;
  }

  ofView({ system, messages }: BuiltView): Segment[] {
    const said = messages.map(({ role, parts }) => this.of(role, messageText(parts)));
    return system === null ? said : [this.of("system", system), ...said];
  }

  /** Number of tokens that two segments have in common at their start. Segments of different roles have none. */
  common(left: Segment, right: Segment): number {
    if (left === right) return left.tokens;
    return left.role === right.role ? FRAME_TOKENS + this.#tokenizer.shared(left.text, right.text) : 0;
  }

  /** Number of tokens that two requests have in common at their start. */
  commonPrefix(left: readonly Segment[], right: readonly Segment[]): number {
    let shared = 0;
    for (const [index, segment] of left.entries()) {
      const other = right[index];
      if (!other) return shared;
      if (other !== segment) return shared + this.common(segment, other);
      shared += segment.tokens;
    }
    return shared;
  }
}

/** The content of a part that is sent and that the model reads. */
function partSegment(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return `${part.name}${part.arguments}`;
    case "tool_result":
      return part.output;
    default:
      return "";
  }
}

export const messageText = (parts: readonly Part[]): string => parts.map(partSegment).join("\n");

export const sumTokens = (segments: readonly Segment[]): number => segments.reduce((sum, { tokens }) => sum + tokens, 0);
