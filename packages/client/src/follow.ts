/** The stream of a whole session, resumed for ever. */
import { Connection, type StreamSettings } from "./connection.ts";
import { LonghandError } from "./errors.ts";
import type { Session } from "./generated.ts";
import { chooseWait, isPassing, sleep } from "./retry.ts";
import { buildSessionPath, readJson } from "./stream.ts";
import type { StreamEvent } from "./stream-types.ts";

export interface FollowInit {
  /** The offset of the last event that the caller has; 0 for all that is kept. Absent: from now on. */
  readonly after?: number | undefined;
  /** Ends the iteration with the signal's reason. */
  readonly signal?: AbortSignal | null | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Ends at `session.erased`. Rejects when the server refuses, and goes on after anything else. */
export async function* followSession(
  settings: StreamSettings,
  session: string,
  { after, signal, headers }: FollowInit,
): AsyncGenerator<StreamEvent, void, undefined> {
  // Without an offset, a break before the first event would lose what happens until the next connection.
  let last = after ?? (await readJson<Session>(settings, buildSessionPath(session), signal)).stream_offset;
  for (let failures = 0; ; failures++) {
    const connection = await openConnection();
    try {
      for (let event = await connection?.next(); event; event = await connection?.next()) {
        failures = -1;
        const isRepeated = event.type !== "stream.rewind" && event.type !== "stream.halted" && event.offset <= last;
        if (isRepeated) continue;
        last = event.offset;
        yield event;
        if (event.type === "session.erased") return;
      }
    } finally {
      connection?.close();
    }
    signal?.throwIfAborted();
    if (failures >= 0) await sleep(chooseWait(failures, null), signal);
  }

  /** Null: the server was not reached. */
  async function openConnection(): Promise<Connection | null> {
    try {
      const call = { method: "GET", path: buildSessionPath(session, "stream"), after: last, signal, headers } as const;
      const opened = await Connection.open(settings, call);
      return opened instanceof Connection ? opened : null;
    } catch (error) {
      if (error instanceof LonghandError && isPassing(error)) return null;
      throw error;
    }
  }
}
