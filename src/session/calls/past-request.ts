/** A request that was sent, found by its turn: the session as it was when it was built, folded from the log. */
import type { RequestRef, TurnCall } from "../../app/past-views";
import type * as api from "../../app/session-api";
import { measuredFor, type RatedModel } from "../../context/start-ratio";
import type { TurnId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import { type ContentReader, createContent } from "../content";
import type { ModelCallEvent } from "../log/event-log";
import { readTurn } from "../log/log-tables";
import { readTurnCalls, stateOfCall } from "../log/turn-calls";
import type { SessionRuntime } from "../runtime";

export interface PastRequest {
  readonly turn: TurnId;
  readonly n: number;
  readonly calls: readonly TurnCall[];
  readonly call: ModelCallEvent;
  /** As it was, but that what was redacted since is. */
  readonly state: SessionState;
  readonly content: ContentReader;
  /** Something in it was redacted since. */
  readonly isRedacted: boolean;
}

/** Without a number: the last call that is known to have sent something. */
export function findRequest(runtime: SessionRuntime, turn: TurnId, number: RequestRef["call"]): api.Outcome<PastRequest> {
  const { sql } = runtime.deps;
  if (!readTurn(sql, turn)) return err({ code: "turn_not_found", turn });
  const events = readTurnCalls(sql, turn);
  const sent = events.findLastIndex(({ request_digest }) => request_digest !== null);
  const n = number ?? (sent < 0 ? events.length : sent + 1);
  const call = events[n - 1];
  const then = call ? sql.transaction(() => stateOfCall(sql, call)) : null;
  if (!call || !then) return err({ code: "request_not_found", turn, call: number, calls: events.length });
  const { redacted } = runtime.state;
  const rated = measuredFor(then, toRatedModel(call));
  const state = { ...rated, redacted };
  const content = createContent(sql, () => state);
  return ok({
    turn,
    n,
    calls: events.map(toTurnCall),
    call,
    state,
    content,
    isRedacted: isHiddenSince(then, redacted) || isBurned(then, content),
  });
}

/** As it was asked; of an older build it is not known what the model was sent of images and files. */
const toRatedModel = ({ model: id, ratio, asked }: ModelCallEvent): RatedModel => ({
  id,
  provider: asked?.model.provider ?? "unknown",
  ...(ratio !== undefined && { ratio }),
  ...(asked?.model.capabilities && { capabilities: asked.model.capabilities }),
});

const toTurnCall = ({ seq, model, epoch, outcome, request_digest }: ModelCallEvent, index: number): TurnCall => ({
  n: index + 1,
  seq,
  purpose: "turn",
  model,
  epoch,
  outcome,
  digest: request_digest,
});

/** A summary leaves with what it was made from, and with a redaction what was replaced before it. */
function isBurned({ view, settings, pins }: SessionState, content: ContentReader): boolean {
  const summaries = view.overlays.flatMap(({ kind, id }) => (kind === "summary" ? [id] : []));
  const texts = [settings.system, settings.tools, ...pins].flatMap((text) => (text ? [text.body] : []));
  return [...summaries, ...texts].some((id) => content.readText(id) === null);
}

function isHiddenSince({ view, redacted: before }: SessionState, redacted: SessionState["redacted"]): boolean {
  const since = new Set(redacted.filter((id) => !before.includes(id)));
  return since.size > 0 && view.items.some(({ id }) => since.has(id));
}
