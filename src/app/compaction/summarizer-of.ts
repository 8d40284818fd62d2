/** What a compaction has cost so far, as its receipt says it. */
import type { DraftInput } from "../../context/epoch-draft";
import type { ModelCall } from "../../domain/commands";
import { addCall } from "../../domain/spent";
import type { SessionState } from "../../domain/state";

/** `call`: the one that is being judged, which the ledger gets in the same step. Null: no model was asked. */
export function summarizerOf({ compaction: { requested } }: SessionState, call: ModelCall | null): DraftInput["summarizer"] {
  if (!requested) return null;
  const spent = call ? addCall(requested.spent, call) : requested.spent;
  return requested.attempts > 0 || spent.model !== null ? { ...spent, attempts: requested.attempts } : null;
}
