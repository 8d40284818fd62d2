/** What a draft's events do to the state. The view is none of it: that changes with the commit (`evolve-compaction`). */
import { assertNever } from "../lib/assert-never";
import type { DraftEvent } from "./draft-events";
import type { StoredEvent } from "./events";
import type { OpenDraft } from "./open-draft";
import type { CompactionState, SessionState } from "./state";

type Of<T extends DraftEvent["type"]> = StoredEvent & Extract<DraftEvent, { type: T }>;

export function evolveDraft(state: SessionState, event: StoredEvent & DraftEvent): SessionState {
  const { compaction } = state;
  switch (event.type) {
    case "CompactionDrafted":
      return { ...state, compaction: draft(compaction, event) };
    case "DraftEdited": {
      const { summary, by, at } = event;
      const edited = compaction.draft && { ...compaction.draft, summary, edits: compaction.draft.edits + 1, edited: { by, at } };
      return { ...state, compaction: { ...compaction, draft: edited } };
    }
    default:
      return assertNever(event);
  }
}

/** It is nobody's work any more: what is asked for next need not wait for a person. */
function draft(compaction: CompactionState, event: Of<"CompactionDrafted">): CompactionState {
  const { requested, lease } = compaction;
  if (!requested || !lease) return compaction;
  const { range, source, reread_from, replaces, keeps, merge, generation, split, mode } = lease;
  const reread = reread_from === undefined ? {} : { reread_from };
  const drafted: OpenDraft = {
    id: requested.id,
    at: event.at,
    base_epoch: lease.base_epoch,
    plan: { range, source, ...reread, replaces, keeps, merge, generation, split, mode },
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
