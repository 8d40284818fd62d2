/**
 * Builds the summariser's request: the turn's own request with one more instruction, or a transcript, read in parts when it is larger than
 * the summariser's window. It is built from stored data when the work starts, and never carried by the queue.
 */
import { toEvenCap } from "../../context/even-cap";
import { withoutFileOps } from "../../context/file-ops";
import { SUMMARY_JOIN } from "../../context/placement";
import type { Policy } from "../../context/policy";
import {
  buildSamePrefixInstruction,
  buildSummaryPrompt,
  type SummaryStage,
  summarySystem,
  type TranscriptEntry,
} from "../../context/prompts";
import { countSecrets, redactEntry, redactSecrets } from "../../context/redact-secrets";
import { toMaxWeight, weighText } from "../../context/request-bytes";
import { PADDING, Sizing } from "../../context/sizing";
import { type ChunkCursor, type TranscriptChunk, takeChunk } from "../../context/summary-chunks";
import { shortenToolResult } from "../../context/tool-results";
import type { ChunkProgress, SummaryPlan } from "../../domain/compaction-events";
import type { TextRef } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { type Run, unreadRuns } from "../../domain/view";
import type { ChunkRequest, NextChunk } from "../chunk-request";
import { countFor } from "../limit-owners";
import type { ModelRequest, ModelSpec } from "../ports";
import { readPrefix, toAssumedLimits } from "../request/build-request";
import type { SessionContent } from "../session-ports";
import { policyUnderWay } from "./plan-session";
import { allowedOutput, toAnswerCap } from "./summarizers";

interface ChunkRequestInput {
  readonly plan: SummaryPlan;
  readonly state: SessionState;
  /** The session's model, for whose view the summary is. */
  readonly spec: ModelSpec;
  /** The model that writes the summary. Only the session's own model writes one that reads the turn's prefix. */
  readonly summarizer: ModelSpec;
  readonly content: SessionContent;
}

/** What the chat format adds around two messages, in raw tokens. */
const CHAT_FRAME_TOKENS = 32;
/** The least transcript in one part, in raw tokens, so that a chunked summary always advances. */
const LEAST_ROOM = 200;

/** Parts of the current compaction that are done. */
export const countDoneChunks = ({ compaction }: SessionState): number => compaction.requested?.folded?.parts ?? 0;

export function buildChunkRequest(input: ChunkRequestInput): ChunkRequest {
  const built = input.plan.mode === "same_prefix" ? buildSamePrefixRequest(input) : buildTranscriptRequest(input);
  // A worker that makes the call knows nothing else of the session.
  const countedFor = countFor(input.state.compaction.requested?.key, input.state, input.content);
  return { ...built, request: { ...built.request, countedFor } };
}

/** What the client asked this summary for, and what every summary of the session should follow. */
function readInstructions({ plan, state, content }: ChunkRequestInput): Readonly<Record<"asked" | "standing", string | null>> {
  const { instructions } = state.compaction.requested?.options ?? {};
  const policy = policyUnderWay(state);
  const read = (ref: TextRef | null | undefined): string | null => (ref ? redactBy(policy, content.readText(ref.body) ?? "") : null);
  return { asked: read(instructions), standing: read(plan.instructions) };
}

/** Keeps tools and settings as in the turn's request; otherwise the provider's cache of the prefix is lost. */
function buildSamePrefixRequest(input: ChunkRequestInput): ChunkRequest {
  const { plan, state, spec, summarizer, content } = input;
  const policy = policyUnderWay(state);
  const cap = toAnswerCap({ plan, spec, summarizer, policy });
  const prefix = readPrefix(content, spec, plan.range.to);
  const split = plan.split === null ? null : plan.split <= plan.source.from ? "all" : "last";
  const { form } = policy.summary;
  const { asked, standing } = readInstructions(input);
  const text = buildSamePrefixInstruction({ form, cap, standing, merge: plan.merge, instructions: asked, prefix: split });
  const messages = [...prefix.messages, { role: "user" as const, parts: [{ type: "text" as const, text }] }];
  const request: ModelRequest = { ...prefix, purpose: "compaction", messages, maxOutput: allowedOutput(cap, spec) };
  return { request, part: countDoneChunks(state), next: null };
}

