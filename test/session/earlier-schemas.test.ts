/**
 * Objects as earlier builds left them. `test/fixtures/objects/schema-N.sql` is the complete database of a session that
 * a build with N schema steps wrote; it is never changed. In each, a conversation was compacted, and its object died in
 * the middle of a reply while a message was waiting. The second also has a deferred summary, the third has calls that
 * were imported and cancelled, and the later ones are the third as the next schema steps left it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import { fold } from "../../src/domain/evolve";
import { STATE_VERSION } from "../../src/domain/state";
import { readMeta } from "../../src/session/log/log-schema";
import { id } from "../support/builders";
import { CALLER, Life, SPEC } from "./life";
import { past, watched } from "./sent";
import { compact, newest, revert } from "./talk";

const folder = join(import.meta.dirname, "..", "fixtures", "objects");

/** The schema of an object that this build creates. */
async function currentSchema(): Promise<number> {
  const life = new Life();
  await life.open();
  return Number(readMeta(life.sql, "schema_version"));
}

/** Its ids come after those of the earlier lives. */
function nextLife(sql: Life["sql"], n: number): Life {
  let count = n * 10_000;
  const life = new Life(sql, `life-${n}`, (prefix) => id(prefix, ++count));
  life.models = { resolve: async () => ({ ...SPEC, context_window: 20_000 }) };
  return life;
}

function reopen(schema: number): Life {
  const sql = createNodeSql();
  sql.script(readFileSync(join(folder, `schema-${schema}.sql`), "utf8"));
  return nextLife(sql, 2);
}

async function readTexts(life: Life): Promise<string[]> {
  const page = await life.service.items(CALLER, { after: null, limit: 100, order: "asc" });
  if (!page.ok) throw new Error(page.error.code);
  return page.value.data.map(({ role, content: [part], tool_calls = [], incomplete }) => {
    const text = part?.type === "text" ? part.text : tool_calls.map(() => "call").join(" ");
    return `${role}: ${text.replace(/ lorem.*/, "")}${incomplete ? " …" : ""}`;
  });
}

const COMMON = [
  "user: My name is Ada.",
  "assistant: Hello Ada.",
  "user: look it up",
  "assistant: call",
  "tool: found",
  "assistant: so it is",
  "user: question 3",
  "assistant: reply 3",
];
/** An imported reply of two calls, one of which was answered, and a call whose turn was stopped. */
const CALLS = ["assistant: call call", "tool: not found", "user: look again", "assistant: call"];
const LATER = ["user: question 4", "assistant: reply 4", "user: question 5", "assistant: reply 5"];
const LAST = ["user: Tell me a story.", "assistant: Once upon a time …", "user: And then?"];

