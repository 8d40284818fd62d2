/** How much of the next request stays unchanged from its start when the view changes: what a provider's cache can still hold. */
import type { Overlay } from "../domain/compaction-events";
import { fixedTokens, isRecallOffered, type SessionState } from "../domain/state";
import { toPolicy } from "./policy-choice";
import { Sizing } from "./sizing";

/**
 * Tokens, scaled and not padded. Order of a request (`placement`): system prompt, tools and pins; the chain; the count
 * of trimmed messages; the messages.
 */
export const keptPrefix = (before: Sizing, after: SessionState): number => before.gain(keptRaw(before, after));

function keptRaw(sizing: Sizing, after: SessionState): number {
  const before = sizing.state;
  // Tools stand at the head of a request, at some providers before the system prompt. One more or one less leaves nothing of the cache.
  if (isRecallOffered(before) !== isRecallOffered(after)) return 0;
  const chain = findChain(before);
  const chainAfter = findChain(after);
  const changed = chain.findIndex(({ id }, index) => chainAfter[index]?.id !== id);
  const stays = changed < 0 ? chain : chain.slice(0, changed);
  const isSameChain = changed < 0 && chain.length === chainAfter.length && droppedItems(before) === droppedItems(after);
  // With this placement the summaries stand before the system prompt.
  if (!isSameChain && toPolicy(before.settings.policy).summary.placement === "system-prefix") return 0;
  // With this placement the kept system messages stand before the chain. When they change, only the head before them stays in the cache.
  if (!isSameChain && toPolicy(before.settings.policy).summary.placement === "system-message" && !hasSameFront(before, after))
    return fixedTokens(before);
  const head = stays.reduce((sum, { tokens }) => sum + tokens, fixedTokens(before));
  return isSameChain ? head + sameItems(sizing, new Sizing(after, sizing.model)) : head;
}

const findChain = ({ view }: SessionState): readonly Overlay[] => view.overlays.filter(({ kind }) => kind === "summary");

const droppedItems = ({ view }: SessionState): number =>
  view.overlays.reduce((sum, { kind, items }) => sum + (kind === "dropped" ? items : 0), 0);

const listFront = ({ view }: SessionState): readonly number[] => {
  const first = view.items.findIndex(({ kind }) => kind !== "system");
  return view.items.slice(0, first < 0 ? view.items.length : first).map(({ position }) => position);
};

const hasSameFront = (before: SessionState, after: SessionState): boolean => listFront(before).join() === listFront(after).join();

/** Tokens of the items up to the first that differs or is shown at another length. */
function sameItems(before: Sizing, after: Sizing): number {
  let tokens = 0;
  for (const [index, item] of before.state.view.items.entries()) {
    const then = after.state.view.items[index];
    if (then?.position !== item.position || after.item(then) !== before.item(item)) break;
    tokens += before.item(item);
  }
  return tokens;
}
