/** The refusals that concern drafts and changes of the view by hand: part of the table in `problem`. */
import type { SessionError } from "../app/session-api";
import { conflict, type RouteAnswer } from "./answer";

type Code = "draft_open" | "not_drafted" | "draft_edited" | "not_smaller" | "would_not_fit" | "too_many_items";

export const draftAnswers: { readonly [C in Code]: (error: Extract<SessionError, { code: C }>) => RouteAnswer } = {
  draft_open: ({ compaction }) =>
    conflict("Draft open", "Another draft of this session is open: commit or discard it first.", { compaction_id: compaction }),
  not_drafted: ({ compaction }) =>
    conflict("Not a draft", "This compaction is not an open draft: read it for its status.", { compaction_id: compaction }),
  draft_edited: ({ edits }) => {
    const detail = `the draft has been edited ${edits} times: read it again`;
    return { ...conflict("Draft edited", `edits: ${detail}.`, { edits }), errors: [{ field: "edits", detail }] };
  },
  not_smaller: ({ tokens_before, tokens_after }) => ({
    status: 422,
    title: "Not smaller",
    detail: `With this summary the next request would be about ${tokens_after} tokens, and it is ${tokens_before} without it: a shorter summary is needed.`,
    extra: { tokens_before, tokens_after },
  }),
  would_not_fit: ({ tokens, limit }) => ({
    status: 422,
    title: "Would not fit",
    detail: `With the restored messages the next request would be about ${tokens} tokens; the model has room for ${limit}.`,
    extra: { tokens, limit },
  }),
  too_many_items: ({ items }) => ({
    status: 422,
    title: "Too many messages",
    detail: `${items} messages would come back: more than one change can carry.`,
    extra: { items },
  }),
};
