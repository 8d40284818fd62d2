import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Projection } from "../../src/app/ports";
import type { RebuildPorts } from "../../src/app/projection/rebuild-ports";
import type { LogPage, Outcome, SessionError } from "../../src/app/session-api";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { createRebuildRows } from "../../src/read-model/rebuild";
import { createProjection } from "../../src/read-model/writer";
import { LogBuilder, makeId, TENANT } from "../read-model/builders";
import { type Rebuilt, rebuildSession } from "../read-model/rows";

const PAGE = 3;

let sessions = 100;
let session: SessionId;
let projection: Projection;

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  session = makeId("ses", ++sessions);
  projection = createProjection(env.DB);
});

const chat = (): LogBuilder =>
  new LogBuilder(session)
    .open({ title: "Плывём" })
    .says("user", "你好")
    .says("assistant", "您好 🙂")
    .summary(1, "They greeted.", { from: 1, to: 1 })
    .says("user", "再见")
    .says("assistant", "回头见 👋");

const readPages =
  (log: LogBuilder) =>
  async (after: number): Promise<Outcome<LogPage>> => {
    const { events, bodies } = log.batch(after + 1, after + PAGE);
    const texts = [...bodies].map(([id, text]) => ({ id, text }));
    return ok({ events, bodies: texts, has_more: after + PAGE < log.events.length });
  };

const toPorts = (readLog: RebuildPorts["readLog"]): RebuildPorts => ({
  readLog,
  rows: createRebuildRows(env.DB),
  now: () => 999,
});

async function rebuild(readLog: RebuildPorts["readLog"]): Promise<Rebuilt> {
  const outcome = await rebuildSession(toPorts(readLog), { tenant: TENANT, session });
  if (!outcome.ok) throw new Error(outcome.error.code);
  return outcome.value;
}

const run = (sql: string): Promise<unknown> => env.DB.prepare(sql).bind(session).run();
const scratchRows = () => env.DB.prepare("SELECT count(*) AS n FROM messages WHERE tenant_id LIKE 'scratch/%'").first("n");

describe("a rebuild", () => {
  it("finds no difference in rows that the projection wrote", async () => {
    const log = chat();
    await projection.write(log.batch(1, 2));
    await projection.write(log.batch(3));

    expect(await rebuild(readPages(log))).toMatchObject({ session, differences: [], repaired: true, rows: 12 });
  });

  it("does not take a projection that lags for a damaged one", async () => {
    const log = chat();
    await projection.write(log.batch(1, 4));

    expect(await rebuild(readPages(log))).toMatchObject({ differences: [], repaired: true });
  });

  it.each([
    [
      "a wrong count",
      "UPDATE sessions SET message_count = 40 WHERE id = ?",
      { table: "sessions", column: "message_count", before: 40, after: 4 },
    ],
    [
      "a changed text",
      "UPDATE messages SET preview = 'x' WHERE session_id = ? AND position = 1",
      { table: "messages", key: "1", before: "x" },
    ],
    [
      "a lost message",
      "DELETE FROM messages WHERE session_id = ? AND position = 2",
      { table: "messages", key: "2", column: null, before: null },
    ],
    [
      "a lost summary",
      "UPDATE sessions SET compacted_summary = NULL WHERE id = ?",
      { column: "compacted_summary", after: "They greeted." },
    ],
    ["a lost session", "DELETE FROM sessions WHERE id = ?", { table: "sessions", column: null, before: null, after: "row" }],
    [
      "a place before the rows",
      "UPDATE sessions SET last_seq = 2 WHERE id = ?",
      { table: "messages", key: "2", before: "row", after: null },
    ],
    ["a place after the log", "UPDATE sessions SET last_seq = 900 WHERE id = ?", { column: "last_seq", before: 900, after: 6 }],
  ])("reports and repairs %s", async (_, damage, difference) => {
    const log = chat();
    await projection.write(log.batch());
    await run(damage);

    const report = await rebuild(readPages(log));

    expect(report.differences).toContainEqual(expect.objectContaining(difference));
    expect(report.repaired).toBe(true);
    expect(await rebuild(readPages(log))).toMatchObject({ differences: [], rows: 12 });
  });

  it("reports and removes a row that no event made", async () => {
    const log = chat();
    await projection.write(log.batch());
    await run(
      `INSERT INTO messages (tenant_id, session_id, position, id, kind, role, content, content_state, tokens, created_at, last_seq)
       VALUES ('${TENANT}', ?, 9, 'msg_x', 'user', 'user', '[]', 'full', 1, 1, 1)`,
    );

    expect(await rebuild(readPages(log))).toMatchObject({ differences: [{ table: "messages", key: "9", after: null }], repaired: true });
    expect(await rebuild(readPages(log))).toMatchObject({ differences: [] });
  });

  it("writes a session whose rows were all lost", async () => {
    const log = chat();

    const report = await rebuild(readPages(log));

    expect(report).toMatchObject({ repaired: true, rows: 12 });
    expect(report.differences).toHaveLength(12);
  });

  it("leaves nothing of its comparison behind", async () => {
    const log = chat();
    await projection.write(log.batch());

    await rebuild(readPages(log));

    expect(await scratchRows()).toBe(0);
  });

  it("leaves nothing behind either when the log cannot be read to its end", async () => {
    const log = chat();
    await projection.write(log.batch());
    const pages = readPages(log);
    const breaking = async (after: number): Promise<Outcome<LogPage>> => {
      if (after > 0) throw new Error("the object was reset");
      return pages(after);
    };

    await expect(rebuild(breaking)).rejects.toThrow("the object was reset");
    expect(await scratchRows()).toBe(0);
  });

  it("takes rows of an erased session away, and its session stays erased", async () => {
    const log = chat();
    await projection.write(log.batch());
    const erased = async (): Promise<Outcome<LogPage>> => err({ code: "session_erased" });

    const report = await rebuild(erased);

    expect(report.differences).toContainEqual(expect.objectContaining({ table: "session_tombstones", after: "row" }));
    expect(report).toMatchObject({ repaired: true, rows: 0 });
    expect(await rebuild(erased)).toMatchObject({ differences: [], repaired: true, rows: 0 });
  });

  it("takes rows of a session that never was away", async () => {
    await projection.write(chat().batch());

    expect(await rebuild(async () => err({ code: "session_not_found" }))).toMatchObject({ repaired: true, rows: 0 });
  });

  it("an erasure in the middle of a comparison leaves no text, not even in the rows compared", async () => {
    const log = chat();
    await projection.write(log.batch());
    const pages = readPages(log);
    const erasing = async (after: number): Promise<Outcome<LogPage>> => {
      if (after === PAGE) await projection.erase({ tenant: TENANT, session, at: 1 });
      return pages(after);
    };

    await rebuild(erasing);

    const left = await env.DB.prepare("SELECT count(*) AS n FROM messages WHERE session_id = ?").bind(session).first("n");
    expect(left).toBe(0);
  });

  it("says that it could not repair what a tombstone forbids", async () => {
    const log = chat();
    await projection.erase({ tenant: TENANT, session, at: 1 });

    const report = await rebuild(readPages(log));

    expect(report.repaired).toBe(false);
    expect(report.differences).toMatchObject([{ table: "session_tombstones", before: "row", after: null }]);
  });

  it("a refusal of the session is handed on", async () => {
    const refusal: SessionError = { code: "invalid", field: "after", detail: "too large" };
    const outcome = await rebuildSession(
      toPorts(async () => err(refusal)),
      { tenant: TENANT, session },
    );
    expect(outcome).toEqual(err(refusal));
  });
});
