/** Shows the request of a past turn. The code that sends requests builds it again, and its digest is compared with the recorded one. */
import { toModelSpec } from "../../app/asked-model";
import type { ModelSpec } from "../../app/ports";
import { buildRequest } from "../../app/request/build-request";
import { askedLength } from "../../app/request/reply-caps";
import { resolveModel } from "../../app/request/resolve-model";
import { readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import { shownAddress } from "../../app/shown-address";
import type { DigestCheck, PastContext } from "../../contract/context";
import type { TurnId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import type { ModelCallEvent } from "../log/event-log";
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
  const spec = await findSpec(session, call);
  if (!spec.ok) return spec;
  const maxOutput = call.asked ? call.asked.max_output : askedLength(null, { spec: spec.value, state });
  const request = await session.deps.model.render({
    ...buildRequest(past.content, spec.value, maxOutput),
    ...(call.asked && { at: call.asked.at }),
  });
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
    sent_at: sentAt(call),
    ...weighContext(state, spec.value),
    request: { ...request, url: shownAddress(request.url, spec.value) },
    digest: check(past, await session.deps.digest(request.body)),
  });
}

/** The model as it was when the call was made. A call of an older build did not record it: then the registry's present entry is used. */
async function findSpec(session: Session, { model, asked, ratio }: ModelCallEvent): Promise<api.Outcome<ModelSpec>> {
  if (asked) {
    const spec = toModelSpec(model, asked.model, ratio);
    return spec ? ok(spec) : err({ code: "request_unknown", model });
  }
  const found = await resolveModel(model, session.ports());
  if (found.ok) return found;
  return err(found.error === "unavailable" ? { code: "models_unavailable" } : { code: "request_unknown", model });
}

/** When the request was sent. Null when it is unknown: a call without a duration was never seen to end. */
const sentAt = ({ asked, at, ms }: ModelCallEvent): number | null => asked?.at ?? (ms > 0 ? at - ms : null);

function check({ call, isRedacted }: PastRequest, rebuilt: string): DigestCheck {
  const recorded = call.request_digest;
  const matches = recorded === null ? null : recorded === rebuilt;
  const reason = isRedacted ? "redacted" : call.asked ? null : "not_recorded";
  return { recorded, rebuilt, matches, reason: matches === false ? reason : null };
}
