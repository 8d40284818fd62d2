/**
 * An item's parts as clients and the read model get them. Data that only its provider can read (ids, signatures,
 * encrypted reasoning) stays in the session's object: others cannot use it, it may be larger than the text, and a
 * client's copy is never sent back to a provider.
 */
import type { Part } from "./message";

/** Removes provider metadata, and the parts that hold nothing else. */
export const toShownParts = (parts: readonly Part[]): readonly Part[] => (parts.some(isMarked) ? parts.flatMap(shown) : parts);

const isMarked = (part: Part): boolean => "provider_metadata" in part;

function shown(part: Part): Part[] {
  if (!("provider_metadata" in part)) return [part];
  const { provider_metadata: _, ...rest } = part;
  const isEmpty = (rest.type === "text" || rest.type === "reasoning") && rest.text === "";
  return isEmpty ? [] : [rest];
}
