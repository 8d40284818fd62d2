/** What a client sends, made ready for a command: items with their bodies, and results cut to what is recorded of them. */
import { type DraftedItem, draftItem, draftToolResult } from "../../app/request/drafts";
import type { ImportedCall, SubmitInput, ToolResultInput } from "../../app/session-api";
import type { BodyText } from "../../app/session-ports";
import { draftArtifacts } from "../../app/tools/run-tools";
import { cutToolResult } from "../../context/cut-result";
import { policyOf } from "../../context/policy-choice";
import type { TurnId } from "../../domain/ids";
import { type CallRef, findOpenCall, openBehindQueue } from "../../domain/open-calls";
import type { OpenCall } from "../../domain/state";
import type { ToolRun } from "../../domain/tool-run";
import type { SessionRuntime } from "../runtime";

interface At {
  readonly turn: TurnId | null;
  readonly at: number;
}

/** One message as the items that it becomes, the first of which gives it its id. Never empty. */
export function draftMessage(runtime: SessionRuntime, input: SubmitInput, to: At): readonly [DraftedItem, ...DraftedItem[]] {
  const { ids } = runtime.deps;
  if (input.role === "tool") {
    const { call_id, output, is_error } = input;
    const call = findOpenCall(openBehindQueue(runtime.state), { execution: null, call_id });
    return [draftResult(runtime, { call: { call_id, name: call?.name ?? "" }, output, is_error }, to)];
  }
  const calls = (input.calls ?? []).map((call) => draftCall(runtime, call, to));
  const [first, ...rest] = calls;
  if (first && input.parts.length === 0) return [first, ...rest];
  return [draftItem({ kind: input.role, parts: input.parts, ...to }, ids), ...calls];
}

function draftCall(runtime: SessionRuntime, { call_id, name, arguments: written }: ImportedCall, to: At): DraftedItem {
  const { ids } = runtime.deps;
  const tool = { execution: ids.newId("exe"), call_id, name };
  return draftItem({ kind: "tool_call", parts: [{ type: "tool_call", call_id, name, arguments: written }], tool, ...to }, ids);
}

interface ResultInput {
  readonly call: { readonly call_id: string; readonly name: string };
  readonly output: string;
  readonly is_error: boolean;
}

/** The output is cut here, once and for all (RFC-011 §1). */
export function draftResult(runtime: SessionRuntime, { call, output, is_error }: ResultInput, to: At): DraftedItem {
  const cut = cutToolResult(output, policyOf(runtime.state.settings.policy).results);
  return draftToolResult({ call, output: cut, is_error, ...to }, runtime.deps.ids);
}

/** What the client says of how its call went. Null: nothing. */
export function draftRan(
  runtime: SessionRuntime,
  { exit_code, duration_ms, artifacts }: ToolResultInput,
): { readonly ran: ToolRun | null; readonly bodies: readonly BodyText[] } {
  if (exit_code === undefined && duration_ms === undefined && artifacts === undefined) return { ran: null, bodies: [] };
  const kept = draftArtifacts(artifacts ?? [], runtime.deps.ids);
  return {
    ran: { ms: duration_ms ?? null, exit_code: exit_code ?? null, failure: null, artifacts: kept.artifacts },
    bodies: kept.bodies,
  };
}

/** The call that each of a request's results answers, as the results before it leave the open ones. */
export function callsOf(open: readonly OpenCall[], refs: readonly CallRef[]): ResultInput["call"][] {
  let left = open;
  return refs.map((ref) => {
    const call = findOpenCall(left, ref);
    left = left.filter((other) => other !== call);
    return call ?? { call_id: ref.call_id ?? "", name: "" };
  });
}
