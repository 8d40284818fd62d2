/** Deletes a response: the content of its turn is redacted, and its note with it, so that it is found no more. */
import type { DisplayItem } from "../../../contract/item";
import type { ItemId } from "../../../domain/ids";
import { ok, type Result } from "../../../lib/result";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import type { NamedLeg } from "../../surface/ids";
import type { ResponseAsked } from "./asked";
import { readInputMessages } from "./input-items";

/** A report may begin within a reply, whose calls then have to be named one by one. */
const listIds = (messages: readonly DisplayItem[]): ItemId[] =>
  messages.flatMap(({ id, tool_calls = [] }) => [id, ...tool_calls.map((call) => call.id)]);

/** What was asked is an item of the conversation, if the client named one. Otherwise it goes with the response. */
export async function deleteTurn(calls: SessionCalls, { turn: id }: NamedLeg, asked: ResponseAsked): Promise<Result<null, HttpError>> {
  const turn = await calls.repeatable((api, caller) => api.turn(caller, id));
  if (!turn.ok) return turn;
  const said = listIds(turn.value.items);
  const input = asked.conversation === null || said.length === 0 ? await readInputMessages(calls, id) : ok([]);
  if (!input.ok) return input;
  for (const message of [...said, ...listIds(input.value)]) {
    const redacted = await calls.repeatable((api, caller) => api.redact(caller, message));
    if (!redacted.ok && redacted.error.code !== "message_not_found") return redacted;
  }
  return ok(null);
}
