/** Reads the end of a conversation. A request that holds more than is new is compared with it before it is answered, so it has to be cheap. */
import type { ConversationEnd, EndInput, EndItem } from "../../app/respond-api";
import type * as api from "../../app/session-api";
import type { DisplayItem } from "../../contract/item";
import type { Page } from "../../contract/page";
import type { ItemMeta } from "../../domain/message";
import { askedSystem } from "../../domain/turn-choices";
import { ok } from "../../lib/result";
import type { Session } from "../session";
import { readMessages } from "./message-pages";
import { listOpenCalls } from "./turn-report";

export function readEnd(session: Session, input: EndInput): api.Outcome<ConversationEnd> {
  const { state, buffer } = session;
  const { settings, turn, last_turn, queue, view } = state;
  const { data, has_more } = readNewest(session, input);
  return ok({
    model: settings.model,
    epoch: view.epoch,
    turn: turn && { id: turn.id, phase: turn.phase, open_calls: listOpenCalls(session) },
    last_turn: last_turn?.id ?? null,
    next_turn: queue[0]?.turn ?? null,
    stream_offset: buffer.offset,
    items: data.map(toEndItem).toReversed(),
    is_whole: !has_more,
    ...(input.withSystem && { system: readSystemStart(session) }),
  });
}

/** Enough to tell one role from another. */
const SYSTEM_START = 1_024;

function readSystemStart({ state, content }: Session): string | null {
  const system = askedSystem(state);
  return content.readRefText(system)?.slice(0, SYSTEM_START) ?? null;
}

function readNewest(session: Session, { limit, toQuestion }: EndInput): Page<DisplayItem> {
  if (limit === 0) return { data: [], has_more: true };
  const { branch, next_position } = session.state;
  const line = { elsewhere: branch.elsewhere, last: next_position - 1 };
  return readMessages(session, line, { after: null, limit, order: "desc", ...(toQuestion && { isLast: createQuestionEnd() }) });
}

/** From the newest message back: true of the model's words before a message of a user. */
function createQuestionEnd(): (first: ItemMeta) => boolean {
  let isAsked = false;
  return ({ kind }) => {
    isAsked ||= kind === "user";
    return isAsked && (kind === "assistant" || kind === "tool_call");
  };
}

function toEndItem({ role, content, position, turn_id, call_id, execution_id, tool_calls }: DisplayItem): EndItem {
  return {
    role,
    content,
    position,
    turn_id,
    ...(call_id !== undefined && { call_id }),
    ...(execution_id !== undefined && { execution_id }),
    ...(tool_calls && { tool_calls }),
  };
}
