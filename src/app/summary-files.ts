/** Which files a compaction's source has touched, on top of what the summaries say that it replaces. */
import { type FileOps, fileOpsIn, fileOpsOf, NO_FILES, touchesFiles } from "../context/file-ops";
import type { SummaryPlan } from "../domain/compaction-events";
import type { ToolCallPart } from "../domain/message";
import type { SessionState } from "../domain/state";
import type { SessionContent } from "./session-ports";

export function filesOf(plan: SummaryPlan, state: SessionState, content: SessionContent): FileOps {
  const replaced = state.view.overlays.filter((overlay) => overlay.kind === "summary" && plan.replaces.includes(overlay.id));
  const before = replaced.reduce((files, overlay) => merged(files, fileOpsIn(content.readText(overlay.id) ?? "")), NO_FILES);
  return fileOpsOf(fileCalls(plan, content), before);
}

const merged = (left: FileOps, right: FileOps): FileOps => ({
  read: [...new Set([...left.read, ...right.read])],
  modified: [...new Set([...left.modified, ...right.modified])],
});

function* fileCalls({ source }: SummaryPlan, content: SessionContent): Iterable<ToolCallPart> {
  for (const { meta, parts } of content.readForwards(source)) {
    if (meta.kind !== "tool_call" || !touchesFiles(meta.tool?.name ?? "")) continue;
    for (const part of parts) if (part.type === "tool_call") yield part;
  }
}
