/** Compacts a conversation before a response of it, where the request names the size for that (`compact_threshold`). */
import type { RespondInput } from "../../../app/respond-api";
import type { Outcome } from "../../../app/session-api";
import type { Schedule } from "../../../app/session-ports";
import { estimateTokens } from "../../../context/tokens";
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

/** What is left of the request. What cannot be compacted now is answered as it is: the session's policy compacts it when it must. */
export async function compactFirst(compacting: Compacting, given: RespondInput): Promise<Outcome<RespondInput>> {
  const { request, isThrowaway } = compacting;
  const threshold = findThreshold(request);
  if (threshold === null) return ok(given);
  const isNew = request.place.kind === "nothing";
  if (isNew) return isThrowaway ? compactInput(compacting, { given, threshold }) : ok(given);
  if (await isDue(compacting, { threshold, after: given.after })) await compactTo(compacting, threshold);
  return ok(given);
}

/** The conversation that the request brings is recorded but for its end, which the model is to answer. */
async function compactInput(
  compacting: Compacting,
  { given, threshold }: { readonly given: RespondInput; readonly threshold: number },
): Promise<Outcome<RespondInput>> {
  const { results, approvals = [], messages } = given;
  const end = messages.findLastIndex(({ role }) => role !== "tool");
  const isLong = estimateTokens(JSON.stringify(messages)) > threshold;
  if (end <= 0 || !isLong || results.length + approvals.length > 0) return ok(given);
  const past: RespondInput = { ...given, messages: messages.slice(0, end), run: false, idempotency: null };
  const added = await compacting.calls.once((api, caller) => api.respond(caller, past));
  if (!added.ok) return added;
  if (await isDue(compacting, { threshold, after: null })) await compactTo(compacting, threshold);
  return ok({ ...given, messages: messages.slice(end) });
}

async function isDue(
  { calls }: Compacting,
  { threshold, after }: Pick<RespondInput, "after"> & { readonly threshold: number },
): Promise<boolean> {
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
async function compactTo({ calls, schedule }: Compacting, threshold: number): Promise<void> {
  let stopWaiting = (): void => {};
  const late = new Promise<void>((resolve) => {
    stopWaiting = schedule(MOST_WAIT_MS, resolve);
  });
  const done = compactNow(calls, Math.ceil(threshold * KEPT)).then(
    () => {},
    (error) => calls.log.warn("http.compaction_left", { session: calls.session, error: toErrorName(error) }),
  );
  await Promise.race([done, late]);
  stopWaiting();
}
