/** Refuses a request that starts a turn for whose first call no budget has room, before anything of it is stored. */
import { toFirstNeed } from "../../app/request/call-need";
import { askedLength } from "../../app/request/reply-caps";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import { estimateParts } from "../../context/item-tokens";
import { measuredFor } from "../../context/start-ratio";
import type { Part } from "../../domain/message";
import { err } from "../../lib/result";
import { createOutcomes } from "../log/idempotency";
import type { Session } from "../session";
import { readSessionGeneration } from "./turn-choices";

/** What requests that start turns have in common. `run` false: no model is asked. */
export interface Starting extends Pick<api.TurnInput, "model" | "generation"> {
  readonly run?: boolean;
  readonly idempotency?: api.Idempotency | null;
  readonly parts?: readonly Part[];
  readonly messages?: readonly { readonly role: string; readonly parts?: readonly Part[] }[];
}

const listParts = ({ parts = [], messages = [] }: Starting): readonly Part[] => [...parts, ...messages.flatMap((each) => each.parts ?? [])];

/** A request that was accepted before is answered again, whatever is left now. */
const isRepeated = ({ deps: { sql, clock } }: Session, { idempotency }: Starting): boolean =>
  idempotency != null && createOutcomes(sql).find(idempotency.key, clock()) !== null;

export const mayNeedAdmission = (session: Session, { run = true }: Starting): boolean => run && session.ports().budgets.applies("turn");

/** Null: admitted. What was granted stays in the wallet for the turn, which still fails if another call takes it. */
export async function refuseUnpaid(session: Session, input: Starting): Promise<api.Outcome<never> | null> {
  if (isRepeated(session, input)) return null;
  const ports = session.ports();
  const found = await resolveModel(input.model ?? session.state.settings.model, ports);
  // The request is refused for its model, or its turn fails for it.
  if (!found.ok || session.state.lifecycle !== "open") return null;
  const spec = found.value;
  const state = measuredFor(session.state, spec);
  const most = input.generation?.max_output_tokens ?? readSessionGeneration(session).max_output_tokens;
  const cap = askedLength(ports.replyCaps.get(spec.id) ?? spec.max_output, { spec, state, most }) ?? spec.max_output;
  const got = await ports.budgets.obtain(toFirstNeed(state, spec, { added: estimateParts(listParts(input)), cap }));
  return got.ok ? null : err(got.error);
}
