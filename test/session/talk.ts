/** Plays a scripted conversation to a life of a session: turns, tools, interrupted replies, and compactions between them. */

import type { CompactInput, CompactOutcome } from "../../src/app/control-api";
import type { ModelSpec } from "../../src/app/ports";
import { applyRungs, buildRequest, toModelLimits } from "../../src/app/request/build-request";
import { viewGroups } from "../../src/context/cut";
import { dropRungs } from "../../src/context/drop";
import { Sizing } from "../../src/context/sizing";
import type { CompactionId } from "../../src/domain/ids";
import type { Part } from "../../src/domain/message";
import { CALLER, Life, settle } from "./life";

/** A window that no conversation here fills. */
export const ROOMY: ModelSpec = {
  id: "test-model",
  provider: "embedded",
  upstream_id: "test-model",
  base_url: null,
  context_window: 200_000,
  max_output: 1_000,
  source: "deployment",
};

export const SUMMARY = Array.from({ length: 9 }, (_, index) => `## Part ${index}\nnone`).join("\n");

export async function newLife(
  input: { readonly policy?: string; readonly system?: string; readonly spec?: ModelSpec } = {},
): Promise<Life> {
  const life = new Life();
  const { spec = ROOMY } = input;
  life.models = { resolve: async () => spec };
  const settings = {
    model: spec.id,
    policy: input.policy ?? "oneclaw",
    system: input.system ?? null,
    tools: null,
    title: null,
    metadata: {},
  };
  const opened = await life.service.open(CALLER, settings);
  if (!opened.ok) throw new Error(opened.error.code);
  await settle();
  return life;
}

export async function say(life: Life, text: string, reply: string): Promise<void> {
  await life.send(text);
  await life.answer(reply);
}

/** A reply that is stopped in the middle. */
export async function cutOff(life: Life, text: string, begun: string): Promise<void> {
  await life.send(text);
  life.calls.at(-1)?.say({ type: "text", text: begun });
  await settle();
  await life.service.stop(CALLER, { idempotency: null });
  await settle();
}

export async function retry(life: Life, reply: string): Promise<void> {
  const retried = await life.service.retry(CALLER, { idempotency: null });
  await settle();
  if (retried.ok) await life.answer(reply);
}

export async function useTools(life: Life, text: string, outputs: readonly string[]): Promise<void> {
  await life.send(text);
  const calls = outputs.map((_, n) => ({ type: "tool_call" as const, call_id: `call_${n}`, name: "look_up", arguments: "{}" }));
  for (const call of calls) life.calls.at(-1)?.say({ type: "tool_call", call });
  life.calls.at(-1)?.say({ type: "finish", finish: "tool_calls", usage: null });
  await settle();
  const results = outputs.map((output, n) => ({ execution_id: null, call_id: `call_${n}`, output, is_error: false }));
  await life.service.toolResults(CALLER, { results, idempotency: null });
  await settle();
  await life.answer("so it is");
}

export async function append(life: Life, role: "user" | "assistant" | "system", parts: readonly Part[]): Promise<void> {
  await life.service.submit(CALLER, { role, parts, run: false, onBusy: "queue", tools: null, idempotency: null });
  await settle();
}

export const BY_HAND: CompactInput = { dryRun: false, instructions: null, keepRecent: null, upTo: null };

export async function ask(life: Life, input: Partial<CompactInput> = {}): Promise<CompactOutcome> {
  const asked = await life.service.compact(CALLER, { ...BY_HAND, ...input, idempotency: null });
  if (!asked.ok) throw new Error(asked.error.code);
  return asked.value;
}

/** Runs the requested compaction as a worker would, until it has succeeded or failed. */
export async function work(life: Life, text = SUMMARY): Promise<void> {
  const id = life.runtime.state.compaction.requested?.id;
  if (!id) return;
  const { seq } = life.runtime.state;
  await attempt(life, id, text);
  if (life.runtime.state.seq > seq) await work(life, text);
}

async function attempt(life: Life, id: CompactionId, text: string): Promise<void> {
  const leased = await life.service.leaseCompaction(CALLER, id);
  if (!leased.ok || leased.value.kind !== "leased") return;
  const outcome = { ok: true, text, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
  await life.service.recordCompaction(CALLER, { compaction: id, token: leased.value.token, outcome, part: 0, next: null });
  await settle();
}

/** A manual compaction, from the request to the summary. */
export async function compact(life: Life, keepRecent: number | null): Promise<void> {
  await ask(life, { keepRecent });
  await work(life);
}

/** Trims as the guard does: the oldest half of the groups leaves the view. */
export function trim(life: Life): void {
  const { state } = life.runtime;
  const groups = viewGroups(state);
  const rungs = dropRungs(new Sizing(state, ROOMY), groups.slice(0, Math.floor(groups.length / 2)), "test");
  if (rungs.length === 0) return;
  const next = { tokens: 0, source: "estimated", error_bound: 0 } as const;
  const plan = { kind: "compact", trigger: "guard", base_epoch: state.view.epoch, next, expected: next, rungs } as const;
  const whole = { ...plan, fallback: [], economy: null, breaker_open: false };
  applyRungs(whole, { trigger: "guard", limits: toModelLimits(ROOMY) }, life.runtime.ports());
}

export const newest = (life: Life): CompactionId | undefined => life.runtime.state.compaction.committed.at(-1)?.id;

export async function revert(life: Life, compaction = newest(life)): ReturnType<Life["service"]["revertCompaction"]> {
  if (!compaction) throw new Error("nothing stands");
  return life.service.revertCompaction(CALLER, { compaction, idempotency: null });
}

/** The next request, as it would be sent. */
export const buildRequestText = (life: Life): string => JSON.stringify(buildRequest(life.runtime.content, ROOMY));

/** The view without ids, which differ between two lives of one conversation. */
export function toView(life: Life): object {
  const { overlays, items, reduced, tokens } = life.runtime.state.view;
  return { overlays, items: items.map(({ position, kind, tokens: weight }) => ({ position, kind, weight })), reduced, tokens };
}
