/**
 * A client that sends messages without pause. After any error it sends the same message again with the same
 * Idempotency-Key, until its turn has ended.
 */
import type { Connection } from "../support/api-client.ts";
import { runTurn } from "../support/turns.ts";
import { untilDone } from "./repeat.ts";

export interface TalkingClient {
  readonly name: string;
  readonly connection: Connection;
  readonly session: string;
  /** When true, the client sends no further message. */
  readonly isOver: () => boolean;
}

export interface ClientRecord {
  readonly name: string;
  readonly session: string;
  /** Texts in the order in which they were first sent. */
  readonly sent: readonly string[];
  /** Texts for which `message.accepted` was read. */
  readonly acknowledged: ReadonlySet<string>;
  /** The number of requests that failed and were repeated. */
  readonly resent: number;
}

export async function talk({ name, connection, session, isOver }: TalkingClient): Promise<ClientRecord> {
  const sent: string[] = [];
  const acknowledged = new Set<string>();
  let resent = 0;
  while (!isOver()) {
    const number = sent.length + 1;
    const text = `${name} says ${number}`;
    sent.push(text);
    const call = {
      method: "POST",
      path: `/v1/sessions/${session}/messages`,
      body: { content: text },
      idempotencyKey: `${name}-${number}`,
    } as const;
    await untilDone(
      () => runTurn(connection, call, { onAccepted: () => acknowledged.add(text) }),
      () => {
        resent += 1;
      },
    );
  }
  return { name, session, sent, acknowledged, resent };
}
