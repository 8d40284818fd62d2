/** How much a request adds to a conversation, for surfaces that count tokens before they send. Raw estimates. */
import { FileScale } from "../../context/file-size";
import { estimateTokens, IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS } from "../../context/tokens";
import type { ContextWeights } from "../../contract/context";
import { readDataUrl } from "../data-url";
import type { PartInput } from "../schemas/message";

interface Weighed {
  readonly parts: readonly PartInput[];
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly results: readonly { readonly output: string }[];
}

/** What stored files weigh, by their ids. */
type FileWeights = ReadonlyMap<string, number>;

/** What is behind an address is not known before a model reads it, and counts as an image there, too. */
function weighPart(part: PartInput, files: FileWeights): number {
  if ("text" in part) return estimateTokens(part.text);
  if (part.file_id !== undefined) return files.get(part.file_id) ?? IMAGE_TOKENS;
  return part.url === undefined ? IMAGE_TOKENS : (weighData(part.url) ?? IMAGE_TOKENS);
}

/** The weight that the file will have once it is stored. Null: no data URL, or no file that is stored. */
function weighData(url: string): number | null {
  const data = readDataUrl(url);
  if (!data?.bytes) return null;
  const scale = new FileScale(data.mediaType);
  scale.take(data.bytes);
  const tokens = scale.end();
  return tokens === "not_text" ? null : tokens;
}

export function weighAdded({ parts, calls, results }: Weighed, files: FileWeights = new Map()): number {
  const texts = [...calls.map((call) => call.name + call.arguments), ...results.map(({ output }) => output)];
  const weights = [...parts.map((part) => weighPart(part, files)), ...texts.map(estimateTokens)];
  return MESSAGE_OVERHEAD_TOKENS + weights.reduce((sum, weight) => sum + weight, 0);
}

/** What the request names in place of the session's. Null: the session's holds. */
interface Named {
  readonly system: number | null;
  readonly tools: number | null;
}

/** The conversation without what the request names otherwise. */
export function weighRest({ total, parts }: Pick<ContextWeights, "total" | "parts">, named: Named): number {
  const replaced = parts.filter(({ part }) => (part === "system" && named.system !== null) || (part === "tools" && named.tools !== null));
  return Math.max(0, total.tokens - replaced.reduce((sum, { tokens }) => sum + tokens, 0));
}
