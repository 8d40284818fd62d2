/** Finds a request that was sent, by its turn. It folds the log to the session's state when the request was built. */

import type { RequestRef } from "../../app/past-api";
import type * as api from "../../app/session-api";
import { toQuirks } from "../../context/model-quirks";
import type { SizedModel } from "../../context/sizing";
import type { TurnCall } from "../../contract/context";
import type { TurnId } from "../../domain/ids";
import { offeredTools, type SessionState } from "../../domain/state";
import { askedSystem, generationTexts } from "../../domain/turn-choices";
import { err, ok } from "../../lib/result";
import { type ContentReader, createContent } from "../content";
import { stateAt } from "../log/checkpoints";
import { readTurnCalls, type TurnCallEvent } from "../log/turn-calls";
import { readTurn } from "../log/turn-rows";
import type { Session } from "../session";

export interface PastRequest {
  readonly turn: TurnId;
  readonly n: number;
  readonly calls: readonly TurnCall[];
  readonly call: TurnCallEvent;
  /** The model as it was asked. */
  readonly model: SizedModel;
  /** The session's state at that time. Its content is that of now: what was redacted since is not read. */
  readonly state: SessionState;
  readonly content: ContentReader;
  /** True when something in the request has been redacted since. */
  readonly isRedacted: boolean;
}

/** Without a number it finds the last call that is known to have sent a request. */
export function findRequest(session: Session, turn: TurnId, number: RequestRef["call"]): api.Outcome<PastRequest> {
  const { sql } = session.deps;
  if (!readTurn(sql, turn)) return err({ code: "turn_not_found", turn });
  const events = readTurnCalls(sql, turn);
  const sent = events.findLastIndex(({ request_digest }) => request_digest !== null);
  const n = number ?? (sent < 0 ? events.length : sent + 1);
  const call = events[n - 1];
  if (!call) return err({ code: "request_not_found", turn, call: number, calls: events.length });
  const state = sql.transaction(() => stateAt(sql, call.asked.seq));
  const content = createContent(sql, () => state);
  return ok({
    turn,
    n,
    calls: events.map(toTurnCall),
    call,
    model: toSizedModel(call),
    state,
    content,
    isRedacted: isHiddenSince(state, content) || isPurged(state, content),
  });
}

const toSizedModel = ({ model: id, ratio, asked: { model } }: TurnCallEvent): SizedModel => ({
  id,
  provider: model.provider,
  ...(ratio !== undefined && { ratio }),
  ...(model.capabilities && { capabilities: model.capabilities }),
  ...(model.quirks && { quirks: toQuirks(model.quirks) }),
});

const toTurnCall = ({ seq, model, epoch, outcome, request_digest }: TurnCallEvent, index: number): TurnCall => ({
  n: index + 1,
  seq,
  purpose: "turn",
  model,
  epoch,
  outcome,
  digest: request_digest,
});

/**
 * True when a text of the request is gone. A redaction deletes the summaries made from the message, and texts that had
 * been replaced before.
 */
function isPurged(state: SessionState, content: ContentReader): boolean {
  const summaries = state.view.overlays.flatMap(({ kind, id }) => (kind === "summary" ? [id] : []));
  const texts = [askedSystem(state), offeredTools(state), ...generationTexts(state), ...state.pins].flatMap((text) => text?.body ?? []);
  return [...summaries, ...texts].some((id) => content.readText(id) === null);
}

const isHiddenSince = ({ view }: SessionState, content: ContentReader): boolean =>
  content.readStored(view.items).some(({ isRedacted, meta }) => isRedacted && !meta.redacted);
