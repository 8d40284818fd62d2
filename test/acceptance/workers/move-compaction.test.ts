/** A compaction whose wake-up was sent before a tenant's move switched. */
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { deliver, holdQueue, smallChat, TURNS, talk, words } from "../../workers/conversation";
import { countRows, migrateAll, moveUntil, named, projected } from "../../workers/moves";

beforeAll(migrateAll);
afterEach(() => vi.restoreAllMocks());

it.each(["settle", "clean", null] as const)(
  "a job that was made before the move takes effect in the phase %s, and its rows are in the new database only at the end",
  async (phase) => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat({ summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    const job = await queue.next();
    await moveUntil(chat.tenant, "DB_2", phase);

    await deliver(job);
    const completed = await frames.until("compaction.completed");
    await frames.leave();
    await projected(chat, "DB_2");

    expect(completed).toMatchObject({ did_compact: true });
    const status = await named("DB_2").prepare("SELECT status FROM compactions WHERE session_id = ?").bind(chat.id).first("status");
    expect(status).toBe("completed");
    if (phase !== null) await moveUntil(chat.tenant, "DB_2", null);
    expect(await countRows(chat.tenant)).toMatchObject({ DB: 0, DB_3: 0 });
  },
);
