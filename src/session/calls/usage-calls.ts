/** A session's ledger: each model call with its usage and cost. */
import type * as api from "../../app/session-api";
import type { LedgerRow } from "../../contract/model-call";
import type { Page } from "../../contract/page";
import { toGeneratedTokens, toUncachedInput, usageSource } from "../../domain/model-call";
import { type ModelCallEvent, readCalls } from "../log/event-log";
import type { Session } from "../session";

/** The calls in order of seq, which is the order in which they ended. */
export function listCalls({ deps }: Session, { after, limit, order }: api.PageInput): Page<LedgerRow> {
  const rows = readCalls(deps.sql, { after, limit: limit + 1, order });
  return { data: rows.slice(0, limit).map(toLedgerRow), has_more: rows.length > limit };
}

const UNREPORTED = { input: null, uncached: null, cached: null, cache_write: null, output: null, reasoning: null } as const;

function toLedgerRow({ seq, at, turn, purpose, model, usage, estimate, outcome, ms, cost }: ModelCallEvent): LedgerRow {
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
  return { seq, at, turn_id: turn, purpose, source: usageSource(purpose), model, ...counts, cost: cost ?? null, estimate, outcome, ms };
}
