/** Turns a client's input into drafts for a command: items with their bodies, and results cut to what is recorded. */
import { type BuiltItem, buildItem, buildToolResult } from "../../app/request/build-items";
import type { ToolResultInput } from "../../app/session-api";
import type { BodyText } from "../../app/session-ports";
import { buildArtifacts } from "../../app/tools/run-tools";
import type { ImportedCall, WrittenMessage } from "../../app/written-message";
import { cutToolResult } from "../../context/cut-result";
import { toPolicy } from "../../context/policy-choice";
import type { TurnId } from "../../domain/ids";
import type { MessageFacts } from "../../domain/item-content";
import { type CallRef, findOpenCall } from "../../domain/open-calls";
import type { OpenCall } from "../../domain/state";
import type { ToolRun } from "../../domain/tool-run";
import type { Session } from "../session";

interface At {
  readonly turn: TurnId | null;
  readonly at: number;
  readonly about?: MessageFacts;
}

/** The items that one message becomes; the first gives the message its id. Never empty. `open`: the calls that a result may answer. */
export function buildMessage(
  session: Session,
  input: WrittenMessage,
  to: At & { readonly open: readonly OpenCall[] },
): readonly [BuiltItem, ...BuiltItem[]] {
  const { ids } = session.deps;
  const { about = {} } = input;
  const at = { turn: to.turn, at: to.at };
  if (input.role === "tool") {
    const { call_id, output, is_error } = input;
    const call = findOpenCall(to.open, { execution: null, call_id });
    return [buildResultItem(session, { call: { call_id, name: call?.name ?? "" }, output, is_error }, { ...at, about })];
  }
  const { said_at = null, incomplete = false } = about;
  const [first, ...later] = input.calls ?? [];
  const toCalls = (calls: readonly ImportedCall[]) =>
    calls.map((call) => buildCallItem(session, call, { ...at, about: { said_at, incomplete } }));
  if (first && input.parts.length === 0) return [buildCallItem(session, first, { ...at, about }), ...toCalls(later)];
  return [buildItem({ kind: input.role, parts: input.parts, ...at, about }, ids), ...toCalls(input.calls ?? [])];
}

function buildCallItem(session: Session, { call_id, name, arguments: written }: ImportedCall, to: At): BuiltItem {
  const { ids } = session.deps;
  const tool = { execution: ids.newId("exe"), call_id, name };
  return buildItem({ kind: "tool_call", parts: [{ type: "tool_call", call_id, name, arguments: written }], tool, ...to }, ids);
}

interface ResultInput {
  readonly call: { readonly call_id: string; readonly name: string };
  readonly output: string;
  readonly is_error: boolean;
}

/** Cuts the output once, when it is recorded, to the policy's limit (`results.max_chars`). It is never cut again. */
export function buildResultItem(session: Session, { call, output, is_error }: ResultInput, to: At): BuiltItem {
  const cut = cutToolResult(output, toPolicy(session.state.settings.policy).results);
  return buildToolResult({ call, output: cut, is_error, ...to }, session.deps.ids);
}

/** What the client reports about the run of its call. `ran` is null when it reports nothing. */
export function buildClientRun(
  session: Session,
  { exit_code, duration_ms, artifacts }: ToolResultInput,
): { readonly ran: ToolRun | null; readonly bodies: readonly BodyText[] } {
  if (exit_code === undefined && duration_ms === undefined && artifacts === undefined) return { ran: null, bodies: [] };
  const kept = buildArtifacts(artifacts ?? [], session.deps.ids);
  return {
    ran: { ms: duration_ms ?? null, exit_code: exit_code ?? null, failure: null, artifacts: kept.artifacts },
    bodies: kept.bodies,
  };
}

/** Finds the call that each result of a request answers. A call that an earlier result has answered is no longer open for a later one. */
export function findReferencedCalls(open: readonly OpenCall[], refs: readonly CallRef[]): ResultInput["call"][] {
  let left = open;
  return refs.map((ref) => {
    const call = findOpenCall(left, ref);
    left = left.filter((other) => other !== call);
    return call ?? { call_id: ref.call_id ?? "", name: "" };
  });
}
