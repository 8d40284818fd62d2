import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly DB: D1Database;
      readonly MIGRATIONS: D1Migration[];
    }
  }
}

/** The windows of the preset models, which the columns of compaction bring. */
const WINDOWS = {
  "gpt-4o": 128_000,
  "gpt-4o-mini": 128_000,
  "gpt-4-turbo": 128_000,
  o1: 200_000,
  "o3-mini": 200_000,
  "claude-opus-4-5-20251101": 200_000,
  "claude-sonnet-4-5-20250929": 200_000,
  "claude-haiku-4-5-20251001": 200_000,
  "claude-sonnet-4-20250514": 200_000,
  "claude-opus-4-20250514": 200_000,
  "claude-haiku-3-5-20241022": 200_000,
  "gemini-2.0-flash": 1_048_576,
  "gemini-2.5-pro": 1_048_576,
  "gemini-2.5-pro-preview-05-06": 1_048_576,
};

/** The database before sessions were compacted. */
const FIRST = (): D1Migration[] => env.MIGRATIONS.slice(0, 1);

async function readColumns(table: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`PRAGMA table_info(${table})`).all<{ name: string }>();
  return results.map((column) => column.name);
}

async function windows(): Promise<Record<string, number | null>> {
  const query = "SELECT id, context_window_size FROM models WHERE tenant_id = ''";
  const { results } = await env.DB.prepare(query).all<{ id: string; context_window_size: number | null }>();
  return Object.fromEntries(results.map((row) => [row.id, row.context_window_size]));
}

describe("migrations", () => {
  beforeEach(reset);

  it("the first version knows the preset models, and nothing of compaction", async () => {
    await applyD1Migrations(env.DB, FIRST());

    const columns = [...(await readColumns("models")), ...(await readColumns("sessions"))];
    expect(columns.filter((name) => /window|compact/.test(name))).toEqual([]);
    const { results } = await env.DB.prepare("SELECT id FROM models ORDER BY id").all<{ id: string }>();
    expect(results.map((row) => row.id)).toEqual(Object.keys(WINDOWS).sort());
  });

  it("an empty database gets the windows of both documents and the compact fields", async () => {
    await applyD1Migrations(env.DB, env.MIGRATIONS);

    expect(await windows()).toEqual(WINDOWS);
    expect(await readColumns("sessions")).toEqual(expect.arrayContaining(["compacted_summary", "compact_boundary_timestamp"]));
  });

  it("a filled first version keeps its data, with nothing compacted and own models unknown", async () => {
    await applyD1Migrations(env.DB, FIRST());
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO sessions (tenant_id, id, title, model, policy, message_count, last_message_preview, created_at, updated_at, last_seq,
           external_id, end_user, metadata, archived_at)
         VALUES ('ten_a', 'ses_a', '旅行', 'gpt-4o', 'oneclaw', 2, '你好 👋', 10, 20, 3, 'trip', 'ada', '{"of":"spring"}', 30)`,
      ),
      env.DB.prepare(
        `INSERT INTO messages (tenant_id, session_id, position, id, kind, role, content, content_state, preview, tokens, created_at, last_seq)
         VALUES ('ten_a', 'ses_a', 1, 'msg_a', 'user', 'user', '[{"type":"text","text":"你好 👋"}]', 'full', '你好 👋', 4, 10, 2)`,
      ),
      env.DB.prepare(
        `INSERT INTO models (tenant_id, provider_id, id, source, upstream_id, max_output, price_input)
         VALUES ('ten_a', 'openai-compatible', 'gpt-4o', 'tenant', 'mine', 7, 0.5)`,
      ),
    ]);
    const read = () =>
      env.DB.batch([
        env.DB.prepare(
          `SELECT id, title, model, policy, message_count, last_message_preview, created_at, updated_at, last_seq, external_id, end_user,
             metadata, archived_at FROM sessions`,
        ),
        env.DB.prepare("SELECT * FROM messages"),
        env.DB.prepare(
          `SELECT tenant_id, provider_id, id, display_name, is_default, source, max_output, price_input FROM models
           ORDER BY tenant_id, provider_id, id`,
        ),
      ]).then((results) => results.map((result) => result.results));
    const before = await read();

    await applyD1Migrations(env.DB, env.MIGRATIONS);

    expect(await read()).toEqual(before);
    expect(await windows()).toEqual(WINDOWS);
    const session = env.DB.prepare("SELECT compacted_summary, compact_boundary_timestamp FROM sessions");
    expect(await session.first()).toEqual({ compacted_summary: null, compact_boundary_timestamp: null });
    const own = env.DB.prepare("SELECT context_window_size FROM models WHERE tenant_id = 'ten_a'");
    expect(await own.first()).toEqual({ context_window_size: null });
  });

  it("applying them again changes nothing", async () => {
    await applyD1Migrations(env.DB, env.MIGRATIONS);
    await env.DB.prepare("UPDATE models SET context_window_size = 64000 WHERE id = 'o1'").run();

    await applyD1Migrations(env.DB, env.MIGRATIONS);

    expect(await windows()).toEqual({ ...WINDOWS, o1: 64_000 });
  });
});
