/**
 * A client that talks without pause and never gives a message up: on any error it sends the same message again with
 * the same Idempotency-Key, until its turn has ended.
 */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type Connection } from "../support/api-client.ts";
import { runTurn } from "../support/turns.ts";

export interface TalkingClient {
  readonly name: string;
  readonly connection: Connection;
  readonly session: string;
  /** No further message once this is true. */
  readonly isOver: () => boolean;
}

export interface ClientRecord {
  readonly name: string;
  readonly session: string;
  /** Texts in the order in which they were first sent. */
  readonly sent: readonly string[];
  /** Texts whose `message.accepted` was read. */
  readonly acknowledged: ReadonlySet<string>;
  /** Requests that failed and were sent again. */
  readonly resent: number;
}

/** Between attempts, in milliseconds: the server is being killed and started meanwhile. */
const PAUSE = 50;

export async function talk({ name, connection, session, isOver }: TalkingClient): Promise<ClientRecord> {
  const sent: string[] = [];
  const acknowledged = new Set<string>();
  let resent = 0;
  while (!isOver()) {
    const number = sent.length + 1;
    const text = `${name} says ${number}`;
    sent.push(text);
    const message = { connection, session, text, key: `${name}-${number}`, onAccepted: () => acknowledged.add(text) };
    while (!(await attempt(message))) {
      resent += 1;
      await delay(PAUSE);
    }
  }
  return { name, session, sent, acknowledged, resent };
}

interface Attempt {
  readonly connection: Connection;
  readonly session: string;
  readonly text: string;
  readonly key: string;
  readonly onAccepted: () => void;
}

/** Whether the turn has ended, however it did. Throws when the server refuses: that is no crash but a bug. */
async function attempt({ connection, session, text, key, onAccepted }: Attempt): Promise<boolean> {
  const call = { method: "POST", path: `/v1/sessions/${session}/messages`, body: { content: text }, idempotencyKey: key } as const;
  try {
    return (await runTurn(connection, call, { onAccepted })) !== null;
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 409) throw error;
    if (error instanceof ApiError || isNetworkError(error)) return false;
    throw error;
  }
}

/** `fetch` throws a TypeError when it cannot connect, or when the connection breaks in the middle of a body. */
const isNetworkError = (error: unknown): boolean => error instanceof TypeError || (error instanceof Error && "code" in error);
