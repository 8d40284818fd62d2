/**
 * An item's parts as clients and the read model get them. What only its provider can read (ids, signatures, sealed thinking) stays in the
 * session's object: it is of no use to anybody else, may weigh more than the words, and a client's own copy is never sent back.
 */
import type { Part } from "./message";

/** Without metadata, and without the parts that have nothing else. */
export const toShownParts = (parts: readonly Part[]): readonly Part[] => (parts.some(isMarked) ? parts.flatMap(shown) : parts);

const isMarked = (part: Part): boolean => "provider_metadata" in part;

function shown(part: Part): Part[] {
  if (!("provider_metadata" in part)) return [part];
  const { provider_metadata: _, ...rest } = part;
  const isEmpty = (rest.type === "text" || rest.type === "reasoning") && rest.text === "";
  return isEmpty ? [] : [rest];
}
