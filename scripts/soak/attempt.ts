/** Sends one message and runs its turn. A request that breaks off is sent again with its key, until the turn has ended. */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type Call, type Connection, callApi } from "../support/api-client.ts";
import { runTurn, type TurnEnd, type TurnListener } from "../support/turns.ts";
import type { Latencies } from "./figures.ts";

/** Milliseconds between attempts, while the server is killed and restarted. */
const PAUSE = 100;
/** Timeout of a silent stream. It is far above the time that a turn with a hanging provider takes. */
const LONGEST = 6 * 60_000;

export interface Measured {
  readonly ack: Latencies;
  readonly firstToken: Latencies;
}

/** Counters that all clients share. */
export interface Notes extends Measured {
  resent: number;
  /** The number of turns by the way they ended. */
  readonly ends: Record<string, number>;
  /** Refusals that no crash explains. */
  readonly refused: string[];
}

export interface Pursuit {
  readonly connection: Connection;
  readonly notes: Notes;
  /** Aborts an attempt, as when the client leaves. */
  readonly leaveAfter?: () => number | null;
  /** A refusal ends the attempt. It is no fault. */
  readonly mayBeRefused?: boolean;
}

/** Null when the request was refused, which is recorded. */
export async function pursueTurn(by: Pursuit, call: Call, listener: TurnListener = {}): Promise<TurnEnd | null> {
  const { connection, notes, leaveAfter } = by;
  for (;;) {
    const left = leaveAfter?.() ?? LONGEST;
    const end = await attempt(by, () => runTurn(connection, { ...call, signal: AbortSignal.timeout(left) }, timed(listener, notes)));
    if (end === "refused") return null;
    if (end !== "again") {
      notes.ends[end.type] = (notes.ends[end.type] ?? 0) + 1;
      return end;
    }
    notes.resent += 1;
    await delay(PAUSE);
  }
}

/** Runs a call without a turn. Returns false when it was refused. */
export async function pursueCall(by: Pursuit, call: Call): Promise<boolean> {
  const { connection, notes } = by;
  for (;;) {
    const done = await attempt(by, async () => {
      const sentAt = performance.now();
      await callApi(connection, { ...call, signal: AbortSignal.timeout(LONGEST) });
      notes.ack.add(performance.now() - sentAt);
      return true;
    });
    if (done === "refused") return false;
    if (done !== "again") return true;
    notes.resent += 1;
    await delay(PAUSE);
  }
}

function timed(listener: TurnListener, { ack, firstToken }: Measured): TurnListener {
  const sentAt = performance.now();
  let spoke = false;
  return {
    onAccepted: (acknowledgement) => {
      ack.add(performance.now() - sentAt);
      listener.onAccepted?.(acknowledgement);
    },
    onText: () => {
      if (!spoke) firstToken.add(performance.now() - sentAt);
      spoke = true;
    },
  };
}

async function attempt<T>({ notes, mayBeRefused = false }: Pursuit, work: () => Promise<T | null>): Promise<T | "again" | "refused"> {
  try {
    return (await work()) ?? "again";
  } catch (error) {
    if (error instanceof ApiError) {
      if (error.status >= 500) return "again";
      if (mayBeRefused) return "refused";
      // A conflict means that the repetition came too early.
      if (error.status === 409) return "again";
      notes.refused.push(error.message.slice(0, 300));
      return "refused";
    }
    if (isBroken(error)) return "again";
    throw error;
  }
}

/** `fetch` throws a TypeError when it cannot connect or when the connection breaks. A client that leaves causes an abort or a timeout. */
const isBroken = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof DOMException || (error instanceof Error && "code" in error);
