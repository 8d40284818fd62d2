/** Compacts a conversation before a response of it, where the request names the size for that (`compact_threshold`). */
import type { RespondInput } from "../../../app/respond-api";
import type { Outcome } from "../../../app/session-api";
import type { Schedule } from "../../../app/session-ports";
import { estimateTokens } from "../../../context/tokens";
import type { CompactionView } from "../../../contract/compaction";
import type { CompactionId } from "../../../domain/ids";
import { toErrorName } from "../../../lib/error-name";
import { ok } from "../../../lib/result";
import type { SessionCalls } from "../../session-calls";
import { compactNow } from "./compact-session";
import type { ResponseRequest } from "./request";

/** The share of the threshold that stays verbatim, so that the next compaction is some time away. */
const KEPT = 1 / 2;
/** The share of the threshold by which the conversation must have grown since its last compaction, which may not have come below it. */
const GROWTH = 1 / 4;
/** A compaction that takes longer goes on beside the response, and counts for a later one. */
const MOST_WAIT_MS = 120_000;

interface Compacting {
  readonly calls: SessionCalls;
  readonly schedule: Schedule;
  readonly request: ResponseRequest;
  /** The session ends with this request, or with its connection. */
  readonly isThrowaway: boolean;
}

/** The smallest size that the request names. Null: none. */
function findThreshold({ body: { context_management: managed } }: ResponseRequest): number | null {
  const named = (managed ?? []).flatMap(({ compact_threshold: each }) => each ?? []);
  return named.length > 0 ? Math.min(...named) : null;
}

interface CompactedFirst {
  /** What is left of the request. */
  readonly given: RespondInput;
  /** The compaction that made the conversation shorter. Null: there was none. */
  readonly made: CompactionId | null;
}

/** What cannot be compacted now is answered as it is: the session's policy compacts it when it must. */
export async function compactFirst(compacting: Compacting, given: RespondInput): Promise<Outcome<CompactedFirst>> {
  const { request, isThrowaway } = compacting;
  const threshold = findThreshold(request);
  if (threshold === null) return ok({ given, made: null });
  const isNew = request.place.kind === "nothing";
  if (isNew) return isThrowaway ? compactInput(compacting, { given, threshold }) : ok({ given, made: null });
  return ok({ given, made: await compactIfDue(compacting, { threshold, after: given.after }) });
}

/** The conversation that the request brings is recorded but for its end, which the model is to answer. */
async function compactInput(
  compacting: Compacting,
  { given, threshold }: { readonly given: RespondInput; readonly threshold: number },
): Promise<Outcome<CompactedFirst>> {
  const { results, approvals = [], messages } = given;
  const end = messages.findLastIndex(({ role }) => role !== "tool");
  const isLong = estimateTokens(JSON.stringify(messages)) > threshold;
  if (end <= 0 || !isLong || results.length + approvals.length > 0) return ok({ given, made: null });
  const past: RespondInput = { ...given, messages: messages.slice(0, end), run: false, idempotency: null };
  const added = await compacting.calls.once((api, caller) => api.respond(caller, past));
  if (!added.ok) return added;
  const made = await compactIfDue(compacting, { threshold, after: null });
  return ok({ given: { ...given, messages: messages.slice(end) }, made });
}

type Limit = Pick<RespondInput, "after"> & { readonly threshold: number };

const compactIfDue = async (compacting: Compacting, limit: Limit): Promise<CompactionId | null> =>
  (await isDue(compacting, limit)) ? compactTo(compacting, limit.threshold) : null;

/** Judges the session as it is now: files of the request may have been stored meanwhile, and the request's own past recorded. */
async function isDue({ calls }: Compacting, { threshold, after }: Limit): Promise<boolean> {
  const described = await calls.repeatable((api, caller) => api.describe(caller));
  if (!described.ok) return false;
  const { turn, queued, last_turn, current_context_tokens: size } = described.value;
  // An open turn would hold the compaction back, and the end of another branch has another view.
  const isElsewhere = after !== null && last_turn?.id !== after;
  if (turn !== null || queued.length > 0 || isElsewhere || size.tokens <= threshold) return false;
  const newest = await calls.repeatable((api, caller) => api.compactions(caller, { after: null, limit: 1, order: "desc" }));
  const left = newest.ok ? (newest.value.data[0]?.receipt?.tokens_after.tokens ?? 0) : 0;
  return size.tokens > left + threshold * GROWTH;
}

/** No fault of it is the response's. */
async function compactTo({ calls, schedule }: Compacting, threshold: number): Promise<CompactionId | null> {
  let stopWaiting = (): void => {};
  const late = new Promise<null>((resolve) => {
    stopWaiting = schedule(MOST_WAIT_MS, () => resolve(null));
  });
  const done = compactNow(calls, Math.ceil(threshold * KEPT)).then(
    (ended) => (ended.ok ? findShorter(ended.value) : null),
    (error) => {
      calls.log.warn("http.compaction_left", { session: calls.session, error: toErrorName(error) });
      return null;
    },
  );
  const made = await Promise.race([done, late]);
  stopWaiting();
  return made;
}

function findShorter(compaction: CompactionView | null): CompactionId | null {
  const { id, status, receipt } = compaction ?? {};
  const isShorter = receipt && receipt.tokens_after.tokens < receipt.tokens_before.tokens;
  return id && status === "completed" && isShorter ? id : null;
}
