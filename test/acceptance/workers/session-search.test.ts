import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SessionFilter, SessionSearchInput, SessionSearchPage } from "../../../src/app/read-api";
import type { TenantId } from "../../../src/domain/ids";
import { createRebuildRows } from "../../../src/read-model/rebuild";
import { createSessionSearch } from "../../../src/read-model/session-search";
import { createProjection } from "../../../src/read-model/writer";
import { ALL_SESSIONS, branchLine, LogBuilder, makeId, START } from "../../read-model/builders";
import { rebuildSession } from "../../read-model/rows";

let tenants = 900;
let tenant: TenantId;

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  tenant = makeId("ten", ++tenants);
});

const { searchSessions } = createSessionSearch(env);

async function search(query: string, asked: Partial<SessionSearchInput> = {}): Promise<SessionSearchPage> {
  const page = await searchSessions({ tenant, query, filter: ALL_SESSIONS, limit: 20, after: null, ...asked });
  if (!page.ok) throw new Error(page.error.code);
  return page.value;
}

/** The numbers of the sessions found, best first. */
const find = async (query: string, asked: Partial<SessionSearchInput> = {}): Promise<number[]> =>
  (await search(query, asked)).data.map(({ session }) => Number(session.id.slice(-4)));

type Opened = Parameters<LogBuilder["open"]>[0];

/** A session whose user and assistant say these texts in turn. */
async function chat(number: number, texts: readonly string[], settings: Opened = {}): Promise<LogBuilder> {
  const log = new LogBuilder(makeId("ses", number), tenant).open(settings);
  for (const [index, text] of texts.entries()) log.says(index % 2 === 0 ? "user" : "assistant", text);
  await write(log);
  return log;
}

const write = (log: LogBuilder): Promise<void> => createProjection(env.DB).write(log.batch());

/** Whether a text is anywhere in the stored index: in the rows, or in the bytes of the index itself. */
async function isStored(text: string): Promise<boolean> {
  const rows = await env.DB.prepare("SELECT terms FROM search_rows").all<{ terms: string }>();
  const blocks = await env.DB.prepare("SELECT block FROM search_index_data").all<{ block: number[] }>();
  const bytes = blocks.results.map(({ block }) => new TextDecoder("latin1").decode(new Uint8Array(block)));
  return [...rows.results.map(({ terms }) => terms), ...bytes].some((stored) => stored.includes(text));
}

