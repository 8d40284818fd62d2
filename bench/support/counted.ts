/**
 * A Worker whose rows are counted: what D1 says of each statement (`meta.rows_read`), and what the objects' SQLite says (`rowsRead` of a cursor).
 * The code that runs is the deployed one. Alarms of the tenant's object ring only when they are asked for, one at a time.
 */
import { z } from "zod";
import { Failure } from "../../scripts/support/output.ts";

/** The module in front of a build's, which is `./index.js`. */
export const COUNTED_ENTRY = `
import worker, * as built from "./index.js";
export * from "./index.js";

const d1 = { read: 0, written: 0, statements: 0 };
const cursors = [];
const owners = new WeakMap();
const note = (result) => {
  d1.statements += 1;
  d1.read += result.meta.rows_read;
  d1.written += result.meta.rows_written;
  return result;
};

const inner = new WeakMap();
function countStatement(statement) {
  const all = async () => note(await statement.all());
  const counted = {
    bind: (...params) => countStatement(statement.bind(...params)),
    all,
    run: all,
    raw: async () => (await all()).results.map((row) => Object.values(row)),
    first: async (column) => {
      const [row = null] = (await all()).results;
      return row === null || column === undefined ? row : row[column];
    },
  };
  inner.set(counted, statement);
  return counted;
}
const countDatabase = (db) => ({
  prepare: (sql) => countStatement(db.prepare(sql)),
  batch: async (statements) => (await db.batch(statements.map((each) => inner.get(each) ?? each))).map(note),
});

const envs = new WeakMap();
function countEnv(env) {
  const known = envs.get(env) ?? { ...env, DB: countDatabase(env.DB), DB_2: countDatabase(env.DB_2) };
  envs.set(env, known);
  return known;
}

let isPatched = false;
function countObject(ctx, owner) {
  owners.set(ctx.storage.sql, owner);
  if (isPatched) return;
  isPatched = true;
  const prototype = Object.getPrototypeOf(ctx.storage.sql);
  const { exec } = prototype;
  prototype.exec = function (...args) {
    const cursor = exec.apply(this, args);
    cursors.push([owners.get(this) ?? "other", cursor]);
    return cursor;
  };
}

const count = (Base, owner) =>
  class extends Base {
    constructor(ctx, env) {
      countObject(ctx, owner);
      super(ctx, countEnv(env));
    }
  };
export const SessionObject = count(built.SessionObject, "session");
export const DeploymentObject = count(built.DeploymentObject, "other");
export class TenantObject extends count(built.TenantObject, "tenant") {
  async alarm() {}
  ring() {
    return super.alarm();
  }
  exec(statement, ...params) {
    this.ctx.storage.sql.exec(statement, ...params).toArray();
  }
}

function take() {
  const rows = { d1: { ...d1 }, tenant: { read: 0, written: 0, statements: 0 }, session: { read: 0, written: 0, statements: 0 } };
  for (const [owner, cursor] of cursors.splice(0)) {
    const sum = rows[owner];
    if (!sum) continue;
    sum.read += cursor.rowsRead;
    sum.written += cursor.rowsWritten;
    sum.statements += 1;
  }
  Object.assign(d1, { read: 0, written: 0, statements: 0 });
  return rows;
}

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/counted/")) return worker.fetch(request, countEnv(env), ctx);
    const { object, statement, params } = await request.json();
    if (pathname === "/counted/ring") await env.TENANTS.getByName(object).ring();
    if (pathname === "/counted/exec") await env.TENANTS.getByName(object).exec(statement, ...params);
    return Response.json(take());
  },
  queue: (batch, env, ctx) => worker.queue(batch, countEnv(env), ctx),
};
`;

const sums = z.object({ read: z.number(), written: z.number(), statements: z.number() });
const counts = z.object({ d1: sums, tenant: sums, session: sums });
/** What was done since the last question. */
export type Counts = z.infer<typeof counts>;

interface Counter {
  take(): Promise<Counts>;
  /** Runs the tenant's alarm once. */
  ring(): Promise<void>;
  /** Runs a statement in the tenant's object. */
  exec(statement: string, ...params: readonly (string | number)[]): Promise<void>;
}

/** `object`: the name of the tenant's object. */
export function createCounter(url: string, object: string): Counter {
  async function ask(path: string, body: object = {}): Promise<Counts> {
    const response = await fetch(`${url}/counted/${path}`, { method: "POST", body: JSON.stringify({ object, ...body }) });
    if (!response.ok) throw new Failure(`The counted Worker answered ${response.status}: ${await response.text()}`);
    return counts.parse(await response.json());
  }
  let rung: Counts | null = null;
  return {
    take: async () => {
      const taken = rung ?? (await ask("take"));
      rung = null;
      return taken;
    },
    ring: async () => {
      rung = await ask("ring");
    },
    exec: async (statement, ...params) => void (await ask("exec", { statement, params })),
  };
}
