/** Evaluates a policy on a session's log. The log is read in pages that are not kept, and the session goes on meanwhile. */

import type { WholeSessionApi } from "../app/control-api";
import type { ModelSpec } from "../app/ports";
import { toModelLimits } from "../app/request/build-request";
import type { Caller, Outcome, PageInput, SessionError } from "../app/session-api";
import type { Prices } from "../context/economy";
import { chainChoices, type PolicyChoice, resolvePolicy } from "../context/policy-choice";
import type { CompactionView } from "../contract/compaction";
import type { Evaluation } from "../contract/evaluation";
import type { Page } from "../contract/page";
import type { SessionDescription } from "../contract/session";
import { err, ok } from "../lib/result";
import { type EvaluationInput, LogEvaluation } from "./evaluate-log";
import { RecordedSummaries } from "./recorded-summaries";

/** The calls that an evaluation makes to a session. None of them changes it. */
type ReadApi = Pick<WholeSessionApi, "compactions" | "exportLog">;

interface EvaluationPorts {
  /** Calls the session through a fresh stub. */
  readonly ask: <T>(work: (api: ReadApi, caller: Caller) => Promise<Outcome<T>>) => Promise<Outcome<T>>;
}

/** The fields of a session's description that an evaluation needs. */
type Described = Pick<SessionDescription, "id" | "policy" | "effective_policy" | "message_count">;

export interface EvaluationAsked {
  readonly description: Described;
  readonly policy: PolicyChoice;
  readonly model: ModelSpec;
  /** Absent: the model's window. */
  readonly window?: number | null;
  readonly prices?: Prices;
  readonly last: number;
}

/** The policy that the session would have if it were patched with `named`. */
export const proposedChoice = ({ policy }: Pick<SessionDescription, "policy">, named: PolicyChoice): PolicyChoice =>
  chainChoices(policy, named);

export async function evaluateSession(asked: EvaluationAsked, ports: EvaluationPorts): Promise<Outcome<Evaluation | null>> {
  const summaries = await readSummaries(ports);
  if (!summaries.ok) return summaries;
  const evaluation = new LogEvaluation(toInput(asked, summaries.value));
  const failed = await readLog(evaluation, ports);
  return failed ? err(failed) : ok(evaluation.finish());
}

function toInput({ description, policy, model, window, prices, last }: EvaluationAsked, summaries: RecordedSummaries): EvaluationInput {
  const proposed = proposedChoice(description, policy);
  const limits = toModelLimits(model);
  return {
    session: description.id,
    current: { choice: description.policy, policy: description.effective_policy },
    proposed: { choice: proposed, policy: resolvePolicy(proposed) },
    limits: { ...limits, ...(window !== undefined && { window }), ...(prices && { prices }) },
    messages: description.message_count,
    last,
    summaries,
  };
}

/** Maximum number of rows or events in one page. The session's answer is also bounded in bytes. */
const PAGE = 1_000;

async function readSummaries({ ask }: EvaluationPorts): Promise<Outcome<RecordedSummaries>> {
  const summaries = new RecordedSummaries();
  let after: number | null = null;
  do {
    const page: PageInput = { after, limit: PAGE, order: "asc" };
    const read: Outcome<Page<CompactionView>> = await ask((api, caller) => api.compactions(caller, page));
    if (!read.ok) return read;
    for (const row of read.value.data) summaries.learn(row);
    after = read.value.has_more ? (read.value.data.at(-1)?.seq ?? null) : null;
  } while (after !== null);
  return ok(summaries);
}

async function readLog(evaluation: LogEvaluation, { ask }: EvaluationPorts): Promise<SessionError | null> {
  for (let after = 0; ; ) {
    const from = after;
    const page = await ask((api, caller) => api.exportLog(caller, { after: from, limit: PAGE }));
    if (!page.ok) return page.error;
    evaluation.take(page.value);
    const last = page.value.events.at(-1);
    if (!page.value.has_more || !last) return null;
    after = last.seq;
  }
}
