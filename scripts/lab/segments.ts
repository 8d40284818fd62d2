/**
 * A request as the provider's tokenizer sees it: one segment of true tokens (o200k) for each message. Segments are
 * interned, so that two requests share a prefix exactly where they hold the same objects.
 */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import type { BuiltView, ViewMessage } from "../../src/context/view";
import type { Part } from "../../src/domain/message";

/** What a message adds around its content: role and delimiters, as `test/support/stand-in/count-tokens` has it. */
const FRAME_TOKENS = 4;

export interface Segment {
  readonly role: ViewMessage["role"];
  readonly text: string;
  readonly tokens: readonly number[];
}

/** No text's token: a frame's tokens differ by role, so that a message is never taken for one of another role. */
const frames = { system: -1, user: -2, assistant: -3, tool: -4 } as const;

const known = new Map<string, Segment>();
const counts = new Map<string, number>();

export function toSegment(role: ViewMessage["role"], text: string): Segment {
  const key = `${role}\n${text}`;
  const found = known.get(key);
  if (found) return found;
  const made = { role, text, tokens: [...new Array<number>(FRAME_TOKENS).fill(frames[role]), ...encodeText(text)] };
  known.set(key, made);
  return made;
}

/** Text that looks like a control token is the text that it is. */
const encodeText = (text: string): number[] => encode(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });

export function countTokens(text: string): number {
  const found = counts.get(text);
  if (found !== undefined) return found;
  const made = encodeText(text).length;
  counts.set(text, made);
  return made;
}

/** What of a part goes over the wire and is read by the model. */
export function partText(part: Part): string {
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

export const messageText = (parts: readonly Part[]): string => parts.map(partText).join("\n");

export function toSegments({ system, messages }: BuiltView): Segment[] {
  const said = messages.map(({ role, parts }) => toSegment(role, messageText(parts)));
  return system === null ? said : [toSegment("system", system), ...said];
}

export const tokensOf = (segments: readonly Segment[]): number => segments.reduce((sum, { tokens }) => sum + tokens.length, 0);

/** Tokens that two segments have in common at their start. */
export function commonTokens(left: Segment, right: Segment): number {
  const most = Math.min(left.tokens.length, right.tokens.length);
  for (let index = 0; index < most; index++) if (left.tokens[index] !== right.tokens[index]) return index;
  return most;
}

/** Tokens that two requests have in common at their start. */
export function commonPrefix(left: readonly Segment[], right: readonly Segment[]): number {
  let shared = 0;
  for (const [index, segment] of left.entries()) {
    const other = right[index];
    if (!other) return shared;
    if (other !== segment) return shared + commonTokens(segment, other);
    shared += segment.tokens.length;
  }
  return shared;
}
