/**
 * A provider that refuses a request as too long, though it fitted by our measure: the view is brought down to a fifth of
 * the window and the same turn asks again, at most twice and only while nothing was said (docs/design.md §5, overflow).
 */
import { weighRequest } from "../../context/guard";
import { policyOf } from "../../context/policy-choice";
import type { ModelCall } from "../../domain/commands";
import type { TurnFailure } from "../../domain/events";
import type { SessionState } from "../../domain/state";
import type { ModelSpec } from "../ports";
import { limitsOf } from "../request/build-request";
import type { SessionPorts } from "../session-ports";
import type { LiveTurn } from "./live-turn";
import { compactInline, isCurrent, type RoomPorts } from "./make-room";

/** Emergency compactions of one turn: then the refusal is the answer. */
const RESCUES = 2;

/** How a turn ends. */
export interface Failed {
  readonly failure: TurnFailure;
  /** Null: there was none, or it is recorded already. */
  readonly call: ModelCall | null;
}

export interface Refused {
  readonly failure: TurnFailure;
  readonly call: ModelCall;
}

/** Meant for a refusal before anything was heard. Null: the view shrank, and the turn may ask again. Not counted as an attempt (Opal compaction, overflow recovery). */
export async function rescue(
  live: LiveTurn,
  { refused, spec, rescues }: { readonly refused: Refused; readonly spec: ModelSpec; readonly rescues: number },
  ports: RoomPorts,
): Promise<Failed | null> {
  const { writer, clock, log } = ports;
  const { failure, call } = refused;
  const truly = withWindow(spec, failure, { rescues, state: writer.state });
  if (rescues === RESCUES) return { failure: withNumbers(failure, truly, ports), call };
  const before = writer.state.view.tokens;
  const recorded = writer.execute({ type: "RecordCall", at: clock(), ...live.run, call });
  live.call = null;
  if (!recorded.ok) return { failure, call: null };
  log.warn("overflow_rescue", { turn: live.run.turn });
  await compactInline(live, { spec: truly, trigger: "overflow" }, ports);
  const shrank = isCurrent(live, ports) && writer.state.view.tokens < before;
  return shrank ? null : { failure: withNumbers(failure, truly, ports), call: null };
}

/** A window that shrank that much since the model last read something. */
const FAR_BELOW = 1 / 4;

/**
 * Smaller than the registry says, where the provider said so: what must fit is a share of what it takes. The registry is not changed by it.
 * An unknown window is what the provider says. A number far below what the model has read before is more likely another one of the
 * sentence, and a share of it would cost most of the history: it is believed when the same is refused again.
 */
function withWindow(spec: ModelSpec, { limit }: TurnFailure, by: { readonly rescues: number; readonly state: SessionState }): ModelSpec {
  const known = spec.context_window;
  if (limit === undefined || (known !== null && limit >= known)) return spec;
  const { anchor } = by.state;
  const isDoubtful = known !== null && by.rescues === 0 && anchor?.model === spec.id && limit < anchor.input * FAR_BELOW;
  return isDoubtful ? spec : { ...spec, context_window: limit };
}

/** The refusal with what we know: what the request weighs by our measure, what should fit, and what weighs most. */
function withNumbers(failure: TurnFailure, spec: ModelSpec, { writer }: SessionPorts): TurnFailure {
  const { state } = writer;
  const fit = weighRequest({ state, limits: limitsOf(spec), policy: policyOf(state.settings.policy) });
  return fit ? { ...failure, fit } : failure;
}
