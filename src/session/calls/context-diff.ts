/** Compares two requests of the session: of turns that have run, or the next one. */

import type { RequestRef } from "../../app/past-api";
import type * as api from "../../app/session-api";
import { predictRoom } from "../../app/turn/make-room";
import { type SizedModel, Sizing } from "../../context/sizing";
import { buildView } from "../../context/view";
import { diffViews, MAX_LISTED, requestTokens, type ShownRequest } from "../../context/view-diff";
import type { ContextDiff, DiffSide, EpochStep } from "../../contract/context";
import type { SessionState } from "../../domain/state";
import { askedModel } from "../../domain/turn-choices";
import { ok } from "../../lib/result";
import type { ContentReader } from "../content";
import { readEpochChanges } from "../log/event-log";
import type { Session } from "../session";
import { rehearse } from "./context-call";
import { findRequest } from "./past-request";
import { resolveKnown } from "./read-calls";

type Side = ShownRequest & Pick<DiffSide, "turn_id" | "call">;

export async function diffContexts(
  session: Session,
  refs: { readonly from: RequestRef; readonly to: RequestRef },
): Promise<api.Outcome<ContextDiff>> {
  const first = await readSide(session, refs.from);
  if (!first.ok) return first;
  const second = await readSide(session, refs.to);
  if (!second.ok) return second;
  const [from, to] = [first.value, second.value];
  const [earlier = 0, later = 0] = [from.state.seq, to.state.seq].sort((a, b) => a - b);
  const changes = readEpochChanges(session.deps.sql, { after: earlier, to: later });
  const epochs = changes.map(
    ({ seq, at, epoch, trigger, compaction }): EpochStep => ({ seq, at, epoch, trigger, compaction_id: compaction }),
  );
  const { ratio } = new Sizing(to.state, to.model);
  const show = (side: Side): DiffSide => ({
    turn_id: side.turn_id,
    call: side.call,
    seq: side.state.seq,
    model: side.model.id,
    epoch: side.state.view.epoch,
    tokens: requestTokens(side, (raw) => Math.ceil(raw * ratio)),
  });
  return ok({ from: show(from), to: show(to), epochs: epochs.slice(-MAX_LISTED), ...diffViews(from, to, changes) });
}

async function readSide(session: Session, { turn, call }: RequestRef): Promise<api.Outcome<Side>> {
  if (turn === null) return readNext(session);
  const found = findRequest(session, turn, call);
  if (!found.ok) return found;
  const { n, ...past } = found.value;
  return ok({ turn_id: turn, call: n, ...toShown(past) });
}

/** The next request as `GET …/context` shows it: made to fit first, by the steps that need no model. */
async function readNext(session: Session): Promise<api.Outcome<Side>> {
  const found = await resolveKnown(session, askedModel(session.state));
  if (!found.ok) return found;
  const spec = found.value;
  const { writer, content } = rehearse(session, null);
  predictRoom(spec, { ...session.deps, writer, content });
  return ok({ turn_id: null, call: null, ...toShown({ state: writer.state, content, model: spec }) });
}

interface Read {
  readonly state: SessionState;
  readonly content: ContentReader;
  readonly model: SizedModel;
}

function toShown({ state, content, model }: Read): ShownRequest {
  const view = content.readView();
  const tools = JSON.stringify(content.readTools());
  return { state, model, built: buildView({ ...view, model: model.id }), tools, system: view.system, pins: view.pins };
}
