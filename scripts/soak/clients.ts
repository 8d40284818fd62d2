/** Clients with different habits. Each repeats a message until it is acknowledged. */
import { randomUUID } from "node:crypto";
import type { ClientRecord } from "../crash-test/client.ts";
import { openSession } from "../replay/player.ts";
import { ApiError, type Connection, callApi } from "../support/api-client.ts";
import type { Random } from "../support/random.ts";
import type { TurnEnd } from "../support/turns.ts";
import { type Notes, pursueCall, pursueTurn } from "./attempt.ts";
import { USE } from "./faulty-provider.ts";

/**
 * `short`: a new session every few messages. `long`: one session for the whole run. `tools`: with tool calls. `leaver`:
 * disconnects. `stopper`: stops and retries turns.
 */
export const MANNERS = ["short", "long", "tools", "importer", "leaver", "stopper"] as const;
export type Manner = (typeof MANNERS)[number];

export interface Cast {
  readonly name: string;
  readonly manner: Manner;
  readonly connection: Connection;
  readonly model: string;
  readonly random: Random;
  readonly notes: Notes;
  readonly isOver: () => boolean;
}

/** Like `ClientRecord`, updated while the client runs. */
export interface Told extends ClientRecord {
  readonly connection: Connection;
  readonly sent: string[];
  readonly acknowledged: Set<string>;
}

const MESSAGES_OF_A_SHORT_CHAT = 6;
const IMPORTED_AT_ONCE = 5;
const FILLER = { least: 10, most: 60 };
const LEAVES_WITHIN = 400;

export const CLIENT_TOOL = { name: "look", description: "Looks", parameters: { type: "object", properties: {} } };
export const SERVER_TOOL = "fetch_weather";

const TOOLS: Readonly<Partial<Record<Manner, readonly object[]>>> = {
  tools: [
    { type: "client", ...CLIENT_TOOL },
    { type: "http", name: SERVER_TOOL },
  ],
};

/** Adds the client's actions to `told`, session by session, until the run is over and its last turn has ended. */
export async function live(cast: Cast, told: Told[]): Promise<void> {
  const many = cast.manner === "short" ? MESSAGES_OF_A_SHORT_CHAT : Number.POSITIVE_INFINITY;
  while (!cast.isOver()) {
    const record = await begin(cast);
    if (!record) continue;
    told.push(record);
    for (let number = 1; number <= many && !cast.isOver(); number++) await say(cast, record, number);
  }
}

/** Null when the server was not reachable. A session whose creation was not reported is empty and belongs to no client. */
async function begin({ name, manner, connection, model, isOver }: Cast): Promise<Told | null> {
  while (!isOver()) {
    try {
      const session = await openSession(connection, { model, system: null, tools: TOOLS[manner] ?? [] });
      return { name, connection, session, sent: [], acknowledged: new Set(), resent: 0 };
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return null;
}

async function say(cast: Cast, told: Told, number: number): Promise<void> {
  if (cast.manner === "importer" && cast.random.between(1, IMPORTED_AT_ONCE) > 1) return bring(cast, told, number);
  const { random, manner } = cast;
  const text = `${told.name} ${told.session.slice(-6)} says ${number}${toolIn(cast)}. ${filler(random)}`;
  const at = { method: "POST", path: `/v1/sessions/${told.session}/messages`, body: { content: text } } as const;
  told.sent.push(text);
  const left = { times: manner === "leaver" ? 1 : 0 };
  const leaveAfter = (): number | null => (left.times-- > 0 ? random.between(1, LEAVES_WITHIN) : null);
  const onAccepted = (): void => {
    told.acknowledged.add(text);
    if (manner === "stopper" && random.between(1, 2) === 1) void stop(cast, told);
  };
  const end = await pursueTurn({ ...cast, leaveAfter }, { ...at, idempotencyKey: randomUUID() }, { onAccepted });
  await follow(cast, told, end);
}

/** A message of a recorded conversation, appended without a turn. */
async function bring(cast: Cast, told: Told, number: number): Promise<void> {
  const text = `${told.name} ${told.session.slice(-6)} brings ${number}. ${filler(cast.random)}`;
  told.sent.push(text);
  const body = { content: text, run: false };
  const call = { method: "POST", path: `/v1/sessions/${told.session}/messages`, body, idempotencyKey: randomUUID() } as const;
  if (await pursueCall(cast, call)) told.acknowledged.add(text);
}

/** Continues until the turn needs nothing more from the client: results for its calls, or a retry after a failure. */
async function follow(cast: Cast, told: Told, first: TurnEnd | null): Promise<void> {
  const base = `/v1/sessions/${told.session}`;
  let end = first;
  for (let round = 0; end && round < 5; round++) {
    if (end.type === "turn.awaiting_tools") {
      const results = end.tool_calls.map(({ call_id }) => ({ call_id, output: `seen in round ${round}` }));
      end = await tryOnce(cast, { method: "POST", path: `${base}/tool_results`, body: { results } });
    } else if (end.type === "turn.failed" || end.type === "turn.interrupted" || end.type === "turn.stopped") {
      if (cast.random.between(1, 2) === 1) return;
      end = await tryOnce(cast, { method: "POST", path: `${base}/retry` });
    } else return;
  }
}

/** Repeated with its key while the server is down. A refusal is no fault here, because the turn may have continued by itself. */
const tryOnce = (cast: Cast, call: { readonly method: "POST"; readonly path: string; readonly body?: object }): Promise<TurnEnd | null> =>
  pursueTurn({ ...cast, mayBeRefused: true }, { ...call, idempotencyKey: randomUUID() });

async function stop({ connection, random }: Cast, { session }: Told): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, random.between(0, 300)));
  // The turn may have ended, or the server may be down.
  await callApi(connection, { method: "POST", path: `/v1/sessions/${session}/stop` }).catch(() => undefined);
}

function toolIn({ manner, random }: Cast): string {
  if (manner !== "tools" || random.between(1, 3) === 1) return "";
  return `, ${USE} ${random.between(1, 2) === 1 ? CLIENT_TOOL.name : SERVER_TOOL}`;
}

const filler = (random: Random): string =>
  "The road was long and the weather was fair. ".repeat(random.between(FILLER.least, FILLER.most) / 4);