function buildTranscriptRequest(input: ChunkRequestInput): ChunkRequest {
  const { state, spec, summarizer } = input;
  const policy = policyUnderWay(state);
  const cap = toAnswerCap({ plan: input.plan, spec, summarizer, policy });
  const maxOutput = allowedOutput(cap, summarizer);
  // The window without the policy's reserve, because this request's `maxOutput` already takes the reply's room off.
  const limits = toAssumedLimits(summarizer, policy);
  const window = limits.window ?? Number.POSITIVE_INFINITY;
  const whole = Math.min((window - maxOutput) / computeFactor(state, summarizer), toMaxWeight(limits));
  const { stage, start, to, ...stand } = toChunkStart(input);
  const { asked, standing } = readInstructions(input);
  // Summaries that were written for a larger window must leave half of this one to new transcript.
  const previous = shortenLongest(stand.previous, (whole - weighText(asked ?? "") - weighText(standing ?? "")) / 2);
  const system = summarySystem(policy.summary.form, cap, standing);
  const rereads = input.plan.reread_from !== undefined && stage === "history";
  const promptFor = (transcript: readonly string[]): string =>
    buildSummaryPrompt({ stage, previous, transcript, rereads, instructions: asked });
  const frame = weighText(system) + weighText(promptFor([])) + CHAT_FRAME_TOKENS;
  const unread = readUnread(input, { from: start.position, to });
  const chunk = takeChunk(unread, start, Math.max(LEAST_ROOM, whole - frame));
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: promptFor(chunk.lines) }] }];
  const said = { system, messages, tools: [], maxOutput, reasoning: "off" } as const;
  const request: ModelRequest = { model: summarizer, purpose: "compaction", ...said };
  return { request, part: countDoneChunks(state), next: toNextChunk(input.plan, stage, chunk) };
}

/** Margin above the learned ratio in a first attempt. Later attempts use the full padding. */
const COUNTED_MARGIN = 1.1;

/**
 * Tokens to plan for per estimated token. The full padding of the raw estimate is the minimum, because a learned ratio is no count of this
 * text: a transcript mixes its text differently from the requests that taught the ratio, and a ratio moves only a fifth towards each
 * report.
 */
function computeFactor(state: SessionState, spec: ModelSpec): number {
  const { ratio, isLearned } = new Sizing(state, spec);
  const isCounted = isLearned && (state.compaction.requested?.attempts ?? 0) <= 1;
  return Math.max(PADDING, ratio * (isCounted ? COUNTED_MARGIN : PADDING));
}

interface ChunkStart {
  readonly stage: SummaryStage;
  /** What this part's answer updates: the chain of summaries, or the result of the chunks so far. */
  readonly previous: readonly string[];
  readonly start: ChunkCursor;
  /** Last position of the stage. */
  readonly to: number;
}

/** The progress of the chunked summary, or its beginning. */
function toChunkStart({ plan, state, content }: ChunkRequestInput): ChunkStart {
  const policy = policyUnderWay(state);
  const clean = (text: string): string => redactBy(policy, text);
  const folded = state.compaction.requested?.folded ?? null;
  if (folded) {
    const begun = isStageBegun(folded) ? content.readText(folded.summary.body) : null;
    return { stage: folded.stage, previous: begun === null ? [] : [clean(begun)], start: folded, to: findSourceEnd(plan, folded.stage) };
  }
  const stage: SummaryStage = plan.split !== null && plan.split <= plan.source.from ? "prefix" : "history";
  const previous = plan.merge ? content.readSummaries().map((text) => clean(withoutFileOps(text))) : [];
  return { stage, previous, start: { position: plan.source.from, chars: 0 }, to: findSourceEnd(plan, stage) };
}

