/** Records a person's answers to calls that wait for approval: one transaction, remembered under its idempotency key. */
import type * as api from "../../app/session-api";
import type { Accepted } from "../../contract/item";
import type { NewApproval } from "../../domain/commands";
import type { ItemMeta } from "../../domain/message";
import type { OpenTurn } from "../../domain/state";
import { err } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import type { Session } from "../session";
import { buildResultItem } from "./build-message";
import { acknowledge } from "./message-calls";

export function resolveApprovals(
  session: Session,
  { approvals, idempotency }: Parameters<api.SessionApi["approvals"]>[1],
): api.Outcome<Accepted> {
  const { clock, incarnation } = session.deps;
  const turn = session.state.turn?.id ?? null;
  const at = clock();
  const { drafts, bodies } = draftApprovals(session, { turn: session.state.turn, approvals, at });
  const [first] = approvals;
  if (!first) return err({ code: "invalid", field: "approvals", detail: "must not be empty" });
  const asked = findAskedItem(session, first);
  const accept = () => {
    if (!asked) throw new TypeError("the answered call has no item in the view");
    return { message_id: asked.id, turn_id: turn, position: asked.position, queued: false };
  };
  const command = { type: "ResolveApprovals", at, incarnation, approvals: drafts } as const;
  return acknowledge(session, { command, bodies, idempotency, accept });
}

/** The item of the call that is answered. A call stays in the view until it has a result. */
export const findAskedItem = ({ state }: Pick<Session, "state">, { execution_id }: api.ApprovalInput): ItemMeta | undefined =>
  state.view.items.findLast(({ kind, tool }) => kind === "tool_call" && tool?.execution === execution_id);

interface Approvals {
  /** The turn whose calls are answered. */
  readonly turn: OpenTurn | null;
  readonly approvals: readonly api.ApprovalInput[];
  readonly at: number;
}

/** Builds the answers of a request for their command. */
export function draftApprovals(
  session: Session,
  { turn, approvals, at }: Approvals,
): { readonly drafts: readonly NewApproval[]; readonly bodies: readonly NewBody[] } {
  const built = approvals.map((approval) => buildApproval(session, approval, { turn, at }));
  return { drafts: built.map(({ draft }) => draft), bodies: built.flatMap(({ bodies }) => bodies) };
}

function buildApproval(
  session: Session,
  { execution_id, approved, reason }: api.ApprovalInput,
  { turn, at }: Pick<Approvals, "turn" | "at">,
): { readonly draft: NewApproval; readonly bodies: readonly NewBody[] } {
  if (approved) return { draft: { execution: execution_id, denied: null }, bodies: [] };
  const call = turn?.open_calls.find(({ execution }) => execution === execution_id) ?? { call_id: "", name: "" };
  const result = { call, output: toRefusal(reason), is_error: true };
  const { draft, body } = buildResultItem(session, result, { turn: turn?.id ?? null, at });
  return { draft: { execution: execution_id, denied: draft }, bodies: [body] };
}

/** The text that the model reads in place of a result. The reason is a person's words, so it is quoted as data. */
function toRefusal(reason: string | null): string {
  const refused = "The call was not run: a person refused it.";
  return reason === null || reason.trim() === "" ? refused : `${refused} The reason given: ${JSON.stringify(reason)}`;
}
