/** Imports a recorded conversation: many messages in one transaction, all or none. */
import type * as api from "../../app/session-api";
import type { MessageList, WrittenMessage } from "../../app/written-message";
import type { ImportedMessages } from "../../contract/item";
import type { StoredEvent } from "../../domain/events";
import { findOpenCall, type ImportedMessage, itemsOfMessage, openAfter } from "../../domain/open-calls";
import type { OpenCall } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import type { Step } from "../log/store";
import type { Session } from "../session";
import { buildMessage } from "./build-message";
import { findTaken } from "./message-calls";
import { transactOnce } from "./once";

export function importMessages(
  session: Session,
  { messages, idempotency }: Parameters<api.SessionApi["importMessages"]>[1],
): api.Outcome<api.Once<ImportedMessages>> {
  const cursor = session.buffer.offset;
  return transactOnce<ImportedMessages>(session, idempotency, (step) => {
    const taken = findTakenAmong(session, messages, "items");
    if (taken) return err(taken);
    const appended = appendMessages(session, step, { messages, list: "items" });
    return appended.ok ? ok({ data: appended.value, cursor }) : appended;
  });
}

/** The first message whose id another message has: an earlier one of the request, or one of the session. */
export function findTakenAmong(session: Session, messages: readonly WrittenMessage[], list: MessageList): api.SessionError | null {
  const seen = new Map<string, number>();
  for (const [index, { about }] of messages.entries()) {
    const clientId = about?.client_id;
    if (typeof clientId !== "string") continue;
    const before = seen.get(clientId);
    if (before !== undefined) return { code: "invalid", field: `${list}.${index}.client_id`, detail: `used by ${list}.${before}` };
    seen.set(clientId, index);
    const message = findTaken(session, [clientId]);
    if (message) return { code: "client_id_taken", message, index, ...(list !== "items" && { list }) };
  }
  return null;
}

interface Written {
  readonly messages: readonly WrittenMessage[];
  readonly list: MessageList;
}

/** Appends messages as one step of a transaction. The content is not learned into memory: the next call seldom reads it. */
export function appendMessages(session: Session, step: Step, written: Written): api.Outcome<ImportedMessages["data"]> {
  const built = buildAll(session, step.state.imported_calls, written);
  if (!built.ok) return built;
  const { bodies, imported } = built.value;
  const command = { type: "ImportMessages", at: session.deps.clock(), messages: imported, messageLimit: session.limits.messages } as const;
  const done = step.execute(command, bodies);
  return done.ok ? ok(listImported(imported, done.value)) : err(done.error);
}

interface Built {
  readonly imported: readonly ImportedMessage[];
  readonly bodies: readonly NewBody[];
}

/** Builds the messages in order, because a result may answer a call of an earlier one. */
function buildAll(session: Session, openBefore: readonly OpenCall[], { messages, list }: Written): api.Outcome<Built> {
  const at = { turn: null, at: session.deps.clock() };
  const imported: ImportedMessage[] = [];
  const bodies: NewBody[] = [];
  let open = openBefore;
  for (const [index, input] of messages.entries()) {
    const call = input.role === "tool" ? findOpenCall(open, { execution: null, call_id: input.call_id }) : null;
    if (input.role === "tool" && !call)
      return err({ code: "invalid", field: `${list}.${index}.call_id`, detail: "no call with this id is open" });
    const [first, ...rest] = buildMessage(session, input, { ...at, open });
    const answers = input.role === "tool" ? { call_id: input.call_id, is_error: input.is_error } : null;
    const message = { item: first.draft, rest: rest.map(({ draft }) => draft), ...(answers && { answers }) };
    open = openAfter(open, itemsOfMessage(call ? { ...message, item: { ...message.item, tool: call } } : message));
    imported.push(message);
    for (const { body } of [first, ...rest]) bodies.push(body);
  }
  return ok({ imported, bodies });
}

function listImported(messages: readonly ImportedMessage[], events: readonly StoredEvent[]): ImportedMessages["data"] {
  const items = events.flatMap((event) => (event.type === "MessagesAppended" ? event.items : []));
  const positions = new Map(items.map(({ id, position }) => [id, position]));
  return messages.flatMap(({ item: { id, client_id = null } }) => {
    const position = positions.get(id);
    return position === undefined ? [] : [{ id, position, client_id }];
  });
}
