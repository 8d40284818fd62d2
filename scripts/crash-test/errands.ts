/**
 * Clients that erase, redact, fork and rebuild without pause while the server is killed. Each repeats a request until it is answered, so
 * that at the end every erasure and redaction is acknowledged, and nothing of their markers may be anywhere.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { ReadItem } from "../replay/read-back.ts";
import { ApiError, type Connection, callApi, streamApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";
import { compareStep, type Target } from "../support/read-model.ts";
import { type Accepted, accepted, runTurn } from "../support/turns.ts";
import { untilDone } from "./repeat.ts";

/** Every marker ends in this, and begins in letters of its own: an index that shares the beginnings of words still holds it whole. */
export const MARK = "zqmark";

export interface Errands {
  readonly connection: Connection;
  readonly model: string;
  /** A word that no other text of the run has; it ends in `MARK`. */
  readonly newMarker: () => string;
  /** No further errand once this is true. */
  readonly isOver: () => boolean;
  /** A request was cut off, and is sent again. */
  readonly onCut: () => void;
}

export interface ErasedRecord {
  readonly session: string;
  readonly marker: string;
  /** The Idempotency-Key that the session was made with. */
  readonly key: string;
}

export interface RedactedRecord {
  readonly session: string;
  readonly message: string;
  readonly marker: string;
}

export interface ForkRecord {
  readonly fork: string;
  /** The last position that it shares. */
  readonly at: number;
}

const session = z.object({ id: z.string() });
const receipt = z.object({ stores: z.array(z.object({ status: z.string() })) });

/** A session that is made with `key`; the same one whenever the same key is sent. */
export async function createWithKey({ connection, model }: Errands, key: string, marker: string): Promise<string> {
  const body = { model, title: `title ${marker}`, system: `system ${marker}` };
  return session.parse(await callApi(connection, { method: "POST", path: "/v1/sessions", body, idempotencyKey: key })).id;
}

/** Makes a session, says something in it, and erases it while the turn is under way. */
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

/** Null: a store has not reported yet. */
async function erase(connection: Connection, id: string): Promise<true | null> {
  try {
    const { stores } = receipt.parse(await callApi(connection, { method: "DELETE", path: `/v1/sessions/${id}` }));
    return stores.every(({ status }) => status === "erased") || null;
  } catch (error) {
    // An erasure whose answer was lost may have ended: what is left of it is looked for at the end.
    if (error instanceof ApiError && error.status === 404) return true;
    throw error;
  }
}

/** Says a word, has it looked up, and takes it out again. */
export async function redactMessages(errands: Errands, id: string): Promise<readonly RedactedRecord[]> {
  const { connection, isOver, onCut } = errands;
  const records: RedactedRecord[] = [];
  while (!isOver()) {
    const marker = errands.newMarker();
    const call = toMessage(id, `redacted-${records.length + 1}`, `remember ${marker}`);
    const { message_id: message } = await untilDone(() => acceptanceOfTurn(connection, call), onCut);
    // By POST: the platform keeps a log of URLs, and the marker would stay there.
    const lookUp = { method: "POST", path: `/v1/sessions/${id}/recall`, body: { q: marker } } as const;
    await untilDone(async () => [await callApi(connection, lookUp)], onCut);
    const path = `/v1/sessions/${id}/messages/${message}/redact`;
    await untilDone(async () => [await callApi(connection, { method: "POST", path, body: {} })], onCut);
    records.push({ session: id, message, marker });
  }
  return records;
}

/** Between two copies, in milliseconds: each writes megabytes. */
const COPY_PAUSE = 250;

/** Copies a session again and again, each time up to another of its messages. */
export async function forkSession(errands: Errands, source: string, items: readonly ReadItem[]): Promise<readonly ForkRecord[]> {
  const { connection, isOver, onCut } = errands;
  const records: ForkRecord[] = [];
  while (!isOver()) {
    const number = records.length;
    // From the last one backwards: the first copies are the longest.
    const at = items.at(-1 - (number % items.length))?.position ?? 0;
    const call = { method: "POST", path: `/v1/sessions/${source}/fork`, body: { at }, idempotencyKey: `fork-${number + 1}` } as const;
    const { id } = await untilDone(async () => session.parse(await callApi(connection, call)), onCut);
    records.push({ fork: id, at });
    await delay(COPY_PAUSE);
  }
  return records;
}

/** Compares these sessions' rows with their logs, step by step, and mends them; returns how many comparisons came to their end. */
export async function rebuildRows(errands: Errands, target: Target, sessions: readonly string[]): Promise<number> {
  let ended = 0;
  while (!errands.isOver()) {
    const id = sessions[ended % sessions.length];
    if (id === undefined) throw new Failure("There is no session to rebuild.");
    // Goes on with the cursor of the last step that was answered, as the rebuild's own client would.
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

/** As soon as the message is taken in: its turn goes on. */
async function firstAcceptance(connection: Connection, call: MessageCall): Promise<Accepted | null> {
  for await (const { event, data } of streamApi(connection, call))
    if (event === "message.accepted") return accepted.parse(JSON.parse(data));
  return null;
}

/** When its turn has ended. */
async function acceptanceOfTurn(connection: Connection, call: MessageCall): Promise<Accepted | null> {
  let acceptance: Accepted | null = null;
  const onAccepted = (each: Accepted): void => {
    acceptance = each;
  };
  return (await runTurn(connection, call, { onAccepted })) === null ? null : acceptance;
}
