/** Shows the request of a past turn. The code that sends requests builds it again, and its digest is compared with the recorded one. */
import { toModelSpec } from "../../app/asked-model";
import { buildFittedRequest } from "../../app/request/build-request";
import { readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import { shownAddress } from "../../app/shown-address";
import type { DigestCheck, PastContext } from "../../contract/context";
import type { TurnId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { Session } from "../session";
import { MAX_SHOWN_CHARS } from "./context-call";
import { weighContext } from "./context-weights";
import { findRequest, type PastRequest } from "./past-request";

export async function showPast(
  session: Session,
  { turn, call: number }: { readonly turn: TurnId; readonly call: number | null },
): Promise<api.Outcome<PastContext>> {
  const found = findRequest(session, turn, number);
  if (!found.ok) return found;
  const past = found.value;
  const { call, state, n, calls } = past;
  const { at, max_output: maxOutput, model, plain = false } = call.asked;
  const spec = toModelSpec(call.model, model, call.ratio);
  if (!spec) return err({ code: "request_unknown", model: call.model });
  const built = buildFittedRequest(past.content, spec, { maxOutput, reservation: null, plain });
  const request = await session.deps.model.render({ ...built.request, at });
  const characters = request.body.length;
  if (characters > MAX_SHOWN_CHARS) return err({ code: "context_too_large", characters, limit: MAX_SHOWN_CHARS });
  return ok({
    turn_id: turn,
    call: n,
    calls,
    model: call.model,
    policy: readSessionPolicy(state.settings, session.content),
    epoch: state.view.epoch,
    seq: state.seq,
    sent_at: at,
    ...weighContext(state, spec),
    request: { ...request, url: shownAddress(request.url, spec) },
    digest: check(past, await session.deps.digest(request.body)),
  });
}

function check({ call, isRedacted }: PastRequest, rebuilt: string): DigestCheck {
  const recorded = call.request_digest;
  const matches = recorded === null ? null : recorded === rebuilt;
  return { recorded, rebuilt, matches, reason: matches === false && isRedacted ? "redacted" : null };
}
