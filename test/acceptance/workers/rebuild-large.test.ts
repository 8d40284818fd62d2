/** Sessions of thousands of rows: a rebuild's memory and its work in one request are bounded, however long they are. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rebuildStep, STEP_BUDGET } from "../../../src/app/projection/rebuild";
import type { RebuildPorts, RebuildProgress } from "../../../src/app/projection/rebuild-ports";
import type { LogPage, Outcome } from "../../../src/app/session-api";
import type { SessionId } from "../../../src/domain/ids";
import { ok } from "../../../src/lib/result";
import { createRebuildRows } from "../../../src/read-model/rebuild";
import { toScratchName } from "../../../src/read-model/store";
import { createProjection } from "../../../src/read-model/writer";
import { LogBuilder, makeId, modelCall, TENANT } from "../../read-model/builders";
import { readRows, rebuildSession } from "../../read-model/rows";
import { sized } from "../../support/effort";
import { migrate } from "../../workers/support";

const MESSAGES = sized({ whole: 3_000, small: 1_600 });
/** Of a session that goes on while it is rebuilt in the smallest steps. */
const FEWER = sized({ whole: 700, small: 250 });
const LOG_PAGE = 100;

let sessions = 500;
let session: SessionId;

beforeAll(migrate);
beforeEach(() => {
  session = makeId("ses", ++sessions);
});

function longChat(messages = MESSAGES): LogBuilder {
  const log = new LogBuilder(session).open({ title: "很长的对话" });
  for (let n = 1; n <= messages; n++) {
    log.says(n % 2 ? "user" : "assistant", `Nachricht ${n} 🙂`);
    if (n % 100 === 0) log.event(modelCall({ up_to: n })).summary(n, `Up to ${n}`, { from: n - 99, to: n });
  }
  return log;
}

async function project(log: LogBuilder, from = 1, to = log.events.length): Promise<void> {
  const projection = createProjection(env.DB);
  for (let seq = from; seq <= to; seq += LOG_PAGE) await projection.write(log.batch(seq, Math.min(to, seq + LOG_PAGE - 1)));
}

interface Use {
  statements: number;
  rowsAtOnce: number;
  charsAtOnce: number;
}

