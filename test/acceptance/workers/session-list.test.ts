import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelEntry } from "../../../src/app/model-entry";
import type { SessionFilter, SessionListInput, SessionListPage } from "../../../src/app/read-api";
import type { SessionId, TenantId } from "../../../src/domain/ids";
import { createSessionList } from "../../../src/read-model/queries";
import { createTenantProjection } from "../../../src/read-model/tenant-projection";
import { createProjection } from "../../../src/read-model/writer";
import { ALL_SESSIONS, LogBuilder, makeId, START } from "../../read-model/builders";

let tenants = 500;
let tenant: TenantId;

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  tenant = makeId("ten", ++tenants);
});

const list = createSessionList(env);

const NEWEST = { filter: ALL_SESSIONS, orderBy: "updated_at", order: "desc" } as const;

async function readPage(limit: number, after: string | null = null, asked: Partial<SessionListInput> = {}): Promise<SessionListPage> {
  const page = await list.listSessions({ tenant, ...NEWEST, ...asked, limit, after });
  if (!page.ok) throw new Error(page.error.code);
  return page.value;
}

interface Labels {
  readonly external_id?: string;
  readonly end_user?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A session with `messages` messages. More messages make it newer. */
async function chat(number: number, messages: number, labels: Labels = {}): Promise<SessionId> {
  const log = new LogBuilder(makeId("ses", number), tenant).open({ title: `第${number}`, ...labels });
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
          external_id: null,
          end_user: null,
          metadata: {},
          model: "gpt-4o",
          message_count: 2,
          last_message_preview: "message 2 🙂",
          created_at: START + 1000,
          updated_at: START + 3000,
          archived_at: null,
          compacted: false,
        },
      ],
      has_more: false,
      next_cursor: null,
    });
  });

  it("shows the labels that the client gave", async () => {
    const labels = { external_id: "订单/1", end_user: "user 1", metadata: { 颜色: "红", b: "" } };
    await chat(1, 1, labels);
    expect((await readPage(10)).data).toMatchObject([labels]);
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
    expect(await list.listSessions({ tenant, ...NEWEST, limit: 5, after })).toEqual({ ok: false, error: { code: "invalid_cursor" } });
  });
});

/** The numbers of the sessions of a whole list, page by page. */
async function listAll(asked: Partial<SessionListInput>, limit = 2): Promise<number[]> {
  const seen: number[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const page: SessionListPage = await readPage(limit, after, asked);
    seen.push(...page.data.map(({ id }) => Number(id.slice(-4))));
    after = page.next_cursor;
    more = page.has_more;
  }
  return seen;
}

describe("archived sessions", () => {
  const archive = async (number: number): Promise<void> => {
    const update = "UPDATE sessions SET archived_at = 1 WHERE tenant_id = ? AND id = ?";
    await env.DB.prepare(update).bind(tenant, makeId("ses", number)).run();
  };
  const of = (archived: boolean | null, more: Partial<SessionFilter> = {}): SessionFilter => ({ ...ALL_SESSIONS, ...more, archived });

  it.each(["updated_at", "created_at"] as const)("are left out, listed alone, or listed with the others, by %s", async (orderBy) => {
    for (const number of [1, 2, 3, 4, 5]) await chat(number, number);
    for (const number of [2, 4]) await archive(number);

    for (const order of ["asc", "desc"] as const) {
      const inOrder = (numbers: readonly number[]) => (order === "asc" ? numbers : numbers.toReversed());
      const read = (archived: boolean | null) => listAll({ filter: of(archived), orderBy, order });
      expect(await read(false)).toEqual(inOrder([1, 3, 5]));
      expect(await read(true)).toEqual(inOrder([2, 4]));
      expect(await read(null)).toEqual(inOrder([1, 2, 3, 4, 5]));
    }
  });

  it("are left out under any other filter, too", async () => {
    const labels = { end_user: "ann", external_id: "x", metadata: { colour: "red" } };
    await chat(1, 1, labels);
    await chat(2, 1, labels);
    await archive(1);
    const filters: readonly Partial<SessionFilter>[] = [{ endUser: "ann" }, { externalId: "x" }, { metadata: { colour: "red" } }];
    for (const filter of filters) {
      expect(await listAll({ filter: of(false, filter) })).toEqual([2]);
      expect(await listAll({ filter: of(true, filter) })).toEqual([1]);
    }
  });
});

