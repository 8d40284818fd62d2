/**
 * Which files a compaction's source has touched, on top of what the summaries say that it replaces. What these have read is not
 * read again, also where the summary itself is made anew from the record: bounded by what is new, not by the history.
 */
import { type FileOps, fileOpsIn, fileOpsOf, NO_FILES, type TouchOf, touchOf } from "../../context/file-ops";
import type { SummaryPlan } from "../../domain/compaction-events";
import type { ItemMeta, ToolCallPart } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { unreadRuns } from "../../domain/view";
import type { SessionContent } from "../session-ports";

/** The lists hold a hundred paths of each kind: of what is new, so many of the newest items are looked at, */
const MOST_ITEMS = 4_096;
/** and so many bytes of calls are read. A call that writes a file has all of it in its arguments. */
const MOST_BYTES = 4_000_000;

export function filesOf(plan: SummaryPlan, state: SessionState, content: SessionContent): FileOps {
  const replaced = state.view.overlays.filter((overlay) => overlay.kind === "summary" && plan.replaces.includes(overlay.id));
  const before = replaced.reduce((files, overlay) => merged(files, fileOpsIn(content.readText(overlay.id) ?? "")), NO_FILES);
  const touch = touchOf(content.readTools());
  return fileOpsOf(newCalls(plan, { state, touch }, content), before, touch);
}

const merged = (left: FileOps, right: FileOps): FileOps => ({
  read: [...new Set([...left.read, ...right.read])],
  modified: [...new Set([...left.modified, ...right.modified])],
});

/** Calls that touch files and that no summary has read: shown still, or trimmed. Oldest first. */
function newCalls(
  { source }: SummaryPlan,
  { state: { view }, touch }: { readonly state: SessionState; readonly touch: TouchOf },
  content: SessionContent,
): readonly ToolCallPart[] {
  const isWanted = ({ kind, tool }: ItemMeta): boolean => kind === "tool_call" && touch(tool?.name ?? "") !== null;
  const from = Math.max(source.from, source.to - MOST_ITEMS + 1);
  const calls: ToolCallPart[] = [];
  let bytes = 0;
  for (const run of unreadRuns(view, { from, to: source.to }).toReversed()) {
    for (const { meta, parts } of content.readBackwards(run, isWanted)) {
      calls.push(...parts.filter((part) => part.type === "tool_call"));
      bytes += meta.bytes;
      if (bytes > MOST_BYTES) return calls.reverse();
    }
  }
  return calls.reverse();
}
