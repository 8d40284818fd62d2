/** Sessions that were played over Node's SQLite, and the evaluation of their logs. */

import type { ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { toPolicyText } from "../../src/context/policy-choice";
import type { Evaluation } from "../../src/contract/evaluation";
import type { EpochOp } from "../../src/domain/compaction-events";
import { type EvaluationAsked, evaluateSession } from "../../src/evaluate/evaluate-session";
import { CALLER, type Life, settle } from "../session/life";
import { countBytes, Pilot, saying } from "../session/pilot";
import { newLife, ROOMY, SUMMARY } from "../session/talk";

export const SMALL: ModelSpec = { ...ROOMY, context_window: 8_000 };

const WORDS = ["river", "stone", "cloud", "house", "light", "paper", "green", "table", "horse", "train"];
export const words = (count: number, mark: string): string =>
  [mark, ...Array.from({ length: count - 1 }, (_, index) => WORDS[index % WORDS.length])].join(" ");

/** A session of `turns` turns under a policy: questions about earlier orders, and a long result in every third turn. */
export async function lived(policy: PolicyChoice, turns: number, spec: ModelSpec = SMALL): Promise<Life> {
  const life = await newLife({ policy: toPolicyText(policy), spec, system: "You look after the orders of a shop." });
  let n = 0;
  const answers = { turn: (request: ModelRequest) => buildAnswer(n, request), summary: saying(SUMMARY) };
  const pilot = new Pilot(life, answers);
  for (; n < turns; n++) {
    await pilot.say(words(120 + (n % 5) * 40, n % 4 === 3 && n > 14 ? `ORD${1_000 + n - 14}` : `CUST${5_000 + n}`));
    if (!life.runtime.state.turn) continue;
    const results = [{ execution_id: null, call_id: `call_${n}`, output: words(500, `SKU${9_000 + n}`), is_error: false }];
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
    await pilot.goOn();
  }
  return life;
}

function buildAnswer(n: number, request: ModelRequest): readonly ModelStreamPart[] {
  const isAsked = request.messages.at(-1)?.role === "user";
  if (n % 3 !== 1 || !isAsked) return saying(words(150 + (n % 3) * 60, `ORD${1_000 + n}`))(request);
  const call = { type: "tool_call", call_id: `call_${n}`, name: "look_up", arguments: `{"order":"ORD${1_000 + n}"}` } as const;
  const usage = { input: countBytes(request), output: 20, cached: 0, reasoning: 0 };
  return [
    { type: "tool_call", call },
    { type: "finish", finish: "tool_calls", usage },
  ];
}

export async function evaluate(life: Life, asked: Partial<EvaluationAsked> & { readonly policy: PolicyChoice }): Promise<Evaluation> {
  const described = await life.service.describe(CALLER);
  if (!described.ok) throw new Error(described.error.code);
  const whole = { description: described.value, model: SMALL, last: 10_000, ...asked };
  const made = await evaluateSession(whole, { ask: (work) => work(life.service, CALLER) });
  if (!made.ok || !made.value) throw new Error(made.ok ? "nothing was said" : made.error.code);
  return made.value;
}

/** The changes that removed something from the view, according to the log. */
export function rangesIn(life: Life) {
  return life.events().flatMap((event) => {
    if (event.type !== "EpochChanged") return [];
    const [covering] = event.ops.flatMap((op: EpochOp) => (op.op === "summarize" || op.op === "drop" ? [op] : []));
    return [{ trigger: event.trigger, range: covering ? { from: covering.from, to: covering.to } : null }];
  });
}