/** The database, and the statements that it received. */
function metered(): { readonly db: D1Database; readonly use: Use } {
  const use: Use = { statements: 0, rowsAtOnce: 0, charsAtOnce: 0 };
  const batch = async <T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> => {
    const results = await env.DB.batch<T>(statements);
    use.rowsAtOnce = Math.max(use.rowsAtOnce, ...results.map((result) => result.results.length));
    use.charsAtOnce = Math.max(use.charsAtOnce, ...results.map((result) => JSON.stringify(result.results).length));
    return results;
  };
  const db = new Proxy(env.DB, {
    get: (target, name) => {
      if (name === "batch") return batch;
      if (name === "prepare") use.statements += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db, use };
}

/** `page`: the number of events that the session's object returns at once. */
function toPorts(log: LogBuilder, db: D1Database = env.DB, page = LOG_PAGE): RebuildPorts {
  const readLog = async (after: number): Promise<Outcome<LogPage>> => {
    const { events, bodies } = log.batch(after + 1, after + page);
    const texts = [...bodies].map(([id, text]) => ({ id, text }));
    return ok({ events, bodies: texts, has_more: after + page < log.events.length });
  };
  return { readLog, rows: createRebuildRows(db), now: () => 999 };
}

/** The statements of each step of a complete rebuild. */
async function countSteps(ports: RebuildPorts, use: Use): Promise<readonly number[]> {
  const perStep: number[] = [];
  let from: RebuildProgress | null = null;
  do {
    use.statements = 0;
    const step = await rebuildStep(ports, at(), from);
    if (!step.ok) throw new Error(step.error.code);
    perStep.push(use.statements);
    from = step.value.next;
  } while (from);
  return perStep;
}

const at = () => ({ tenant: TENANT, session });
const run = (sql: string): Promise<unknown> => env.DB.prepare(sql).bind(session).run();
const scratchRows = () =>
  env.DB.prepare("SELECT count(*) AS n FROM messages WHERE tenant_id = ? AND session_id = ?")
    .bind(toScratchName(TENANT), session)
    .first("n");

async function rebuild(log: LogBuilder, db?: D1Database) {
  const outcome = await rebuildSession(toPorts(log, db), at());
  if (!outcome.ok) throw new Error(outcome.error.code);
  return outcome.value;
}

describe("a rebuild of a long session", () => {
  it("mends and reports a missing, a changed and an extra row, and touches no other", async () => {
    const log = longChat();
    await project(log);
    const right = await readRows(env.DB, at());
    await run("DELETE FROM messages WHERE session_id = ? AND position = 1500");
    await run(`UPDATE messages SET content = '"?"', tokens = 0 WHERE session_id = ? AND position = ${MESSAGES}`);
    await run("UPDATE overlays SET active = 0 WHERE session_id = ? AND position_from = 1");
    await run(
      `INSERT INTO usage (tenant_id, session_id, seq, purpose, model, estimate, outcome, ms, at)
       VALUES ('${TENANT}', ?, 1, 'turn', 'gpt-4o', 1, 'stop', 1, 1)`,
    );

    const report = await rebuild(log);

    const text = JSON.stringify([{ type: "text", text: `Nachricht ${MESSAGES} 🙂` }]);
    expect(report.differences).toEqual([
      { table: "messages", key: "1500", column: null, before: null, after: "row" },
      { table: "messages", key: String(MESSAGES), column: "content", before: '"?"', after: text },
      { table: "messages", key: String(MESSAGES), column: "tokens", before: 0, after: 10 + MESSAGES },
      { table: "overlays", key: makeId("ovl", 100), column: "active", before: 0, after: 1 },
      { table: "usage", key: "1", column: null, before: "row", after: null },
    ]);
    expect(report.repaired).toBe(true);
    expect(await readRows(env.DB, at())).toEqual(right);
    expect(await scratchRows()).toBe(0);
  });

  it("is many requests, each within what a Worker may do, and holds a page of rows at a time", async () => {
    const log = longChat();
    await project(log);
    const { db, use } = metered();
    const perStep = await countSteps(toPorts(log, db), use);

    expect(perStep.length).toBeGreaterThan(MESSAGES / 600);
    // A page of the log is written completely, so a step may exceed its budget by one page.
    expect(Math.max(...perStep)).toBeLessThan(2 * STEP_BUDGET);
    expect(use.rowsAtOnce).toBeLessThanOrEqual(200);
  });

  it("counts the rows of imported replies, of which one event has many", async () => {
    const log = new LogBuilder(session).open();
    for (let n = 1; n <= 150; n++) {
      const items = Array.from({ length: 13 }, () => log.item("tool_call", [{ type: "text", text: "seen" }]));
      log.event({ type: "MessagesAppended", items, dequeued: [] });
    }
    await project(log);
    const { db, use } = metered();

    const perStep = await countSteps(toPorts(log, db, 15), use);

    expect(Math.max(...perStep)).toBeLessThan(2 * STEP_BUDGET);
  });

  it("holds few rows at a time where they are heavy", async () => {
    const log = new LogBuilder(session).open();
    for (let n = 1; n <= 12; n++) log.says("user", "深".repeat(450_000));
    const projection = createProjection(env.DB);
    for (let seq = 1; seq <= log.events.length; seq++) await projection.write(log.batch(seq, seq));
    await run("UPDATE messages SET preview = NULL WHERE session_id = ? AND position = 11");
    const { db, use } = metered();

    const report = await rebuildSession(toPorts(log, db, 1), at());

    expect(report).toMatchObject({ value: { repaired: true, rows: 25, differences: [{ key: "11", column: "preview", before: null }] } });
    expect(use.charsAtOnce).toBeLessThan(3_000_000);
  });
});

/** The rebuild with the smallest possible steps, and other work between them. */
async function rebuildBetween(log: LogBuilder, between: (step: number) => Promise<void>) {
  const found: unknown[] = [];
  let from: RebuildProgress | null = null;
  for (let step = 1; ; step++) {
    const done: Outcome<{ next: RebuildProgress | null; repaired: boolean | null; differences: readonly unknown[] }> = await rebuildStep(
      { ...toPorts(log), budget: 1 },
      at(),
      from,
    );
    if (!done.ok) throw new Error(done.error.code);
    found.push(...done.value.differences);
    from = done.value.next;
    if (!from) return { differences: found, repaired: done.value.repaired, steps: step };
    await between(step);
  }
}

describe("a rebuild whose database fails", () => {
  /** Fails the batch after the one that repairs messages. */
  function failing(): D1Database {
    let mended = false;
    const batch = async <T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> => {
      if (mended) throw new Error("D1_ERROR: out of reach");
      const results = await env.DB.batch<T>(statements);
      mended = results.some((result) => result.meta.changes > 0 && statements.length === 1);
      return results;
    };
    return new Proxy(env.DB, {
      get: (target, name) => {
        const value: unknown = name === "batch" ? batch : Reflect.get(target, name);
        return typeof value === "function" && name !== "batch" ? value.bind(target) : value;
      },
    });
  }

  it("has said what it mended, and fails at the next request", async () => {
    const log = longChat(60);
    await project(log);
    await run("DELETE FROM messages WHERE session_id = ? AND position = 30");
    const projected = await rebuildStep({ ...toPorts(log), budget: 60 }, at(), null);
    if (!projected.ok) throw new Error(projected.error.code);
    expect(projected.value).toMatchObject({ differences: [], next: { phase: "compare" } });
    const ports = toPorts(log, failing());

    const step = await rebuildStep(ports, at(), projected.value.next);

    expect(step).toMatchObject({ value: { repaired: null, differences: [{ table: "messages", key: "30", after: "row" }] } });
    const next = step.ok ? step.value.next : null;
    await expect(rebuildStep(ports, at(), next)).rejects.toThrow("out of reach");
    expect(await rebuildSession(toPorts(log), at())).toMatchObject({ value: { differences: [], repaired: true } });
  });
});

describe("a rebuild between whose requests", () => {
  it("the session goes on takes nothing of it for a difference", async () => {
    const log = longChat(FEWER + 200);
    await project(log, 1, FEWER);

    const report = await rebuildBetween(log, async (step) => {
      const to = Math.min(log.events.length, FEWER + step * 10);
      if (to > FEWER + (step - 1) * 10) await project(log, FEWER + (step - 1) * 10 + 1, to);
    });

    expect(report).toMatchObject({ differences: [], repaired: true });
    expect((await readRows(env.DB, at())).sessions?.[session]?.last_seq).toBe(log.events.length);
  });

  it("another rebuild of the same session begins still leaves the rows right", async () => {
    const log = longChat(600);
    await project(log);
    const right = await readRows(env.DB, at());
    await run("DELETE FROM messages WHERE session_id = ? AND position = 590");

    const report = await rebuildBetween(log, async (step) => {
      if (step === 12) await rebuildStep({ ...toPorts(log), budget: 1 }, at(), null);
    });

    expect(report.repaired).toBe(true);
    expect(await readRows(env.DB, at())).toEqual(right);
  });

  it("the session's row is lost and all of it projected anew still leaves the rows right", async () => {
    const log = longChat(600);
    await project(log);
    const right = await readRows(env.DB, at());

    const report = await rebuildBetween(log, async (step) => {
      if (step === 10) await run(`DELETE FROM sessions WHERE tenant_id = '${TENANT}' AND id = ?`);
      if (step === 12) await project(log, 1, 300);
      if (step === 14) await project(log, 301);
    });

    expect(report.repaired).toBe(true);
    expect(await readRows(env.DB, at())).toEqual(right);
  });

  it("the session is erased leaves nothing", async () => {
    const log = longChat(600);
    await project(log);

    await rebuildBetween(log, async (step) => {
      if (step === 12) await createProjection(env.DB).erase({ ...at(), at: 5 });
    });

    const left = await env.DB.prepare("SELECT count(*) AS n FROM messages WHERE session_id = ?").bind(session).first("n");
    expect(left).toBe(0);
  });

  it("nothing more came is begun anew by the next one", async () => {
    const log = longChat(600);
    await project(log);
    const first = await rebuildStep(toPorts(log), at(), null);
    expect(first).toMatchObject({ value: { repaired: null } });
    expect(await scratchRows()).not.toBe(0);

    expect(await rebuild(log)).toMatchObject({ differences: [], repaired: true });
    expect(await scratchRows()).toBe(0);
  });
});
