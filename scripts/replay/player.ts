/** Plays planned steps through the API as a client would, one turn after the other. */
import { z } from "zod";
import type { Reply, Step } from "../lab/engine/steps";
import { type Connection, callApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";
import { runTurn, type TurnEnd } from "../support/turns.ts";

export interface Player {
  readonly connection: Connection;
  readonly session: string;
  /** Tells the provider its next reply. */
  readonly prompt: (reply: Reply) => void;
}

/** The provider's reply to results that end a recording: a complete answer without a message. */
const SILENCE: Reply = { text: "", calls: [] };

/** The number of started turns: one for each message that asks. Throws a `Failure` when a turn ends otherwise than recorded. */
export async function playStep(player: Player, step: Step): Promise<void> {
  const { connection, session } = player;
  if (step.type === "append") {
    await callApi(connection, { method: "POST", path: `/v1/sessions/${session}/messages`, body: toImport(step) });
    return;
  }
  const reply = step.reply ?? SILENCE;
  player.prompt(reply);
  const end = await runTurn(connection, { method: "POST", ...(step.type === "ask" ? toMessage(session, step) : toResults(session, step)) });
  const wanted: TurnEnd["type"] = reply.calls.length > 0 ? "turn.awaiting_tools" : "turn.completed";
  if (end?.type !== wanted) throw new Failure(`The turn was to end with ${wanted}, not ${JSON.stringify(end)} (session ${session})`);
}

function toImport(step: Extract<Step, { type: "append" }>): object {
  const { role, content } = step;
  if (role === "tool") return { role, content, call_id: step.call_id, run: false };
  if (role === "user" || step.calls.length === 0) return { role, content, run: false };
  const tool_calls = step.calls.map(({ id, ...call }) => ({ call_id: id, ...call }));
  return { role, content, tool_calls, run: false };
}

const toMessage = (session: string, { content }: Extract<Step, { type: "ask" }>) => ({
  path: `/v1/sessions/${session}/messages`,
  body: { content },
});

const toResults = (session: string, { outputs }: Extract<Step, { type: "answer" }>) => ({
  path: `/v1/sessions/${session}/tool_results`,
  body: { results: outputs },
});

export interface SessionInput {
  readonly model: string;
  readonly system: string | null;
  readonly tools: readonly object[];
}

export async function openSession(connection: Connection, { model, system, tools }: SessionInput): Promise<string> {
  const body = { model, ...(system === null ? {} : { system }), ...(tools.length > 0 ? { tools } : {}) };
  const opened = await callApi(connection, { method: "POST", path: "/v1/sessions", body });
  return z.object({ id: z.string() }).parse(opened).id;
}
