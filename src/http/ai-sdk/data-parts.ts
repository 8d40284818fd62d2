/** What a page is told beside the message: data parts that reach its `onData`, and never the history. */
import type { StreamFrame, TurnFigures } from "../../contract/frame";
import type { Chunk } from "./ui-message";

const tell = (name: "status" | "notice" | "usage", data: object): Chunk => ({ type: `data-${name}`, data, transient: true });

export const tellCompacting = (compaction_id: string, text: string): Chunk => tell("status", { code: "compacting", text, compaction_id });

export const tellUsage = ({ usage: tokens, cost, context_window, current_context_tokens }: TurnFigures): Chunk =>
  tell("usage", { usage: tokens, cost, context_window, current_context_tokens });

/** What a page may show beside the message. The status is null when the work that it named is over. */
export function toSideChunks(frame: StreamFrame): readonly Chunk[] {
  switch (frame.type) {
    case "compaction.started":
      return [tellCompacting(frame.compaction_id, frame.status)];
    case "compaction.completed":
      return [tell("status", { code: "compacted", text: null, compaction_id: frame.compaction_id, did_compact: frame.did_compact })];
    case "turn.waiting":
      return [tell("status", { code: "waiting", text: null, wait_ms: frame.wait_ms })];
    case "notice":
      return [tell("notice", { code: frame.code, text: frame.text })];
    default:
      return [];
  }
}