describe.each([
  { schema: 1, record: [...COMMON, ...LAST], summaries: 1 },
  { schema: 2, record: [...COMMON, ...LATER, ...LAST], summaries: 2 },
  { schema: 3, record: [...COMMON, ...LATER, ...CALLS, ...LAST], summaries: 2 },
  { schema: 4, record: [...COMMON, ...LATER, ...CALLS, ...LAST], summaries: 2 },
  { schema: 5, record: [...COMMON, ...LATER, ...CALLS, ...LAST], summaries: 2 },
  { schema: 6, record: [...COMMON, ...LATER, ...CALLS, ...LAST], summaries: 2 },
])("a session whose object has the schema's step $schema", ({ schema, record, summaries }) => {
  let life: Life;
  beforeEach(() => {
    life = reopen(schema);
  });

  test("is brought up to this build's schema; its snapshot, of an older state, is not read", async () => {
    expect(readMeta(life.sql, "schema_version")).toBe(String(schema));
    expect(life.sql.all<{ version: number }>("SELECT version FROM snapshots")[0]?.version).toBeLessThan(STATE_VERSION);

    const state = life.runtime.state;

    expect(readMeta(life.sql, "schema_version")).toBe(String(await currentSchema()));
    expect(state).toEqual(fold(life.events()));
    expect(state).toMatchObject({ seq: life.events().length, turn: { phase: "generating", incarnation: "life-1" }, queue: [{}] });
  });

  test("keeps what the cut-off reply had said, answers the message that waited, and has the whole record", async () => {
    await life.service.describe(CALLER);
    await life.advance(0);
    expect(life.call.messages.at(-1)).toBe("user: And then?");
    expect(life.call.request.system).toContain("Her name is Ada.");

    await life.answer("They lived happily.");

    expect(life.runtime.state.last_turn?.status).toBe("completed");
    expect(await readTexts(life)).toEqual([...record, "assistant: They lived happily."]);
  });

  test("sends memory_query as it did, without the session's id, and its requests are rebuilt as they were sent", async () => {
    watched(life);
    await life.service.describe(CALLER);
    await life.advance(0);
    expect(life.call.request.tools).toEqual([RECALL_TOOL]);
    const turn = life.runtime.state.turn?.id ?? id("trn", 0);
    await life.answer("They lived happily.");
    await compact(life, 100);

    const told = await past(life, turn);
    expect([told.request.body, told.digest.matches]).toEqual([life.sent[0]?.body, true]);
  });

  test("lets every compaction be reverted, newest first, and repeated", async () => {
    await life.service.describe(CALLER);
    await life.advance(0);
    await life.answer("They lived happily.");
    expect(life.runtime.state.compaction.committed).toHaveLength(summaries);

    for (let n = 0; n < summaries; n++) expect(await revert(life)).toMatchObject({ ok: true });

    const { overlays, items } = life.runtime.state.view;
    expect(overlays).toEqual([]);
    // Each call is an item of its own.
    const calls = record.join(" ").match(/ call/g) ?? [];
    const replies = record.filter((line) => line.includes(" call"));
    expect(items).toHaveLength(record.length + 1 + calls.length - replies.length);
    await compact(life, 100);
    expect(newest(life)).toBeDefined();
    expect(life.runtime.state.view.overlays).toHaveLength(1);
  });

  test("is read from this build's own snapshot by the life after", async () => {
    await life.service.describe(CALLER);
    await life.advance(0);
    await life.answer("They lived happily.");
    await compact(life, 100);

    const after = nextLife(life.sql, 3);

    expect(life.sql.all("SELECT DISTINCT version FROM snapshots")).toEqual([{ version: STATE_VERSION }]);
    expect(after.runtime.state).toEqual(fold(after.events()));
    await after.send("Thank you.");
    await after.answer("You are welcome.");
    expect((await readTexts(after)).slice(-2)).toEqual(["user: Thank you.", "assistant: You are welcome."]);
  });
});

test("every earlier schema has its frozen object", async () => {
  const earlier = Array.from({ length: (await currentSchema()) - 1 }, (_, index) => `schema-${index + 1}.sql`);
  expect(readdirSync(folder).sort()).toEqual(earlier);
});

test("a summary that an earlier build held while a turn ran takes effect when the turn has ended", async () => {
  const life = reopen(2);
  const { epoch } = life.runtime.state.view;
  expect(life.sql.all("SELECT place FROM pending_outcomes")).toEqual([{ place: null }]);

  await life.service.describe(CALLER);
  await life.advance(0);

  expect(life.sql.all("SELECT place FROM pending_outcomes")).toEqual([]);
  expect(life.runtime.state.view.epoch).toBe(epoch + 1);
});

test("a receipt that does not say how its sizes are known shows them as estimates, a quarter and 8 tokens uncertain", async () => {
  const life = reopen(1);

  const page = await life.service.compactions(CALLER, { after: null, limit: 1, order: "asc" });

  if (!page.ok) throw new Error(page.error.code);
  expect(page.value.data[0]?.receipt).toMatchObject({
    tokens_before: { tokens: 1_751, source: "estimated", error_bound: 446 },
    tokens_after: { tokens: 501, source: "estimated", error_bound: 134 },
  });
});

test("calls that an earlier build recorded are executions, as far as its tables tell what became of them", async () => {
  const life = reopen(3);

  const page = await life.service.executions(CALLER, { after: null, limit: 10, order: "asc" });

  if (!page.ok) throw new Error(page.error.code);
  expect(page.value.data.map(({ call_id, position, result_position, status }) => [call_id, position, result_position, status])).toEqual([
    ["call_1", 4, 5, "succeeded"],
    ["call_a", 13, 15, "failed"],
    ["call_b", 14, null, "unknown"],
    ["call_2", 17, null, "cancelled"],
  ]);
  expect(page.value.data[1]).toMatchObject({ turn_id: null, error_message: "not found", arguments: '{"of":"call_a"}', runs: "client" });
});
