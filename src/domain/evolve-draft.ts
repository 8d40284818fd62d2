/** How a draft's events change the state. They never change the view: that happens at the commit (`evolve-compaction`). */
import { takePlan } from "./compaction-work";
import type { DraftEvent } from "./draft-events";
import type { EventOf } from "./events";
import type { Evolvers } from "./evolver";
import type { OpenDraft } from "./open-draft";
import type { CompactionState } from "./state";

export const draftEvolvers: Evolvers<DraftEvent["type"]> = {
  CompactionDrafted: (state, event) => ({ ...state, compaction: draft(state.compaction, event) }),
  DraftEdited: (state, { summary, by, at }) => {
    const { compaction } = state;
    const edited = compaction.draft && { ...compaction.draft, summary, edits: compaction.draft.edits + 1, edited: { by, at } };
    return { ...state, compaction: { ...compaction, draft: edited } };
  },
};

/** Moves the finished summary out of the requested compaction, so that the next compaction need not wait for a person. */
function draft(compaction: CompactionState, event: EventOf<"CompactionDrafted">): CompactionState {
  const { requested, lease } = compaction;
  if (!requested || !lease) return compaction;
  const drafted: OpenDraft = {
    id: requested.id,
    at: event.at,
    base_epoch: lease.base_epoch,
    plan: takePlan(lease),
    overlay: event.overlay,
    summary: event.summary,
    options: requested.options,
    attempts: requested.attempts,
    tokens: { first: requested.first_token, last: event.token },
    spent: requested.spent,
    edits: 0,
    edited: null,
  };
  return { ...compaction, requested: null, lease: null, draft: drafted };
}