describe("a search over sessions", () => {
  it.each([
    ["a title", "Quarterly invoices of Acme", "invoice"],
    ["another form of an English word", "She bought three bicycles", "buy a bicycle"],
    ["another form of a German word", "Wir haben die Rechnungen bezahlt", "Rechnung"],
    ["a French word without its accents", "Le café de la gare est fermé", "cafe fermé"],
    ["a Russian word in another case", "Мы говорили о погоде в Москве", "погода Москва"],
    ["a Chinese word inside a sentence", "我们明天去北京大学参观", "北京大学"],
    ["a Japanese word", "来週の東京の会議を予約してください", "東京の会議"],
    ["an identifier, whole", "The error is ERR_CONN_4711 in src/http/app.ts", "src/http/app.ts"],
    ["a part of an identifier", "The error is ERR_CONN_4711", "4711"],
    ["a word in capitals", "PLEASE ANSWER", "answer"],
  ])("finds %s", async (_, text, query) => {
    await chat(1, [text, "Something else altogether"]);
    await chat(2, ["A walk in the woods", "散歩"], { title: "Another conversation" });
    expect(await find(query)).toEqual([1]);
  });

  it("shows the session as the list does, and the words where they are", async () => {
    const filler = "Nothing of interest. ".repeat(200);
    await chat(1, ["hello", `${filler}The treasure lies under the old oak. ${filler}`, "what treasure?"], {
      title: "Treasure",
      end_user: "ann",
      external_id: "x",
      metadata: { a: "b" },
    });

    const { data } = await search("treasure");

    expect(data).toMatchObject([
      { session: { title: "Treasure", end_user: "ann", external_id: "x", metadata: { a: "b" } }, in_title: true },
    ]);
    const [found] = data;
    expect(found?.matches.map(({ position, role }) => [position, role])).toEqual([
      [3, "user"],
      [2, "assistant"],
    ]);
    expect(found?.matches[1]?.snippet).toMatch(/^….*treasure lies under the old oak.*…$/);
    expect(found?.matches[1]).toMatchObject({ id: makeId("msg", 2), created_at: START + 2 });
  });

  it("puts a session with more of the words first, and rare words before frequent ones", async () => {
    for (let number = 1; number <= 8; number++) await chat(number, ["the project plan"]);
    await chat(9, ["the project plan of the lighthouse"]);
    await chat(10, ["a lighthouse"]);

    expect((await find("lighthouse project")).slice(0, 2)).toEqual([9, 10]);
  });

  it("finds a session once, with at most three messages of it", async () => {
    await chat(
      1,
      Array.from({ length: 9 }, (_, index) => `apples, part ${index}`),
    );
    const { data } = await search("apples");
    expect(data.map(({ matches }) => matches.length)).toEqual([3]);
  });

  it("finds a session by its title alone", async () => {
    await chat(1, [], { title: "Ferienplanung" });
    expect((await search("Ferienplanung")).data).toMatchObject([{ in_title: true, matches: [] }]);
  });

  it("walks all sessions once, page by page, and refuses the cursor of another search", async () => {
    for (let number = 1; number <= 7; number++) await chat(number, ["the same words"], { end_user: "ann" });
    const seen: number[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: SessionSearchPage = await search("words", { limit: 3, after });
      seen.push(...page.data.map(({ session }) => Number(session.id.slice(-4))));
      after = page.next_cursor;
      more = page.has_more;
    }
    expect(seen.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);

    const { next_cursor: after } = await search("words", { limit: 3 });
    const others = [{ query: "word" }, { filter: { ...ALL_SESSIONS, endUser: "ann" } }, { after: "3-0000000000000000" }, { after: "x" }];
    for (const other of others) {
      const page = await searchSessions({ tenant, query: "words", filter: ALL_SESSIONS, limit: 3, after, ...other });
      expect(page).toEqual({ ok: false, error: { code: "invalid_cursor" } });
    }
  });

  it.each<[string, Partial<SessionFilter>, readonly number[]]>([
    ["of a person", { endUser: "ann" }, [1]],
    ["with metadata", { metadata: { team: "red" } }, [2]],
    ["created after a time", { createdAfter: START + 1000 }, []],
    ["that changed after a time", { updatedAfter: START + 2000 }, [2]],
    ["by external id", { externalId: "x" }, [3]],
    ["of a person with none", { endUser: "eve" }, []],
  ])("finds only sessions %s", async (_, filter, numbers) => {
    await chat(1, ["a secret garden"], { end_user: "ann" });
    await chat(2, ["a secret garden", "yes"], { metadata: { team: "red" } });
    await chat(3, ["a secret garden"], { external_id: "x" });
    expect(await find("garden", { filter: { ...ALL_SESSIONS, ...filter } })).toEqual(numbers);
  });

  it("finds the same with a filter that selects everything as without one, by the index and by the texts", async () => {
    for (let number = 1; number <= 5; number++) await chat(number, [`the lighthouse ${"and more ".repeat(number)}`, "a boat"]);
    const without = await search("lighthouse boat");
    const filtered = await search("lighthouse boat", { filter: { ...ALL_SESSIONS, createdAfter: 0 } });
    expect(filtered.data).toEqual(without.data);

    const row = env.DB.prepare("INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq) VALUES (?, ?, ?, 'nothing', 1)");
    await env.DB.batch(Array.from({ length: 3_001 }, (_, index) => row.bind(tenant, makeId("ses", 1), index + 10)));
    const many = await search("lighthouse boat", { filter: { ...ALL_SESSIONS, createdAfter: 0 } });
    expect(many.data.map(({ session }) => session.id)).toEqual(without.data.map(({ session }) => session.id));
  });

  it("looks for a word that is everywhere in the newest messages only", async () => {
    await chat(1, ["4711"]);
    const text = env.DB.prepare(
      "INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq) VALUES (?, ?, ?, '4711 ¦4711', 1)",
    );
    const index = env.DB.prepare("INSERT INTO search_index (rowid, terms) SELECT id, terms FROM search_texts WHERE id > ?");
    const [last] = (await env.DB.prepare("SELECT max(id) AS id FROM search_rows").all<{ id: number }>()).results;
    const ghost = makeId("ses", 9_999);
    for (let start = 0; start < 10_100; start += 2_020)
      await env.DB.batch(Array.from({ length: 2_020 }, (_, n) => text.bind(tenant, ghost, start + n + 1)));
    await index.bind(last?.id).run();
    await chat(2, ["4711"]);

    expect(await find("4711")).toEqual([2]);
  });

  it("finds nothing where nothing has the words, and takes words that would be syntax of the index", async () => {
    await chat(1, ['say "hello" AND NOT goodbye*']);
    expect(await find("zebra")).toEqual([]);
    for (const query of ['"hello', "hello*", "NOT hello", "terms:hello", "hello) OR (x", "NEAR(hello, 2)", "^hello - +"]) {
      expect(await find(query)).toEqual([1]);
    }
  });
});

