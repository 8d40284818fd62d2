/** Shows exactly what the next request holds. The code that sends requests builds it, on a copy of the session. */

import { buildItem } from "../../app/request/build-items";
import { buildFittedRequest } from "../../app/request/build-request";
import { askedLength } from "../../app/request/reply-caps";
import { readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import type { SessionWriter } from "../../app/session-ports";
import { shownAddress } from "../../app/shown-address";
import { predictRoom } from "../../app/turn/make-room";
import { MAX_REQUEST_BYTES, withQuirks } from "../../context/model-quirks";
import type { ContextReport } from "../../contract/context";
import { decide } from "../../domain/decide";
import type { Event } from "../../domain/events";
import { evolve } from "../../domain/evolve";
import type { Part } from "../../domain/message";
import { readsPlainly } from "../../domain/state";
import { askedModel } from "../../domain/turn-choices";
import { err, ok } from "../../lib/result";
import { type ContentReader, createContent } from "../content";
import type { Session } from "../session";
import { weighContext } from "./context-weights";
import { resolveKnown } from "./read-calls";

/** The longest request body that is shown, in characters. A longer one is never sent. */
export const MAX_SHOWN_CHARS = MAX_REQUEST_BYTES;

/**
 * Reports the next request. Where `content` cannot fit there is none, and the answer is the refusal that sending it
 * would get. A request that is too large to show is refused too: a part of it would not be what is sent.
 */
export async function showContext(session: Session, content: readonly Part[] | null): Promise<api.Outcome<ContextReport>> {
  const { budgets, replyCaps, lessons } = session.ports();
  await budgets.learn();
  const { settings } = session.state;
  // A message that is only tried out names no model; an open turn may have.
  const found = await resolveKnown(session, content ? settings.model : askedModel(session.state));
  if (!found.ok) return found;
  // Nothing is awaited from here to the finished request. A refusal may have taught something while the model was looked up.
  const spec = withQuirks(found.value, lessons.find(found.value.id));
  const { epoch } = session.state.view;
  const dry = rehearse(session, content);
  const { first, fits } = predictRoom(spec, { ...session.deps, ...dry });
  if (!fits.ok && fits.error.fit && content) return err({ code: "cannot_fit", fit: fits.error.fit });
  const { state } = dry.writer;
  const weights = weighContext(state, spec);
  const cap = replyCaps.get(spec.id) ?? (budgets.applies("turn") ? spec.max_output : null);
  const most = dry.content.readGeneration().max_output_tokens;
  const asking = { maxOutput: askedLength(cap, { spec, state, most }), reservation: null, plain: readsPlainly(state, spec.id) };
  const request = await session.deps.model.render(buildFittedRequest(dry.content, spec, asking).request);
  const characters = request.body.length;
  if (characters > MAX_SHOWN_CHARS) return err({ code: "context_too_large", characters, limit: MAX_SHOWN_CHARS });
  return ok({
    model: spec.id,
    policy: readSessionPolicy(state.settings, session.content),
    epoch,
    ...weights,
    compaction_first: first && { trigger: first.trigger, expected: first.expected },
    request: { ...request, url: shownAddress(request.url, spec) },
  });
}

/** The session as it would be if a message with these parts started a turn. Nothing that is done to the copy is stored. */
export function rehearse(session: Session, parts: readonly Part[] | null): { writer: SessionWriter; content: ContentReader } {
  let { state } = session;
  const { sql, ids, clock, incarnation } = session.deps;
  const append = (event: Event): void => {
    state = evolve(state, { ...event, seq: state.seq + 1, at: clock() });
  };
  const writer: SessionWriter = {
    get state() {
      return state;
    },
    execute(command, bodies = []) {
      const decision = decide(command, state);
      if (!decision.ok) return decision;
      content.learn(bodies);
      for (const event of decision.value) append(event);
      return ok([]);
    },
  };
  const content = createContent(sql, () => state);
  if (parts) {
    const turn = ids.newId("trn");
    const { draft, body } = buildItem({ kind: "user", parts, turn, at: clock() }, ids);
    const item = { ...draft, position: state.next_position };
    append({ type: "TurnStarted", turn, incarnation, attempt: 1, item, tools: null, retry_of: null });
    content.learn([body]);
  }
  return { writer, content };
}
