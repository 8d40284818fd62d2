/**
 * Builds the change that puts a mechanical note in a summary's place: when no summary was available, or when the policy wants only a note.
 */
import { buildChangeFromSummary, type EpochChangeInput, isSmallerAfter } from "../../context/epoch-change";
import { fallbackNote, type NotePlan, planChosenNote } from "../../context/fallback-note";
import { buildTouch, collectFileOps, type FileOps, fileOpsIn, NO_FILES, type TouchOf } from "../../context/file-ops";
import type { CompactPlan, Rung, SummarizeRung } from "../../context/plan";
import { toPolicy } from "../../context/policy-choice";
import { Sizing } from "../../context/sizing";
import { estimateTokens } from "../../context/tokens";
import type { EpochChange } from "../../domain/commands";
import type { SummaryPlan } from "../../domain/compaction-events";
import type { ItemMeta, ToolCallPart } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { unreadRuns } from "../../domain/view";
import type { ModelSpec } from "../ports";
import { type ChangePorts, toChangeInput, toModelLimits } from "../request/build-request";
import type { BodyText, SessionContent } from "../session-ports";
import { toModelSummaryCap } from "./summarizers";

interface NoteDraft {
  readonly change: EpochChange;
  readonly bodies: readonly BodyText[];
}

/** The context in which a note is drafted. */
export interface Noting {
  readonly spec: ModelSpec;
  readonly input: EpochChangeInput;
  /** The rungs that the same change applies. */
  readonly also: readonly Rung[];
}

/** A plan whose summary is a note, because the policy's form of summary is one. */
export type PlannedNote = CompactPlan & { readonly rung: SummarizeRung };

/** The change that commits the policy's note. Null where it would not make the request smaller. */
export function buildChosenNote({ rung, rungs, trigger, economy }: PlannedNote, spec: ModelSpec, ports: ChangePorts): NoteDraft | null {
  const { state } = ports.writer;
  const { range, source, replaces, keeps, merge, generation, split } = rung;
  const plan = { range, source, replaces, keeps, merge, generation, split, mode: "transcript" } as const;
  const input = toChangeInput({ limits: toModelLimits(spec), trigger, economy }, ports);
  const note = buildNoteChange(planChosenNote(plan, state), { spec, input, also: rungs.filter((step) => step !== rung) }, ports);
  return isSmallerAfter(new Sizing(state, spec), note.change.ops) ? note : null;
}

export function buildNoteChange(note: NotePlan, { spec, input, also }: Noting, { writer, ids, content }: ChangePorts): NoteDraft {
  const { state } = writer;
  const text = fallbackNote(note, collectTouchedFiles(note.plan, state, content), toModelSummaryCap(spec, toPolicy(state.settings.policy)));
  const overlay = ids.newId("ovl");
  const summary = { text, tokens: estimateTokens(text) };
  const change = buildChangeFromSummary({ summary, plan: { ...note.plan, mode: null }, overlay, also }, input);
  return { change, bodies: [{ id: overlay, text }] };
}

/** The most items to search for new file operations, newest first. The lists themselves hold at most a hundred paths of each kind. */
const MOST_ITEMS = 4_096;
/** The most bytes of calls to read. A call that writes a file has the whole file in its arguments. */
const MOST_BYTES = 4_000_000;

export function collectTouchedFiles(plan: SummaryPlan, state: SessionState, content: SessionContent): FileOps {
  const replaced = state.view.overlays.filter((overlay) => overlay.kind === "summary" && plan.replaces.includes(overlay.id));
  const before = replaced.reduce((files, overlay) => merged(files, fileOpsIn(content.readText(overlay.id) ?? "")), NO_FILES);
  const touch = buildTouch(content.readTools());
  return collectFileOps(newCalls(plan, { state, touch }, content), before, touch);
}

const merged = (left: FileOps, right: FileOps): FileOps => ({
  read: [...new Set([...left.read, ...right.read])],
  modified: [...new Set([...left.modified, ...right.modified])],
});

/** Calls that touch files and that no summary has read yet, whether shown or trimmed. Oldest first. */
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