describe("tenants", () => {
  it("find nothing of each other, whatever words, filters and cursors they use", async () => {
    const other = tenant;
    await chat(1, ["the launch code is xylophone"], { end_user: "ann", title: "xylophone" });
    tenant = makeId("ten", ++tenants);
    await chat(2, ["a walk"]);

    const other_tag = other.slice(4).toLowerCase();
    for (const query of ["xylophone", `${other_tag}·xylophone`, `${other_tag} xylophone`]) expect(await find(query)).toEqual([]);
    expect(await find("xylophone", { filter: { ...ALL_SESSIONS, endUser: "ann" } })).toEqual([]);
  });

  it("have each their own lists in the index: a search looks up no term of another tenant", async () => {
    await chat(1, ["xylophone"]);
    const tags = await env.DB.prepare("SELECT term FROM search_terms WHERE term LIKE '%xylophone'").all<{ term: string }>();
    expect(tags.results.map(({ term }) => term)).toContain(`${tenant.slice(4).toLowerCase()}·xylophone`);
    expect(tags.results.every(({ term }) => term.includes("·"))).toBe(true);
  });
});

describe("the index follows", () => {
  it("a title that is changed and removed", async () => {
    const log = await chat(1, [], { title: "Zanzibar" });
    await write(log.event({ type: "SettingsChanged", changes: { title: log.text("Mombasa") } }));
    expect([await find("Zanzibar"), await find("Mombasa")]).toEqual([[], [1]]);
    await write(log.event({ type: "SettingsChanged", changes: { title: null } }));
    expect(await find("Mombasa")).toEqual([]);
    expect([await isStored("zanzibar"), await isStored("mombasa")]).toEqual([false, false]);
  });

  it("a redaction: no term of the message is in the index's bytes any more", async () => {
    const log = await chat(1, ["the password is rumpelstiltskin", "noted"]);
    expect(await isStored("rumpelstiltskin")).toBe(true);

    await write(log.event({ type: "MessageRedacted", item: makeId("msg", 1), position: 1, texts: [], tokens: 0 }));

    expect(await find("rumpelstiltskin")).toEqual([]);
    expect(await find("noted")).toEqual([1]);
    expect(await isStored("rumpelstiltskin")).toBe(false);
  });

  it("a message that is said and redacted in one batch", async () => {
    const log = new LogBuilder(makeId("ses", 1), tenant).open().says("user", "abracadabra");
    await write(log.event({ type: "MessageRedacted", item: makeId("msg", 1), position: 1, texts: [], tokens: 0 }));
    expect(await isStored("abracadabra")).toBe(false);
  });

  it("an erasure, in as many parts as the session needs", async () => {
    await chat(
      1,
      Array.from({ length: 230 }, (_, index) => `quixotic ${index}`),
      { title: "quixotic" },
    );
    await chat(2, ["a quixotic idea"]);

    await createProjection(env.DB).erase({ tenant, session: makeId("ses", 1), at: START });

    expect(await find("quixotic")).toEqual([2]);
    await createProjection(env.DB).erase({ tenant, session: makeId("ses", 2), at: START });
    expect(await isStored("quixot")).toBe(false);
  });

  it("a branch: what another branch says is not found", async () => {
    const log = await chat(1, ["hello", "a pangolin", "bye"]);
    await write(log.event({ type: "HistoryRewound", to: 1, items: [], line: branchLine([{ from: 2, to: 3 }]) }));
    expect([await find("pangolin"), await find("hello")]).toEqual([[], [1]]);
  });

  it("a batch that comes twice, and one that is refused", async () => {
    const log = new LogBuilder(makeId("ses", 1), tenant).open({ title: "marzipan" }).says("user", "marzipan");
    await write(log);
    await write(log);
    const { results } = await env.DB.prepare("SELECT count(*) AS n FROM search_rows WHERE tenant_id = ?").bind(tenant).all<{ n: number }>();
    expect(results).toEqual([{ n: 2 }]);
    await createProjection(env.DB).erase({ tenant, session: log.session, at: START });
    await write(log);
    expect(await isStored("marzipan")).toBe(false);
  });

  it("a message longer than what is searched, by its beginning", async () => {
    await chat(1, [`walrus ${"and so on ".repeat(2_000)} platypus`]);
    expect([await find("walrus"), await find("platypus")]).toEqual([[1], []]);
  });
});

