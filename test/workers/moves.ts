/** Moves of tenants between the three databases of the tests. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { PlacementView } from "../../src/contract/placement";
import { TABLES } from "../../src/read-model/store";
import { advanceClock } from "./clock";
import { type Chat, readBody, request, TABLES as TABLES_OF_FILE, type Tenant } from "./support";

const DATABASES = { DB: env.DB, DB_2: env.DB_2, DB_3: env.DB_3 } as Record<string, D1Database>;
export const named = (name: string): D1Database => {
  const db = DATABASES[name];
  if (!db) throw new Error(`no database ${name}`);
  return db;
};

export async function migrateAll(): Promise<void> {
  for (const db of Object.values(DATABASES)) await applyD1Migrations(db, env.MIGRATIONS);
}

export const asAdmin = { key: env.ADMIN_KEY };
export const movePath = ({ id }: Tenant): string => `/v1/admin/tenants/${id}/move`;
export const step = async (tenant: Tenant, to: string): Promise<PlacementView> =>
  readBody(await request("POST", movePath(tenant), { ...asAdmin, body: { to } }));
export const placement = async (tenant: Tenant): Promise<PlacementView> => readBody(await request("GET", movePath(tenant), asAdmin));

/** Steps until the move is in the phase, or over. The clock goes on where a step has to wait. */
export async function moveUntil(tenant: Tenant, to: string, phase: string | null): Promise<PlacementView> {
  for (;;) {
    const at = await step(tenant, to);
    if ((at.move?.phase ?? null) === phase) return at;
    if (at.wait_ms > 0) advanceClock(at.wait_ms);
  }
}

const TABLE_NAMES = [
  ...TABLES.map(({ name }) => name),
  "tenants",
  "models",
  "erased_usage",
  "usage_days",
  "usage_day_sums",
  "session_tombstones",
];

/** How many rows each database has of the tenant, scratch rows included. */
export async function countRows({ id }: Tenant): Promise<Record<string, number>> {
  const counts = Object.entries(DATABASES).map(async ([name, db]) => {
    const found = await db.batch<{ n: number }>(
      TABLE_NAMES.map((table) => db.prepare(`SELECT count(*) AS n FROM ${table} WHERE tenant_id IN (?1, 'scratch/' || ?1)`).bind(id)),
    );
    return [name, found.reduce((sum, { results }) => sum + (results[0]?.n ?? 0), 0)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** Waits until the rows of the session have reached its log, in the database that is read. */
export async function projected(chat: Chat, name: string): Promise<void> {
  await vi.waitFor(async () => {
    const row = await named(name).prepare("SELECT last_seq FROM sessions WHERE id = ?").bind(chat.id).first<number>("last_seq");
    expect(row).toBe((await chat.events()).at(-1)?.seq);
  }, 10_000);
}

/** The tables in which a text is, of each database, except what the service itself needs. */
export async function findText(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, db] of Object.entries(DATABASES)) {
    const tables = await db.prepare(`${TABLES_OF_FILE} AND name <> 'd1_migrations'`).all<{ name: string }>();
    for (const table of tables.results) {
      const { results } = await db.prepare(`SELECT * FROM "${table.name}"`).all();
      if (JSON.stringify(results).includes(text)) found.push(`${name}.${table.name}`);
    }
  }
  return found;
}
