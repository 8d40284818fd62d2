/** Tools that run turns, wait for them, and stop them. */
import { z } from "zod";
import type { SubmitInput } from "../../app/session-api";
import { id } from "../../contract/ids";
import { err, ok } from "../../lib/result";
import { findBeyondToken } from "../access-limits";
import { BODY_LIMIT } from "../body";
import { idempotencyHeaders } from "../idempotency";
import { modelName } from "../schemas/model";
import { sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { waitWithin } from "./await-turn";
import { toTurnState, turnState } from "./shapes";
import { defineTool, readToolKey } from "./tool";

/** Below the 60 seconds after which MCP's clients give a call up. */
const USUAL_WAIT = 50;
const MAX_WAIT = 600;

const wait = z.int().min(0).max(MAX_WAIT);

const sendMessage = defineTool({
  name: "send_message",
  title: "Send a message",
  description:
    "Says something in a conversation, and waits for its model's answer. The message is recorded at once, and the turn goes on even if the wait ends before it: then get_turn reads the answer. While another turn runs, the message waits in a queue. While a turn waits for tool results, the message ends that waiting.",
  scope: "sessions:write",
  opensTo: "session",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  isLong: true,
  input: z.strictObject({
    session_id: id("ses"),
    text: z
      .string()
      .max(BODY_LIMIT)
      .refine((text) => text.trim() !== "", "must not be empty")
      .describe("What the user says"),
    model: modelName.optional().describe("For this turn only, in place of the conversation's model"),
    idempotency_key: idempotencyHeaders.shape["Idempotency-Key"].describe(
      "1 to 255 visible ASCII characters. The same call with the same key within 24 hours says nothing a second time",
    ),
    wait_seconds: wait.default(USUAL_WAIT).describe("The longest wait for the answer. 0: do not wait"),
  }),
  output: turnState.extend({ message_id: z.string(), replayed: z.boolean().describe("The idempotency_key was used before") }),
  async run({ session_id, wait_seconds: seconds, idempotency_key: key, ...said }, { c, deps, progress }) {
    const chosen = { model: said.model };
    const beyond = findBeyondToken(c, chosen);
    if (beyond) return err(beyond);
    const idempotency = await readToolKey("send_message", key, { session_id, ...said });
    const calls = sessionClient(deps, c, session_id);
    const input = toSubmit(said, idempotency);
    const accepted = await (idempotency ? calls.repeatable : calls.once)((api, caller) => api.submit(caller, input));
    if (!accepted.ok) return err(ofNamedModel(accepted.error, said));
    const { message_id, turn_id: turn, cursor, replayed } = accepted.value;
    if (turn === null) throw new TypeError("a user's message that runs has a turn");
    const state = await waitWithin({ c, deps, calls, session: session_id, turn, seconds, after: cursor, progress });
    return state.ok ? ok({ ...state.value, message_id, replayed }) : state;
  },
});

function toSubmit({ text, model }: { text: string; model?: string | undefined }, idempotency: SubmitInput["idempotency"]): SubmitInput {
  const parts = [{ type: "text", text }] as const;
  return { role: "user", parts, run: true, onBusy: "queue", tools: null, idempotency, ...(model !== undefined && { model }) };
}

const getTurn = defineTool({
  name: "get_turn",
  title: "Read a turn, or wait for it",
  description:
    "Shows how a turn stands: its answer, why it failed, or what it waits for. With wait_seconds it waits for the turn's end first.",
  scope: "sessions:read",
  opensTo: "session",
  annotations: { readOnlyHint: true },
  isLong: true,
  input: z.strictObject({
    session_id: id("ses"),
    turn_id: id("trn"),
    wait_seconds: wait.default(0).describe("The longest wait for the end of the turn"),
  }),
  output: turnState,
  async run({ session_id, turn_id: turn, wait_seconds: seconds }, { c, deps, progress }) {
    const calls = sessionClient(deps, c, session_id);
    const found = await calls.repeatable((api, caller) => api.turn(caller, turn));
    if (!found.ok) return found;
    const isOpen = found.value.ended_at === null && found.value.status !== "awaiting_tools";
    if (seconds === 0 || !isOpen) return ok(toTurnState(session_id, found.value));
    return await waitWithin({ c, deps, calls, session: session_id, turn, seconds, after: null, progress });
  },
});

const stopTurn = defineTool({
  name: "stop_turn",
  title: "Stop a turn",
  description:
    "Ends the turn that is under way and keeps the text that it has so far. With turn_id only that turn, also while its message waits in the queue; if it is over already, nothing is stopped, and the answer says how it ended.",
  scope: "sessions:write",
  opensTo: "session",
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    session_id: id("ses"),
    turn_id: id("trn").optional().describe("From send_message. Without it the turn that is open when the call comes is stopped"),
  }),
  output: turnState,
  async run({ session_id, turn_id: turn }, { c, deps }) {
    const input = { idempotency: null, ...(turn && { turn }) };
    const calls = sessionClient(deps, c, session_id);
    const stopped = await (turn ? calls.repeatable : calls.once)((api, caller) => api.stop(caller, input));
    return stopped.ok ? ok(toTurnState(session_id, stopped.value.turn)) : stopped;
  },
});

export const TURN_TOOLS = [sendMessage, getTurn, stopTurn];