describe("a rebuild", () => {
  it("puts back missing rows, removes wrong ones, and keeps the index in step with both", async () => {
    const log = await chat(1, ["a porcupine", "a hedgehog"], { title: "animals" });
    await env.DB.batch([
      env.DB.prepare("DELETE FROM search_index WHERE rowid IN (SELECT id FROM search_rows WHERE tenant_id = ? AND position = 1)").bind(
        tenant,
      ),
      env.DB.prepare("DELETE FROM search_rows WHERE tenant_id = ? AND position = 1").bind(tenant),
      env.DB.prepare("INSERT INTO search_rows (tenant_id, session_id, position, terms, last_seq) VALUES (?, ?, 7, 'ghost', 1)").bind(
        tenant,
        log.session,
      ),
      env.DB.prepare("INSERT INTO search_index (rowid, terms) SELECT id, terms FROM search_texts WHERE id = last_insert_rowid()"),
    ]);
    expect([await find("porcupine"), await isStored("ghost")]).toEqual([[], true]);
    const { events, bodies } = log.batch();
    const readLog = async (after: number) => {
      const page = events.filter(({ seq }) => seq > after);
      return { ok: true, value: { events: page, bodies: [...bodies].map(([id, text]) => ({ id, text })), has_more: false } } as const;
    };

    const rebuilt = await rebuildSession({ readLog, rows: createRebuildRows(env.DB), now: () => START }, { tenant, session: log.session });

    expect(rebuilt).toMatchObject({ ok: true, value: { repaired: true } });
    expect(rebuilt.ok && rebuilt.value.differences.map(({ table, key }) => `${table} ${key}`)).toEqual(["search_rows 1", "search_rows 7"]);
    expect([await find("porcupine"), await find("hedgehog"), await isStored("ghost")]).toEqual([[1], [1], false]);
    const scratch = await env.DB.prepare("SELECT count(*) AS n FROM search_rows WHERE tenant_id LIKE 'scratch/%'").first("n");
    expect(scratch).toBe(0);
  });
});