describe("orders and filters of the list", () => {
  /** Numbers 1 to 6. More messages make a session newer by its update; all were created at the same time. */
  async function six(): Promise<void> {
    const red = { colour: "red", size: "s" };
    const labels: readonly Labels[] = [
      { end_user: "ann", metadata: red, external_id: "x1" },
      { end_user: "ann", metadata: { colour: "blue", size: "s" } },
      { end_user: "ann", metadata: { colour: "red", size: "l" } },
      { end_user: "Ann", metadata: red },
      { metadata: {} },
      { external_id: "X1" },
    ];
    for (const [index, label] of labels.entries()) await chat(index + 1, [3, 1, 2, 5, 4, 1][index] ?? 1, label);
  }

  it.each<[string, Partial<SessionListInput>, readonly number[]]>([
    ["updated, newest first", {}, [4, 5, 1, 3, 6, 2]],
    ["updated, oldest first", { order: "asc" }, [2, 6, 3, 1, 5, 4]],
    ["created, newest first: those of one moment by id", { orderBy: "created_at" }, [6, 5, 4, 3, 2, 1]],
    ["created, oldest first", { orderBy: "created_at", order: "asc" }, [1, 2, 3, 4, 5, 6]],
    ["of a person, and of no other with another case", { filter: { ...ALL_SESSIONS, endUser: "ann" } }, [1, 3, 2]],
    ["of a person, as created", { filter: { ...ALL_SESSIONS, endUser: "ann" }, orderBy: "created_at", order: "asc" }, [1, 2, 3]],
    ["by external id", { filter: { ...ALL_SESSIONS, externalId: "X1" } }, [6]],
    ["by an entry of metadata", { filter: { ...ALL_SESSIONS, metadata: { colour: "red" } } }, [4, 1, 3]],
    ["by two entries", { filter: { ...ALL_SESSIONS, metadata: { colour: "red", size: "s" } } }, [4, 1]],
    ["by an entry and a person", { filter: { ...ALL_SESSIONS, metadata: { colour: "red" }, endUser: "ann" } }, [1, 3]],
    ["by an entry that no session has", { filter: { ...ALL_SESSIONS, metadata: { colour: "green" } } }, []],
    ["by a value that is another entry's", { filter: { ...ALL_SESSIONS, metadata: { size: "red" } } }, []],
    [
      "updated within a time, whose bounds are left out",
      { filter: { ...ALL_SESSIONS, updatedAfter: START + 3000, updatedBefore: START + 6000 } },
      [5, 1],
    ],
    ["created after a time", { filter: { ...ALL_SESSIONS, createdAfter: START + 1000 } }, []],
    ["created before a time", { filter: { ...ALL_SESSIONS, createdBefore: START + 1001, endUser: "Ann" } }, [4]],
  ])("%s", async (_, asked, numbers) => {
    await six();
    expect(await listAll(asked)).toEqual(numbers);
  });

  it("follow a change of the person and of metadata, and the end of both", async () => {
    const log = new LogBuilder(makeId("ses", 1), tenant).open({ end_user: "ann", metadata: { a: "1", b: "2" } });
    const changes = { end_user: log.text("bob"), metadata: log.text('{"b":"3"}') };
    await createProjection(env.DB).write(log.event({ type: "SettingsChanged", changes }).batch());
    const find = (filter: Partial<SessionFilter>) => listAll({ filter: { ...ALL_SESSIONS, ...filter } });

    expect(await Promise.all([find({ endUser: "ann" }), find({ endUser: "bob" }), find({ metadata: { a: "1" } })])).toEqual([[], [1], []]);
    expect(await Promise.all([find({ metadata: { b: "2" } }), find({ metadata: { b: "3" } })])).toEqual([[], [1]]);
  });

  it("refuse a cursor that was made for another order", async () => {
    await six();
    const { next_cursor: after } = await readPage(2);
    const again = { tenant, ...NEWEST, limit: 2, after };
    expect((await list.listSessions(again)).ok).toBe(true);
    for (const other of [{ order: "asc" }, { orderBy: "created_at" }] as const) {
      expect(await list.listSessions({ ...again, ...other })).toEqual({ ok: false, error: { code: "invalid_cursor" } });
    }
  });

  it("show nothing of another tenant, whatever its labels are", async () => {
    await six();
    const mine = tenant;
    tenant = makeId("ten", ++tenants);
    await chat(7, 1, { external_id: "x1", end_user: "ann", metadata: { colour: "red" } });
    for (const filter of [{ externalId: "x1" }, { endUser: "ann" }, { metadata: { colour: "red" } }]) {
      expect(await listAll({ filter: { ...ALL_SESSIONS, ...filter } })).toEqual([7]);
    }
    tenant = mine;
    expect(await listAll({ filter: { ...ALL_SESSIONS, externalId: "x1" } })).toEqual([1]);
  });

  it("find an entry that more sessions have than are listed at once", async () => {
    const row = env.DB.prepare("INSERT INTO session_metadata VALUES (?, ?, 0, 'colour', 'red', 1)");
    await chat(1, 1, { metadata: { colour: "red", size: "s" } });
    await chat(2, 2, { metadata: { colour: "red" } });
    const others = Array.from({ length: 2_100 }, (_, index) => row.bind(tenant, makeId("ses", index + 100)));
    await env.DB.batch(others);

    expect(await listAll({ filter: { ...ALL_SESSIONS, metadata: { colour: "red" } } })).toEqual([2, 1]);
    expect(await listAll({ filter: { ...ALL_SESSIONS, metadata: { colour: "red", size: "s" } } })).toEqual([1]);
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
    known_quirks: [],
    credential_missing: false,
    key_missing: false,
  });
  const settings = { name: "Acme 株式会社", default_model: "b", default_policy: "oneclaw", allowed_origins: [] };
  const listModels = async () =>
    (await env.DB.prepare("SELECT id, is_default, context_window_size FROM models WHERE tenant_id = ? ORDER BY id").bind(tenant).all())
      .results;

  it("are what its last write said", async () => {
    const projection = createTenantProjection(env.DB);
    await projection.write({ tenant, created_at: 1, settings, models: [model("a"), model("b")] });
    await projection.write({
      tenant,
      created_at: 1,
      settings: { ...settings, name: "Acme" },
      models: [{ ...model("b"), context_window: 8192 }],
    });

    expect(await listModels()).toEqual([{ id: "b", is_default: 1, context_window_size: 8192 }]);
    const name = env.DB.prepare("SELECT name FROM tenants WHERE tenant_id = ?").bind(tenant);
    expect(await name.first("name")).toBe("Acme");
  });

  it("leave those of other tenants and the presets alone", async () => {
    const presets = () => env.DB.prepare("SELECT count(*) AS n FROM models WHERE tenant_id = ''").first<number>("n");
    const before = await presets();

    await createTenantProjection(env.DB).write({ tenant, created_at: 1, settings, models: [model("gpt-4o")] });
    await createTenantProjection(env.DB).write({ tenant, created_at: 1, settings, models: [] });

    expect(await presets()).toBe(before);
    expect(await listModels()).toEqual([]);
  });
});
