/**
 * One tenant of 100,000 sessions and 5 million model calls: the rows that each route and each step reads, in D1 and in the tenant's object.
 * The rows are made by SQL; the sessions' objects are empty. BENCH_SESSIONS=5000 makes a small one.
 */
import { readTenant } from "../scripts/support/admin.ts";
import { type Call, callApi } from "../scripts/support/api-client.ts";
import { digestEndUser } from "../src/app/end-user-digest.ts";
import { tenantObjectName } from "../src/app/object-name.ts";
import { SESSION_ORDERS, USAGE_GROUPS } from "../src/app/read-api.ts";
import { parseId, type TenantId } from "../src/domain/ids.ts";
import { fillSessions, makeId, OF_PERSON, START } from "./find.ts";
import { openSession, registerModel, say } from "./support/chat.ts";
import { createCounter } from "./support/counted.ts";
import type { BenchResult, Figure } from "./support/report.ts";
import { ADMIN_KEY, type Rig } from "./support/rig.ts";

const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 100_000);
const CALLS = 50;
const AT_ONCE = 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** All calls are in one range of `GET /v1/usage`, spread evenly. */
const DAYS = 90;
const PERSON = "user 1";

/** For sessions ?2 to ?3, which D1 binds as real numbers. */
const INSERT_CALLS = `INSERT INTO usage (tenant_id, session_id, seq, purpose, model, input, output, cached, reasoning, estimate, outcome, ms, at, cost, key_id, end_user)
  WITH RECURSIVE call (n) AS (SELECT CAST(?2 AS INTEGER) * ${CALLS} UNION ALL SELECT n + 1 FROM call WHERE n < ?3 * ${CALLS} + ${CALLS - 1})
  SELECT ?1, printf('ses_%026d', n / ${CALLS}), n % ${CALLS} + 1, iif(n % 10 = 0, 'compaction', 'turn'), 'model-' || (n % 5), 1000, 200, 500, 0, 1000,
    'stop', 100, ${START} + (n - ${CALLS}) * ${DAYS * DAY_MS} / ${SESSIONS * CALLS}, 0.001, printf('key_%026d', n % 10), 'user ' || (n / ${CALLS} / ${OF_PERSON})
  FROM call`;
/** Every twentieth session is the next person's, as in D1. ?1: the digests of people, in order, as JSON. */
const INSERT_DIRECTORY = `INSERT INTO sessions (id, created_at, external_id, end_user, labelled)
  WITH RECURSIVE session (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM session WHERE n < ${SESSIONS})
  SELECT printf('ses_%026d', n), ${START} + n * 1000, 'x' || n, json_extract(?1, '$[' || (n / ${OF_PERSON} % ${1_000}) || ']'), 1 FROM session`;

async function fillCalls(db: D1Database, tenant: TenantId): Promise<void> {
  for (let from = 1; from <= SESSIONS; from += AT_ONCE)
    await db
      .prepare(INSERT_CALLS)
      .bind(tenant, from, Math.min(from + AT_ONCE - 1, SESSIONS))
      .run();
}

type Page = { readonly next_cursor?: string | null; readonly id?: string };
const get = (path: string): Call => ({ method: "GET", path });
const post = (path: string, body: object): Call => ({ method: "POST", path, body });

class Scale {
  readonly #rig: Rig;
  readonly tenant: TenantId;
  readonly #counter: ReturnType<typeof createCounter>;
  readonly figures: Figure[] = [];

  constructor(rig: Rig) {
    this.#rig = rig;
    const tenant = parseId("ten", readTenant(rig.connection.key));
    if (!tenant) throw new TypeError("the key names no tenant");
    this.tenant = tenant;
    this.#counter = createCounter(rig.connection.url, tenantObjectName(tenant));
  }

  exec(statement: string, ...params: readonly (string | number)[]): Promise<void> {
    return this.#counter.exec(statement, ...params);
  }

  async measure<T>(name: string, work: () => Promise<T>): Promise<T> {
    await this.#counter.take();
    const startedAt = performance.now();
    const value = await work();
    const ms = performance.now() - startedAt;
    const { d1, tenant, session } = await this.#counter.take();
    const shown = [
      ["D1 read", d1.read],
      ["D1 written", d1.written],
      ["tenant read", tenant.read],
      ["tenant written", tenant.written],
      ["sessions read", session.read],
    ] as const;
    for (const [what, rows] of shown)
      if (rows > 0 || what === "D1 read") this.figures.push({ name: `${name}: ${what}`, unit: "rows", value: rows });
    this.figures.push({ name: `${name}: time`, unit: "ms", value: ms });
    return value;
  }

