/** The tokens of a reply, by a true tokenizer. */
import { countTokens } from "../count-tokens.ts";
import type { SaidBlock, ScriptedReply } from "./script.ts";

function countBlockTokens(block: SaidBlock): number {
  switch (block.type) {
    case "text":
    case "thinking":
      return countTokens(block.text);
    case "call":
      return countTokens(block.name) + countTokens(block.arguments);
    case "redacted":
      return 0;
  }
}

const sum = (blocks: readonly SaidBlock[]): number => blocks.reduce((total, block) => total + countBlockTokens(block), 0);

/** Including thinking. */
export const outputTokens = ({ blocks }: ScriptedReply): number => sum(blocks);

export const thinkingTokens = ({ blocks }: ScriptedReply): number => sum(blocks.filter(({ type }) => type === "thinking"));
