/** A policy in two sentences, made from its values: when it compacts, and what stays verbatim (`GET /v1/policies`). */
import type { Policy } from "./policy";

/** A policy for people who choose one. */
interface PolicyWords {
  readonly compacts: string;
  readonly keeps: string;
}

const percent = (share: number): string => `${Math.round(share * 1_000) / 10}%`;
const count = (number: number): string => number.toLocaleString("en-US");

const MOMENTS = {
  after_response: "After a response",
  before_turn: "Before a turn",
  each_call: "Before each model call",
} as const satisfies Record<Policy["trigger"]["at"], string>;

export const describePolicy = (policy: Policy): PolicyWords => ({ compacts: describeTrigger(policy), keeps: describeKept(policy) });

/** Why the policy compacts before a request would no longer fit. Empty: it does not. */
function listReasons({ window_ratio, usable_ratio, bound, rent_factor }: Policy["trigger"]): readonly string[] {
  const shares = [
    ...(window_ratio === null ? [] : [`${percent(window_ratio)} of the window`]),
    ...(usable_ratio === null ? [] : [`${percent(usable_ratio)} of what fits beside the reply`]),
  ];
  const verb = bound === "reached" ? "reaches" : "exceeds";
  return [
    ...(shares.length > 0 ? [`when the next request ${verb} ${shares.join(" or ")}`] : []),
    ...(rent_factor === null ? [] : [`when reading the same messages again has cost ${rent_factor} times what a compaction costs`]),
  ];
}

function describeTrigger({ trigger, summary, results }: Policy): string {
  const reasons = listReasons(trigger);
  const clears = results.clear === "each_call" ? " Old tool results are cleared before each model call." : "";
  if (reasons.length === 0) return `Only when the next request would not fit.${clears}`;
  const writes = summary.form === "none" ? ", without a summary" : "";
  return `${MOMENTS[trigger.at]}, ${reasons.join(", or ")}${writes}.${clears}`;
}

function describeKept({ trigger, keep, results }: Policy): string {
  const full = results.clear === "never" ? "" : ` Of tool results, the newest ${count(results.keep_full)} are never cleared.`;
  if (listReasons(trigger).length === 0) return `Everything that fits.${full}`;
  const { ratio, of, max_tokens, messages, system_messages } = keep;
  const whole = of === "window" ? "the window" : "what fits beside the reply";
  const most = max_tokens === null ? "" : `, at most ${count(max_tokens)} tokens`;
  const tail =
    messages === null ? `The newest messages, up to ${percent(ratio)} of ${whole}${most}` : `The newest ${count(messages)} messages`;
  const system = system_messages ? ", and system messages" : "";
  return `${tail}${system}.${full}`;
}
