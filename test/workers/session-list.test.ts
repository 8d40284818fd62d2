import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelEntry } from "../../src/app/model-entry";
import type { SessionListPage } from "../../src/app/read-api";
import type { SessionId, TenantId } from "../../src/domain/ids";
import { createSessionList } from "../../src/read-model/queries";
import { createTenantProjection } from "../../src/read-model/tenant-projection";
import { createProjection } from "../../src/read-model/writer";
import { LogBuilder, makeId, START } from "../read-model/builders";

let tenants = 500;
let tenant: TenantId;

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  tenant = makeId("ten", ++tenants);
});

const list = createSessionList(env);

async function readPage(limit: number, after: string | null = null): Promise<SessionListPage> {
  const page = await list.listSessions({ tenant, limit, after });
  if (!page.ok) throw new Error(page.error.code);
  return page.value;
}

/** A session with `messages` messages. More messages make it newer. */
async function chat(number: number, messages: number): Promise<SessionId> {
  const log = new LogBuilder(makeId("ses", number), tenant).open({ title: `第${number}` });
  for (let i = 1; i <= messages; i++) log.says("user", `message ${i} 🙂`);
  await createProjection(env.DB).write(log.batch());
  return log.session;
}

describe("the list of sessions", () => {
  it("shows what a person needs to choose one", async () => {
    const id = await chat(1, 2);

    expect(await readPage(10)).toEqual({
      data: [
        {
          id,
          title: "第1",
          model: "gpt-4o",
          message_count: 2,
          last_message_preview: "message 2 🙂",
          created_at: START + 1000,
          updated_at: START + 3000,
          compacted: false,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
  });

  it("says which sessions show the model less than all", async () => {
    const log = new LogBuilder(makeId("ses", 1), tenant).open().says("user", "a");
    log.epoch({ trigger: "guard", ops: [{ op: "drop", overlay: makeId("ovl", 1), replaces: [], from: 1, to: 1, items: 1 }] });
    await createProjection(env.DB).write(log.batch());

    expect((await readPage(10)).data).toMatchObject([{ compacted: true }]);
  });

  it("begins with the most recently updated, and walks every session once, those of equal age too", async () => {
    const ids = [await chat(1, 1), await chat(2, 3), await chat(3, 2), await chat(4, 2), await chat(5, 2)];
    const seen: SessionId[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: SessionListPage = await readPage(2, after);
      seen.push(...page.data.map((session) => session.id));
      after = page.next_cursor;
      more = page.has_more;
    }

    expect(seen).toEqual([2, 5, 4, 3, 1].map((number) => ids[number - 1]));
  });

  it("a full last page says that it is the last", async () => {
    await chat(1, 1);
    await chat(2, 1);

    expect(await readPage(2)).toMatchObject({ has_more: false, next_cursor: null });
  });

  it("holds the sessions of one tenant only, and no rows made for comparing", async () => {
    await chat(1, 1);
    const scratch = new LogBuilder(makeId("ses", 2), tenant).open();
    await createProjection(env.DB, { scratch: true }).write(scratch.batch());
    const other = makeId("ten", ++tenants);
    const theirs = new LogBuilder(makeId("ses", 3), other).open();
    await createProjection(env.DB).write(theirs.batch());

    expect((await readPage(10)).data.map((session) => session.id)).toEqual([makeId("ses", 1)]);
  });

  it("a cursor is visible ASCII and holds no other character than a URL takes", async () => {
    await chat(1, 1);
    await chat(2, 1);
    expect((await readPage(1)).next_cursor).toMatch(/^[\w-]+$/);
  });

  it.each([
    ["%%%"],
    [""],
    ["🙂"],
    [btoa("1:ses_1")],
    [btoa("x:ses_00000000000000000000000001")],
    [btoa("1:ses_00000000000000000000000001;")],
  ])("refuses a cursor that it never gave out: %s", async (after) => {
    expect(await list.listSessions({ tenant, limit: 5, after })).toEqual({ ok: false, error: { code: "invalid_cursor" } });
  });
});

describe("the rows of a tenant", () => {
  const model = (id: string): ModelEntry => ({
    id,
    provider: "openai-compatible",
    upstream_id: `${id}-up`,
    base_url: "https://example.org/v1",
    context_window: null,
    max_output: 4096,
    source: "tenant",
    figures: { context_window: "tenant", max_output: "tenant", capabilities: "unknown", ratio: "unknown", prices: "unknown" },
    suggestions: [],
    credential_missing: false,
    key_missing: false,
  });
  const settings = { name: "Acme 株式会社", default_model: "b", default_policy: "oneclaw", allowed_origins: [] };
  const listModels = async () =>
    (await env.DB.prepare("SELECT id, is_default, context_window_size FROM models WHERE tenant_id = ? ORDER BY id").bind(tenant).all())
      .results;

  it("are what its last write said", async () => {
    const projection = createTenantProjection(env.DB);
    await projection.write({ tenant, settings, models: [model("a"), model("b")] });
    await projection.write({ tenant, settings: { ...settings, name: "Acme" }, models: [{ ...model("b"), context_window: 8192 }] });

    expect(await listModels()).toEqual([{ id: "b", is_default: 1, context_window_size: 8192 }]);
    const name = env.DB.prepare("SELECT name FROM tenants WHERE tenant_id = ?").bind(tenant);
    expect(await name.first("name")).toBe("Acme");
  });

  it("leave those of other tenants and the presets alone", async () => {
    const presets = () => env.DB.prepare("SELECT count(*) AS n FROM models WHERE tenant_id = ''").first<number>("n");
    const before = await presets();

    await createTenantProjection(env.DB).write({ tenant, settings, models: [model("gpt-4o")] });
    await createTenantProjection(env.DB).write({ tenant, settings, models: [] });

    expect(await presets()).toBe(before);
    expect(await listModels()).toEqual([]);
  });
});
