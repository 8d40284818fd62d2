/** Reads one session from its object, strongly consistent. */

import { toEtag } from "../../app/conditions";
import type { ModelSpec } from "../../app/ports";
import { resolveModel } from "../../app/request/resolve-model";
import { readEffectivePolicy, readPolicy, readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import { shownEvent } from "../../app/shown-address";
import { describeFailure } from "../../app/turn/describe-failure";
import { toSums } from "../../app/usage-sums";
import { fileOpsIn } from "../../context/file-ops";
import { SUMMARY_JOIN } from "../../context/placement";
import type { CompactionView, ShownReceipt } from "../../contract/compaction";
import type { LedgerRow } from "../../contract/model-call";
import type { Page } from "../../contract/page";
import type { SessionDescription } from "../../contract/session";
import { describeBreaker } from "../../domain/breaker";
import type { StoredEvent } from "../../domain/events";
import type { CompactionId } from "../../domain/ids";
import { toGeneratedTokens, toUncachedInput, usageSource } from "../../domain/model-call";
import type { Receipt } from "../../domain/receipt";
import type { SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import { createNameReader } from "../log/bodies";
import { type CompactionRow, readCompaction, readCompactions } from "../log/compaction-rows";
import { type ModelCallEvent, readCalls, readEvents, readEventsBackwards } from "../log/event-log";
import type { Session } from "../session";
import { MAX_ANSWER_BYTES, takeWithin } from "./answer-size";
import { refusal } from "./model-refusal";
import { readPins } from "./pin-views";
import { readSessionGeneration } from "./turn-choices";
import { listOpenCalls } from "./turn-report";

export async function describeSession(session: Session): Promise<api.Outcome<SessionDescription>> {
  await resolveQuietly(session);
  const { state, content } = session;
  if (state.lifecycle === "erased") return err({ code: "session_erased" });
  const { settings, turn, last_turn } = state;
  if (!state.session) return err({ code: "session_not_found" });
  return ok({
    id: state.session,
    model: settings.model,
    policy: readSessionPolicy(settings, content),
    effective_policy: readEffectivePolicy(settings, content),
    summary_instructions: content.readRefText(settings.summary_instructions ?? null),
    pins: readPins(session),
    system: content.readRefText(settings.system),
    tools: content.readRefTools(settings.tools),
    title: content.readRefText(settings.title),
    external_id: content.readRefText(settings.external_id ?? null),
    end_user: content.readRefText(settings.end_user ?? null),
    metadata: readMetadata(session),
    generation: readSessionGeneration(session),
    etag: settingsEtag(state),
    created_at: state.opened_at,
    updated_at: state.updated_at,
    archived_at: state.archived_at,
    message_count: state.messages,
    epoch: state.view.epoch,
    branch: state.branch.number,
    branches: state.branch.count,
    forked_from: state.fork && { session_id: state.fork.from, at: state.fork.at },
    ...readSummary(session),
    ...session.knownModel.countContext(state),
    total_tokens: state.totals.input + state.totals.output,
    usage: toSums(state.totals),
    breaker: describeBreaker(state.compaction),
    turn: turn && { id: turn.id, phase: turn.phase, open_calls: listOpenCalls(session) },
    last_turn: last_turn && {
      id: last_turn.id,
      status: last_turn.status,
      failure: last_turn.failure && describeFailure(last_turn.failure),
    },
    queued: state.queue.map((entry) => ({ id: entry.item.id, turn_id: entry.turn })),
    stream_offset: session.buffer.offset,
  });
}

/** The etag of what a client sets of a session: it changes with every change of the settings or pins, and with nothing else. */
export const settingsEtag = ({ settings, pins }: Pick<SessionState, "settings" | "pins">): string => toEtag({ settings, pins });

export function readMetadata({ state, content }: Session): Readonly<Record<string, string>> {
  const text = content.readRefText(state.settings.metadata);
  return text === null ? {} : (JSON.parse(text) as Record<string, string>);
}

/** The model's entry, or the one that was last looked up while the registry does not answer. */
export async function resolveKnown(session: Session, model: string = session.state.settings.model): Promise<api.Outcome<ModelSpec>> {
  const found = await resolveModel(model, session.ports());
  if (found.ok) return found;
  const known = found.error === "unavailable" ? session.knownModel.lastKnown(model) : null;
  return known ? ok(known) : err(refusal(found.error, model));
}

/** The model's entry, if there is one: a description must not fail without it. */
export async function resolveQuietly(session: Session): Promise<ModelSpec | null> {
  const found = await resolveKnown(session);
  return found.ok ? found.value : null;
}

function readSummary({ state, content }: Session): Pick<SessionDescription, "compacted_summary" | "compact_boundary_timestamp"> {
  const summaries = state.view.overlays.filter((overlay) => overlay.kind === "summary");
  const texts = summaries.map((overlay) => content.readText(overlay.id) ?? "");
  return {
    compacted_summary: texts.length > 0 ? texts.join(SUMMARY_JOIN) : null,
    compact_boundary_timestamp: summaries.at(-1)?.boundary_timestamp ?? null,
  };
}

/**
 * Cuts rows to a page. The caller reads one row more than the limit, which tells whether there is more; `weigh` keeps
 * the page within what one answer carries.
 */
export function takePage<T>(rows: readonly T[], limit: number, weigh: (row: T) => number): Page<T> {
  const fitting = takeWithin(rows.slice(0, limit), { weigh, limit: MAX_ANSWER_BYTES });
  return { data: fitting, has_more: rows.length > fitting.length };
}

const jsonUnits = (row: object): number => JSON.stringify(row).length;

export function listEvents(session: Session, { after, limit, order }: api.PageInput): Page<StoredEvent> {
  const { sql } = session.deps;
  const rows =
    order === "asc" ? readEvents(sql, after ?? 0, limit + 1) : readEventsBackwards(sql, after ?? Number.MAX_SAFE_INTEGER, limit + 1);
  return takePage(rows.map(shownEvent), limit, jsonUnits);
}

export function listCompactions(session: Session, { after, limit, order }: api.PageInput): Page<CompactionView> {
  const from = after ?? (order === "asc" ? 0 : Number.MAX_SAFE_INTEGER);
  const rows = readCompactions(session.deps.sql, { after: from, limit: limit + 1, order }).map((row) => withSummary(session, row));
  return takePage(rows, limit, jsonUnits);
}

export function showCompaction(session: Session, id: CompactionId): api.Outcome<CompactionView> {
  const row = readCompaction(session.deps.sql, id);
  return row ? ok(withSummary(session, row)) : err({ code: "compaction_not_found", compaction: id });
}

function withSummary(session: Session, { drafted, policy_instructions, ...row }: CompactionRow): CompactionView {
  const made = row.ops.find((op) => op.op === "summarize");
  const { content } = session;
  const summary = made ? content.readText(made.overlay) : content.readRefText(drafted);
  const receipt = row.receipt && toShownReceipt(row.receipt, summary);
  const policy = row.policy === null ? null : readPolicy({ policy: row.policy, instructions: policy_instructions }, content);
  return { ...row, policy, instructions: content.readRefText(row.instructions), summary, receipt };
}

/** `text` is the summary or the note, if any. */
export function toShownReceipt(
  { tokens_before, tokens_after, measured, summary_instructions, ...receipt }: Receipt,
  text: string | null,
): ShownReceipt {
  return {
    tokens_before: { tokens: tokens_before, ...measured.before },
    tokens_after: { tokens: tokens_after, ...measured.after },
    ...receipt,
    summary_instructions: summary_instructions ?? null,
    files: text === null ? null : fileOpsIn(text),
  };
}

/** The calls in order of seq, which is the order in which they ended. */
export function listCalls({ deps }: Session, { after, limit, order }: api.PageInput): Page<LedgerRow> {
  const rows = readCalls(deps.sql, { after, limit: limit + 1, order });
  const readName = createNameReader(deps.sql);
  return { data: rows.slice(0, limit).map((event) => toLedgerRow(event, readName)), has_more: rows.length > limit };
}

const UNREPORTED = { input: null, uncached: null, cached: null, cache_write: null, output: null, reasoning: null } as const;

function toLedgerRow(event: ModelCallEvent, readName: ReturnType<typeof createNameReader>): LedgerRow {
  const { seq, at, turn, purpose, model, usage, estimate, outcome, ms, cost, asked } = event;
  const counts = usage
    ? {
        input: usage.input,
        uncached: toUncachedInput(usage),
        cached: usage.cached,
        cache_write: usage.cache_write ?? 0,
        output: toGeneratedTokens(usage),
        reasoning: usage.reasoning,
      }
    : UNREPORTED;
  const owner = { key_id: event.key ?? null, end_user: event.end_user ? readName(event.end_user) : null };
  const call = { seq, at, turn_id: turn, purpose, source: usageSource(purpose), model, ...owner };
  return { ...call, ...counts, cost: cost ?? null, estimate, outcome, ms, left_out: asked?.left_out ?? [] };
}