  ask(name: string, call: Call): Promise<Page> {
    return this.measure(name, async () => (await callApi(this.#rig.connection, call)) as Page);
  }

  askAdmin(name: string, call: Call): Promise<Page> {
    return this.measure(name, async () => (await callApi({ ...this.#rig.connection, key: ADMIN_KEY }, call)) as Page);
  }

  /** The first page of a list, and the second. */
  async pages(name: string, path: string): Promise<void> {
    const { next_cursor } = await this.ask(name, get(path));
    if (next_cursor) await this.ask(`${name}, 2nd page`, get(`${path}&after=${encodeURIComponent(next_cursor)}`));
  }

  ring(name: string): Promise<void> {
    return this.measure(name, () => this.#counter.ring());
  }
}

async function measureLists(scale: Scale): Promise<void> {
  const middle = START + (SESSIONS / 2) * 1_000;
  const filters = {
    all: "",
    archived: "&archived=true",
    "of a person": `&end_user=${encodeURIComponent(PERSON)}`,
    "by an external id": "&external_id=x1",
    "metadata of half": "&metadata[team]=red",
    "metadata of one": "&metadata[team]=red&metadata[rare]=r1000",
    "created after the middle": `&created_after=${middle}`,
    "changed before the middle": `&updated_before=${middle}`,
  };
  for (const [name, filter] of Object.entries(filters))
    for (const by of SESSION_ORDERS)
      for (const order of ["asc", "desc"])
        await scale.pages(`list ${name} by ${by} ${order}`, `/v1/sessions?order_by=${by}&order=${order}${filter}`);
  await scale.pages("end users", "/v1/end-users?limit=50");
  await scale.ask("an end user", get(`/v1/end-users/${encodeURIComponent(PERSON)}`));
  for (const path of ["erasures", "exports", "imports", "files", "keys", "events", "audit"]) await scale.ask(path, get(`/v1/${path}`));
  await scale.askAdmin("the directory", get(`/v1/admin/tenants/${scale.tenant}/sessions?limit=100`));
}

async function measureSums(scale: Scale): Promise<void> {
  const range = `from=${START}&to=${START + DAYS * DAY_MS}`;
  for (const group of ["", ...USAGE_GROUPS, "day,model", "model,day"])
    await scale.pages(`usage by ${group || "nothing"}`, `/v1/usage?limit=10&group_by=${group}&${range}`);
  await scale.ask("usage of a day", get(`/v1/usage?group_by=model&from=${START}&to=${START + DAY_MS}`));
  await scale.ask("usage of a session", get(`/v1/usage?group_by=model&session=${makeId("ses", 5)}&${range}`));
  await scale.ask("usage of a person", get(`/v1/usage?group_by=model&end_user=${encodeURIComponent(PERSON)}&${range}`));
}

async function measureSearches(scale: Scale): Promise<void> {
  const search = (name: string, body: object) => scale.ask(`search ${name}`, post("/v1/sessions/search", body));
  await search("three words", { query: "w5ing w77ing wa0ing" });
  await search("a word that is everywhere", { query: "w0ing" });
  await search("of a person", { query: "w5ing w77ing", end_user: PERSON });
  await search("in half of the sessions", { query: "w5ing w77ing", metadata: { team: "red" } });
}

async function measureWork(scale: Scale, rig: Rig, session: string): Promise<void> {
  const admin = `/v1/admin/tenants/${scale.tenant}`;
  const rules = { archive_sessions_after_days: 30 };
  await scale.ask("retention, dry run", post("/v1/retention/dry-run", { rules }));
  await scale.ask("retention, rules put", { method: "PUT", path: "/v1/retention", body: rules });
  await scale.exec("UPDATE retention SET starts_at = 0");
  await scale.ring("retention, a step");
  await scale.ask("retention, rules ended", { method: "PUT", path: "/v1/retention", body: {} });
  await scale.ask("export begun", post("/v1/exports", { of: "tenant" }));
  await scale.ring("export, a step");
  await scale.askAdmin("rebuild of a session, a step", post(`${admin}/sessions/${session}/rebuild`, {}));
  await scale.askAdmin("rebuild of the tenant's own rows", post(`${admin}/rebuild`, {}));
  for (const phase of ["begun and prepared", "announced"]) {
    await scale.askAdmin(`move ${phase}`, post(`${admin}/move`, { to: "DB_2" }));
    await scale.exec("UPDATE placement SET move = json_set(move, '$.since', 0)");
  }
  for (const part of ["tombstones", "tenant", "sessions"])
    await scale.askAdmin(`move, a step of ${part}`, post(`${admin}/move`, { to: "DB_2" }));
  await scale.askAdmin("move cancelled", { method: "DELETE", path: `${admin}/move` });
  await scale.ask("erase a session", { method: "DELETE", path: `/v1/sessions/${session}` });
  const { id } = await scale.ask("erase a person, begun", { method: "DELETE", path: `/v1/end-users/${encodeURIComponent(PERSON)}` });
  await scale.ring("erase a person, a step");
  await scale.ask("the receipt", get(`/v1/erasures/${id}`));
  await openSession(rig, await registerModel(rig, { chunks: 1, gap: 0 }, 128_000));
  await scale.askAdmin("erase the tenant, begun", { method: "DELETE", path: admin });
  await scale.ring("erase the tenant, a step");
}

export async function benchScale(rig: Rig): Promise<BenchResult> {
  const scale = new Scale(rig);
  const model = await registerModel(rig, { chunks: 1, gap: 0 }, 128_000);
  const db = await rig.database();
  await fillSessions(db, { tenant: scale.tenant, sessions: SESSIONS });
  await fillCalls(db, scale.tenant);
  const people = Array.from({ length: 1_000 }, (_, n) => digestEndUser(scale.tenant, `user ${n}`));
  await scale.exec(INSERT_DIRECTORY, JSON.stringify(people));
  const session = await openSession(rig, model);
  await scale.measure("a turn", () => say(rig, session));
  await measureLists(scale);
  await measureSums(scale);
  await measureSearches(scale);
  await measureWork(scale, rig, session);
  return {
    title: `A tenant of ${SESSIONS} sessions and ${SESSIONS * CALLS} model calls`,
    notes: [
      "Rows as D1 and the objects' SQLite count them; an index counts as the table. Rows of D1 that come late count for the next line.",
      "The sessions' objects have no data, except one. A step is one alarm of the tenant's object, or one request.",
    ],
    figures: scale.figures,
  };
}
