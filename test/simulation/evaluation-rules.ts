/** I30: every log can be evaluated under every policy, the evaluation accounts for the whole record, and the session is not affected. */

import { parsePolicyText, toPolicy } from "../../src/context/policy-choice";
import { DEFAULT_POLICY, POLICY_NAMES } from "../../src/context/presets";
import { evaluateSession } from "../../src/evaluate/evaluate-session";
import type { LogRules } from "./log-rules";
import { MODELS } from "./profile";
import { CALLER, type World } from "./world";

export async function checkEvaluation({ world, log }: { readonly world: World; readonly log: LogRules }): Promise<void> {
  const { service, runtime } = world.wake();
  const { settings, messages } = log.replayed;
  const model = MODELS[settings.model];
  if (!model) return;
  const before = runtime.state.seq;
  // The value differs between logs, and is always the same for one log.
  const policy = POLICY_NAMES[before % POLICY_NAMES.length] ?? DEFAULT_POLICY;
  const own = { policy: parsePolicyText(settings.policy), effective_policy: toPolicy(settings.policy) };
  const asked = { description: { id: CALLER.session, message_count: messages, ...own }, policy, model, last: 10_000 };
  const made = await evaluateSession(asked, { ask: (work) => work(service, CALLER) });
  const { violations } = world;
  violations.check(made.ok, "I30", () => `the log was not played: ${made.ok ? "" : made.error.code}`);
  violations.check(runtime.state.seq === before, "I30", () => "an evaluation left something in the log");
  if (!made.ok || !made.value) return;
  // An evaluation plays the recorded log, including messages that were redacted later.
  const weight = "COALESCE(json_extract(meta, '$.recorded.tokens'), json_extract(meta, '$.tokens'))";
  const all = runtime.deps.sql.all<{ n: number }>(`SELECT COALESCE(SUM(${weight}), 0) AS n FROM items`)[0]?.n ?? 0;
  for (const run of [made.value.current, made.value.proposed]) {
    const sum = Object.values(run.record).reduce((total, tokens) => total + tokens, 0);
    violations.check(sum === all, "I30", () => `${policy}: ${sum} tokens of the record are somewhere, of ${all}`);
    const wrong = run.tokens.cached > run.tokens.input || run.verbatim_8k > 1;
    violations.check(!wrong, "I30", () => `${policy}: more was cached than read, or shown than said`);
  }
}
