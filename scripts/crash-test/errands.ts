/**
 * Clients that erase, redact, fork and rebuild without pause while the server is killed. Each repeats a request until
 * it is answered. So at the end every erasure and redaction is acknowledged, and their markers must not exist anywhere.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { ReadMessage } from "../replay/read-back.ts";
import { ApiError, type Connection, callApi, streamApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";
import { compareStep, type Target } from "../support/read-model.ts";
import { type Accepted, accepted, runTurn } from "../support/turns.ts";
import { untilDone } from "./repeat.ts";

/**
 * The ending of every marker. Each marker begins with letters of its own, so that an index that shares the beginnings
 * of words still contains the whole marker.
 */
export const MARK = "zqmark";

export interface Errands {
  readonly connection: Connection;
  readonly model: string;
  /** A word that occurs in no other text of the run. It ends with `MARK`. */
  readonly newMarker: () => string;
  /** When true, no further errand begins. */
  readonly isOver: () => boolean;
  /** Called when a request was cut off and is repeated. */
  readonly onCut: () => void;
}

export interface ErasedRecord {
  readonly session: string;
  readonly marker: string;
  /** The Idempotency-Key with which the session was created. */
  readonly key: string;
}

export interface RedactedRecord {
  readonly session: string;
  readonly message: string;
  readonly marker: string;
}

export interface ForkRecord {
  readonly fork: string;
  /** The last position that the fork shares. */
  readonly at: number;
}

const session = z.object({ id: z.string() });
const receipt = z.object({ stores: z.array(z.object({ status: z.string() })) });

/** Creates a session with `key`. The same key always returns the same session. */
export async function createWithKey({ connection, model }: Errands, key: string, marker: string): Promise<string> {
  const body = { model, title: `title ${marker}`, system: `system ${marker}` };
  return session.parse(await callApi(connection, { method: "POST", path: "/v1/sessions", body, idempotencyKey: key })).id;
}

/** Creates a session, sends a message, and erases the session while the turn is running. */
export async function eraseSessions(errands: Errands): Promise<readonly ErasedRecord[]> {
  const { connection, isOver, onCut } = errands;
  const records: ErasedRecord[] = [];
  while (!isOver()) {
    const key = `erased-${records.length + 1}`;
    const marker = errands.newMarker();
    const id = await untilDone(() => createWithKey(errands, key, marker), onCut);
    const controller = new AbortController();
    const call = { ...toMessage(id, `${key}-message`, `message ${marker}`), signal: controller.signal };
    await untilDone(() => firstAcceptance(connection, call), onCut);
    controller.abort();
    await untilDone(() => erase(connection, id), onCut);
    records.push({ session: id, marker, key });
  }
  return records;
}

/** Null when a store has not reported yet. */
async function erase(connection: Connection, id: string): Promise<true | null> {
  try {
    const { stores } = receipt.parse(await callApi(connection, { method: "DELETE", path: `/v1/sessions/${id}` }));
    return stores.every(({ status }) => status === "erased") || null;
  } catch (error) {
    // An erasure whose response was lost may have been completed. The final check looks for its remains.
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  }
}

/** Sends a marker, looks it up, and redacts it. */
export async function redactMessages(errands: Errands, id: string): Promise<readonly RedactedRecord[]> {
  const { connection, isOver, onCut } = errands;
  const records: RedactedRecord[] = [];
  while (!isOver()) {
    const marker = errands.newMarker();
    const call = toMessage(id, `redacted-${records.length + 1}`, `remember ${marker}`);
    const { message_id: message } = await untilDone(() => acceptanceOfTurn(connection, call), onCut);
    // Uses POST, because the platform keeps a log of URLs, which would contain the marker.
    const lookUp = { method: "POST", path: `/v1/sessions/${id}/recall`, body: { q: marker } } as const;
    await untilDone(async () => [await callApi(connection, lookUp)], onCut);
    const path = `/v1/sessions/${id}/messages/${message}/redact`;
    await untilDone(async () => [await callApi(connection, { method: "POST", path, body: {} })], onCut);
    records.push({ session: id, message, marker });
  }
  return records;
}

/** Milliseconds between two copies. Each copy writes megabytes. */
const COPY_PAUSE = 250;

/** Forks a session repeatedly, each time at another of its messages. */
export async function forkSession(errands: Errands, source: string, messages: readonly ReadMessage[]): Promise<readonly ForkRecord[]> {
  const { connection, isOver, onCut } = errands;
  const records: ForkRecord[] = [];
  while (!isOver()) {
    const number = records.length;
    // Begins with the last message, because the first copies should be the longest.
    const at = messages.at(-1 - (number % messages.length))?.position ?? 0;
    const call = { method: "POST", path: `/v1/sessions/${source}/fork`, body: { at }, idempotencyKey: `fork-${number + 1}` } as const;
    const { id } = await untilDone(async () => session.parse(await callApi(connection, call)), onCut);
    records.push({ fork: id, at });
    await delay(COPY_PAUSE);
  }
  return records;
}

/** Compares the sessions' rows with their logs, step by step, and repairs differences. Returns the number of completed comparisons. */
export async function rebuildRows(errands: Errands, target: Target, sessions: readonly string[]): Promise<number> {
  let ended = 0;
  while (!errands.isOver()) {
    const id = sessions[ended % sessions.length];
    if (id === undefined) throw new Failure("There is no session to rebuild.");
    // Continues with the cursor of the last answered step, as the rebuild command does.
    for (let cursor: string | null = ""; cursor !== null; ) {
      const from: string = cursor;
      cursor = (await untilDone(() => compareStep(target, id, from), errands.onCut)).next_cursor;
    }
    ended += 1;
  }
  return ended;
}

const toMessage = (id: string, key: string, content: string) =>
  ({ method: "POST", path: `/v1/sessions/${id}/messages`, body: { content }, idempotencyKey: key }) as const;

type MessageCall = ReturnType<typeof toMessage> & { readonly signal?: AbortSignal };

/** Resolves when the message is accepted. Its turn continues. */
async function firstAcceptance(connection: Connection, call: MessageCall): Promise<Accepted | null> {
  for await (const { event, data } of streamApi(connection, call))
    if (event === "message.accepted") return accepted.parse(JSON.parse(data));
  return null;
}

/** Resolves when the message's turn has ended. */
async function acceptanceOfTurn(connection: Connection, call: MessageCall): Promise<Accepted | null> {
  let acceptance: Accepted | null = null;
  const onAccepted = (each: Accepted): void => {
    acceptance = each;
  };
  return (await runTurn(connection, call, { onAccepted })) === null ? null : acceptance;
}
