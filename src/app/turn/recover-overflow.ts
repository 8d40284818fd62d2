/**
 * Handles a provider's refusal of a request that fits by our measure. It brings the view down to a fifth of the window, and the same turn
 * asks again: at most twice, and only before the model has sent anything (docs/turns.md).
 */
import { weighRequest } from "../../context/guard";
import { toPolicy } from "../../context/policy-choice";
import type { ModelCall } from "../../domain/commands";
import type { TurnFailure } from "../../domain/events";
import type { SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { toModelLimits } from "../request/build-request";
import type { SessionPorts } from "../session-ports";
import type { LiveTurn } from "./live-turn";
import { compactInline, isCurrent, type RoomPorts } from "./make-room";

/** Emergency compactions per turn. After them the turn fails with the provider's refusal. */
export const MAX_OVERFLOW_RECOVERIES = 2;

/** The beginning of what a provider said. It is content: it may quote any message of its request. */
export interface Excerpt {
  readonly text: string;
  /** How many items were redacted when the request was built. */
  readonly redacted: number;
}

/** How a turn ends in failure. */
export interface AnswerFailure {
  readonly failure: TurnFailure;
  /** The call to record. Null when none was made, or it is recorded already. */
  readonly call: ModelCall | null;
  /** What the provider said. Absent: nothing, or the tenant may not read it. */
  readonly excerpt?: Excerpt;
}

/** A failure of a call that is not recorded yet. */
export interface FailedCall extends AnswerFailure {
  readonly call: ModelCall;
}

/** Call it only for a refusal before any output. Null: the view shrank, and the turn may ask again; this does not count as an attempt. */
export async function recoverFromOverflow(
  live: LiveTurn,
  { refused, spec, recoveries }: { readonly refused: FailedCall; readonly spec: ModelSpec; readonly recoveries: number },
  ports: RoomPorts,
): Promise<AnswerFailure | null> {
  const { writer, clock, log } = ports;
  const { failure, call } = refused;
  const truly = withWindow(spec, failure, { recoveries, state: writer.state });
  if (recoveries === MAX_OVERFLOW_RECOVERIES || writer.state.turn?.whole)
    return { ...refused, failure: withNumbers(failure, truly, ports) };
  const before = writer.state.view.tokens;
  const recorded = writer.execute({ type: "RecordCall", at: clock(), ...live.run, call });
  live.call = null;
  if (!recorded.ok) return { ...refused, call: null };
  log.warn("overflow_rescue", { turn: live.run.turn });
  await compactInline(live, { spec: truly, trigger: "overflow" }, ports);
  const shrank = isCurrent(live, ports) && writer.state.view.tokens < before;
  return shrank ? null : { ...refused, failure: withNumbers(failure, truly, ports), call: null };
}

/** A reported limit below this share of the last measured input is doubtful at first. */
const FAR_BELOW = 1 / 4;

/**
 * The model with the window that the provider named, if it is smaller than the registry's or the registry has none. The registry itself
 * does not change. A limit far below what the model has read before is probably another number of the error message, and trusting it would
 * cost most of the history: it counts only when the provider refuses again.
 */
function withWindow(spec: ModelSpec, { limit }: TurnFailure, by: { readonly recoveries: number; readonly state: SessionState }): ModelSpec {
  const known = spec.context_window;
  if (limit === undefined || (known !== null && limit >= known)) return spec;
  const { anchor } = by.state;
  const isDoubtful = known !== null && by.recoveries === 0 && anchor?.model === spec.id && limit < anchor.input * FAR_BELOW;
  return isDoubtful ? spec : { ...spec, context_window: limit };
}

/** Adds our figures to the refusal: the request's weight by our measure, the limit, and the largest items. */
function withNumbers(failure: TurnFailure, spec: ModelSpec, { writer }: SessionPorts): TurnFailure {
  const { state } = writer;
  const fit = weighRequest({ state, limits: toModelLimits(spec), policy: toPolicy(state.settings.policy) });
  return fit ? { ...failure, fit } : failure;
}
