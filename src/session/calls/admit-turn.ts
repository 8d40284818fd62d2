/** Refuses a request for whose first model call no budget has room, before anything of it is stored. */
import type { CallNeed } from "../../app/call-charge";
import { toFirstNeed } from "../../app/request/call-need";
import { askedLength } from "../../app/request/reply-caps";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import { estimateParts } from "../../context/item-tokens";
import type { TurnChoices } from "../../domain/events";
import type { Part } from "../../domain/message";
import { err } from "../../lib/result";
import { createOutcomes } from "../log/idempotency";
import type { Session } from "../session";
import { readAskedGeneration } from "./turn-choices";

/** What requests that start turns have in common. `run` false: no model is asked. */
export interface Starting extends Pick<api.TurnInput, "model" | "generation"> {
  readonly run?: boolean;
  readonly idempotency?: api.Idempotency | null;
  readonly parts?: readonly Part[];
  readonly messages?: readonly { readonly role: string; readonly parts?: readonly Part[] }[];
}

const listParts = ({ parts = [], messages = [] }: Starting): readonly Part[] => [...parts, ...messages.flatMap((each) => each.parts ?? [])];

/** A request that was accepted before is answered again, whatever is left now. */
export const isRepeated = ({ deps: { sql, clock } }: Session, { idempotency }: Pick<Starting, "idempotency">): boolean =>
  idempotency != null && createOutcomes(sql).find(idempotency.key, clock()) !== null;

export const mayNeedAdmission = (session: Session, { run = true }: Starting): boolean => run && session.ports().budgets.applies("turn");

/**
 * Null: admitted. What was granted stays in the wallet for the turn, which still fails if another call takes it. `base`: what the turn is
 * asked with where the request names nothing.
 */
export async function refuseUnpaid(session: Session, input: Starting, base: TurnChoices = {}): Promise<api.Outcome<never> | null> {
  if (isRepeated(session, input)) return null;
  const ports = session.ports();
  const named = input.model === undefined ? base.model : input.model;
  const found = await resolveModel(named ?? session.state.settings.model, ports);
  // The request is refused for its model, or its turn fails for it.
  if (!found.ok || session.state.lifecycle !== "open") return null;
  const spec = found.value;
  const { state } = session;
  const most = readAskedGeneration(session, input.generation, base).max_output_tokens;
  const cap = askedLength(ports.replyCaps.get(spec.id) ?? spec.max_output, { spec, state, most }) ?? spec.max_output;
  return obtainOrRefuse(session, toFirstNeed(state, spec, { added: estimateParts(listParts(input)), cap }));
}

/** Null: the wallet has what the call needs. */
export async function obtainOrRefuse(session: Session, need: CallNeed): Promise<api.Outcome<never> | null> {
  const got = await session.ports().budgets.obtain(need);
  return got.ok ? null : err(got.error);
}