/** A stage that was just entered has no summary of its own yet: the stored one belongs to the stage before. */
const isStageBegun = (folded: ChunkProgress): boolean => folded.summary.body !== folded.history?.body;

const findSourceEnd = ({ source, split }: SummaryPlan, stage: SummaryStage): number =>
  stage === "history" && split !== null ? split - 1 : source.to;

/** What the summariser has still to read of the range, without secrets if the policy says so. */
function* readUnread(input: ChunkRequestInput, range: Run): Iterable<TranscriptEntry> {
  const { plan, state, content } = input;
  const entries = each(unreadBy(input, range), content.readForwards, readBy(plan));
  if (policyUnderWay(state).summary.redact === "off") return yield* entries;
  for (const entry of entries) yield redactEntry(entry);
}

/** How many secrets the policy kept from the summariser of this plan. Null: it keeps none from it. */
export function countRedacted(input: Pick<ChunkRequestInput, "plan" | "state" | "content">): number | null {
  const { plan, state, content } = input;
  if (policyUnderWay(state).summary.redact === "off") return null;
  let count = 0;
  for (const entry of each(unreadBy(input, plan.source), content.readForwards, readBy(plan))) count += countSecrets(entry);
  return count;
}

/** A text that is neither of the record nor written by a summariser under this policy. */
const redactBy = ({ summary }: Policy, text: string): string => (summary.redact === "off" ? text : redactSecrets(text).text);

type IsRead = (entry: TranscriptEntry) => boolean;

function* each(runs: readonly Run[], read: (run: Run) => Iterable<TranscriptEntry>, isRead: IsRead): Iterable<TranscriptEntry> {
  for (const run of runs) for (const entry of read(run)) if (isRead(entry)) yield entry;
}

/** Leaves out system messages that stay in the view verbatim, because they need no summary. */
function readBy({ keeps }: SummaryPlan): IsRead {
  const kept = new Set(keeps);
  return ({ meta }) => meta.kind !== "system" || !kept.has(meta.position);
}

/**
 * The ranges to read: what no current summary has read, whether shown or trimmed. A summary that is made again from the record reads
 * everything, and a reread reads everything from its start on. The ranges matter where an earlier summary kept a message inside its range
 * that is covered now.
 */
function unreadBy({ plan, state: { view } }: Pick<ChunkRequestInput, "plan" | "state">, range: Run): readonly Run[] {
  const again = !plan.merge && view.overlays.some((overlay) => overlay.kind === "summary" && plan.replaces.includes(overlay.id));
  if (again || view.overlays.every((overlay) => overlay.kind === "dropped" || overlay.to < plan.source.from)) return [range];
  const { reread_from: from } = plan;
  if (from === undefined) return unreadRuns(view, range);
  const before = unreadRuns(view, { from: range.from, to: Math.min(range.to, from - 1) });
  return range.to < from ? before : [...before, { from: Math.max(range.from, from), to: range.to }];
}

/**
 * Joins the texts into one of at most `most` raw tokens. Short texts give what they do not need of an even share to the longer ones, so
 * that no text is left out.
 */
function shortenLongest(texts: readonly string[], most: number): string | null {
  const level = toEvenCap(texts.map(weighText), most);
  return texts.length > 0 ? texts.map((text) => shortenToWithin(text, level)).join(SUMMARY_JOIN) : null;
}

function shortenToWithin(line: string, most: number): string {
  const tokens = weighText(line);
  return tokens <= most ? line : shortenToolResult(line, Math.max(LEAST_ROOM, Math.floor((line.length * most * 0.9) / tokens)));
}

function toNextChunk(plan: SummaryPlan, stage: SummaryStage, chunk: TranscriptChunk): NextChunk | null {
  if (chunk.next) return { ...chunk.next, stage };
  return stage === "history" && plan.split !== null ? { position: plan.split, chars: 0, stage: "prefix" } : null;
}
